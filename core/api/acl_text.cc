#include "core/api/acl_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace stoa::core {
namespace {

using Kind = AclWho::Kind;

template <class Bits>
struct Letter {
  char letter;
  Bits bits;
};
constexpr std::array<Letter<std::uint32_t>, 16> kRights{{{'r', kRightReadData},
                                                         {'w', kRightWriteData},
                                                         {'a', kRightAppendData},
                                                         {'D', kRightDeleteChild},
                                                         {'d', kRightDelete},
                                                         {'x', kRightExecute},
                                                         {'t', kRightReadAttributes},
                                                         {'T', kRightWriteAttributes},
                                                         {'n', kRightReadXattrs},
                                                         {'N', kRightWriteXattrs},
                                                         {'c', kRightReadAcl},
                                                         {'C', kRightWriteAcl},
                                                         {'o', kRightWriteOwner},
                                                         {'y', kRightSynchronize},
                                                         {'e', kRightWriteRetention},
                                                         {'E', kRightWriteRetentionHold}}};
constexpr std::array<Letter<std::uint8_t>, 5> kFlags{{{'f', kAceFileInherit},
                                                      {'d', kAceDirectoryInherit},
                                                      {'n', kAceNoPropagate},
                                                      {'i', kAceInheritOnly},
                                                      {'I', kAceInherited}}};
constexpr char kGroupLetter = 'g';
constexpr std::array<std::string_view, 3> kClasses{"OWNER@", "GROUP@", "EVERYONE@"};
constexpr std::array<std::string_view, 3> kListFlags{"auto_inherit", "protected", "defaulted"};
constexpr std::array<std::string_view, 4> kPolicies{"keep", "mask", "replace", "refuse"};

template <class Bits, std::size_t N>
std::optional<Bits> bits_of(char letter, const std::array<Letter<Bits>, N>& letters) {
  const auto found = std::ranges::find(letters, letter, &Letter<Bits>::letter);
  return found != letters.end() ? std::optional(found->bits) : std::nullopt;
}
template <class Bits, std::size_t N>
void append_letters(std::string& out, Bits bits, const std::array<Letter<Bits>, N>& letters) {
  for (const auto& known : letters) {
    if ((bits & known.bits) != 0) out += known.letter;
  }
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(id) : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

class Parser {
 public:
  explicit Parser(const FindIdentity& find) : find_(find) {}

  Result<AclText> parse(std::string_view text) {
    for (const std::string_view whole : split(text, '\n')) {
      ++line_;
      const std::string_view line = whole.ends_with('\r') ? whole.substr(0, whole.size() - 1) : whole;
      if (line.empty() || line.front() == '#') continue;
      const auto parts = split(line, ':');
      if (parts.size() == 2 && parts[0] == "flags") {
        STOA_CHECK_OK(parse_list_flags(parts[1]));
      } else if (parts.size() == 2 && parts[0] == "chmod") {
        STOA_CHECK_OK(parse_policy(parts[1]));
      } else if (parts.size() != 4) {
        return fail(Cause::kAclLineForm, line_, line);
      } else {
        STOA_CHECK_OK(parse_entry(parts));
      }
    }
    return std::move(result_);
  }

 private:
  Status parse_list_flags(std::string_view text) {
    if (std::exchange(had_flags_, true)) return fail(Cause::kAclLineTwice, line_, "flags:");
    for (const std::string_view word : split(text, ',')) {
      const auto found = std::ranges::find(kListFlags, word);
      if (found == kListFlags.end()) return fail(Cause::kAclListFlag, line_, word);
      result_.acl.flags |= static_cast<std::uint8_t>(1u << (found - kListFlags.begin()));
    }
    return {};
  }

  Status parse_policy(std::string_view text) {
    if (result_.chmod) return fail(Cause::kAclLineTwice, line_, "chmod:");
    result_.chmod = parse_chmod_policy(text);
    if (!result_.chmod) return fail(Cause::kAclPolicy, line_, text);
    result_.acl.chmod = *result_.chmod;
    return {};
  }

  Status parse_entry(const std::vector<std::string_view>& parts) {
    if (result_.acl.entries.size() == kAclEntriesMax) return fail(Cause::kAclEntries, line_, kAclEntriesMax);
    AclEntry entry;
    if (parts[0] != "A" && parts[0] != "D") return fail(Cause::kAclType, line_, parts[0]);
    entry.deny = parts[0] == "D";
    bool group = false;
    for (const char letter : parts[1]) {
      const auto flag = bits_of(letter, kFlags);
      if (!flag && letter != kGroupLetter) return fail(Cause::kAclEntryFlag, line_, std::string_view(&letter, 1));
      group |= !flag;
      entry.flags |= flag.value_or(0);
    }
    STOA_TRY(who, parse_who(parts[2], group));
    entry.who = std::move(who);
    for (const char letter : parts[3]) {
      const auto right = bits_of(letter, kRights);
      if (!right) return fail(Cause::kAclRight, line_, std::string_view(&letter, 1));
      entry.rights |= *right;
    }
    result_.acl.entries.push_back(std::move(entry));
    return {};
  }

  Result<AclWho> parse_who(std::string_view text, bool group) {
    const auto found = std::ranges::find(kClasses, text);
    if (found != kClasses.end()) return AclWho{.kind = static_cast<Kind>(found - kClasses.begin())};
    std::optional<std::uint32_t> id = parse_number(text);
    if (!id) id = find_(text, group);
    if (id) return group ? AclWho::group_of(*id) : AclWho::user(*id);
    if (may_be_identity(text))
      return AclWho{.kind = group ? Kind::kGroupText : Kind::kUserText, .text = std::string(text)};
    return fail(Cause::kAclWho, line_, text, group ? "group" : "user");
  }

  const FindIdentity& find_;
  AclText result_;
  std::size_t line_ = 0;
  bool had_flags_ = false;
};

}  // namespace

Result<AclText> parse_acl(std::string_view text, const FindIdentity& find) {
  return Parser(find).parse(text);
}

std::string print_acl(const Acl& acl) {
  std::string out;
  if (acl.chmod != ChmodPolicy::kKeep) out.append("chmod:").append(to_string(acl.chmod)) += '\n';
  if (acl.flags != 0) {
    char separator = ':';
    out += "flags";
    for (std::size_t i = 0; i < kListFlags.size(); ++i) {
      if ((acl.flags >> i & 1) == 0) continue;
      (out += separator).append(kListFlags[i]);
      separator = ',';
    }
    out += '\n';
  }
  for (const AclEntry& entry : acl.entries) {
    out += entry.deny ? "D:" : "A:";
    append_letters(out, entry.flags, kFlags);
    if (entry.who.kind == Kind::kGid || entry.who.kind == Kind::kGroupText) out += kGroupLetter;
    out += ':';
    if (entry.who.has_text()) {
      out += entry.who.text;
    } else if (entry.who.is_class()) {
      out += kClasses[static_cast<std::size_t>(entry.who.kind)];
    } else {
      out += std::to_string(entry.who.id);
    }
    out += ':';
    append_letters(out, entry.rights, kRights);
    out += '\n';
  }
  return out;
}

std::string_view to_string(ChmodPolicy policy) {
  return kPolicies[static_cast<std::size_t>(policy)];
}

std::optional<ChmodPolicy> parse_chmod_policy(std::string_view text) {
  const auto found = std::ranges::find(kPolicies, text);
  if (found == kPolicies.end()) return std::nullopt;
  return static_cast<ChmodPolicy>(found - kPolicies.begin());
}

bool may_be_identity(std::string_view text) {
  if (text.size() > kAclIdentityBytesMax || !is_utf8(text)) return false;
  const auto odd = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == ':' || c == '\x7f'; };
  if (std::ranges::any_of(text, odd)) return false;
  // Empty behind the '@': a special identifier (RFC 8881 6.2.1.5), unknown here.
  const std::size_t at = text.find('@');
  if (at != text.npos) return at > 0 && at + 1 < text.size();
  return text.size() > 4 && text.starts_with("S-1-");
}

}  // namespace stoa::core
