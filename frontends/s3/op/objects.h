// Objects as operations meet them: found, described in headers, and the conditions under which they may be replaced.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontends/s3/meta/object_record.h"
#include "frontends/s3/op/call.h"

namespace stoa::s3 {

struct FoundObject {
  core::Attributes attr{};
  std::optional<ObjectRecord> record{};  // only when it describes the present content
  std::string etag{};                    // without quotes
};

std::string quoted(std::string_view etag);

// kNoSuchKey, kAccessDenied. Anything but a regular file is no object.
Outcome<FoundObject> find_object(const Call& call, core::FileId root, std::string_view key);

// "null" is the only version that there is; kNoSuchVersion otherwise, kInvalidArgument for a malformed version id.
Outcome<void> check_version_id(std::optional<std::string_view> version);
Outcome<void> check_version_id(const Request& request);  // that of the query

// Headers and user metadata to be stored. Refuses unsupported features (storage classes, encryption, tags, grants,
// locks) instead of dropping them. kMetadataTooLarge.
Outcome<ObjectRecord> read_object_headers(const Call& call);
// The refusals of read_object_headers alone.
Outcome<void> refuse_unsupported_headers(const Request& request);
// x-amz-acl: only the ACL that holds anyway. kInvalidArgument for a name that S3 does not know.
Outcome<void> check_canned_acl(const Request& request);

// Content-*, Cache-Control, Expires, x-amz-meta-*: as stored.
void add_object_headers(Response& response, const std::optional<ObjectRecord>& record);
// x-amz-checksum-* and its type.
void add_checksum_headers(Response& response, const Checksum& checksum);

// If-Match and If-None-Match of a write to `key`, as something that the core can hold atomically. Absent: no condition.
// kPreconditionFailed, kNoSuchKey (If-Match, and nothing there).
Outcome<std::optional<core::ObjectExpectation>> expect_for_write(const Call& call, std::string_view key);

// Runs `write(expectation)` again while the object changes between the look at its ETag and the write.
inline constexpr int kConditionalAttemptsMax = 16;
template <class Write>
auto write_conditionally(const Call& call, std::string_view key, Write write)
    -> Outcome<typename decltype(write(std::optional<core::ObjectExpectation>{}))::value_type> {
  for (int attempt = 0; attempt < kConditionalAttemptsMax; ++attempt) {
    STOA_TRY(expect, expect_for_write(call, key));
    auto done = write(expect);
    if (done) return std::move(*done);
    // Directories are made on the way: kNotFound means that the bucket was removed meanwhile.
    if (done.error().code != Errc::kPreconditionFailed) return refuse(done.error(), Missing::kBucket);
    if (!expect) break;
    if (expect->must_not_exist) return refuse(Code::kPreconditionFailed);
  }
  return refuse(Code::kConditionalRequestConflict);
}

}  // namespace stoa::s3
