// Errors of the S3 server. These are the codes of the S3 API reference ("Error Responses"), their HTTP status, and
// the one table that translates the core's Errc.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace stoa::s3 {

enum class Code : std::uint8_t {
  kNotModified,  // 304: no error to S3 clients, but it ends a request the same way
  kAccessDenied,
  kAccessForbidden,
  kAuthorizationHeaderMalformed,
  kAuthorizationQueryParametersError,
  kBadDigest,
  kBadRequest,
  kBucketAlreadyExists,
  kBucketAlreadyOwnedByYou,
  kBucketNotEmpty,
  kConditionalRequestConflict,
  kEntityTooLarge,
  kEntityTooSmall,
  kIncompleteBody,
  kInsufficientStorage,
  kInternalError,
  kIllegalLocationConstraint,
  kInvalidAccessKeyId,
  kInvalidArgument,
  kInvalidBucketName,
  kInvalidDigest,
  kInvalidLocationConstraint,
  kInvalidPart,
  kInvalidPartOrder,
  kInvalidRange,
  kInvalidRequest,
  kInvalidStorageClass,
  kInvalidToken,
  kInvalidUri,
  kKeyTooLong,
  kMalformedTrailer,
  kMalformedXml,
  kMaxMessageLengthExceeded,
  kMetadataTooLarge,
  kMethodNotAllowed,
  kMissingContentLength,
  kMissingRequestBody,
  kMissingSecurityHeader,
  kNoSuchBucket,
  kNoSuchBucketPolicy,
  kNoSuchConfiguration,
  kNoSuchCorsConfiguration,
  kNoSuchKey,
  kNoSuchLifecycleConfiguration,
  kNoSuchPublicAccessBlockConfiguration,
  kNoSuchTagSet,
  kNoSuchUpload,
  kNoSuchVersion,
  kNoSuchWebsiteConfiguration,
  kNotImplemented,
  kObjectLockConfigurationNotFound,
  kOperationAborted,
  kOwnershipControlsNotFound,
  kPreconditionFailed,
  kQuotaExceeded,
  kReplicationConfigurationNotFound,
  kRequestHeaderSectionTooLarge,
  kRequestTimeout,
  kRequestTimeTooSkewed,
  kServerSideEncryptionConfigurationNotFound,
  kServiceUnavailable,
  kSignatureDoesNotMatch,
  kSlowDown,
  kTooManyBuckets,
  kXAmzContentSha256Mismatch,
};
inline constexpr std::size_t kCodes = static_cast<std::size_t>(Code::kXAmzContentSha256Mismatch) + 1;

struct CodeInfo {
  Code code;
  std::string_view name;  // <Code>
  int status;             // of HTTP
  std::string_view message;
};
const CodeInfo& info(Code code);

// One refusal. `message` is for people and never contains facts that are hidden from the client.
struct Failure {
  Code code = Code::kInternalError;
  std::string message{};                                       // empty: the code's own
  std::vector<std::pair<std::string, std::string>> details{};  // further elements of <Error>
  std::vector<std::pair<std::string, std::string>> headers{};  // further response headers
  std::string log{};                                           // for the log only
};

template <class T>
class [[nodiscard]] Outcome : public std::expected<T, Failure> {
 public:
  using std::expected<T, Failure>::expected;
};

inline std::unexpected<Failure> refuse(Code code, std::string message = {}) {
  return std::unexpected<Failure>(Failure{.code = code, .message = std::move(message)});
}
std::unexpected<Failure> invalid_argument(std::string_view name, std::string_view value, std::string message);

// The kind of object that the core did not find, in the present request.
enum class Missing : std::uint8_t { kKey, kBucket, kUpload };
Code to_code(Errc code, Missing missing = Missing::kKey);
std::unexpected<Failure> refuse(const Error& error, Missing missing = Missing::kKey);

}  // namespace stoa::s3

namespace stoa {
// Lets STOA_TRY and STOA_CHECK_OK pass refusals on.
inline std::unexpected<s3::Failure> fail(s3::Failure failure) {
  return std::unexpected<s3::Failure>(std::move(failure));
}
}  // namespace stoa
