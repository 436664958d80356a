#include "frontends/native/server/op/posix_acl_value.h"

#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>

#include <algorithm>

#include "frontends/native/protocol/record.h"

namespace stoa::native {
namespace {

constexpr std::size_t kEntryBytes = sizeof(posix_acl_xattr_entry);
constexpr U32 kNoId = ACL_UNDEFINED_ID;

struct ValueEntry {
  U16 tag = 0, bits = 0;
  U32 id = 0;
};

template <class Number>
Number number_at(std::string_view value, std::size_t at) {
  return load<Number>(reinterpret_cast<const std::byte*>(value.data()) + at);
}

template <class Number>
void append_number(std::string& value, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) value.push_back(static_cast<char>(number >> 8 * i & 0xff));
}

void append_entry(std::string& value, U16 tag, std::uint32_t bits, U32 id = kNoId) {
  append_number(value, tag);
  append_number(value, static_cast<U16>(bits));
  append_number(value, id);
}

// Ids are looked up by whoever reads them, so their order means nothing.
Status sort_by_id(std::vector<core::PosixAclEntry>& entries) {
  std::ranges::sort(entries, {}, &core::PosixAclEntry::id);
  const bool twice = std::ranges::adjacent_find(entries, {}, &core::PosixAclEntry::id) != entries.end();
  return twice ? fail(Errc::kInvalid, "an id twice") : Status{};
}

}  // namespace

std::optional<PosixAclKind> posix_acl_kind(std::string_view name) {
  if (name == kPosixAclAccess) return PosixAclKind::kAccess;
  if (name == kPosixAclDefault) return PosixAclKind::kDefault;
  return std::nullopt;
}

Result<std::optional<core::PosixAcl>> parse_posix_acl(std::string_view value) {
  if (value.empty()) return std::nullopt;
  if (value.size() < sizeof(posix_acl_xattr_header)) return fail(Errc::kInvalid, "no header");
  if (number_at<U32>(value, 0) != POSIX_ACL_XATTR_VERSION) return fail(Errc::kNotSupported, "version");
  value.remove_prefix(sizeof(posix_acl_xattr_header));
  if (value.size() % kEntryBytes != 0) return fail(Errc::kInvalid, "part of an entry");
  if (value.empty()) return std::nullopt;
  core::PosixAcl acl;
  U16 last = 0;  // tags are numbered in their order
  U16 seen = 0;
  for (std::size_t at = 0; at < value.size(); at += kEntryBytes) {
    const ValueEntry entry{number_at<U16>(value, at), number_at<U16>(value, at + 2), number_at<U32>(value, at + 4)};
    const bool named = entry.tag == ACL_USER || entry.tag == ACL_GROUP;
    if (entry.bits > (ACL_READ | ACL_WRITE | ACL_EXECUTE)) return fail(Errc::kInvalid, "unknown bits");
    if (entry.tag < last || (entry.tag == last && !named)) return fail(Errc::kInvalid, "order");
    if (named && entry.id == kNoId) return fail(Errc::kInvalid, "no id");
    last = entry.tag;
    seen |= entry.tag;
    switch (entry.tag) {
      case ACL_USER_OBJ:
        acl.owner = entry.bits;
        break;
      case ACL_USER:
        acl.users.push_back({entry.id, entry.bits});
        break;
      case ACL_GROUP_OBJ:
        acl.group = entry.bits;
        break;
      case ACL_GROUP:
        acl.groups.push_back({entry.id, entry.bits});
        break;
      case ACL_MASK:
        acl.mask = entry.bits;
        break;
      case ACL_OTHER:
        acl.other = entry.bits;
        break;
      default:
        return fail(Errc::kInvalid, "unknown tag");
    }
  }
  constexpr U16 kNeeded = ACL_USER_OBJ | ACL_GROUP_OBJ | ACL_OTHER;
  if ((seen & kNeeded) != kNeeded) return fail(Errc::kInvalid, "an entry is missing");
  STOA_CHECK_OK(sort_by_id(acl.users));
  STOA_CHECK_OK(sort_by_id(acl.groups));
  STOA_CHECK_OK(core::check_posix_acl(acl));
  return acl;
}

std::string print_posix_acl(const core::PosixAcl& acl) {
  std::string value;
  append_number<U32>(value, POSIX_ACL_XATTR_VERSION);
  append_entry(value, ACL_USER_OBJ, acl.owner);
  for (const auto& [id, bits] : acl.users) append_entry(value, ACL_USER, bits, id);
  append_entry(value, ACL_GROUP_OBJ, acl.group);
  for (const auto& [id, bits] : acl.groups) append_entry(value, ACL_GROUP, bits, id);
  if (acl.mask) append_entry(value, ACL_MASK, *acl.mask);
  append_entry(value, ACL_OTHER, acl.other);
  return value;
}

}  // namespace stoa::native
