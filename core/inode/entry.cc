#include "core/inode/entry.h"

#include "base/assert.h"
#include "core/kv/codec.h"

namespace stoa::core {
namespace {
constexpr std::uint8_t kEntryVersion = 1;
constexpr std::uint64_t kFirstCookie = 3;  // 1 and 2 are "." and ".."
}  // namespace

std::string EntryRecord::encode() const {
  STOA_ASSERT(exists(), "a name leads to a file");
  STOA_ASSERT(cookie >= kFirstCookie, "no name has the place of a dot entry");
  Encoder out;
  out.put(id).put(type).put(flags).put_varint(cookie);
  return encode_record(kEntryVersion, kEntryVersion, out.bytes());
}

Result<EntryRecord> EntryRecord::decode(std::string_view value) {
  Decoder in(decode_record(value, kEntryVersion).body);
  EntryRecord record;
  record.id = in.get<FileId>();
  record.type = in.get<FileType>();
  record.flags = in.get<std::uint8_t>();
  record.cookie = in.get_varint();
  if (!in.ok() || record.id == kNoFile || record.cookie < kFirstCookie) return fail(Errc::kCorrupt, "entry record");
  return record;
}

std::string CookieRecord::encode() const {
  STOA_ASSERT(id != kNoFile, "a name leads to a file");
  Encoder out;
  out.put(id).put(type).put(flags).put_string(name);
  return encode_record(kEntryVersion, kEntryVersion, out.bytes());
}

Result<CookieRecord> CookieRecord::decode(std::string_view value) {
  Decoder in(decode_record(value, kEntryVersion).body);
  CookieRecord record;
  record.id = in.get<FileId>();
  record.type = in.get<FileType>();
  record.flags = in.get<std::uint8_t>();
  record.name = std::string(in.get_string());
  if (!in.ok() || record.id == kNoFile) return fail(Errc::kCorrupt, "cookie record");
  return record;
}

}  // namespace stoa::core
