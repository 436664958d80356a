#include "core/inode/inode.h"

namespace stoa::core {
namespace {
// Each record is written as the oldest version that can say it.
constexpr std::uint8_t kPlain = 1;
constexpr std::uint8_t kWithAcl = 2;  // who does not know of ACLs must not decide by the mode
constexpr std::uint8_t kWithChargedTo = 3;
constexpr std::uint8_t kInodeVersion = 4;  // attribute_bytes, behind charged_to, which may then be none
constexpr std::uint64_t kSectorBytes = 512;
}  // namespace

Attributes Inode::attributes() const {
  Attributes attr;
  attr.id = id;
  attr.generation = generation;
  attr.type = type;
  attr.mode = mode;
  attr.links = links;
  attr.uid = uid;
  attr.gid = gid;
  attr.device = device;
  attr.size = size;
  // Inline content lies within the record; report the sectors that it would fill.
  attr.allocated = has(kContentInline) ? (size + kSectorBytes - 1) / kSectorBytes * kSectorBytes : allocated;
  attr.atime = atime;
  attr.mtime = mtime;
  attr.ctime = ctime;
  attr.btime = btime;
  attr.change = change;
  attr.data_version = data_version;
  return attr;
}

void Inode::touch(Timestamp now) {
  // The clock may be set back; a client that compares times must still see a change.
  ctime = now > ctime ? now : Timestamp{ctime.ns + 1};
  ++change;
}

void Inode::touch_content(Timestamp now) {
  touch(now);
  mtime = ctime;
}

std::string Inode::encode() const {
  Encoder out;
  out.bytes().reserve(192);
  out.put(generation).put(type).put(flags).put(mode).put_varint(links).put_varint(uid).put_varint(gid);
  out.put_varint(device.major).put_varint(device.minor).put_varint(size).put_varint(allocated);
  out.put(atime.ns).put(mtime.ns).put(ctime.ns).put(btime.ns).put_varint(change).put_varint(data_version);
  out.put(create_verifier).put(home).put_varint(next_cookie).put_varint(entries);
  layout.encode(out);
  if (charged_to != kNoFile || attribute_bytes != 0) out.put(charged_to);
  if (attribute_bytes != 0) out.put_varint(attribute_bytes);
  const std::uint8_t version = attribute_bytes != 0    ? kInodeVersion
                               : charged_to != kNoFile ? kWithChargedTo
                               : has(kHasAcl)          ? kWithAcl
                                                       : kPlain;
  return seal(version, version, out.bytes());
}

Result<Inode> Inode::decode(FileId id, std::string_view value) {
  const Opened opened = unseal(value, kInodeVersion);
  if (opened.version == 0) return fail(Errc::kCorrupt, "inode record");
  Decoder in(opened.body);
  Inode inode;
  inode.id = id;
  inode.generation = in.get<std::uint32_t>();
  inode.type = in.get<FileType>();
  inode.flags = in.get<std::uint8_t>();
  inode.mode = in.get<std::uint32_t>();
  inode.links = static_cast<std::uint32_t>(in.get_varint());
  inode.uid = static_cast<std::uint32_t>(in.get_varint());
  inode.gid = static_cast<std::uint32_t>(in.get_varint());
  inode.device.major = static_cast<std::uint32_t>(in.get_varint());
  inode.device.minor = static_cast<std::uint32_t>(in.get_varint());
  inode.size = in.get_varint();
  inode.allocated = in.get_varint();
  inode.atime.ns = in.get<std::int64_t>();
  inode.mtime.ns = in.get<std::int64_t>();
  inode.ctime.ns = in.get<std::int64_t>();
  inode.btime.ns = in.get<std::int64_t>();
  inode.change = in.get_varint();
  inode.data_version = in.get_varint();
  inode.create_verifier = in.get<std::uint64_t>();
  inode.home = in.get<FileId>();
  inode.next_cookie = in.get_varint();
  inode.entries = in.get_varint();
  if (!in.ok() || !inode.layout.decode(in)) return fail(Errc::kCorrupt, "inode record");
  if (opened.version >= kWithChargedTo) inode.charged_to = in.get<FileId>();
  if (opened.version >= kInodeVersion) inode.attribute_bytes = in.get_varint();
  if (!in.ok()) return fail(Errc::kCorrupt, "inode record");
  return inode;
}

}  // namespace stoa::core
