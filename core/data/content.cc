#include "core/data/content.h"

#include "base/assert.h"
#include "base/crc32c.h"
#include "core/data/data_state.h"
#include "core/kv/keys.h"

namespace stoa::core {
namespace {
constexpr std::size_t kCrcBytes = 4;
constexpr std::uint64_t kHostBlockBytes = 4096;
}  // namespace

void stage_inline(MetaTxn& txn, FileId id, std::string_view bytes) {
  Encoder value;
  value.bytes().reserve(bytes.size() + kCrcBytes);
  value.put(crc32c(std::as_bytes(std::span(bytes))));
  value.bytes().append(bytes);
  txn.records().put_inline(id, value.bytes());
}

void stage_no_inline(MetaTxn& txn, FileId id) {
  txn.records().remove_inline(id);
}

Result<std::string> read_inline(KvReader& kv, FileId id) {
  std::string value;
  STOA_TRY(found, kv.get(Family::kInline, keys::id_key(id), &value));
  if (!found || value.size() < kCrcBytes) return fail(Errc::kCorrupt, "inline content is missing");
  Decoder in(value);
  const auto crc = in.get<std::uint32_t>();
  if (crc32c(std::as_bytes(std::span(in.rest()))) != crc) return fail(Errc::kCorrupt, "inline content");
  value.erase(0, kCrcBytes);
  return value;
}

Result<std::string> load_inline(const VolumeView& volume, FileId id) {
  auto bytes = read_inline(volume.kv, id);
  if (!bytes && bytes.error().code == Errc::kCorrupt) {
    volume.data->damaged_blocks.add();
    volume.data->add_damage({id, 0, volume.options.inline_bytes_max});
  }
  return bytes;
}

Result<ContentCache::Bytes> recent_inline(const VolumeView& volume, const Inode& inode) {
  if (auto known = volume.data->inlines.find(inode.id, inode.change)) return known;
  STOA_TRY(bytes, load_inline(volume, inode.id));
  auto read = std::make_shared<const std::string>(std::move(bytes));
  volume.data->inlines.keep(inode.id, inode.change, read);
  return read;
}

void advance_version(Inode& inode, Timestamp now) {
  inode.data_version = std::max(inode.data_version + 1, static_cast<std::uint64_t>(std::max<std::int64_t>(now.ns, 0)));
}

std::uint64_t estimate_allocated(const Layout& layout, std::uint64_t size) {
  std::uint64_t sum = 0;
  for (const Extent& extent : layout.extents) {
    if (extent.file_offset >= size) break;
    const std::uint64_t used = std::min(extent.length, size - extent.file_offset);
    sum += (used + kHostBlockBytes - 1) / kHostBlockBytes * kHostBlockBytes;
  }
  return sum;
}

Result<BlobId> reserve_blob(VolumeContext& volume, std::uint64_t bytes) {
  const std::shared_lock birth(volume.in_flight.allocation_lock);
  STOA_TRY(blob, volume.blobs.reserve(bytes));
  volume.in_flight.track(blob);
  return blob;
}

Status drop_content(VolumeContext& volume, MetaTxn& txn, const NodeRef& node) {
  const Inode& inode = node->record;
  if (inode.has(kContentInline)) stage_no_inline(txn, inode.id);
  for (const Extent& extent : inode.layout.extents) txn.reference(extent.blob, -1);
  if (node->writing != nullptr) txn.forget_writing(node);
  std::string present;
  if (inode.type == FileType::kRegular && !inode.layout.empty()) {
    STOA_TRY(open, volume.kv.get(Family::kState, keys::open_key(inode.id), &present));
    if (open) txn.records().remove_open_mark(inode.id);
    node->marked_dirty = false;  // the next write in place marks it again, also when this does not happen
  }
  return {};
}

Status take_content(VolumeContext& volume, MetaTxn& txn, FileId id, Inode& next, const StagedContent& content) {
  (void)volume;
  const auto& extents = content.layout.extents;
  STOA_ASSERT(!content.is_inline || extents.empty(), "content is inline or in blobs");
  STOA_ASSERT(!content.is_inline || content.inline_bytes.size() == content.size, "inline content is whole");
  STOA_ASSERT(extents.empty() || extents.back().end() <= content.size, "new content ends with its file");
  STOA_ASSERT(extents.size() <= kExtentsMax, "a file has a limited number of extents");
  next.size = content.size;
  next.allocated = content.allocated;
  next.layout = content.layout;
  advance_version(next, txn.now());
  next.flags &= ~(kContentInline | kChecksummed);
  if (content.is_inline && content.size > 0) {
    next.flags |= kContentInline;
    stage_inline(txn, id, content.inline_bytes);
  }
  if (content.checksummed) next.flags |= kChecksummed;
  for (const BlobSums& sums : content.sums) stage_sums(txn.records(), sums);
  for (const Extent& extent : content.layout.extents) txn.reference(extent.blob, +1);
  return {};
}

Status append_blob(VolumeContext& volume, StagedContent& content, std::span<const std::byte> bytes) {
  STOA_ASSERT(!bytes.empty(), "an extent has bytes");
  STOA_ASSERT(content.layout.empty() || content.layout.extents.back().end() <= content.size, "content is appended");
  STOA_TRY(blob, reserve_blob(volume, bytes.size()));
  content.own_blobs.push_back(blob);
  content.layout.extents.push_back({content.size, bytes.size(), blob, 0});
  content.size += bytes.size();
  const std::span<const std::byte> pieces[] = {bytes};
  STOA_CHECK_OK(volume.blobs.write(blob, 0, pieces));
  BlockSummer summer;
  summer.add(bytes);
  content.sums.push_back(summer.finish(blob));
  return {};
}

Result<StagedContent> content_of_bytes(VolumeContext& volume, std::span<const std::byte> bytes) {
  StagedContent content;
  if (bytes.size() <= volume.options.inline_bytes_max) {
    content.size = bytes.size();
    content.inline_bytes.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return content;
  }
  content.is_inline = false;
  content.checksummed = true;
  Status written = append_blob(volume, content, bytes);
  if (written) written = volume.blobs.sync(content.own_blobs);
  if (!written) {
    discard_content(volume, content);
    return fail(written.error());
  }
  content.allocated = estimate_allocated(content.layout, content.size);
  return content;
}

void discard_content(VolumeContext& volume, const StagedContent& content) {
  for (const BlobId blob : content.own_blobs) volume.in_flight.abandon(blob);
}

}  // namespace stoa::core
