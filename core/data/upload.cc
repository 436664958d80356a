#include "core/data/upload.h"

#include "core/data/data_state.h"

namespace stoa::core {

namespace {
constexpr std::size_t kUploadsMax = 10'000;
}

// One upload. Its first bytes stay in memory until they are too many to live inline.
struct Upload {
  std::mutex mutex;  // guards everything below
  std::string head;
  BlobId blob = kNoBlob;
  std::uint64_t size = 0;
  std::uint64_t size_hint = 0;
  bool sealed = false;
};

DataState::DataState(MetricRegistry& metrics) {
  metrics.gauge_callback("stoa_uploads", "Uploads in progress", {}, [this] {
    const std::lock_guard lock(uploads_mutex);
    return static_cast<double>(uploads.size());
  });
}
DataState::~DataState() = default;

namespace {

Result<std::shared_ptr<Upload>> find(Tree& tree, UploadId id) {
  const std::lock_guard lock(tree.data->uploads_mutex);
  const auto it = tree.data->uploads.find(id);
  if (it == tree.data->uploads.end()) return fail(Errc::kNotFound, "upload");
  return it->second;
}

Status spill(Tree& tree, Upload& upload, std::uint64_t expected) {
  STOA_TRY(blob, tree.blobs.reserve(std::max(expected, upload.size_hint)));
  upload.blob = blob;
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(upload.head))};
  STOA_CHECK_OK(tree.blobs.write(blob, 0, pieces));
  upload.head = {};
  return {};
}

}  // namespace

Result<UploadId> upload_begin(Tree& tree, const OpContext& ctx, const UploadBeginRequest& req) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  auto upload = std::make_shared<Upload>();
  upload->size_hint = req.size_hint;
  const std::lock_guard lock(tree.data->uploads_mutex);
  if (tree.data->uploads.size() >= kUploadsMax) return fail(Errc::kBusy, "too many uploads");
  const UploadId id{tree.data->next_upload++};
  tree.data->uploads.emplace(id, std::move(upload));
  return id;
}

Status upload_write(Tree& tree, const OpContext&, const UploadWriteRequest& req) {
  STOA_TRY(upload, find(tree, req.upload));
  const std::lock_guard lock(upload->mutex);
  if (upload->sealed) return fail(Errc::kInvalid, "the upload is complete");
  std::uint64_t length = 0;
  for (const auto& piece : req.data) length += piece.size();
  if (upload->blob == kNoBlob && upload->size + length <= tree.options.inline_bytes_max) {
    for (const auto& piece : req.data) upload->head.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    upload->size += length;
    return {};
  }
  // A growing upload of unknown size gets a blob that can grow to any size.
  constexpr std::uint64_t kUnknown = std::uint64_t{1} << 40;
  if (upload->blob == kNoBlob) STOA_CHECK_OK(spill(tree, *upload, upload->size_hint != 0 ? upload->size + length : kUnknown));
  if (upload->size + length > tree.blobs.capacity(upload->blob)) return fail(Errc::kInvalid, "more bytes than announced");
  STOA_CHECK_OK(tree.blobs.write(upload->blob, upload->size, req.data));
  upload->size += length;
  return {};
}

void upload_discard(Tree& tree, UploadId id) {
  const auto upload = find(tree, id);
  if (!upload) return;
  upload_consumed(tree, id);
  const std::lock_guard lock((*upload)->mutex);
  (*upload)->sealed = true;
  if ((*upload)->blob != kNoBlob) (void)tree.blobs.release((*upload)->blob);
}

Result<StagedContent> upload_seal(Tree& tree, UploadId id) {
  STOA_TRY(upload, find(tree, id));
  const std::lock_guard lock(upload->mutex);
  upload->sealed = true;
  StagedContent content;
  content.size = upload->size;
  if (upload->blob == kNoBlob) {
    content.inline_bytes = upload->head;
    return content;
  }
  content.is_inline = false;
  STOA_CHECK_OK(tree.blobs.sync(std::span(&upload->blob, 1)));
  content.layout.extents.push_back({0, upload->size, upload->blob, 0});
  content.allocated = upload->size;
  return content;
}

void upload_consumed(Tree& tree, UploadId id) {
  const std::lock_guard lock(tree.data->uploads_mutex);
  tree.data->uploads.erase(id);
}

}  // namespace stoa::core
