#include "core/inode/inode.h"

#include "base/assert.h"

namespace stoa::core {
namespace {
constexpr std::uint8_t kInodeVersion = 1;
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
  attr.dos = dos;
  attr.has_acl = has(kHasAcl);
  attr.change = change;
  attr.data_version = data_version;
  return attr;
}

void Inode::touch(Timestamp now) {
  // The clock may be set back; a client that compares times must still see a change.
  STOA_ASSERT(change < UINT64_MAX, "the change counter never begins again");
  ctime = now > ctime ? now : Timestamp{ctime.ns + 1};
  ++change;
}

void Inode::touch_content(Timestamp now) {
  touch(now);
  mtime = ctime;
  if (type == FileType::kRegular) dos |= kDosArchive;
}

std::string Inode::encode() const {
  STOA_ASSERT(id != kNoFile, "a record is of a file");
  STOA_ASSERT(type != FileType{}, "a file has a type");
  STOA_ASSERT(!is_directory() || layout.empty(), "a directory has no content");
  STOA_ASSERT(is_directory() || target == kNoFile, "only directories stand for others");
  STOA_ASSERT(is_directory() || charged_to == kNoFile, "only directories count elsewhere");
  STOA_ASSERT(!has(kIsBin) || is_directory(), "a bin is a directory");
  STOA_ASSERT(acl == nullptr || has(kHasAcl), "an ACL is known to be stored");
  STOA_ASSERT((dos & ~kAllDosAttributes) == 0, "there are no other DOS attributes");
  Encoder out;
  out.bytes().reserve(192);
  out.put(generation).put(type).put(flags).put(mode).put_varint(links).put_varint(uid).put_varint(gid);
  out.put_varint(device.major).put_varint(device.minor).put_varint(size).put_varint(allocated);
  out.put(atime.ns).put(mtime.ns).put(ctime.ns).put(btime.ns).put_varint(change).put_varint(data_version);
  out.put(create_verifier).put(parent).put_varint(next_cookie).put_varint(entries);
  out.put_varint(static_cast<std::uint64_t>(charged_to)).put_varint(attribute_bytes);
  out.put_varint(dos).put_varint(birth_epoch).put_varint(static_cast<std::uint64_t>(target));
  layout.encode(out);
  return encode_record(kInodeVersion, kInodeVersion, out.bytes());
}

Result<Inode> Inode::decode(FileId id, std::string_view value) {
  const Opened opened = decode_record(value, kInodeVersion);
  if (opened.version == 0) return fail(Errc::kCorrupt, "inode record");
  Decoder in(opened.body);
  Inode inode;
  inode.id = id;
  inode.generation = in.get<std::uint32_t>();
  inode.type = in.get<FileType>();
  inode.flags = in.get<std::uint32_t>();
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
  inode.parent = in.get<FileId>();
  inode.next_cookie = in.get_varint();
  inode.entries = in.get_varint();
  inode.charged_to = FileId{in.get_varint()};
  inode.attribute_bytes = in.get_varint();
  const std::uint64_t dos = in.get_varint();
  inode.dos = static_cast<DosAttributes>(dos);
  inode.birth_epoch = in.get_varint();
  inode.target = FileId{in.get_varint()};
  if (!in.ok() || !inode.layout.decode(in) || (dos & ~std::uint64_t{kAllDosAttributes}) != 0) {
    return fail(Errc::kCorrupt, "inode record");
  }
  // What encode() would never have written.
  const bool of_its_type = inode.is_directory()
                               ? inode.layout.empty()
                               : !inode.has(kIsBin) && inode.target == kNoFile && inode.charged_to == kNoFile;
  if (!of_its_type || inode.type == FileType{} || inode.type > FileType::kFifo || inode.change == UINT64_MAX) {
    return fail(Errc::kCorrupt, "inode record");
  }
  return inode;
}

}  // namespace stoa::core
