// A client that the NFS server keeps opens, locks and delegations for, as administrators see it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/api/state.h"

namespace stoa::nfs {

struct ClientStatus {
  core::HolderId id{};        // stable while the client is known, and never reused
  std::string_view protocol;  // "nlm" (the locks of version 3), "nfs4.0", "nfs4.1": that and later minor versions
  std::string address;
  std::string name;  // the client's own, any bytes
  core::HeldCounts held;
  std::chrono::seconds silent{};  // since it was heard of
};

}  // namespace stoa::nfs
