#include "core/registry/record.h"

#include <cstdio>

#include "core/kv/codec.h"
#include "core/kv/keys.h"
#include "core/registry/name_rules.h"

namespace stoa::core {
namespace {

constexpr std::uint8_t kVersion = 1;

// Persistent: never renumber.
enum ExportFlags : std::uint8_t { kFlagNfs = 1, kFlagS3 = 2, kFlagReadOnly = 4, kFlagNative = 8, kFlagNativeTls = 16 };

Result<Opened> open_body(std::string_view value, std::string_view what) {
  const Opened opened = decode_record(value, kVersion);
  if (opened.version != 0) return opened;
  const bool newer = value.size() >= 2 && static_cast<std::uint8_t>(value[1]) > kVersion;
  return fail(newer ? Cause::kRecordNewer : Cause::kRecordDamaged, what);
}

}  // namespace

std::string export_key(ExportId id) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(id));
  return std::string(keys::kExportPrefix) + text;
}

std::string user_key(std::string_view name) {
  return std::string(keys::kUserPrefix).append(name);
}

std::string group_key(std::string_view name) {
  return std::string(keys::kGroupPrefix).append(name);
}

std::string token_key(std::string_view name) {
  return std::string(keys::kTokenPrefix).append(name);
}

std::string token_use_key(std::string_view name) {
  return std::string(keys::kTokenUsePrefix).append(name);
}

std::string qos_key(const QosTarget& target) {
  char text[40];
  int used = std::snprintf(text, sizeof text, "%u/", static_cast<unsigned>(target.kind));
  std::string key(keys::kQosPrefix);
  key.append(text, static_cast<std::size_t>(used));
  if (target.kind != QosKind::kClients) {
    used = std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(target.id));
    return key.append(text, static_cast<std::size_t>(used));
  }
  for (const std::uint8_t byte : target.network.address) {
    used = std::snprintf(text, sizeof text, "%02x", byte);
    key.append(text, static_cast<std::size_t>(used));
  }
  used = std::snprintf(text, sizeof text, "/%02x", target.network.prefix_bits);
  return key.append(text, static_cast<std::size_t>(used));
}

std::string recycle_key(FileId dir) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(dir));
  return std::string(keys::kRecyclePrefix) + text;
}

std::string encode_export(const Export& record) {
  Encoder out;
  const std::uint8_t flags = static_cast<std::uint8_t>(
      (record.nfs ? kFlagNfs : 0) | (record.s3 ? kFlagS3 : 0) | (record.read_only ? kFlagReadOnly : 0) |
      (record.native ? kFlagNative : 0) | (record.native_tls_required ? kFlagNativeTls : 0));
  out.put(record.id).put_string(record.name).put(record.root).put_string(record.path).put(flags);
  out.put_string(record.owner).put(record.created.ns).put_varint(record.clients.size());
  for (const ClientRule& rule : record.clients) {
    for (const std::uint8_t byte : rule.network.address) out.put(byte);
    out.put(rule.network.prefix_bits).put(static_cast<std::uint8_t>(rule.read_only)).put(rule.squash);
    out.put(rule.anonymous_uid).put(rule.anonymous_gid);
  }
  out.put_varint(record.security.size());
  for (const SecurityFlavor flavor : record.security) out.put(flavor);
  return encode_record(kVersion, kVersion, out.bytes());
}

Result<Export> decode_export(std::string_view value) {
  STOA_TRY(opened, open_body(value, "export"));
  Decoder in(opened.body);
  Export record;
  record.id = in.get<ExportId>();
  record.name = in.get_string();
  record.root = in.get<FileId>();
  record.path = in.get_string();
  const auto flags = in.get<std::uint8_t>();
  record.nfs = (flags & kFlagNfs) != 0;
  record.s3 = (flags & kFlagS3) != 0;
  record.native = (flags & kFlagNative) != 0;
  record.native_tls_required = (flags & kFlagNativeTls) != 0;
  record.read_only = (flags & kFlagReadOnly) != 0;
  record.owner = in.get_string();
  record.created.ns = in.get<std::int64_t>();
  const std::uint64_t rules = in.get_varint();
  for (std::uint64_t i = 0; i < rules && in.ok(); ++i) {
    ClientRule rule;
    for (std::uint8_t& byte : rule.network.address) byte = in.get<std::uint8_t>();
    rule.network.prefix_bits = in.get<std::uint8_t>();
    rule.read_only = in.get<std::uint8_t>() != 0;
    rule.squash = in.get<Squash>();
    rule.anonymous_uid = in.get<std::uint32_t>();
    rule.anonymous_gid = in.get<std::uint32_t>();
    if (rule.network.prefix_bits > 128 || rule.squash > Squash::kAll) return fail(Cause::kRecordDamaged, "export");
    record.clients.push_back(rule);
  }
  const std::uint64_t flavors = in.get_varint();
  for (std::uint64_t i = 0; i < flavors && in.ok(); ++i) {
    record.security.push_back(in.get<SecurityFlavor>());
    if (record.security.back() < SecurityFlavor::kSys || record.security.back() > SecurityFlavor::kKrb5p)
      return fail(Cause::kRecordDamaged, "export");
  }
  if (!in.ok()) return fail(Cause::kRecordDamaged, "export");
  return record;
}

std::string encode_user(const User& record) {
  Encoder out;
  out.put_string(record.name).put(record.uid).put(record.gid).put_varint(record.groups.size());
  for (const std::uint32_t group : record.groups) out.put(group);
  out.put_varint(record.keys.size());
  for (const S3Key& key : record.keys) {
    out.put_string(key.access_key).put_string(key.secret_key).put(static_cast<std::uint8_t>(key.enabled));
  }
  out.put_string(record.principal).put_string(record.sid);
  return encode_record(kVersion, kVersion, out.bytes());
}

Result<User> decode_user(std::string_view value) {
  STOA_TRY(opened, open_body(value, "user"));
  Decoder in(opened.body);
  User record;
  record.name = in.get_string();
  record.uid = in.get<std::uint32_t>();
  record.gid = in.get<std::uint32_t>();
  const std::uint64_t groups = in.get_varint();
  for (std::uint64_t i = 0; i < groups && in.ok(); ++i) record.groups.push_back(in.get<std::uint32_t>());
  const std::uint64_t keys = in.get_varint();
  for (std::uint64_t i = 0; i < keys && in.ok(); ++i) {
    S3Key key;
    key.access_key = in.get_string();
    key.secret_key = in.get_string();
    key.enabled = in.get<std::uint8_t>() != 0;
    record.keys.push_back(std::move(key));
  }
  record.principal = in.get_string();
  record.sid = in.get_string();
  if (!in.ok()) return fail(Cause::kRecordDamaged, "user");
  return record;
}

std::string encode_group(const Group& record) {
  Encoder out;
  out.put_string(record.name).put(record.gid).put_string(record.sid);
  return encode_record(kVersion, kVersion, out.bytes());
}

Result<Group> decode_group(std::string_view value) {
  STOA_TRY(opened, open_body(value, "group"));
  Decoder in(opened.body);
  Group record;
  record.name = in.get_string();
  record.gid = in.get<std::uint32_t>();
  record.sid = in.get_string();
  if (!in.ok()) return fail(Cause::kRecordDamaged, "group");
  return record;
}

// Amounts: 0 is none.
std::string encode_qos_class(const QosRule& rule) {
  Encoder out;
  out.put(rule.target.kind).put(rule.target.id);
  for (const std::uint8_t byte : rule.target.network.address) out.put(byte);
  out.put(rule.target.network.prefix_bits);
  for (const auto& amount : rule.limits.limit) out.put_varint(amount.value_or(0));
  for (const auto& amount : rule.limits.guarantee) out.put_varint(amount.value_or(0));
  out.put_varint(static_cast<std::uint64_t>(rule.limits.burst.count())).put_varint(rule.limits.weight);
  return encode_record(kVersion, kVersion, out.bytes());
}

Result<QosRule> decode_qos_class(std::string_view value) {
  STOA_TRY(opened, open_body(value, "qos_class"));
  Decoder in(opened.body);
  QosRule rule;
  rule.target.kind = in.get<QosKind>();
  rule.target.id = in.get<std::uint64_t>();
  for (std::uint8_t& byte : rule.target.network.address) byte = in.get<std::uint8_t>();
  rule.target.network.prefix_bits = in.get<std::uint8_t>();
  for (auto* amounts : {&rule.limits.limit, &rule.limits.guarantee}) {
    for (auto& amount : *amounts) {
      if (const std::uint64_t stored = in.get_varint(); stored != 0) amount = stored;
    }
  }
  rule.limits.burst = std::chrono::milliseconds(in.get_varint());
  rule.limits.weight = static_cast<std::uint32_t>(in.get_varint());
  if (!in.ok() || !check_qos_class(rule)) return fail(Cause::kRecordDamaged, "qos_class");
  return rule;
}

std::string encode_recycle(const RecyclePolicy& policy) {
  Encoder out;
  out.put(policy.dir).put(static_cast<std::uint8_t>(policy.enabled)).put(policy.days);
  out.put(static_cast<std::uint8_t>(policy.bytes_max.has_value())).put_varint(policy.bytes_max.value_or(0));
  out.put(policy.restore).put(static_cast<std::uint8_t>(policy.counted));
  return encode_record(kVersion, kVersion, out.bytes());
}

Result<RecyclePolicy> decode_recycle(std::string_view value) {
  STOA_TRY(opened, open_body(value, "recycle policy"));
  Decoder in(opened.body);
  RecyclePolicy policy;
  policy.dir = in.get<FileId>();
  policy.enabled = in.get<std::uint8_t>() != 0;
  policy.days = in.get<std::uint32_t>();
  const bool limited = in.get<std::uint8_t>() != 0;
  const std::uint64_t bytes_max = in.get_varint();
  if (limited) policy.bytes_max = bytes_max;
  policy.restore = in.get<RestoreRight>();
  policy.counted = in.get<std::uint8_t>() != 0;
  if (!in.ok() || !check_recycle(policy)) return fail(Cause::kRecordDamaged, "recycle policy");
  return policy;
}

std::string encode_token(const Token& token) {
  Encoder out;
  out.put_string(token.name).put(token.role).put(token.directory);
  for (const std::uint8_t byte : token.hash) out.put(byte);
  out.put(token.created.ns).put(token.expires.ns);
  return encode_record(kVersion, kVersion, out.bytes());
}

Result<Token> decode_token(std::string_view value) {
  STOA_TRY(opened, open_body(value, "token"));
  Decoder in(opened.body);
  Token token;
  token.name = in.get_string();
  token.role = in.get<Role>();
  token.directory = in.get<FileId>();
  for (std::uint8_t& byte : token.hash) byte = in.get<std::uint8_t>();
  token.created.ns = in.get<std::int64_t>();
  token.expires.ns = in.get<std::int64_t>();
  if (!in.ok() || !check_token(token)) return fail(Cause::kRecordDamaged, "token");
  return token;
}

std::string encode_token_use(Timestamp last) {
  Encoder out;
  out.put(last.ns);
  return encode_record(kVersion, kVersion, out.bytes());
}

Result<Timestamp> decode_token_use(std::string_view value) {
  STOA_TRY(opened, open_body(value, "token use"));
  Decoder in(opened.body);
  const Timestamp last{in.get<std::int64_t>()};
  if (!in.ok()) return fail(Cause::kRecordDamaged, "token use");
  return last;
}

std::string audit_key(FileId directory) {
  return std::string(keys::kAuditPrefix) + keys::id_key(directory);
}

std::string encode_audit(const AuditPolicy& policy) {
  Encoder out;
  out.put(policy.directory).put(policy.classes);
  return encode_record(kVersion, kVersion, out.bytes());
}

Result<AuditPolicy> decode_audit(std::string_view value) {
  STOA_TRY(opened, open_body(value, "audit policy"));
  Decoder in(opened.body);
  AuditPolicy policy;
  policy.directory = in.get<FileId>();
  policy.classes = in.get<AuditClasses>();
  if (!in.ok() || policy.directory == kNoFile || (policy.classes & ~kAllAuditClasses) != 0)
    return fail(Cause::kRecordDamaged, "audit policy");
  return policy;
}

std::string encode_next_export(std::uint32_t id) {
  Encoder out;
  out.put(id);
  return encode_record(kVersion, kVersion, out.bytes());
}

std::string encode_sid_domain(const SidDomain& domain) {
  Encoder out;
  for (const std::uint32_t part : domain) out.put(part);
  return encode_record(kVersion, kVersion, out.bytes());
}

Result<SidDomain> decode_sid_domain(std::string_view value) {
  STOA_TRY(opened, open_body(value, "SID domain"));
  Decoder in(opened.body);
  SidDomain domain{};
  for (std::uint32_t& part : domain) part = in.get<std::uint32_t>();
  if (!in.ok()) return fail(Cause::kRecordDamaged, "SID domain");
  return domain;
}

Result<std::uint32_t> decode_next_export(std::string_view value) {
  STOA_TRY(opened, open_body(value, "export counter"));
  Decoder in(opened.body);
  const auto id = in.get<std::uint32_t>();
  if (!in.ok()) return fail(Cause::kRecordDamaged, "export counter");
  return id;
}

}  // namespace stoa::core
