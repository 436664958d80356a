#include "frontends/s3/op/copy_source.h"

#include "frontends/s3/http/conditions.h"
#include "frontends/s3/op/admission.h"

namespace stoa::s3 {
namespace {

std::unexpected<Failure> bad_source(std::string_view header) {
  return invalid_argument("x-amz-copy-source", header,
                          "Copy Source must mention the source bucket and key: sourcebucket/sourcekey");
}

constexpr std::uint64_t kReadBytes = 1 << 20;

}  // namespace

Outcome<CopySource> find_copy_source(const Call& call) {
  const std::string_view header = call.request.header("x-amz-copy-source").value_or("");
  std::string_view path = header;
  std::optional<std::string_view> version;
  if (const std::size_t mark = path.rfind("?versionId="); mark != std::string_view::npos) {
    version = path.substr(mark + 11);
    path = path.substr(0, mark);
  }
  auto decoded = percent_decode(path, false);
  if (!decoded || decoded->find('\0') != std::string::npos) return bad_source(header);
  std::string_view name = *decoded;
  if (name.starts_with('/')) name.remove_prefix(1);
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == name.size()) return bad_source(header);
  STOA_CHECK_OK(check_version_id(version));
  CopySource source;
  const std::string_view bucket = name.substr(0, slash);
  source.key = name.substr(slash + 1);
  if (source.key.size() > kKeyBytesMaxS3) return refuse(Code::kKeyTooLong);
  source.bucket = call.registry->find_export(bucket);
  if (source.bucket == nullptr || !source.bucket->s3) {
    return std::unexpected<Failure>(
        Failure{.code = Code::kNoSuchBucket, .details = {{"BucketName", std::string(bucket)}}});
  }
  if (admission(*source.bucket, call.request) == Admission::kRefused) return refuse(Code::kAccessDenied);
  const auto owner = call.request.filled("x-amz-source-expected-bucket-owner");
  if (owner && *owner != source.bucket->owner) return refuse(Code::kAccessDenied);
  STOA_TRY(object, find_object(call, source.bucket->root, source.key));
  source.object = std::move(object);
  STOA_CHECK_OK(check_copy_source(read_conditions(call.request, "x-amz-copy-source-"), source.object.etag,
                                  source.object.attr.mtime));
  return source;
}

Outcome<ContentHashes> hash_content(const Call& call, const FoundObject& source, ByteRange range,
                                    std::optional<Algorithm> algorithm) {
  if (range.length > call.services.options.limits.object_bytes_max) {
    return refuse(Code::kInvalidRequest,
                  "The specified copy source is larger than the maximum allowable size for a copy source: " +
                      std::to_string(call.services.options.limits.object_bytes_max));
  }
  Md5 md5;
  std::optional<ChecksumStream> checksum;
  if (algorithm) checksum.emplace(*algorithm);
  std::string buffer(static_cast<std::size_t>(std::min(range.length, kReadBytes)), '\0');
  std::uint64_t done = 0;
  while (done < range.length) {
    const std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), range.length - done));
    const std::span<std::byte> into = std::as_writable_bytes(std::span(buffer)).first(want);
    auto read = call.ns().read(call.fresh_ctx(), {.id = source.attr.id, .offset = range.offset + done, .into = into});
    if (!read) return refuse(read.error());
    if (read->attr.version() != source.attr.version() || read->length == 0) return refuse(Code::kOperationAborted);
    const auto bytes = std::span<const std::byte>(into).first(read->length);
    md5.update(bytes);
    if (checksum) checksum->update(bytes);
    done += read->length;
  }
  ContentHashes hashes{.md5 = md5.finish()};
  if (checksum) hashes.checksum = Checksum{*algorithm, ChecksumType::kFullObject, checksum->finish(), 0};
  return hashes;
}

}  // namespace stoa::s3
