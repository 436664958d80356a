#include "frontends/s3/auth/authentication.h"

#include "base/clock.h"
#include "frontends/s3/auth/mechanism.h"
#include "frontends/s3/auth/sigv2.h"
#include "frontends/s3/auth/sigv4.h"

namespace stoa::s3 {
namespace {

constexpr std::string_view kUnsigned = "UNSIGNED-PAYLOAD";

// The sender of a presigned URL may announce the hash of the body, signed or not; a malformed hash can match no
// body.
Outcome<std::string> promised_hash(std::string hash, std::optional<std::string_view> header) {
  Sha256Value ignored;
  if (header && hash == kUnsigned && from_hex(*header, ignored)) hash = *header;
  if (hash == kUnsigned || hash.starts_with("STREAMING-") || from_hex(hash, ignored)) return hash;
  return refuse(Code::kXAmzContentSha256Mismatch);
}

// Version 2 has no hash of the body: it is the one that the client announces by itself.
Outcome<std::string> announced_hash(const Request& request) {
  const auto header = request.filled("x-amz-content-sha256");
  if (header && header->starts_with("STREAMING-AWS4-"))
    return invalid_argument("x-amz-content-sha256", *header, "Signed chunks need Signature Version 4.");
  if (header) return std::string(*header);
  return std::string(request.header("x-amz-decoded-content-length") ? "STREAMING-UNSIGNED-PAYLOAD-TRAILER" : kUnsigned);
}

}  // namespace

Outcome<Identity> Authentication::run() {
  STOA_TRY(mechanism, mechanism_of(request_));
  switch (mechanism) {
    case Mechanism::kNone:
      break;
    case Mechanism::kVersion4Header:
      return by_version4(false);
    case Mechanism::kVersion4Query:
      return by_version4(true);
    case Mechanism::kVersion2Header:
      return by_version2(false);
    case Mechanism::kVersion2Query:
      return by_version2(true);
  }
  return refuse(Code::kAccessDenied);
}

Outcome<Authentication::KeyOwner> Authentication::find_owner(const std::string& access_key) {
  claimed_key_ = access_key;
  if (request_.filled("x-amz-security-token") || request_.target.has("X-Amz-Security-Token"))
    return refuse(Code::kInvalidToken);
  const auto [user, key] = registry_.find_key(access_key);
  if (user == nullptr) {
    return std::unexpected<Failure>(
        Failure{.code = Code::kInvalidAccessKeyId, .details = {{"AWSAccessKeyId", access_key}}});
  }
  return KeyOwner{user, &key->secret_key};
}

Outcome<Identity> Authentication::by_version4(bool presigned) {
  STOA_TRY(claim, parse_authorization(request_, presigned));
  STOA_CHECK_OK(check_region(claim, options_.region));
  STOA_TRY(owner, find_owner(claim.scope.access_key));
  STOA_CHECK_OK(check_time(claim, wall_now().seconds()));

  Identity identity{.user = owner.user};
  const auto header = request_.header("x-amz-content-sha256");
  if (presigned) {
    identity.payload_hash = request_.query("X-Amz-Content-Sha256").value_or(kUnsigned);
    for (const std::string& name : claim.signed_headers) {
      if (name == "x-amz-content-sha256" && header) identity.payload_hash = *header;
    }
  } else {
    if (!header) return refuse(Code::kInvalidRequest, "Missing required header for this request: x-amz-content-sha256");
    identity.payload_hash = *header;
  }
  const Sha256Value signing_key = signing_keys_.get(*owner.secret, claim.scope);
  STOA_CHECK_OK(check_signature(request_, claim, identity.payload_hash, signing_key));
  if (presigned) {
    take_headers_of_query(request_);
    STOA_TRY(promised, promised_hash(std::move(identity.payload_hash), header));
    identity.payload_hash = std::move(promised);
  }
  if (identity.payload_hash.starts_with("STREAMING-AWS4-")) {
    identity.signing = {.key = signing_key,
                        .date_time = claim.date_time,
                        .scope = claim.scope.text(),
                        .signature = lower_case(claim.signature)};
  }
  return identity;
}

Outcome<Identity> Authentication::by_version2(bool presigned) {
  const SignatureV2 accepted = options_.signature_v2;
  if (accepted == SignatureV2::kOff || (!presigned && accepted == SignatureV2::kPresigned))
    return refuse(Code::kInvalidRequest,
                  "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.");
  STOA_TRY(claim, parse_authorization_v2(request_, presigned));
  if (presigned) take_headers_of_query(request_);
  STOA_TRY(owner, find_owner(claim.access_key));
  STOA_CHECK_OK(check_time(claim, wall_now().seconds()));
  const std::string_view host_bucket = route_.virtual_host ? std::string_view(route_.bucket) : std::string_view{};
  STOA_CHECK_OK(check_signature(request_, claim, host_bucket, *owner.secret));
  STOA_TRY(hash, announced_hash(request_));
  return Identity{.user = owner.user, .payload_hash = std::move(hash)};
}

}  // namespace stoa::s3
