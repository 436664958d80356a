// Storage of multipart uploads in the namespace, so that they survive a restart. A directory below core::kMultipartId,
// named by the upload id, has one object "upload" (its record) and one "part.NNNNN" for each part.
//
// The id begins with the bucket's export id: the uploads of a bucket are listed without looking at others. The rest is
// random: it cannot be guessed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/s3/meta/upload_record.h"
#include "frontends/s3/op/call.h"

namespace stoa::s3 {

inline constexpr std::uint32_t kPartNumberMax = 10'000;

struct Upload {
  std::string id;
  core::FileId directory = core::kNoFile;
  UploadRecord record{};
  Timestamp initiated{};
};

std::string uploads_prefix(core::ExportId bucket);  // of all ids of the bucket
std::string make_upload_id(core::ExportId bucket);
std::string part_key(std::uint32_t number);

// The upload named by the query's uploadId, for the key of the request. kNoSuchUpload; kAccessDenied: neither its
// initiator nor the owner of the bucket.
Outcome<Upload> find_upload(const Call& call);
// By its id; absent when it is gone or no upload.
Outcome<std::optional<Upload>> load_upload(const Call& call, std::string_view id);

// partNumber of the query. kInvalidArgument.
Outcome<std::uint32_t> read_part_number(const Request& request);

struct StoredPart {
  std::uint32_t number = 0;
  core::Attributes attr{};
  ObjectRecord record{};
};
struct StoredParts {
  std::vector<StoredPart> parts;  // by number
  bool truncated = false;
};
// Parts with numbers above `after`, at most `limit`.
Outcome<StoredParts> list_stored_parts(const Call& call, const Upload& upload, std::uint32_t after,
                                       std::uint32_t limit);

// Names of the bucket's upload directories behind `after`, in the order of their ids, at most `limit`.
Outcome<std::vector<std::string>> list_upload_ids(const Call& call, std::string_view after, std::uint32_t limit,
                                                  bool* truncated);

// Removes every upload of the bucket (which is going away).
Outcome<void> abort_all_uploads(const Call& call);

}  // namespace stoa::s3
