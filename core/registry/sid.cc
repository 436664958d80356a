#include "core/registry/sid.h"

#include <charconv>
#include <limits>
#include <random>

namespace stoa::core {
namespace {

constexpr std::uint64_t kAuthorityMax = (std::uint64_t{1} << 48) - 1;

std::string automatic(const SidDomain& domain, std::uint32_t id, std::uint32_t kind) {
  constexpr std::uint32_t kFirst = 1000;  // those below are NT's own
  const std::uint64_t rid = kFirst + 2 * std::uint64_t{id} + (kind - 1);
  if (rid > std::numeric_limits<std::uint32_t>::max()) {
    return "S-1-22-" + std::to_string(kind) + "-" + std::to_string(id);
  }
  std::string text = "S-1-5-21";
  for (const std::uint32_t part : domain) text.append("-").append(std::to_string(part));
  return text.append("-").append(std::to_string(rid));
}

}  // namespace

SidDomain make_sid_domain() {
  std::random_device random;
  return {random(), random(), random()};
}

Status check_sid(std::string_view text) {
  const auto refuse = [&] { return fail(Cause::kSidForm, text); };
  std::string_view rest = text;
  if (!rest.starts_with("S-1")) return refuse();
  rest.remove_prefix(3);
  std::size_t numbers = 0;
  for (; !rest.empty(); ++numbers) {
    if (rest.front() != '-') return refuse();
    rest.remove_prefix(1);
    const std::string_view digits = rest.substr(0, rest.find('-'));
    rest.remove_prefix(digits.size());
    const std::uint64_t max = numbers == 0 ? kAuthorityMax : std::numeric_limits<std::uint32_t>::max();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool plain = digits.size() == 1 || !digits.starts_with('0');
    if (error != std::errc{} || end != digits.data() + digits.size() || value > max || !plain) return refuse();
  }
  if (numbers < 2 || numbers > 1 + kSidPartsMax) return refuse();
  return {};
}

std::string automatic_user_sid(const SidDomain& domain, std::uint32_t uid) {
  return automatic(domain, uid, 1);
}
std::string automatic_group_sid(const SidDomain& domain, std::uint32_t gid) {
  return automatic(domain, gid, 2);
}

}  // namespace stoa::core
