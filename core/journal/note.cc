#include "core/journal/note.h"

#include <limits>

#include "base/assert.h"
#include "core/kv/codec.h"

namespace stoa::core {
namespace {

constexpr std::uint8_t kVersion = 2;  // has what was appended; a reader of version 1 can do without
constexpr std::uint8_t kPlainVersion = 1;

bool is_protocol(Protocol protocol) {
  return protocol <= Protocol::kNative;
}

Result<JournalRecord> damaged() {
  return fail(Cause::kRecordDamaged, "journal");
}

}  // namespace

std::string_view operation_word(ChangeKind kind, std::optional<FileType> type) {
  const bool directory = type == FileType::kDirectory;
  switch (kind) {
    case ChangeKind::kCreate:
      if (directory) return "mkdir";
      if (type == FileType::kSymlink) return "symlink";
      return !type || type == FileType::kRegular ? "create" : "mknod";
    case ChangeKind::kRemove:
      return directory ? "rmdir" : "remove";
    case ChangeKind::kRename:
      return "rename";
    case ChangeKind::kLink:
      return "link";
    case ChangeKind::kAttributes:
      return "attributes";
    case ChangeKind::kContent:
      return "write";
    case ChangeKind::kXattr:
      return "xattr";
    case ChangeKind::kQuota:
      return "quota";
    case ChangeKind::kRestore:
      return "restore";
    case ChangeKind::kPurge:
      return "purge";
    case ChangeKind::kRead:
      return "read";
    case ChangeKind::kList:
      return "list";
    case ChangeKind::kLookup:
      return "lookup";
    case ChangeKind::kAdmin:
      return "admin";
    case ChangeKind::kOmitted:
      return "omitted";
    case ChangeKind::kRefused:
      return "refused";
  }
  return "";
}

std::string_view protocol_word(Protocol protocol) {
  switch (protocol) {
    case Protocol::kInternal:
      return "internal";
    case Protocol::kAdmin:
      return "admin";
    case Protocol::kNfs:
      return "nfs";
    case Protocol::kSmb:
      return "smb";
    case Protocol::kS3:
      return "s3";
    case Protocol::kNative:
      return "native";
  }
  return "";
}

std::string encode_note(const JournalNote& note, const OpContext& ctx, Timestamp time) {
  STOA_ASSERT(note.kind >= ChangeKind::kCreate && note.kind <= kLastChangeKind, "a reader knows the kind of change");
  STOA_ASSERT(is_protocol(ctx.protocol), "a reader knows the protocol");
  STOA_ASSERT(note.to_parent == kNoFile || note.kind == ChangeKind::kRename, "only a rename has two places");
  STOA_ASSERT(!note.result || static_cast<std::uint16_t>(*note.result) <= kErrcLast, "a reader knows the error");
  STOA_ASSERT(!note.type || *note.type <= FileType::kFifo, "a reader knows the type");
  Encoder out;
  out.bytes().reserve(90 + note.name.size() + note.to_name.size() + ctx.client.size());
  out.put(note.kind)
      .put(ctx.protocol)
      .put_varint(ctx.cred.uid)
      .put(time.ns)
      .put(note.id)
      .put(note.parent)
      .put(note.to_parent);
  out.put_string(note.name).put_string(note.to_name).put_string(ctx.client);
  out.put(note.type.value_or(FileType{}))
      .put_varint(static_cast<std::uint16_t>(note.result.value_or(Errc{})))
      .put_varint(note.count);
  out.put(static_cast<std::uint8_t>(ctx.request ? 1 : 0));
  if (ctx.request) out.put(ctx.request.high).put(ctx.request.low);
  if (!note.appended) return encode_record(kPlainVersion, kPlainVersion, out.bytes());
  out.put_varint(note.appended->offset).put_varint(note.appended->length);
  return encode_record(kVersion, kPlainVersion, out.bytes());
}

Result<JournalRecord> JournalRecord::decode(std::string_view value) {
  const Opened opened = decode_record(value, kVersion);
  if (opened.version == 0) {
    const bool newer = value.size() >= 2 && static_cast<std::uint8_t>(value[1]) > kVersion;
    if (newer) return fail(Cause::kRecordNewer, "journal");
    return damaged();
  }
  Decoder in(opened.body);
  JournalRecord record;
  record.kind = in.get<ChangeKind>();
  record.protocol = in.get<Protocol>();
  const std::uint64_t uid = in.get_varint();
  record.uid = static_cast<std::uint32_t>(uid);
  record.time.ns = in.get<std::int64_t>();
  record.id = in.get<FileId>();
  record.parent = in.get<FileId>();
  record.to_parent = in.get<FileId>();
  record.name = std::string(in.get_string());
  record.to_name = std::string(in.get_string());
  record.client = std::string(in.get_string());
  const auto type = in.get<FileType>();
  if (type > FileType::kFifo) return damaged();
  if (type != FileType{}) record.type = type;
  const std::uint64_t result = in.get_varint();
  if (result > kErrcLast) return damaged();
  if (result != 0) record.result = static_cast<Errc>(result);
  record.count = in.get_varint();
  const auto has_request = in.get<std::uint8_t>();
  if (has_request > 1) return damaged();
  if (has_request == 1) {
    record.request.high = in.get<std::uint64_t>();
    record.request.low = in.get<std::uint64_t>();
    if (!record.request) return damaged();
  }
  if (opened.version > kPlainVersion) {
    const std::uint64_t offset = in.get_varint();
    record.appended = Appended{offset, in.get_varint()};
  }
  // Only a newer version may have further fields.
  const bool whole = in.ok() && (opened.version > kVersion || in.rest().empty());
  const bool known =
      record.kind >= ChangeKind::kCreate && record.kind <= kLastChangeKind && is_protocol(record.protocol);
  if (!whole || !known || uid > std::numeric_limits<std::uint32_t>::max()) return damaged();
  return record;
}

}  // namespace stoa::core
