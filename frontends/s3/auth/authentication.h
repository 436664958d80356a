// Authentication of a request, by any of the mechanisms that the server accepts.
#pragma once

#include <optional>
#include <string>

#include "core/api/registry.h"
#include "frontends/s3/auth/aws_chunked.h"
#include "frontends/s3/auth/signing_keys.h"
#include "frontends/s3/error.h"
#include "frontends/s3/http/request.h"
#include "frontends/s3/operation.h"
#include "frontends/s3/options.h"

namespace stoa::s3 {

struct Identity {
  const core::User* user = nullptr;  // of the registry that was given
  std::string payload_hash{};        // as x-amz-content-sha256 has it
  ChunkSigning signing{};            // for signed chunks; empty where the mechanism has none
};

class Authentication {
 public:
  // All must outlive it. `request` gets the headers that a presigned request may carry in its query.
  Authentication(Request& request, const Route& route, const core::RegistrySnapshot& registry,
                 SigningKeys& signing_keys, const ServerOptions& options)
      : request_(request), route_(route), registry_(registry), signing_keys_(signing_keys), options_(options) {}

  // Errors: kAccessDenied when anonymous, or not in time; kInvalidAccessKeyId, kSignatureDoesNotMatch, and those of
  // malformed headers.
  Outcome<Identity> run();
  // The access key of the request; empty: none was found.
  const std::string& claimed_key() const { return claimed_key_; }

 private:
  struct KeyOwner {
    const core::User* user;
    const std::string* secret;
  };

  Outcome<Identity> by_version4(bool presigned);
  Outcome<Identity> by_version2(bool presigned);
  Outcome<KeyOwner> find_owner(const std::string& access_key);

  Request& request_;
  const Route& route_;
  const core::RegistrySnapshot& registry_;
  SigningKeys& signing_keys_;
  const ServerOptions& options_;
  std::string claimed_key_;
};

}  // namespace stoa::s3
