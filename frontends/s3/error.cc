#include "frontends/s3/error.h"

#include <array>

#include "base/assert.h"

namespace stoa::s3 {
namespace {

// In the order of the enumeration; checked by info() and by the test.
constexpr std::array<CodeInfo, kCodes> kTable{{
    {Code::kNotModified, "NotModified", 304, "Not Modified"},
    {Code::kAccessDenied, "AccessDenied", 403, "Access Denied"},
    {Code::kAccessForbidden, "AccessForbidden", 403, "CORSResponse: CORS is not enabled for this bucket."},
    {Code::kAuthorizationHeaderMalformed, "AuthorizationHeaderMalformed", 400,
     "The authorization header that you provided is not valid."},
    {Code::kAuthorizationQueryParametersError, "AuthorizationQueryParametersError", 400,
     "The authorization query parameters that you provided are not valid."},
    {Code::kBadDigest, "BadDigest", 400,
     "The Content-MD5 or checksum value that you specified did not match what the server received."},
    {Code::kBadRequest, "BadRequest", 400, "The request is not well formed."},
    {Code::kBucketAlreadyExists, "BucketAlreadyExists", 409,
     "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Specify a "
     "different name and try again."},
    {Code::kBucketAlreadyOwnedByYou, "BucketAlreadyOwnedByYou", 409,
     "Your previous request to create the named bucket succeeded and you already own it."},
    {Code::kBucketNotEmpty, "BucketNotEmpty", 409, "The bucket you tried to delete is not empty"},
    {Code::kConditionalRequestConflict, "ConditionalRequestConflict", 409,
     "The conditional request cannot succeed due to a conflicting operation against this resource."},
    {Code::kEntityTooLarge, "EntityTooLarge", 400, "Your proposed upload exceeds the maximum allowed object size."},
    {Code::kEntityTooSmall, "EntityTooSmall", 400, "Your proposed upload is smaller than the minimum allowed size"},
    {Code::kIncompleteBody, "IncompleteBody", 400,
     "You did not provide the number of bytes specified by the Content-Length HTTP header."},
    {Code::kInsufficientStorage, "InsufficientStorage", 507, "The storage is full."},
    {Code::kInternalError, "InternalError", 500, "We encountered an internal error. Please try again."},
    {Code::kIllegalLocationConstraint, "IllegalLocationConstraintException", 400,
     "The unspecified location constraint is incompatible for the region specific endpoint this request was sent to."},
    {Code::kInvalidAccessKeyId, "InvalidAccessKeyId", 403,
     "The AWS access key ID that you provided does not exist in our records."},
    {Code::kInvalidArgument, "InvalidArgument", 400, "Invalid Argument"},
    {Code::kInvalidBucketName, "InvalidBucketName", 400, "The specified bucket is not valid."},
    {Code::kInvalidDigest, "InvalidDigest", 400, "The Content-MD5 you specified is not valid."},
    {Code::kInvalidLocationConstraint, "InvalidLocationConstraint", 400,
     "The specified location constraint is not valid."},
    {Code::kInvalidPart, "InvalidPart", 400,
     "One or more of the specified parts could not be found. The part might not have been uploaded, or the specified "
     "entity tag might not have matched the part's entity tag."},
    {Code::kInvalidPartOrder, "InvalidPartOrder", 400,
     "The list of parts was not in ascending order. The parts list must be specified in order by part number."},
    {Code::kInvalidRange, "InvalidRange", 416, "The requested range is not satisfiable"},
    {Code::kInvalidRequest, "InvalidRequest", 400, "Invalid Request"},
    {Code::kInvalidStorageClass, "InvalidStorageClass", 400, "The storage class you specified is not valid"},
    {Code::kInvalidToken, "InvalidToken", 400, "The provided token is malformed or otherwise not valid."},
    {Code::kInvalidUri, "InvalidURI", 400, "Couldn't parse the specified URI."},
    {Code::kKeyTooLong, "KeyTooLongError", 400, "Your key is too long"},
    {Code::kMalformedTrailer, "MalformedTrailerError", 400,
     "The request contained trailing data that was not well-formed or did not conform to our published schema."},
    {Code::kMalformedXml, "MalformedXML", 400,
     "The XML you provided was not well-formed or did not validate against our published schema"},
    {Code::kMaxMessageLengthExceeded, "MaxMessageLengthExceeded", 400, "Your request was too big."},
    {Code::kMetadataTooLarge, "MetadataTooLarge", 400,
     "Your metadata headers exceed the maximum allowed metadata size"},
    {Code::kMethodNotAllowed, "MethodNotAllowed", 405, "The specified method is not allowed against this resource."},
    {Code::kMissingContentLength, "MissingContentLength", 411, "You must provide the Content-Length HTTP header."},
    {Code::kMissingRequestBody, "MissingRequestBodyError", 400, "Request Body is empty"},
    {Code::kMissingSecurityHeader, "MissingSecurityHeader", 400, "Your request is missing a required header"},
    {Code::kNoSuchBucket, "NoSuchBucket", 404, "The specified bucket does not exist"},
    {Code::kNoSuchBucketPolicy, "NoSuchBucketPolicy", 404, "The bucket policy does not exist"},
    {Code::kNoSuchConfiguration, "NoSuchConfiguration", 404, "The specified configuration does not exist."},
    {Code::kNoSuchCorsConfiguration, "NoSuchCORSConfiguration", 404, "The CORS configuration does not exist"},
    {Code::kNoSuchKey, "NoSuchKey", 404, "The specified key does not exist."},
    {Code::kNoSuchLifecycleConfiguration, "NoSuchLifecycleConfiguration", 404,
     "The lifecycle configuration does not exist"},
    {Code::kNoSuchPublicAccessBlockConfiguration, "NoSuchPublicAccessBlockConfiguration", 404,
     "The public access block configuration was not found"},
    {Code::kNoSuchTagSet, "NoSuchTagSet", 404, "The TagSet does not exist"},
    {Code::kNoSuchUpload, "NoSuchUpload", 404,
     "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or "
     "completed."},
    {Code::kNoSuchVersion, "NoSuchVersion", 404, "The specified version does not exist."},
    {Code::kNoSuchWebsiteConfiguration, "NoSuchWebsiteConfiguration", 404,
     "The specified bucket does not have a website configuration"},
    {Code::kNotImplemented, "NotImplemented", 501,
     "A header or query you provided implies functionality that is not implemented"},
    {Code::kObjectLockConfigurationNotFound, "ObjectLockConfigurationNotFoundError", 404,
     "Object Lock configuration does not exist for this bucket"},
    {Code::kOperationAborted, "OperationAborted", 409,
     "A conflicting conditional operation is currently in progress against this resource. Please try again."},
    {Code::kOwnershipControlsNotFound, "OwnershipControlsNotFoundError", 404,
     "The bucket ownership controls were not found"},
    {Code::kPreconditionFailed, "PreconditionFailed", 412,
     "At least one of the pre-conditions you specified did not hold"},
    {Code::kQuotaExceeded, "QuotaExceeded", 403, "A quota of this bucket or of a directory in it does not allow it."},
    {Code::kReplicationConfigurationNotFound, "ReplicationConfigurationNotFoundError", 404,
     "The replication configuration was not found"},
    {Code::kRequestHeaderSectionTooLarge, "RequestHeaderSectionTooLarge", 400,
     "Your request header section exceeds the maximum allowed size."},
    {Code::kRequestTimeout, "RequestTimeout", 400,
     "Your socket connection to the server was not read from or written to within the timeout period."},
    {Code::kRequestTimeTooSkewed, "RequestTimeTooSkewed", 403,
     "The difference between the request time and the current time is too large."},
    {Code::kServerSideEncryptionConfigurationNotFound, "ServerSideEncryptionConfigurationNotFoundError", 404,
     "The server side encryption configuration was not found"},
    {Code::kServiceUnavailable, "ServiceUnavailable", 503, "Service is unable to handle request."},
    {Code::kSignatureDoesNotMatch, "SignatureDoesNotMatch", 403,
     "The request signature we calculated does not match the signature you provided. Check your key and signing "
     "method."},
    {Code::kSlowDown, "SlowDown", 503, "Please reduce your request rate."},
    {Code::kTooManyBuckets, "TooManyBuckets", 400, "You have attempted to create more buckets than allowed."},
    {Code::kXAmzContentSha256Mismatch, "XAmzContentSHA256Mismatch", 400,
     "The provided 'x-amz-content-sha256' header does not match what was computed."},
}};

}  // namespace

const CodeInfo& info(Code code) {
  const CodeInfo& found = kTable[static_cast<std::size_t>(code)];
  STOA_ASSERT(found.code == code);
  return found;
}

std::unexpected<Failure> invalid_argument(std::string_view name, std::string_view value, std::string message) {
  return std::unexpected<Failure>(
      Failure{.code = Code::kInvalidArgument,
              .message = std::move(message),
              .details = {{"ArgumentName", std::string(name)}, {"ArgumentValue", std::string(value)}}});
}

Code to_code(Errc code, Missing missing) {
  switch (code) {
    case Errc::kNotFound:
    case Errc::kStale:
    case Errc::kBadHandle:
    case Errc::kWrongType:
    case Errc::kIsDirectory:
    case Errc::kNotDirectory:
      switch (missing) {
        case Missing::kKey:
          return Code::kNoSuchKey;
        case Missing::kBucket:
          return Code::kNoSuchBucket;
        case Missing::kUpload:
          return Code::kNoSuchUpload;
      }
      return Code::kInternalError;
    case Errc::kAccess:
    case Errc::kNotOwner:
    case Errc::kReadOnly:
      return Code::kAccessDenied;
    case Errc::kNotEmpty:
      return Code::kBucketNotEmpty;
    case Errc::kInvalid:
    case Errc::kBadCookie:
    case Errc::kTooManyLinks:
    case Errc::kCrossDevice:
    case Errc::kNoAttribute:
    case Errc::kNoMoreData:
      return Code::kInvalidRequest;
    case Errc::kNameTooLong:
      return Code::kKeyTooLong;
    case Errc::kQuota:
      return Code::kQuotaExceeded;
    case Errc::kNoSpace:
      return Code::kInsufficientStorage;
    case Errc::kFileTooBig:
      return Code::kEntityTooLarge;
    case Errc::kTooLarge:
      return Code::kMetadataTooLarge;
    case Errc::kGuardMismatch:
    case Errc::kShareConflict:
    case Errc::kLocked:
    case Errc::kDeadlock:
    case Errc::kExists:
      return Code::kOperationAborted;
    case Errc::kPreconditionFailed:
      return Code::kPreconditionFailed;
    case Errc::kNotSupported:
      return Code::kNotImplemented;
    case Errc::kRecallPending:
    case Errc::kLeaseLost:
    case Errc::kBusy:
      return Code::kSlowDown;
    case Errc::kTimeout:
    case Errc::kShutdown:
      return Code::kServiceUnavailable;
    case Errc::kIo:
    case Errc::kCorrupt:
      return Code::kInternalError;
  }
  return Code::kInternalError;
}

std::unexpected<Failure> refuse(const Error& error, Missing missing) {
  Failure failure{.code = to_code(error.code, missing), .log = describe(error)};
  if (error.code == Errc::kReadOnly)
    failure.message =
        "Access Denied: this is read-only. It lies in a sealed directory or a recycle bin, or is published so.";
  return std::unexpected<Failure>(std::move(failure));
}

}  // namespace stoa::s3
