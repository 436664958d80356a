#include "frontends/admin/causes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/api/acl_text.h"
#include "frontends/admin/sentences.h"

namespace stoa::admin {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
// The store takes space in pieces of up to this, and refuses when there is not that much beside its reserve.
constexpr std::uint64_t kPieceBytes = 16u << 20;

void add(Json& causes, const char* code, Json parameters, std::string what) {
  causes.push_back({{"code", code}, {"parameters", std::move(parameters)}, {"what", std::move(what)}});
}

bool is_for(const core::AclWho& who, const core::User& user, const core::Attributes& attr) {
  using enum core::AclWho::Kind;
  switch (who.kind) {
    case kOwner:
      return user.uid == attr.uid;
    case kGroup:
      return user.credentials().in_group(attr.gid);
    case kEveryone:
      return true;
    case kUid:
      return user.uid == who.id;
    case kGid:
      return user.credentials().in_group(who.id);
    case kUserText:
    case kGroupText:
      break;
  }
  return false;
}

std::string client_name(const Json& client) {
  const std::string id = "client " + client["id"].get<std::string>();
  if (!client.contains("name")) return id;
  return client["name"].get<std::string>() + " (" + client["address"].get<std::string>() + ", " + id + ")";
}

// The different clients of those for which `counts` is true.
template <class Counts>
Json clients_of(const Json& list, Counts counts) {
  Json clients = Json::array();
  for (const Json& one : list) {
    if (counts(one) && std::ranges::find(clients, one["client"]) == clients.end()) clients.push_back(one["client"]);
  }
  return clients;
}

// The first ones by name.
std::string names_of(const Json& clients) {
  constexpr std::size_t kNamed = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(clients.size(), kNamed); ++i)
    text.append(i == 0 ? "" : ", ").append(client_name(clients[i]));
  if (clients.size() > kNamed) text += " and others";
  return text;
}

std::string text_of(const DenialReason& reason) {
  if (!reason.list)
    return "its mode is " + reason.mode + ", its owner uid " + std::to_string(reason.uid) + ", its group gid " +
           std::to_string(reason.gid);
  if (reason.entry == 0) return "no entry of its access control list allows it";
  return "entry " + std::to_string(reason.entry) + " of its access control list denies it: " + reason.rule;
}

Json view(const DenialReason& reason) {
  return {{"mode", reason.mode},
          {"uid", reason.uid},
          {"gid", reason.gid},
          {"entry", reason.entry == 0 ? Json() : Json(reason.entry)},
          {"rule", reason.entry == 0 ? Json() : Json(reason.rule)}};
}

struct Part {
  std::uint64_t used;
  const std::optional<std::uint64_t>& hard;
  const std::optional<std::uint64_t>& soft;
  Timestamp since;
  const char* unit;
  const char* resource;  // "bytes", "files"
};
std::array<Part, 2> parts_of(const core::UsageReply& reply) {
  const core::QuotaLimits& limits = reply.limits;
  const auto files = static_cast<std::uint64_t>(reply.counted.files + reply.counted.directories);
  return {Part{core::bytes_of(reply.counted), limits.bytes, limits.soft_bytes, reply.since.bytes, "bytes", "bytes"},
          Part{files, limits.files, limits.soft_files, reply.since.files, "files and directories", "files"}};
}

bool at_hard(const Part& part) {
  return part.hard && part.used >= *part.hard;
}
Timestamp end_of_grace(const Part& part, std::uint32_t grace_s) {
  return {part.since.ns + grace_s * kSecondNs};
}
bool grace_is_over(const Part& part, std::uint32_t grace_s) {
  return part.since != Timestamp{} && wall_now() >= end_of_grace(part, grace_s);
}

}  // namespace

DenialReason why_denied(const core::User& user, const core::GetAclReply& acl, std::uint32_t rights) {
  DenialReason reason{
      .list = acl.stored, .mode = view(acl.attr)["mode"].get<std::string>(), .uid = acl.attr.uid, .gid = acl.attr.gid};
  if (!acl.stored) return reason;
  // The first entry that speaks of a right decides it (RFC 8881 6.2.1).
  std::size_t number = 0;
  for (const core::AclEntry& entry : acl.acl->entries) {
    ++number;
    if ((entry.flags & core::kAceInheritOnly) != 0 || (entry.rights & rights) == 0 ||
        !is_for(entry.who, user, acl.attr))
      continue;
    if (entry.deny) {
      const std::string text = core::print_acl({.entries = {entry}});
      reason.entry = number;
      reason.rule = text.substr(0, text.find('\n'));
      return reason;
    }
    rights &= ~entry.rights;
  }
  return reason;
}

void add_no_way(Json& causes, const core::User& user, const std::string& path, const core::GetAclReply& acl) {
  const DenialReason reason = why_denied(user, acl, core::kRightSearch);
  add(causes, "no_way", {{"user", user.name}, {"path", path}, {"reason", view(reason)}, {"list", reason.list}},
      user.name + " does not get here: " + path + " may not be searched; " + text_of(reason));
}

void add_denied(Json& causes, const core::User& user, const std::vector<std::string>& denied,
                const DenialReason& reason, const std::string& path) {
  std::string words;
  for (const std::string& word : denied) words.append(words.empty() ? "" : " or ").append(word);
  add(causes, "denied",
      {{"user", user.name}, {"path", path}, {"denied", denied}, {"reason", view(reason)}, {"list", reason.list}},
      user.name + " may not " + words + " here: " + text_of(reason));
}

void add_recycled(Json& causes) {
  add(causes, "recycled", Json::object(), "this is in a recycle bin, where nothing is changed");
}

void add_sealed(Json& causes, const std::string& by) {
  add(causes, "sealed", {{"path", by}}, by + " is sealed: nothing below it changes");
}

void add_no_export(Json& causes, const std::string& path) {
  add(causes, "no_export", {{"path", path}}, "no export publishes this: no client sees it");
}

void add_read_only(Json& causes, const core::Export& record) {
  if (record.read_only)
    add(causes, "export_read_only", {{"export", record.name}},
        "nobody changes anything through the export " + record.name + ": it is read-only");
  std::string networks;
  for (const core::ClientRule& rule : record.clients) {
    if (rule.read_only) networks.append(networks.empty() ? "" : ", ").append(rule.network.to_text());
  }
  if (networks.empty() || record.read_only) return;
  add(causes, "networks_read_only", {{"export", record.name}, {"networks", networks}},
      "clients of " + networks + " change nothing through the export " + record.name +
          ": its rule for them is read-only");
}

std::optional<std::string> nfs_lockout(const core::Export& record, const Status& kerberos) {
  const bool takes_sys = record.security.empty() ||
                         std::ranges::find(record.security, core::SecurityFlavor::kSys) != record.security.end();
  if (!record.nfs || takes_sys || kerberos) return std::nullopt;
  return "no client gets through NFS to the export " + record.name + ": it takes Kerberos only, and " +
         sentence(kerberos.error());
}

void add_no_kerberos(Json& causes, const core::Export& record, const Status& kerberos) {
  const auto what = nfs_lockout(record, kerberos);
  if (!what) return;
  add(causes, "no_kerberos", {{"export", record.name}, {"reason", cause_word(kerberos.error())}}, *what);
}

void add_client(Json& causes, const core::Export& record, const core::Network& client) {
  const core::ClientRule* const rule = record.rule_for(client.address);
  const std::string text = client.to_text(), who = text.substr(0, text.rfind('/'));
  if (rule == nullptr) {
    const bool others_come = record.s3 && record.clients.empty();  // see core::Export
    if (others_come && !record.nfs) return;
    add(causes, "client_refused",
        {{"export", record.name}, {"client", who}, {"protocol", others_come ? Json("nfs") : Json()}},
        "the client " + who + " is refused by the export " + record.name + (others_come ? " through NFS" : "") +
            ": it has no rule for it");
  } else if (rule->read_only && !record.read_only) {
    add(causes, "client_read_only", {{"export", record.name}, {"client", who}, {"network", rule->network.to_text()}},
        "the client " + who + " changes nothing through the export " + record.name + ": the first rule that fits it, " +
            rule->network.to_text() + ", is read-only");
  }
}

bool is_full(const core::UsageReply& reply) {
  return std::ranges::any_of(
      parts_of(reply), [&](const Part& part) { return at_hard(part) || grace_is_over(part, reply.limits.grace_s); });
}

void add_quota(Json& causes, const std::string& path, const QuotaOwner& owner, const core::UsageReply& reply,
               const core::Usage& bin) {
  const auto json = [](const std::optional<std::string>& name) { return name ? Json(*name) : Json(); };
  const std::string whose = owner.user    ? " (user " + *owner.user + ")"
                            : owner.group ? " (group " + *owner.group + ")"
                                          : "";
  const std::uint64_t kept = core::bytes_of(bin);
  const std::uint64_t uploads = reply.excluded.has(core::UsageClass::kMultipart)
                                    ? 0
                                    : core::bytes_of(reply.by_class[core::UsageClass::kMultipart]);
  for (const Part& part : parts_of(reply)) {
    Json parameters{
        {"path", path},      {"user", json(owner.user)}, {"group", json(owner.group)}, {"resource", part.resource},
        {"used", part.used}, {"recycled_bytes", kept},   {"upload_bytes", uploads}};
    const std::string used = std::to_string(part.used) + " of ";
    const std::string quota = "the quota of " + path + whose;
    if (at_hard(part)) {
      parameters["limit"] = *part.hard;
      add(causes, "quota_full", std::move(parameters),
          quota + " is used up: " + used + std::to_string(*part.hard) + " " + part.unit +
              "; what would grow is refused");
    } else if (part.since != Timestamp{} && part.soft) {
      const std::string end = seconds_text(end_of_grace(part, reply.limits.grace_s));
      const bool over = grace_is_over(part, reply.limits.grace_s);
      parameters.update({{"limit", *part.soft}, {"since", seconds_text(part.since)}, {"ends", end}, {"over", over}});
      add(causes, "soft_limit", std::move(parameters),
          quota + " is above its soft limit since " + seconds_text(part.since) + ": " + used +
              std::to_string(*part.soft) + " " + part.unit + "; " +
              (over ? "its time of grace ended at " + end + ", and what would grow is refused"
                    : "what would grow is refused from " + end + " on"));
    }
  }
}

void add_held(Json& causes, const Json& held) {
  const Json& opens = held["opens"]["list"];
  for (const char* const access : {"read", "write"}) {
    Json who = clients_of(opens, [&](const Json& one) {
      const auto denied = one["deny"].get<std::vector<std::string>>();
      return std::ranges::find(denied, access) != denied.end();
    });
    if (who.empty()) continue;
    const std::string names = names_of(who);
    add(causes, "open_denied", {{"access", access}, {"clients", std::move(who)}},
        "others may not open it to " + std::string(access) + ": that is denied by who has it open, " + names);
  }
  const auto everybody = [](const Json&) { return true; };
  if (const auto locks = held["locks"]["total"].get<std::uint64_t>(); locks != 0) {
    Json who = clients_of(held["locks"]["list"], everybody);
    const std::string names = names_of(who);
    add(causes, "locked", {{"ranges", locks}, {"clients", std::move(who)}},
        std::to_string(locks) + (locks == 1 ? " range of its bytes is" : " ranges of its bytes are") + " locked by " +
            names + ": who wants another lock there waits or is refused");
  }
  if (const auto waiting = held["waiting"]["total"].get<std::uint64_t>(); waiting != 0) {
    Json who = clients_of(held["waiting"]["list"], everybody);
    const std::string names = names_of(who);
    add(causes, "lock_wanted", {{"requests", waiting}, {"clients", std::move(who)}},
        std::to_string(waiting) + (waiting == 1 ? " request waits" : " requests wait") + " for a lock of it, of " +
            names);
  }
  Json slow = clients_of(held["leases"]["list"], [](const Json& one) { return one["recalled"].get<bool>(); });
  if (!slow.empty()) {
    const std::string names = names_of(slow);
    add(causes, "lease_recalled", {{"clients", std::move(slow)}},
        "it is cached by " + names + ", and asked back from there: whoever else wants it waits");
  }
}

void add_qos_class(Json& causes, const Json& qos_class) {
  const auto waiting = qos_class["use"]["waiting"].get<std::uint64_t>();
  if (waiting == 0) return;
  const auto target = qos_class["target"].get<std::string>();
  Json limits = Json::array();
  for (const char* const name : {"read_bytes", "write_bytes", "read_ops", "write_ops", "metadata_ops"}) {
    if (!qos_class["limits"][name].is_null()) limits.push_back(name);
  }
  add(causes, "limit", {{"target", target}, {"requests", waiting}, {"limits", std::move(limits)}},
      std::to_string(waiting) + (waiting == 1 ? " request waits" : " requests wait") + " now, because a limit of " +
          target + " or above it is reached");
}

void add_space(Json& causes, const core::StatfsReply& space, std::span<const core::BlobStore::DirectoryHealth> disks) {
  const auto has_room = [](const core::BlobStore::DirectoryHealth& disk) {
    return disk.ok && disk.space.free >= kPieceBytes;
  };
  // Without disks to ask, the free space may be that of a quota, which add_quota() reports.
  const bool by_quota = space.bytes_quota.limited() && space.bytes_quota.room <= space.bytes_free;
  const bool full = disks.empty() ? space.bytes_free < kPieceBytes && !by_quota : std::ranges::none_of(disks, has_room);
  if (full) {
    add(causes, "volume_full", {{"mib", kPieceBytes >> 20}},
        "the volume is full: its disks have less than the " + std::to_string(kPieceBytes >> 20) +
            " MiB left that new files may take at once; what needs space is refused, whatever quotas leave");
    return;
  }
  for (const core::BlobStore::DirectoryHealth& disk : disks) {
    if (!disk.ok || has_room(disk)) continue;
    add(causes, "disk_full", {{"path", disk.path}},
        "the data directory " + disk.path +
            " is full: nothing new is put there, and large files that lie on it cannot grow");
  }
}

void add_disk(Json& causes, const core::BlobStore::DirectoryHealth& disk) {
  if (disk.ok) return;
  add(causes, "disk_failed", {{"path", disk.path}, {"problem", disk.problem}},
      "the data directory " + disk.path + " does not work (" + disk.problem +
          "): what lies on it cannot be read, and nothing new is put there");
}

void add_damage(Json& causes, const std::string& path, const std::vector<core::DamagedRange>& found) {
  const std::string below = path == "/" ? path : path + "/";
  std::size_t ranges = 0;
  for (const core::DamagedRange& range : found) {
    if (range.path == path) {
      add(causes, "damaged", {{"offset", range.offset}, {"length", range.length}},
          "its content is damaged: bytes " + std::to_string(range.offset) + " to " +
              std::to_string(range.offset + range.length) + " do not match their checksum; reading them fails");
    }
    if (range.path.starts_with(below)) ++ranges;
  }
  if (ranges == 0) return;
  add(causes, "damaged_below", {{"ranges", ranges}},
      "content of files below it is damaged, in " + std::to_string(ranges) +
          (ranges == 1 ? " range of bytes" : " ranges of bytes") + "; reading them fails");
}

}  // namespace stoa::admin
