#include "core/inode/acl_record.h"

#include "core/kv/codec.h"

namespace stoa::core {
namespace {
constexpr std::uint8_t kAclVersion = 1;
constexpr std::uint8_t kDeny = 0x80;  // beside the kind of identity
}  // namespace

std::string encode_acl(const Acl& acl) {
  Encoder out;
  out.bytes().reserve(8 + 12 * acl.entries.size());
  out.put(acl.flags).put(acl.chmod).put_varint(acl.entries.size());
  for (const AclEntry& entry : acl.entries) {
    const auto kind = static_cast<std::uint8_t>(entry.who.kind);
    out.put(static_cast<std::uint8_t>(entry.deny ? kind | kDeny : kind)).put(entry.flags).put_varint(entry.rights);
    if (entry.who.has_text()) {
      out.put_string(entry.who.text);
    } else if (!entry.who.is_class()) {
      out.put_varint(entry.who.id);
    }
  }
  return encode_record(kAclVersion, kAclVersion, out.bytes());
}

Result<Acl> decode_acl(std::string_view value) {
  const Opened opened = decode_record(value, kAclVersion);
  if (opened.version == 0) return fail(Errc::kCorrupt, "ACL");
  Decoder in(opened.body);
  Acl acl;
  acl.flags = in.get<std::uint8_t>();
  acl.chmod = in.get<ChmodPolicy>();
  const std::uint64_t count = in.get_varint();
  if (count > kAclEntriesMax || acl.chmod > ChmodPolicy::kRefuse) return fail(Errc::kCorrupt, "ACL");
  acl.entries.reserve(count);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    AclEntry entry;
    const auto kind = in.get<std::uint8_t>();
    entry.deny = (kind & kDeny) != 0;
    entry.who.kind = static_cast<AclWho::Kind>(kind & ~kDeny);
    if (entry.who.kind > AclWho::Kind::kGroupText) return fail(Errc::kCorrupt, "ACL");
    entry.flags = in.get<std::uint8_t>();
    entry.rights = static_cast<std::uint32_t>(in.get_varint());
    if (entry.who.has_text()) {
      entry.who.text = std::string(in.get_string());
    } else if (!entry.who.is_class()) {
      entry.who.id = static_cast<std::uint32_t>(in.get_varint());
    }
    acl.entries.push_back(std::move(entry));
  }
  if (!in.ok() || !in.rest().empty()) return fail(Errc::kCorrupt, "ACL");
  return acl;
}

}  // namespace stoa::core
