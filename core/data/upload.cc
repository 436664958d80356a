#include "core/data/upload.h"

#include <new>

#include "base/assert.h"
#include "core/data/data_state.h"
#include "core/data/placement.h"
#include "core/txn/operations.h"

namespace stoa::core {

namespace {

constexpr std::size_t kUploadsMax = 10'000;
constexpr std::size_t kUploadBuffersMax = 64;  // of 1 MiB; uploads beyond write each piece as it arrives
constexpr std::size_t kBufferBytes = 1u << 20;
constexpr std::size_t kBufferAlignment = 4096;
constexpr const char* kBroken = "a write of the upload failed";

// Small pieces gathered into one large write, in memory that needs no further copy on its way to the disk.
class GatherBuffer {
 public:
  GatherBuffer() : memory_(static_cast<std::byte*>(::operator new(kBufferBytes, std::align_val_t{kBufferAlignment}))) {}
  ~GatherBuffer() { ::operator delete(memory_, std::align_val_t{kBufferAlignment}); }
  GatherBuffer(const GatherBuffer&) = delete;
  GatherBuffer& operator=(const GatherBuffer&) = delete;
  std::span<const std::byte> bytes() const { return {memory_, used_}; }
  std::size_t room() const { return kBufferBytes - used_; }
  void append(std::span<const std::byte> bytes) {
    STOA_ASSERT(bytes.size() <= room(), "a buffer takes what it has room for");
    std::memcpy(memory_ + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  void clear() { used_ = 0; }

 private:
  std::byte* memory_;
  std::size_t used_ = 0;
};

// A bounded store of buffers for use and reuse.
class BufferPool {
 public:
  std::unique_ptr<GatherBuffer> take() {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto buffer = std::move(free_.back());
      free_.pop_back();
      return buffer;
    }
    if (made_ == kUploadBuffersMax) return nullptr;
    ++made_;
    return std::make_unique<GatherBuffer>();
  }
  void give(std::unique_ptr<GatherBuffer> buffer) {
    if (buffer == nullptr) return;
    buffer->clear();
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(buffer));
    STOA_ASSERT(free_.size() <= made_, "no buffer is given back twice");
  }

 private:
  std::mutex mutex_;  // guards both
  std::vector<std::unique_ptr<GatherBuffer>> free_;
  std::size_t made_ = 0;
};

BufferPool& pool() {
  static BufferPool buffers;
  return buffers;
}

}  // namespace

// One upload. Its first bytes stay in memory until they are too many to live inline.
struct Upload {
  ~Upload() { pool().give(std::move(buffer)); }

  std::mutex mutex;  // guards everything below; held over the writes of this one upload, which come in order anyway
  std::string head;
  std::uint64_t size = 0;  // of all that came
  std::uint64_t size_hint = 0;
  bool finished = false;
  bool spilled = false;
  bool broken = false;  // a write failed half-way, so something is missing
  Layout layout;
  BlockSummer summer;          // of the last blob
  std::vector<BlobSums> sums;  // of those before it
  std::uint64_t written = 0;   // bytes that went to blobs
  std::unique_ptr<GatherBuffer> buffer;
};

namespace {

Result<std::shared_ptr<Upload>> find(VolumeContext& volume, UploadId id) {
  const std::lock_guard lock(volume.data->uploads_mutex);
  const auto it = volume.data->uploads.find(id);
  if (it == volume.data->uploads.end()) return fail(Errc::kNotFound, "upload");
  return it->second;
}

// The next blob of an upload: of the size that was announced, or doubling as for any growing file.
Status add_blob(VolumeContext& volume, Upload& upload, std::uint64_t wanted) {
  std::uint64_t length = kOwnSegmentBytes;
  if (upload.size_hint > upload.written) {
    length = std::min(upload.size_hint - upload.written, kOwnSegmentBytes);
  } else if (upload.written < kSlotRegionBytes) {
    length = std::clamp(std::bit_ceil(std::max(upload.written, wanted)), kFirstSegmentBytes, kSlotSegmentMax);
  }
  STOA_TRY(blob, reserve_blob(volume, length));
  if (!upload.layout.empty()) upload.sums.push_back(upload.summer.finish(upload.layout.extents.back().blob));
  upload.summer = {};
  upload.layout.extents.push_back({upload.written, 0, blob, 0});
  return {};
}

Status write_out(VolumeContext& volume, Upload& upload, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    std::uint64_t room = 0;
    if (!upload.layout.empty()) {
      const Extent& last = upload.layout.extents.back();
      room = std::min(volume.blobs.capacity(last.blob), kOwnSegmentBytes) - last.length;
    }
    if (room == 0) {
      if (upload.layout.extents.size() >= kExtentsMax) return fail(Errc::kTooLarge);
      STOA_CHECK_OK(add_blob(volume, upload, bytes.size()));
      continue;
    }
    Extent& last = upload.layout.extents.back();
    const auto part = bytes.first(std::min<std::uint64_t>(room, bytes.size()));
    const std::span<const std::byte> pieces[] = {part};
    STOA_CHECK_OK(volume.blobs.write(last.blob, last.length, pieces));
    upload.summer.add(part);
    last.length += part.size();
    upload.written += part.size();
    bytes = bytes.subspan(part.size());
  }
  return {};
}

Status write_buffer(VolumeContext& volume, Upload& upload) {
  if (upload.buffer == nullptr) return {};
  STOA_CHECK_OK(write_out(volume, upload, upload.buffer->bytes()));
  upload.buffer->clear();
  return {};
}

Status append(VolumeContext& volume, Upload& upload, std::span<const std::byte> bytes) {
  if (upload.buffer == nullptr) return write_out(volume, upload, bytes);
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), upload.buffer->room()));
    upload.buffer->append(part);
    bytes = bytes.subspan(part.size());
    if (upload.buffer->room() == 0) STOA_CHECK_OK(write_buffer(volume, upload));
  }
  return {};
}

std::vector<BlobId> blobs_of(const Upload& upload) {
  std::vector<BlobId> blobs;
  for (const Extent& extent : upload.layout.extents) blobs.push_back(extent.blob);
  return blobs;
}

}  // namespace

Result<UploadId> upload_begin(VolumeContext& volume, const OpContext& ctx, const UploadBeginRequest& req) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  auto upload = std::make_shared<Upload>();
  upload->size_hint = req.size_hint;
  const std::lock_guard lock(volume.data->uploads_mutex);
  if (volume.data->uploads.size() >= kUploadsMax) return fail(Errc::kBusy, "too many uploads");
  const UploadId id{volume.data->next_upload++};
  volume.data->uploads.emplace(id, std::move(upload));
  return id;
}

Status upload_write(VolumeContext& volume, const OpContext&, const UploadWriteRequest& req) {
  STOA_TRY(upload, find(volume, req.upload));
  const std::lock_guard lock(upload->mutex);
  if (upload->finished) return fail(Errc::kInvalid, "the upload is complete");
  std::uint64_t length = 0;
  for (const auto& piece : req.data) length += piece.size();
  if (length > kFileBytesMax - upload->size) return fail(Errc::kFileTooBig);
  if (!upload->spilled && upload->size + length <= volume.options.inline_bytes_max) {
    for (const auto& piece : req.data) upload->head.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    upload->size += length;
    return {};
  }
  if (upload->broken) return fail(Errc::kIo, kBroken);
  upload->broken = true;
  if (!upload->spilled) {
    upload->spilled = true;
    upload->buffer = pool().take();
    STOA_CHECK_OK(append(volume, *upload, std::as_bytes(std::span(upload->head))));
    upload->head = {};
  }
  for (const auto& piece : req.data) STOA_CHECK_OK(append(volume, *upload, piece));
  upload->broken = false;
  upload->size += length;
  return {};
}

Status upload_discard(VolumeContext& volume, const OpContext&, const UploadDiscardRequest& req) {
  const auto upload = find(volume, req.upload);
  if (!upload) return {};
  upload_consumed(volume, req.upload);
  const std::lock_guard lock((*upload)->mutex);
  (*upload)->finished = (*upload)->broken = true;
  for (const BlobId blob : blobs_of(**upload)) volume.in_flight.abandon(blob);
  (*upload)->layout = {};
  return {};
}

Result<StagedContent> upload_finish(VolumeContext& volume, UploadId id) {
  STOA_TRY(upload, find(volume, id));
  const std::lock_guard lock(upload->mutex);
  StagedContent content;
  if (!upload->spilled) {
    upload->finished = true;
    content.size = upload->size;
    content.inline_bytes = upload->head;
    return content;
  }
  // What is missing nobody may take for content.
  if (upload->broken) return fail(Errc::kIo, kBroken);
  if (!upload->finished) {
    upload->broken = true;
    STOA_CHECK_OK(write_buffer(volume, *upload));
    upload->broken = false;
    pool().give(std::move(upload->buffer));
    upload->finished = true;
    upload->sums.push_back(upload->summer.finish(upload->layout.extents.back().blob));
  }
  STOA_ASSERT(upload->written == upload->size, "all that came is written");
  content.is_inline = false;
  content.size = upload->size;
  content.layout = upload->layout;
  content.sums = upload->sums;
  content.checksummed = true;
  content.allocated = estimate_allocated(content.layout, content.size);
  STOA_CHECK_OK(volume.blobs.sync(blobs_of(*upload)));
  return content;
}

void upload_consumed(VolumeContext& volume, UploadId upload) {
  std::shared_ptr<Upload> last;  // destroyed after the lock is gone
  const std::lock_guard lock(volume.data->uploads_mutex);
  const auto it = volume.data->uploads.find(upload);
  if (it == volume.data->uploads.end()) return;
  last = std::move(it->second);
  volume.data->uploads.erase(it);
}

}  // namespace stoa::core
