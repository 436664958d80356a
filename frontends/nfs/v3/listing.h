// The common parts of READDIR and READDIRPLUS: the cookie verifier, and the two forms of one directory listing.
#pragma once

#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

// Cookies stay valid for ever, so the verifier only has to show that a cookie belongs to this directory; it survives
// restarts.
std::uint64_t cookie_verifier(std::uint64_t fsid, core::FileId dir);

struct ListingRequest {
  core::FileId dir;
  std::uint64_t cookie = 0;
  std::uint64_t verifier = 0;
  std::uint32_t bytes_max = 0;       // of READDIR3resok or READDIRPLUS3resok, all of it
  std::uint32_t name_bytes_max = 0;  // of file ids, names and cookies alone (READDIRPLUS: dircount)
  bool plus = false;
};
rpc::Outcome list_directory(Operation& op, const ListingRequest& request);

}  // namespace stoa::nfs3
