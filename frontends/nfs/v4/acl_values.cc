#include "frontends/nfs/v4/acl_values.h"

#include <array>

#include "core/api/acl_text.h"

namespace stoa::nfs4 {
namespace {

using Kind = core::AclWho::Kind;

enum : std::uint32_t { kAllow = 0, kDeny = 1, kAudit = 2, kAlarm = 3 };
constexpr std::uint32_t kIdentifierGroup = 0x40;
constexpr std::array<std::pair<std::string_view, Kind>, 3> kSpecial{
    {{"OWNER@", Kind::kOwner}, {"GROUP@", Kind::kGroup}, {"EVERYONE@", Kind::kEveryone}}};
constexpr std::size_t kEntryBytes = 16;  // as stored, without text: at most

std::string who_text(const core::AclWho& who, const IdNames& names) {
  switch (who.kind) {
    case Kind::kOwner:
    case Kind::kGroup:
    case Kind::kEveryone:
      return std::string(kSpecial[static_cast<std::size_t>(who.kind)].first);
    case Kind::kUid:
      return user_to_text(names, who.id);
    case Kind::kGid:
      return group_to_text(names, who.id);
    case Kind::kUserText:
    case Kind::kGroupText:
      return who.text;
  }
  return {};
}

std::optional<core::AclWho> read_who(std::string_view text, bool group, const IdNames& names) {
  for (const auto& [special, kind] : kSpecial) {
    if (text == special) return core::AclWho{.kind = kind};
  }
  const auto known = group ? group_from_text(names, text) : user_from_text(names, text);
  if (known) return group ? core::AclWho::group_of(*known) : core::AclWho::user(*known);
  if (!core::may_be_identity(text)) return std::nullopt;
  return core::AclWho{.kind = group ? Kind::kGroupText : Kind::kUserText, .text = std::string(text)};
}

}  // namespace

void put_acl(rpc::XdrWriter& out, AclForm form, const core::Acl& acl, const IdNames& names) {
  if (form == AclForm::kDacl) out.u32(acl.flags);
  out.u32(static_cast<std::uint32_t>(acl.entries.size()));
  for (const core::AclEntry& entry : acl.entries) {
    const bool group = entry.who.kind == Kind::kGid || entry.who.kind == Kind::kGroupText;
    std::uint32_t flags = entry.flags | (group ? kIdentifierGroup : 0);
    if (form == AclForm::kAcl) flags &= ~std::uint32_t{core::kAceInherited};
    out.u32(entry.deny ? kDeny : kAllow);
    out.u32(flags);
    out.u32(entry.rights);
    out.string(who_text(entry.who, names));
  }
}

DecodedAcl read_acl(rpc::XdrReader& in, AclForm form, const IdNames& names) {
  DecodedAcl decoded;
  const auto refuse = [&](Nfs4Status why) {
    if (decoded.status == Nfs4Status::kOk) decoded.status = why;
  };
  if (form == AclForm::kDacl) {
    const std::uint32_t flags = in.u32();
    if ((flags & ~core::kAclFlagsKnown) != 0) refuse(Nfs4Status::kInval);
    decoded.acl.flags = static_cast<std::uint8_t>(flags & core::kAclFlagsKnown);
  }
  const std::uint32_t count = in.u32();
  if (count > core::kAclEntriesMax) refuse(Nfs4Status::kNoSpc);
  std::size_t bytes = kEntryBytes;
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    const std::uint32_t type = in.u32();
    std::uint32_t flags = in.u32();
    const std::uint32_t rights = in.u32();
    const std::string_view text = in.string(kIdNameBytesMax);
    if (!in.ok()) break;
    if (type == kAudit || type == kAlarm) refuse(Nfs4Status::kAttrNotSupp);
    const bool group = (flags & kIdentifierGroup) != 0;
    flags &= ~kIdentifierGroup;
    if (form == AclForm::kAcl) flags &= ~std::uint32_t{core::kAceInherited};
    // Among the unknown: the flags of AUDIT and ALARM.
    if (type > kAlarm || (flags & ~std::uint32_t{core::kAceFlagsKnown}) != 0 || (rights & ~core::kAllRights) != 0) {
      refuse(Nfs4Status::kInval);
    }
    auto who = read_who(text, group, names);
    if (!who) refuse(Nfs4Status::kBadOwner);
    bytes += kEntryBytes + text.size();
    if (bytes > core::kAclBytesMax) refuse(Nfs4Status::kNoSpc);
    if (decoded.status != Nfs4Status::kOk) continue;
    decoded.acl.entries.push_back(
        {.deny = type == kDeny, .flags = static_cast<std::uint8_t>(flags), .rights = rights, .who = std::move(*who)});
  }
  return decoded;
}

}  // namespace stoa::nfs4
