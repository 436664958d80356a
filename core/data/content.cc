#include "core/data/content.h"

#include "base/crc32c.h"
#include "core/kv/keys.h"

namespace stoa::core {
namespace {
constexpr std::size_t kCrcBytes = 4;
}

void stage_inline(MetaTxn& txn, FileId id, std::string_view bytes) {
  Encoder value;
  value.bytes().reserve(bytes.size() + kCrcBytes);
  value.put(crc32c(std::as_bytes(std::span(bytes))));
  value.bytes().append(bytes);
  txn.batch().put(Family::kInline, keys::id_key(id), value.bytes());
}

void stage_no_inline(MetaTxn& txn, FileId id) { txn.batch().remove(Family::kInline, keys::id_key(id)); }

Result<std::string> load_inline(KvReader& kv, FileId id) {
  std::string value;
  STOA_TRY(found, kv.get(Family::kInline, keys::id_key(id), &value));
  if (!found || value.size() < kCrcBytes) return fail(Errc::kCorrupt, "inline content is missing");
  Decoder in(value);
  const auto crc = in.get<std::uint32_t>();
  if (crc32c(std::as_bytes(std::span(in.rest()))) != crc) return fail(Errc::kCorrupt, "inline content");
  value.erase(0, kCrcBytes);
  return value;
}

Status drop_content(Tree& tree, MetaTxn& txn, const Inode& inode) {
  (void)tree;
  if (inode.has(kContentInline)) stage_no_inline(txn, inode.id);
  for (const Extent& extent : inode.layout.extents) txn.reference(extent.blob, -1);
  return {};
}

Status take_content(Tree& tree, MetaTxn& txn, FileId id, Inode& next, const StagedContent& content) {
  (void)tree;
  next.size = content.size;
  next.allocated = content.allocated;
  next.layout = content.layout;
  ++next.data_version;
  next.flags &= static_cast<std::uint8_t>(~kContentInline);
  if (content.is_inline && content.size > 0) {
    next.flags |= kContentInline;
    stage_inline(txn, id, content.inline_bytes);
  }
  for (const Extent& extent : content.layout.extents) txn.reference(extent.blob, +1);
  return {};
}

Result<StagedContent> content_of_bytes(Tree& tree, std::span<const std::byte> bytes) {
  StagedContent content;
  content.size = bytes.size();
  if (bytes.size() <= tree.options.inline_bytes_max) {
    content.inline_bytes.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return content;
  }
  content.is_inline = false;
  STOA_TRY(blob, tree.blobs.reserve(bytes.size()));
  content.layout.extents.push_back({0, bytes.size(), blob, 0});
  content.own_blobs.push_back(blob);
  content.allocated = bytes.size();
  const std::span<const std::byte> pieces[] = {bytes};
  Status written = tree.blobs.write(blob, 0, pieces);
  if (written) written = tree.blobs.sync(std::span(&blob, 1));
  if (!written) {
    (void)tree.blobs.release(blob);
    return fail(written.error());
  }
  return content;
}

Result<StagedContent> content_of_parts(Tree& tree, std::span<const Inode> parts) {
  StagedContent joined;
  joined.is_inline = false;
  for (const Inode& part : parts) {
    if (part.has(kContentInline)) {
      STOA_TRY(bytes, load_inline(tree.kv, part.id));
      STOA_TRY(blob, tree.blobs.reserve(bytes.size()));
      const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
      STOA_CHECK_OK(tree.blobs.write(blob, 0, pieces));
      STOA_CHECK_OK(tree.blobs.sync(std::span(&blob, 1)));
      joined.layout.extents.push_back({joined.size, bytes.size(), blob, 0});
      joined.own_blobs.push_back(blob);
      joined.allocated += bytes.size();
    }
    for (Extent extent : part.layout.extents) {
      extent.file_offset += joined.size;
      joined.layout.extents.push_back(extent);
      joined.allocated += extent.length;
    }
    joined.size += part.size;
  }
  return joined;
}

void discard_content(Tree& tree, const StagedContent& content) {
  for (const BlobId blob : content.own_blobs) (void)tree.blobs.release(blob);
}

}  // namespace stoa::core
