#include "core/inode/trash_record.h"

#include "base/assert.h"
#include "core/kv/codec.h"

namespace stoa::core {
namespace {
constexpr std::uint8_t kTrashVersion = 1;
}  // namespace

std::string RecycleRootRecord::encode() const {
  STOA_ASSERT(bin != kNoFile, "a record of a bin says which");
  Encoder out;
  out.put(bin);
  return encode_record(kTrashVersion, kTrashVersion, out.bytes());
}

Result<RecycleRootRecord> RecycleRootRecord::decode(std::string_view value) {
  const Opened opened = decode_record(value, kTrashVersion);
  Decoder in(opened.body);
  RecycleRootRecord record;
  record.bin = in.get<FileId>();
  if (opened.version == 0 || !in.ok() || record.bin == kNoFile) return fail(Errc::kCorrupt, "record of a recycle bin");
  return record;
}

std::string ItemRecord::encode() const {
  STOA_ASSERT(id != kNoFile, "what was deleted is a file");
  STOA_ASSERT(!name.empty(), "what was deleted has a name in the bin");
  Encoder out;
  out.put(id).put(type).put_string(name).put(parent).put_string(raw).put(base).put_string(below);
  out.put(uid).put(protocol).put_string(client).put(time.ns).put_varint(bytes);
  return encode_record(kTrashVersion, kTrashVersion, out.bytes());
}

Result<ItemRecord> ItemRecord::decode(std::string_view value) {
  const Opened opened = decode_record(value, kTrashVersion);
  Decoder in(opened.body);
  ItemRecord record;
  record.id = in.get<FileId>();
  record.type = in.get<FileType>();
  record.name = in.get_string();
  record.parent = in.get<FileId>();
  record.raw = in.get_string();
  record.base = in.get<FileId>();
  record.below = in.get_string();
  record.uid = in.get<std::uint32_t>();
  record.protocol = in.get<Protocol>();
  record.client = in.get_string();
  record.time.ns = in.get<std::int64_t>();
  record.bytes = in.get_varint();
  if (opened.version == 0 || !in.ok() || record.id == kNoFile || record.name.empty())
    return fail(Errc::kCorrupt, "record of something in a recycle bin");
  return record;
}

}  // namespace stoa::core
