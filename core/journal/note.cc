#include "core/journal/note.h"

#include "core/kv/codec.h"

namespace stoa::core {
namespace {
constexpr std::uint8_t kVersion = 1;
}

std::string encode_note(const JournalNote& note, const OpContext& ctx, Timestamp time) {
  Encoder out;
  out.bytes().reserve(64 + note.name.size());
  out.put(note.kind).put(ctx.door).put_varint(ctx.cred.uid).put(time.ns).put(note.id).put(note.parent).put(note.to_parent);
  out.put_string(note.name).put_string(note.to_name).put_string(ctx.client);
  return seal(kVersion, kVersion, out.bytes());
}

Result<JournalRecord> JournalRecord::decode(std::string_view value) {
  Decoder in(unseal(value, kVersion).body);
  JournalRecord record;
  record.kind = in.get<ChangeKind>();
  record.door = in.get<Door>();
  record.uid = static_cast<std::uint32_t>(in.get_varint());
  record.time.ns = in.get<std::int64_t>();
  record.id = in.get<FileId>();
  record.parent = in.get<FileId>();
  record.to_parent = in.get<FileId>();
  record.name = std::string(in.get_string());
  record.to_name = std::string(in.get_string());
  record.client = std::string(in.get_string());
  if (!in.ok()) return fail(Errc::kCorrupt, "journal record");
  return record;
}

}  // namespace stoa::core
