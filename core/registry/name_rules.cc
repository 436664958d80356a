#include "core/registry/name_rules.h"

#include <algorithm>
#include <set>
#include <string>

#include "core/registry/sid.h"

namespace stoa::core {
namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

std::unexpected<Error> refuse(std::string_view what, std::string_view name, std::string_view why) {
  return fail(Errc::kInvalid, std::string(what) + " '" + std::string(name) + "': " + std::string(why));
}

bool looks_like_ipv4(std::string_view name) {
  int dots = 0;
  for (const char c : name) {
    if (c == '.') {
      ++dots;
    } else if (!is_digit(c)) {
      return false;
    }
  }
  return dots == 3;
}

Status check_posix_export_name(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax) return refuse("export name", name, "must have 1 to 255 bytes");
  if (name == "." || name == "..") return refuse("export name", name, "'.' and '..' are taken");
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '/' || u < 0x20 || u == 0x7f)
      return refuse("export name", name, "must not hold '/' or control characters");
  }
  return {};
}

Status check_account_name(std::string_view what, std::string_view name) {
  const auto legal = [](char c) {
    return is_lower(c) || is_upper(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '@' || c == '$';
  };
  if (name.empty() || name.size() > kUserNameBytesMax) return refuse(what, name, "must have 1 to 64 characters");
  if (!std::ranges::all_of(name, legal) || name.front() == '-' || name.front() == '.') {
    return refuse(what, name, "may hold letters, digits and _-.@$, and must not begin with '-' or '.'");
  }
  return {};
}

Status check_principal(const User& user) {
  const std::string& text = user.principal;
  const std::size_t at = text.rfind('@');
  const auto printable = [](char c) { return c > ' ' && c != 0x7f; };
  if (text.size() > kPrincipalBytesMax || at == 0 || at == text.npos || at + 1 == text.size() ||
      !std::ranges::all_of(text, printable)) {
    return refuse("user", user.name, "a principal is written as name@REALM");
  }
  return {};
}

Status check_key(const User& user, const S3Key& key) {
  const auto legal_access = [](char c) {
    return is_lower(c) || is_upper(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
  };
  if (key.access_key.size() < 3 || key.access_key.size() > 128 || !std::ranges::all_of(key.access_key, legal_access)) {
    return refuse("user", user.name, "an access key has 3 to 128 letters, digits, '_', '-' and '.'");
  }
  const auto printable = [](char c) { return c > ' ' && c < 0x7f; };
  if (key.secret_key.size() < 8 || key.secret_key.size() > 128 || !std::ranges::all_of(key.secret_key, printable)) {
    return refuse("user", user.name, "a secret key has 8 to 128 printable characters and no blank");
  }
  return {};
}

}  // namespace

Status check_bucket_name(std::string_view name) {
  if (name.size() < 3 || name.size() > 63) return refuse("bucket name", name, "must have 3 to 63 characters");
  for (const char c : name) {
    if (!is_lower(c) && !is_digit(c) && c != '.' && c != '-') {
      return refuse("bucket name", name, "may hold lower-case letters, digits, '.' and '-' only");
    }
  }
  const auto edge = [](char c) { return is_lower(c) || is_digit(c); };
  if (!edge(name.front()) || !edge(name.back())) {
    return refuse("bucket name", name, "must begin and end with a letter or digit");
  }
  if (name.find("..") != std::string_view::npos) return refuse("bucket name", name, "must not hold two dots in a row");
  if (looks_like_ipv4(name)) return refuse("bucket name", name, "must not look like an IPv4 address");
  if (name.starts_with("xn--") || name.ends_with("-s3alias")) {
    return refuse("bucket name", name, "the prefix 'xn--' and the suffix '-s3alias' are reserved");
  }
  return {};
}

Status check_export(const Export& wanted) {
  if (wanted.s3) {
    STOA_CHECK_OK(check_bucket_name(wanted.name));
  } else {
    STOA_CHECK_OK(check_posix_export_name(wanted.name));
  }
  if (wanted.root == kNoFile) return refuse("export", wanted.name, "has no directory");
  if (wanted.clients.size() > kClientRulesMax) return refuse("export", wanted.name, "has more than 256 client rules");
  if (std::set<SecurityFlavor>(wanted.security.begin(), wanted.security.end()).size() != wanted.security.size()) {
    return refuse("export", wanted.name, "names a security flavor twice");
  }
  return {};
}

Status check_user(const User& user) {
  STOA_CHECK_OK(check_account_name("user name", user.name));
  if (!user.principal.empty()) STOA_CHECK_OK(check_principal(user));
  if (!user.sid.empty()) STOA_CHECK_OK(check_sid(user.sid));
  if (user.groups.size() > kGroupsPerUserMax) return refuse("user", user.name, "has more than 1024 groups");
  if (user.keys.size() > kKeysPerUserMax) return refuse("user", user.name, "has more than 16 keys");
  std::set<std::string_view> seen;
  for (const S3Key& key : user.keys) {
    STOA_CHECK_OK(check_key(user, key));
    if (!seen.insert(key.access_key).second) return refuse("user", user.name, "has the same access key twice");
  }
  return {};
}

Status check_qos_class(const QosRule& rule) {
  const QosTarget& target = rule.target;
  const bool about_nothing =
      target.kind < QosKind::kProtocol || target.kind > QosKind::kBackground || target.network.prefix_bits > 128 ||
      (target.kind == QosKind::kProtocol && target.id > static_cast<std::uint64_t>(Protocol::kNative)) ||
      (target.kind == QosKind::kBackground && target.id != 0) ||
      (target.kind == QosKind::kClients ? target.id != 0 : target.network != Network{});
  if (about_nothing)
    return fail(Errc::kInvalid,
                "a QoS class is about a directory, user, group, client network, protocol, export or background work");
  const auto wrong = [](const std::optional<std::uint64_t>& rate) {
    return rate && (*rate == 0 || *rate > kQosRateMax);
  };
  if (std::ranges::any_of(rule.limits.limit, wrong) || std::ranges::any_of(rule.limits.guarantee, wrong)) {
    return fail(Errc::kInvalid, "limits and guarantees are from 1 to 2^50 a second");
  }
  for (std::size_t i = 0; i < qos::kResources; ++i) {
    const auto& most = rule.limits.limit[i];
    const auto& least = rule.limits.guarantee[i];
    if (most && least && *least > *most)
      return fail(Errc::kInvalid, "a guarantee must not be more than the limit of the same QoS class");
  }
  if (rule.limits.burst < qos::kBurstMin || rule.limits.burst > kQosBurstMax)
    return fail(Errc::kInvalid, "a burst is from 10 ms to 1 h");
  if (rule.limits.weight == 0 || rule.limits.weight > kQosWeightMax)
    return fail(Errc::kInvalid, "a weight is from 1 to 10000");
  return {};
}

Status check_token(const Token& token) {
  STOA_CHECK_OK(check_account_name("token name", token.name));
  if (token.name == kBuiltInToken) return refuse("token name", token.name, "is that of the data folder's own token");
  if (token.role < Role::kOwner || token.role > Role::kAdmin) return refuse("token", token.name, "has no role");
  if ((token.role == Role::kOwner) != (token.directory != kNoFile))
    return refuse("token", token.name, "an owner has a directory, and nobody else has one");
  if (token.expires != Timestamp{} && token.expires <= token.created)
    return refuse("token", token.name, "would have expired already");
  return {};
}

Status check_group(const Group& group) {
  STOA_CHECK_OK(check_account_name("group name", group.name));
  if (!group.sid.empty()) STOA_CHECK_OK(check_sid(group.sid));
  return {};
}

Status check_recycle(const RecyclePolicy& policy) {
  if (policy.dir == kNoFile) return fail(Errc::kInvalid, "a recycle policy is that of a directory");
  if (policy.days > kRecycleDaysMax) return fail(Errc::kInvalid, "a recycle bin keeps at most 36500 days");
  if (policy.restore != RestoreRight::kOwner && policy.restore != RestoreRight::kAdmin)
    return fail(Errc::kInvalid, "who may restore is the owner or an administrator");
  return {};
}

}  // namespace stoa::core
