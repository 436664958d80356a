#include "frontends/admin/views.h"

#include <algorithm>
#include <cstdio>

#include "base/utf8.h"
#include "frontends/admin/finding_sentences.h"

namespace stoa::admin {
namespace {

std::string base64(std::string_view bytes) {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t k) { return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u; };
    const unsigned word = at(0) << 16 | at(1) << 8 | at(2);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kAlphabet[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace

std::string_view to_string(core::FileType type) {
  switch (type) {
    case core::FileType::kRegular:
      return "file";
    case core::FileType::kDirectory:
      return "directory";
    case core::FileType::kSymlink:
      return "symlink";
    case core::FileType::kBlockDevice:
      return "block_device";
    case core::FileType::kCharDevice:
      return "character_device";
    case core::FileType::kSocket:
      return "socket";
    case core::FileType::kFifo:
      return "fifo";
  }
  return "unknown";
}

std::string_view to_string(core::SecurityFlavor flavor) {
  switch (flavor) {
    case core::SecurityFlavor::kSys:
      return "sys";
    case core::SecurityFlavor::kKrb5:
      return "krb5";
    case core::SecurityFlavor::kKrb5i:
      return "krb5i";
    case core::SecurityFlavor::kKrb5p:
      return "krb5p";
  }
  return "";
}

std::string_view to_string(core::Squash squash) {
  switch (squash) {
    case core::Squash::kNone:
      return "none";
    case core::Squash::kRoot:
      return "root";
    case core::Squash::kAll:
      return "all";
  }
  return "unknown";
}

void put_bytes(Json& object, std::string_view member, std::string_view bytes) {
  object[std::string(member)] = std::string(bytes);  // dump() replaces invalid UTF-8
  if (!is_utf8(bytes)) object[std::string(member) + "_base64"] = base64(bytes);
}

Json view(const core::Attributes& attr) {
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", attr.mode & 07777);
  Json json{{"id", std::to_string(static_cast<std::uint64_t>(attr.id))},
            {"generation", attr.generation},
            {"type", to_string(attr.type)},
            {"mode", mode},
            {"links", attr.links},
            {"uid", attr.uid},
            {"gid", attr.gid},
            {"size", attr.size},
            {"allocated", attr.allocated},
            {"atime", time_text(attr.atime)},
            {"mtime", time_text(attr.mtime)},
            {"ctime", time_text(attr.ctime)},
            {"btime", time_text(attr.btime)},
            {"change", attr.change},
            {"data_version", attr.data_version}};
  if (attr.type == core::FileType::kBlockDevice || attr.type == core::FileType::kCharDevice) {
    json["device"] = {{"major", attr.device.major}, {"minor", attr.device.minor}};
  }
  return json;
}

Json view(const core::ClientRule& rule) {
  return {{"network", rule.network.to_text()},
          {"read_only", rule.read_only},
          {"squash", to_string(rule.squash)},
          {"anonymous_uid", rule.anonymous_uid},
          {"anonymous_gid", rule.anonymous_gid}};
}

Json view(const core::Export& record) {
  Json protocols = Json::array();
  if (record.nfs) protocols.push_back("nfs");
  if (record.s3) protocols.push_back("s3");
  if (record.native) protocols.push_back("native");
  Json clients = Json::array();
  for (const core::ClientRule& rule : record.clients) clients.push_back(view(rule));
  Json security = Json::array();
  for (const core::SecurityFlavor flavor : record.security) security.push_back(to_string(flavor));
  Json json{{"id", static_cast<std::uint32_t>(record.id)},
            {"directory_id", std::to_string(static_cast<std::uint64_t>(record.root))},
            {"protocols", std::move(protocols)},
            {"read_only", record.read_only},
            {"clients", std::move(clients)},
            {"security", std::move(security)},
            {"native_tls", record.native_tls_required ? "required" : "offered"},
            {"owner", record.owner},
            {"created", time_text(record.created)}};
  put_bytes(json, "name", record.name);
  put_bytes(json, "path", record.path);
  return json;
}

Json view(const core::User& user, const core::RegistrySnapshot& registry) {
  Json keys = Json::array();
  for (const core::S3Key& key : user.keys) keys.push_back({{"access_key", key.access_key}, {"enabled", key.enabled}});
  return {{"name", user.name},
          {"uid", user.uid},
          {"gid", user.gid},
          {"groups", user.groups},
          {"principal", user.principal},
          {"sid", registry.sid_of(user)},
          {"keys", std::move(keys)}};
}

Json view(const core::Group& group, const core::RegistrySnapshot& registry) {
  return {{"name", group.name}, {"gid", group.gid}, {"sid", registry.sid_of(group)}};
}

Json view(const core::S3Key& key) {
  return {{"access_key", key.access_key}, {"secret_key", key.secret_key}, {"enabled", key.enabled}};
}

std::uint64_t available(const core::BlobStore::Space& disks, const core::StatfsReply& room) {
  return room.bytes_quota.limited() ? std::min(disks.free, room.bytes_quota.room) : disks.free;
}

Json view(const core::Usage& usage) {
  return {{"bytes", core::bytes_of(usage)}, {"files", usage.files}, {"directories", usage.directories}};
}

Json view(const core::UsageByClass& by_class) {
  Json json;
  for (const auto& [name, of] : kUsageClassNames) json[name] = view(by_class[of]);
  return json;
}

Json view(const core::QuotaLimits& limits) {
  const auto limit = [](const std::optional<std::uint64_t>& value) { return value ? Json(*value) : Json(); };
  return {{"bytes", limit(limits.bytes)},
          {"files", limit(limits.files)},
          {"soft_bytes", limit(limits.soft_bytes)},
          {"soft_files", limit(limits.soft_files)},
          {"grace_seconds", limits.grace_s}};
}

Json view(const core::SoftExcess& since) {
  const auto time = [](Timestamp at) { return at.ns != 0 ? Json(time_text(at)) : Json(); };
  return {{"bytes", time(since.bytes)}, {"files", time(since.files)}};
}

Json view(const core::Finding& finding) {
  Json facts = Json::object();
  const auto names = core::fact_names(finding.kind);
  for (std::size_t i = 0; i < std::min(names.size(), finding.facts.size()); ++i)
    facts[std::string(names[i])] = finding.facts[i];  // dump() replaces invalid UTF-8
  return {{"kind", to_string(finding.kind)}, {"facts", std::move(facts)}, {"text", sentence(finding)}};
}

Json view(const core::CheckReport& report) {
  Json problems = Json::array();
  for (const core::Finding& finding : report.problems) problems.push_back(view(finding));
  return {{"ok", report.ok()},
          {"inodes", report.inodes},
          {"directories", report.directories},
          {"files", report.files},
          {"blobs", report.blobs},
          {"bytes", report.bytes},
          {"problems", std::move(problems)},
          {"problem_count", report.problem_count}};
}

}  // namespace stoa::admin
