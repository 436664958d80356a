#include "frontends/nfs/v4/id_names.h"

#include <algorithm>
#include <charconv>

namespace stoa::nfs4 {
namespace {

std::string at_domain(std::string_view name, std::string_view domain) {
  return std::string(name).append("@").append(domain);
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t id = 0;
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return id;
}

// The name in front of our own domain; nothing when it is another's. Names of domains have no case (RFC 8881 14.3).
std::optional<std::string_view> name_in_domain(std::string_view text, std::string_view domain) {
  const std::size_t at = text.rfind('@');
  if (at == text.npos) return std::nullopt;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (!std::ranges::equal(text.substr(at + 1), domain, {}, lower, lower)) return std::nullopt;
  return text.substr(0, at);
}

}  // namespace

IdNames id_names(const Compound& c) {
  return {c.access.snapshot(), c.access.rules().id_domain, !c.call.header.credential.principal.empty()};
}

std::string user_to_text(const IdNames& names, std::uint32_t uid) {
  const core::User* user = names.show_names ? names.registry.find_user_by_uid(uid) : nullptr;
  return user != nullptr ? at_domain(user->name, names.domain) : std::to_string(uid);
}

std::string group_to_text(const IdNames& names, std::uint32_t gid) {
  const core::Group* group = names.show_names ? names.registry.find_group_by_gid(gid) : nullptr;
  return group != nullptr ? at_domain(group->name, names.domain) : std::to_string(gid);
}

std::optional<std::uint32_t> user_from_text(const IdNames& names, std::string_view text) {
  if (const auto number = parse_number(text)) return number;
  const auto name = name_in_domain(text, names.domain);
  const core::User* user = name ? names.registry.find_user(*name) : nullptr;
  return user != nullptr ? std::optional(user->uid) : std::nullopt;
}

std::optional<std::uint32_t> group_from_text(const IdNames& names, std::string_view text) {
  if (const auto number = parse_number(text)) return number;
  const auto name = name_in_domain(text, names.domain);
  const core::Group* group = name ? names.registry.find_group(*name) : nullptr;
  return group != nullptr ? std::optional(group->gid) : std::nullopt;
}

}  // namespace stoa::nfs4
