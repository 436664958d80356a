#include "frontends/s3/op/uploads.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdio>

#include "base/assert.h"
#include "frontends/s3/http/range.h"

namespace stoa::s3 {
namespace {

constexpr std::string_view kRecordKey = "upload";
constexpr std::string_view kPartPrefix = "part.";
constexpr std::size_t kIdBytes = 8 + 1 + 32;

std::unexpected<Failure> no_such_upload(std::string_view id) {
  return std::unexpected<Failure>(Failure{.code = Code::kNoSuchUpload, .details = {{"UploadId", std::string(id)}}});
}

// Ids come from clients and name directories: nothing but the form that make_upload_id gives passes.
bool valid_id(std::string_view id) {
  if (id.size() != kIdBytes || id[8] != '-') return false;
  return std::all_of(id.begin(), id.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-'; });
}

}  // namespace

std::string uploads_prefix(core::ExportId bucket) {
  char out[16];
  const int size = std::snprintf(out, sizeof out, "%08x-", static_cast<unsigned>(bucket));
  return {out, static_cast<std::size_t>(size)};
}

std::string make_upload_id(core::ExportId bucket) {
  std::array<std::uint8_t, 16> random;
  const ssize_t got = ::getrandom(random.data(), random.size(), 0);
  STOA_ASSERT(got == static_cast<ssize_t>(random.size()));
  return uploads_prefix(bucket) + to_hex(random);
}

std::string part_key(std::uint32_t number) {
  char out[24];
  const int size = std::snprintf(out, sizeof out, "part.%05u", number);
  return {out, static_cast<std::size_t>(size)};
}

Outcome<std::optional<Upload>> load_upload(const Call& call, std::string_view id) {
  const core::OpContext own = call.own_ctx();
  auto directory = call.ns().lookup(own, {.parent = core::kMultipartId, .name = id});
  if (!directory) {
    if (to_code(directory.error().code) == Code::kNoSuchKey) return std::nullopt;
    return refuse(directory.error(), Missing::kUpload);
  }
  auto record = call.ns().lookup_key(own, {.root = directory->attr.id, .key = kRecordKey});
  if (!record) {
    if (to_code(record.error().code) == Code::kNoSuchKey) return std::nullopt;
    return refuse(record.error(), Missing::kUpload);
  }
  auto decoded = record->meta ? UploadRecord::decode(record->meta->bytes) : std::nullopt;
  if (!decoded) {
    return std::unexpected<Failure>(
        Failure{.code = Code::kInternalError, .log = "the record of upload " + std::string(id) + " cannot be read"});
  }
  return Upload{.id = std::string(id),
                .directory = directory->attr.id,
                .record = std::move(*decoded),
                .initiated = record->attr.mtime};
}

Outcome<Upload> find_upload(const Call& call) {
  const std::string_view id = call.request.query("uploadId").value_or("");
  if (!valid_id(id) || !id.starts_with(uploads_prefix(call.bucket->id))) return no_such_upload(id);
  STOA_TRY(upload, load_upload(call, id));
  if (!upload || upload->record.key != call.route.key) return no_such_upload(id);
  if (upload->record.owner_uid != call.user->uid && !call.owns_bucket()) return refuse(Code::kAccessDenied);
  return std::move(*upload);
}

Outcome<std::uint32_t> read_part_number(const Request& request) {
  const auto text = request.query("partNumber");
  const auto number = text ? parse_decimal(*text) : std::nullopt;
  if (!number || *number == 0 || *number > kPartNumberMax) {
    return invalid_argument("partNumber", text.value_or(""),
                            "Part number must be an integer between 1 and 10000, inclusive");
  }
  return static_cast<std::uint32_t>(*number);
}

Outcome<StoredParts> list_stored_parts(const Call& call, const Upload& upload, std::uint32_t after,
                                       std::uint32_t limit) {
  StoredParts stored;
  // The part that sorts last below `after` need not exist.
  std::string start_after = after == 0 ? std::string(kPartPrefix) : part_key(std::min(after, 99'999u));
  while (stored.parts.size() < limit) {
    const auto page =
        static_cast<std::uint32_t>(std::min<std::size_t>(limit - stored.parts.size(), core::kListKeysMax));
    auto reply = call.ns().list_keys(call.own_ctx(), {.root = upload.directory,
                                                      .prefix = kPartPrefix,
                                                      .start_after = start_after,
                                                      .limit = page,
                                                      .want_meta = true});
    if (!reply) return refuse(reply.error(), Missing::kUpload);
    for (core::ListedKey& listed : reply->keys) {
      // A listing reads attributes and meta one after the other; of a part that is stored anew or goes meanwhile they
      // are not of one moment. A look at the key alone is.
      if (!listed.meta || !listed.meta->current(listed.attr)) {
        auto found = call.ns().lookup_key(call.own_ctx(), {.root = upload.directory, .key = listed.key});
        if (!found && to_code(found.error().code) == Code::kNoSuchKey) continue;
        if (!found) return refuse(found.error(), Missing::kUpload);
        listed.attr = found->attr;
        listed.meta = std::move(found->meta);
      }
      const auto number = parse_decimal(std::string_view(listed.key).substr(kPartPrefix.size()));
      auto record = listed.meta ? ObjectRecord::decode(listed.meta->bytes) : std::nullopt;
      if (!number || *number == 0 || *number > kPartNumberMax || !record) {
        return std::unexpected<Failure>(
            Failure{.code = Code::kInternalError, .log = "a part of upload " + upload.id + " cannot be read"});
      }
      stored.parts.push_back({static_cast<std::uint32_t>(*number), listed.attr, std::move(*record)});
    }
    stored.truncated = reply->truncated;
    if (!reply->truncated) break;
    start_after = reply->next_start_after;
  }
  return stored;
}

Outcome<std::vector<std::string>> list_upload_ids(const Call& call, std::string_view after, std::uint32_t limit,
                                                  bool* truncated) {
  std::vector<std::string> ids;
  const std::string prefix = uploads_prefix(call.bucket->id);
  std::string start_after(after);
  *truncated = false;
  while (ids.size() < limit) {
    const auto page = static_cast<std::uint32_t>(std::min<std::size_t>(limit - ids.size(), core::kListKeysMax));
    auto reply = call.ns().list_keys(
        call.own_ctx(),
        {.root = core::kMultipartId, .prefix = prefix, .delimiter = "/", .start_after = start_after, .limit = page});
    if (!reply) return refuse(reply.error(), Missing::kUpload);
    for (std::string& name : reply->prefixes) {
      name.pop_back();  // the '/'
      ids.push_back(std::move(name));
    }
    *truncated = reply->truncated;
    if (!reply->truncated) break;
    start_after = reply->next_start_after;
  }
  return ids;
}

Outcome<void> abort_all_uploads(const Call& call) {
  bool truncated = true;
  while (truncated) {
    STOA_TRY(ids, list_upload_ids(call, "", core::kListKeysMax, &truncated));
    for (const std::string& id : ids) {
      const Status removed = call.ns().remove_tree(call.own_ctx(), {.parent = core::kMultipartId, .name = id});
      if (!removed && to_code(removed.error().code) != Code::kNoSuchKey)
        return refuse(removed.error(), Missing::kUpload);
    }
  }
  return {};
}

}  // namespace stoa::s3
