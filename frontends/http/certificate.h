// The TLS certificate and key of a server.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"

namespace stoa::http {

struct Certificate {
  std::string chain;  // PEM
  std::string key;    // PEM
  std::string pin;    // "sha256//BASE64" of the public key, as curl(1) takes it with --pinnedpubkey
};

// Errors: kInvalid when a file cannot be read, or is no PEM, or the two do not belong together;
// detail names it.
Result<Certificate> read_certificate(const std::string& chain_file, const std::string& key_file);

// The same for a server that shows `shown`; nothing: the files still hold that.
Result<std::optional<Certificate>> read_renewed_certificate(const Certificate& shown, const std::string& chain_file,
                                                            const std::string& key_file);

}  // namespace stoa::http
