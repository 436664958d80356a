// Rules for the fields of registry records. Each check answers kInvalid with a sentence for people.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "core/api/registry.h"

namespace stoa::core {

inline constexpr std::size_t kExportsMax = 10'000;
inline constexpr std::size_t kUsersMax = 100'000;
inline constexpr std::size_t kGroupsMax = 100'000;
inline constexpr std::size_t kQosClassesMax = 100'000;
inline constexpr std::size_t kTokensMax = 1000;
inline constexpr std::size_t kAuditPoliciesMax = 10'000;
inline constexpr std::uint64_t kQosRateMax = std::uint64_t{1} << 50;  // of anything a second
inline constexpr std::chrono::hours kQosBurstMax{1};
inline constexpr std::uint32_t kQosWeightMax = 10'000;
inline constexpr std::size_t kRecyclePoliciesMax = 100'000;
inline constexpr std::uint32_t kRecycleDaysMax = 36'500;
inline constexpr std::size_t kUserNameBytesMax = 64;  // and of groups and tokens
inline constexpr std::size_t kPrincipalBytesMax = 256;
inline constexpr std::size_t kKeysPerUserMax = 16;
inline constexpr std::size_t kGroupsPerUserMax = 1024;
inline constexpr std::size_t kClientRulesMax = 256;

// The rules of S3 general purpose bucket names.
Status check_bucket_name(std::string_view name);
Status check_export(const Export& wanted);
Status check_user(const User& user);
Status check_group(const Group& group);
Status check_qos_class(const QosRule& rule);
Status check_recycle(const RecyclePolicy& policy);
Status check_token(const Token& token);

}  // namespace stoa::core
