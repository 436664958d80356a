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
  if (name.empty() || name.size() > kNameBytesMax) return fail(Cause::kExportNameLength, name);
  if (name == "." || name == "..") return fail(Cause::kExportNameCharacters, name);
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '/' || u < 0x20 || u == 0x7f) return fail(Cause::kExportNameCharacters, name);
  }
  return {};
}

Status check_account_name(std::string_view kind, std::string_view name) {
  const auto legal = [](char c) {
    return is_lower(c) || is_upper(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '@' || c == '$';
  };
  if (name.empty() || name.size() > kUserNameBytesMax) return fail(Cause::kAccountNameLength, kind, name);
  if (!std::ranges::all_of(name, legal) || name.front() == '-' || name.front() == '.') {
    return fail(Cause::kAccountNameCharacters, kind, name);
  }
  return {};
}

Status check_principal(const User& user) {
  const std::string& text = user.principal;
  const std::size_t at = text.rfind('@');
  const auto printable = [](char c) { return c > ' ' && c != 0x7f; };
  if (text.size() > kPrincipalBytesMax || at == 0 || at == text.npos || at + 1 == text.size() ||
      !std::ranges::all_of(text, printable)) {
    return fail(Cause::kPrincipalForm, user.name);
  }
  return {};
}

Status check_key(const User& user, const S3Key& key) {
  const auto legal_access = [](char c) {
    return is_lower(c) || is_upper(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
  };
  if (key.access_key.size() < 3 || key.access_key.size() > 128 || !std::ranges::all_of(key.access_key, legal_access)) {
    return fail(Cause::kAccessKeyForm, user.name);
  }
  const auto printable = [](char c) { return c > ' ' && c < 0x7f; };
  if (key.secret_key.size() < 8 || key.secret_key.size() > 128 || !std::ranges::all_of(key.secret_key, printable)) {
    return fail(Cause::kSecretKeyForm, user.name);
  }
  return {};
}

}  // namespace

Status check_bucket_name(std::string_view name) {
  if (name.size() < 3 || name.size() > 63) return fail(Cause::kBucketNameLength, name);
  for (const char c : name) {
    if (!is_lower(c) && !is_digit(c) && c != '.' && c != '-') {
      return fail(Cause::kBucketNameCharacters, name);
    }
  }
  const auto edge = [](char c) { return is_lower(c) || is_digit(c); };
  if (!edge(name.front()) || !edge(name.back())) {
    return fail(Cause::kBucketNameForm, name);
  }
  if (name.find("..") != std::string_view::npos) return fail(Cause::kBucketNameForm, name);
  if (looks_like_ipv4(name)) return fail(Cause::kBucketNameForm, name);
  if (name.starts_with("xn--") || name.ends_with("-s3alias")) {
    return fail(Cause::kBucketNameReserved, name);
  }
  return {};
}

Status check_export(const Export& wanted) {
  if (wanted.s3) {
    STOA_CHECK_OK(check_bucket_name(wanted.name));
  } else {
    STOA_CHECK_OK(check_posix_export_name(wanted.name));
  }
  if (wanted.root == kNoFile) return fail(Errc::kInvalid, "directory of an export");
  if (wanted.clients.size() > kClientRulesMax) return fail(Cause::kTooManyClientRules, wanted.name, kClientRulesMax);
  if (std::set<SecurityFlavor>(wanted.security.begin(), wanted.security.end()).size() != wanted.security.size()) {
    return fail(Cause::kFlavorTwice, wanted.name);
  }
  return {};
}

Status check_user(const User& user) {
  STOA_CHECK_OK(check_account_name("user", user.name));
  if (!user.principal.empty()) STOA_CHECK_OK(check_principal(user));
  if (!user.sid.empty()) STOA_CHECK_OK(check_sid(user.sid));
  if (user.groups.size() > kGroupsPerUserMax) return fail(Cause::kTooManyGroups, user.name, kGroupsPerUserMax);
  if (user.keys.size() > kKeysPerUserMax) return fail(Cause::kTooManyKeys, user.name, kKeysPerUserMax);
  std::set<std::string_view> seen;
  for (const S3Key& key : user.keys) {
    STOA_CHECK_OK(check_key(user, key));
    if (!seen.insert(key.access_key).second) return fail(Cause::kAccessKeyTwice, user.name);
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
  if (about_nothing) return fail(Errc::kInvalid, "target of a QoS class");
  const auto wrong = [](const std::optional<std::uint64_t>& rate) {
    return rate && (*rate == 0 || *rate > kQosRateMax);
  };
  if (std::ranges::any_of(rule.limits.limit, wrong) || std::ranges::any_of(rule.limits.guarantee, wrong)) {
    return fail(Cause::kRateRange);
  }
  for (std::size_t i = 0; i < qos::kResources; ++i) {
    const auto& most = rule.limits.limit[i];
    const auto& least = rule.limits.guarantee[i];
    if (most && least && *least > *most) return fail(Cause::kGuaranteeAboveLimit);
  }
  if (rule.limits.burst < qos::kBurstMin || rule.limits.burst > kQosBurstMax) return fail(Cause::kBurstRange);
  if (rule.limits.weight == 0 || rule.limits.weight > kQosWeightMax) return fail(Cause::kWeightRange);
  return {};
}

Status check_token(const Token& token) {
  STOA_CHECK_OK(check_account_name("token", token.name));
  if (token.name == kBuiltInToken) return fail(Cause::kTokenNameReserved, token.name);
  if (token.role < Role::kOwner || token.role > Role::kAdmin) return fail(Errc::kInvalid, "role of a token");
  if ((token.role == Role::kOwner) != (token.directory != kNoFile)) return fail(Cause::kTokenDirectory);
  if (token.expires != Timestamp{} && token.expires <= token.created)
    return fail(Cause::kTokenExpiresBefore, token.name);
  return {};
}

Status check_group(const Group& group) {
  STOA_CHECK_OK(check_account_name("group", group.name));
  if (!group.sid.empty()) STOA_CHECK_OK(check_sid(group.sid));
  return {};
}

Status check_recycle(const RecyclePolicy& policy) {
  if (policy.dir == kNoFile) return fail(Errc::kInvalid, "directory of a recycle policy");
  if (policy.days > kRecycleDaysMax) return fail(Cause::kRecycleDays, kRecycleDaysMax);
  if (policy.restore != RestoreRight::kOwner && policy.restore != RestoreRight::kAdmin)
    return fail(Errc::kInvalid, "right to restore");
  return {};
}

}  // namespace stoa::core
