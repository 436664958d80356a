// The stored form of exports, users, groups, QoS classes, recycle policies and tokens, in family config. Golden bytes:
// tests/core/registry/record_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "core/api/registry.h"
#include "core/registry/sid.h"

namespace stoa::core {

std::string export_key(ExportId id);           // "export/0000002a"
std::string user_key(std::string_view name);   // "user/NAME"
std::string group_key(std::string_view name);  // "group/NAME"
std::string qos_key(
    const QosTarget& target);  // "qos_class/4/0000000000000011", "qos_class/3/" and address and prefix length in hex
std::string recycle_key(FileId dir);               // "recycle/0000000000000011"
std::string token_key(std::string_view name);      // "token/NAME"
std::string token_use_key(std::string_view name);  // "token_use/NAME"
std::string audit_key(FileId directory);           // "audit/" and the id, eight bytes
inline constexpr std::string_view kNextExportKey = "registry/next_export";
inline constexpr std::string_view kSidDomainKey = "registry/sid_domain";

std::string encode_export(const Export& record);
std::string encode_user(const User& record);
std::string encode_group(const Group& record);
std::string encode_qos_class(const QosRule& rule);
std::string encode_recycle(const RecyclePolicy& policy);
std::string encode_token(const Token& token);
std::string encode_token_use(Timestamp last);
std::string encode_audit(const AuditPolicy& policy);
std::string encode_next_export(std::uint32_t id);
std::string encode_sid_domain(const SidDomain& domain);

// kCorrupt: damaged. kNotSupported: written by a newer version that this one cannot read.
Result<Export> decode_export(std::string_view value);
Result<User> decode_user(std::string_view value);
Result<Group> decode_group(std::string_view value);
Result<QosRule> decode_qos_class(std::string_view value);
Result<RecyclePolicy> decode_recycle(std::string_view value);
Result<Token> decode_token(std::string_view value);
Result<Timestamp> decode_token_use(std::string_view value);
Result<AuditPolicy> decode_audit(std::string_view value);
Result<std::uint32_t> decode_next_export(std::string_view value);
Result<SidDomain> decode_sid_domain(std::string_view value);

}  // namespace stoa::core
