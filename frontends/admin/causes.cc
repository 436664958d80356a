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

void add(Json& causes, const char* code, Json parameters, std::string what, std::string remedy) {
  causes.push_back({{"code", code},
                    {"parameters", std::move(parameters)},
                    {"what", std::move(what)},
                    {"remedy", std::move(remedy)}});
}

// As one word of a shell.
std::string word(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-:@%+=,";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
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

std::string rights_cure(const core::User& user, const std::string& path, const core::GetAclReply& acl) {
  const std::string groups = "; or put the user into a group that may: stoa user set " + word(user.name) +
                             " --group GROUP, with all groups that it is to have";
  if (acl.stored)
    return "see who may with stoa acl get " + word(path) + ", and change it with stoa acl set " + word(path) + " FILE" +
           groups;
  return "change its mode or owner (chmod, chown), or give it a list: stoa acl set " + word(path) + " FILE" + groups;
}

std::string client_name(const Json& client) {
  const std::string id = "client " + client["id"].get<std::string>();
  if (!client.contains("name")) return id;
  return client["name"].get<std::string>() + " (" + client["address"].get<std::string>() + ", " + id + ")";
}

// The different clients of those for which `counts` is true, the first ones by name; empty: there are none.
template <class Counts>
std::string clients_of(const Json& list, Counts counts) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> names;
  for (const Json& one : list) {
    if (!counts(one)) continue;
    const std::string name = client_name(one["client"]);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) text.append(i == 0 ? "" : ", ").append(names[i]);
  if (names.size() > kNamed) text += " and others";
  return text;
}

struct Part {
  std::uint64_t used;
  const std::optional<std::uint64_t>& hard;
  const std::optional<std::uint64_t>& soft;
  Timestamp since;
  const char* unit;
  const char* option;
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

std::string why_denied(const core::User& user, const core::GetAclReply& acl, std::uint32_t rights) {
  if (!acl.stored) {
    return "its mode is " + view(acl.attr)["mode"].get<std::string>() + ", its owner uid " +
           std::to_string(acl.attr.uid) + ", its group gid " + std::to_string(acl.attr.gid);
  }
  // The first entry that speaks of a right decides it (RFC 8881 6.2.1).
  std::size_t number = 0;
  for (const core::AclEntry& entry : acl.acl->entries) {
    ++number;
    if ((entry.flags & core::kAceInheritOnly) != 0 || (entry.rights & rights) == 0 ||
        !is_for(entry.who, user, acl.attr))
      continue;
    if (entry.deny) {
      const std::string text = core::print_acl({.entries = {entry}});
      return "entry " + std::to_string(number) +
             " of its access control list denies it: " + text.substr(0, text.find('\n'));
    }
    rights &= ~entry.rights;
  }
  return "no entry of its access control list allows it";
}

void add_no_way(Json& causes, const core::User& user, const std::string& path, const core::GetAclReply& acl) {
  const std::string why = why_denied(user, acl, core::kRightSearch);
  add(causes, "no_way", {{"user", user.name}, {"path", path}, {"why", why}},
      user.name + " does not get here: " + path + " may not be searched; " + why, rights_cure(user, path, acl));
}

void add_denied(Json& causes, const core::User& user, const std::string& denied, const std::string& why,
                const std::string& path, const core::GetAclReply& acl) {
  add(causes, "denied", {{"user", user.name}, {"denied", denied}, {"why", why}},
      user.name + " may not " + denied + " here: " + why, rights_cure(user, path, acl));
}

void add_recycled(Json& causes) {
  add(causes, "recycled", Json::object(), "this is in a recycle bin, where nothing is changed",
      "take it out: stoa recycle list shows its ITEM, then stoa recycle restore ITEM");
}

void add_sealed(Json& causes, const std::string& by) {
  add(causes, "sealed", {{"path", by}}, by + " is sealed: nothing below it changes", "stoa unseal " + word(by));
}

void add_no_export(Json& causes, const std::string& path) {
  add(causes, "no_export", {{"path", path}}, "no export publishes this: no client sees it",
      "stoa export create NAME --path " + word(path));
}

void add_read_only(Json& causes, const core::Export& record) {
  const std::string set = "stoa export set " + word(record.name);
  if (record.read_only)
    add(causes, "export_read_only", {{"export", record.name}},
        "nobody changes anything through the export " + record.name + ": it is read-only", set + " --read-write");
  std::string networks;
  for (const core::ClientRule& rule : record.clients) {
    if (rule.read_only) networks.append(networks.empty() ? "" : ", ").append(rule.network.to_text());
  }
  if (networks.empty() || record.read_only) return;
  add(causes, "networks_read_only", {{"export", record.name}, {"networks", networks}},
      "clients of " + networks + " change nothing through the export " + record.name +
          ": its rule for them is read-only",
      "give all its rules anew, with rw for these: " + set + " --client NETWORK,rw");
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
  add(causes, "no_kerberos", {{"export", record.name}, {"why", sentence(kerberos.error())}}, *what,
      "give the server its keytab, or take the demand away: stoa export set " + word(record.name) + " --sec default");
}

void add_client(Json& causes, const core::Export& record, const core::Network& client) {
  const core::ClientRule* const rule = record.rule_for(client.address);
  const std::string text = client.to_text(), who = text.substr(0, text.rfind('/'));
  const std::string anew =
      "give all its rules anew, with one for it: stoa export set " + word(record.name) + " --client " + who + ",rw";
  if (rule == nullptr) {
    const bool others_come = record.s3 && record.clients.empty();  // see core::Export
    if (others_come && !record.nfs) return;
    add(causes, "client_refused",
        {{"export", record.name}, {"client", who}, {"protocol", others_come ? Json("nfs") : Json()}},
        "the client " + who + " is refused by the export " + record.name + (others_come ? " through NFS" : "") +
            ": it has no rule for it",
        anew);
  } else if (rule->read_only && !record.read_only) {
    add(causes, "client_read_only", {{"export", record.name}, {"client", who}, {"network", rule->network.to_text()}},
        "the client " + who + " changes nothing through the export " + record.name + ": the first rule that fits it, " +
            rule->network.to_text() + ", is read-only",
        anew + " before that one");
  }
}

bool is_full(const core::UsageReply& reply) {
  return std::ranges::any_of(
      parts_of(reply), [&](const Part& part) { return at_hard(part) || grace_is_over(part, reply.limits.grace_s); });
}

void add_quota(Json& causes, const std::string& path, const std::string& owner, const core::UsageReply& reply,
               const core::Usage& bin) {
  const std::string set = "stoa quota set " + word(path) + owner;
  const std::string whose = owner.empty() ? "" : " (" + owner.substr(owner.find_first_not_of(" -")) + ")";
  std::string room = "; or remove something below it";
  const std::uint64_t kept = core::bytes_of(bin);
  if (kept != 0)
    room +=
        "; its recycle bin alone keeps " + std::to_string(kept) + " bytes: stoa recycle purge " + word(path) + " --all";
  const std::uint64_t uploads = reply.excluded.has(core::UsageClass::kMultipart)
                                    ? 0
                                    : core::bytes_of(reply.by_class[core::UsageClass::kMultipart]);
  if (uploads != 0)
    room +=
        "; S3 multipart uploads that have not ended take " + std::to_string(uploads) + " bytes: complete or abort them";
  for (const Part& part : parts_of(reply)) {
    Json parameters{{"path", path},
                    {"of", owner.empty() ? "" : owner.substr(owner.find_first_not_of(" -"))},
                    {"resource", part.option},
                    {"used", part.used}};
    const std::string used = std::to_string(part.used) + " of ";
    const std::string quota = "the quota of " + path + whose;
    if (at_hard(part)) {
      parameters["limit"] = *part.hard;
      add(causes, "quota_full", std::move(parameters),
          quota + " is used up: " + used + std::to_string(*part.hard) + " " + part.unit +
              "; what would grow is refused",
          "raise it: " + set + " --" + part.option + " MORE" + room);
    } else if (part.since != Timestamp{} && part.soft) {
      const std::string end = seconds_text(end_of_grace(part, reply.limits.grace_s));
      const bool over = grace_is_over(part, reply.limits.grace_s);
      parameters.update({{"limit", *part.soft}, {"since", seconds_text(part.since)}, {"ends", end}, {"over", over}});
      add(causes, "soft_limit", std::move(parameters),
          quota + " is above its soft limit since " + seconds_text(part.since) + ": " + used +
              std::to_string(*part.soft) + " " + part.unit + "; " +
              (over ? "its time of grace ended at " + end + ", and what would grow is refused"
                    : "what would grow is refused from " + end + " on"),
          "raise it: " + set + " --soft-" + part.option + " MORE, or give more time: " + set + " --grace TIME" + room);
    }
  }
}

void add_held(Json& causes, const Json& held) {
  const std::string evict = "stoa client evict ID takes away all that a client has open and locked";
  const Json& opens = held["opens"]["list"];
  for (const char* const access : {"read", "write"}) {
    const std::string who = clients_of(opens, [&](const Json& one) {
      const auto denied = one["deny"].get<std::vector<std::string>>();
      return std::ranges::find(denied, access) != denied.end();
    });
    if (who.empty()) continue;
    add(causes, "open_denied", {{"access", access}, {"clients", who}},
        "others may not open it to " + std::string(access) + ": that is denied by who has it open, " + who,
        "close it there; " + evict);
  }
  const auto everybody = [](const Json&) { return true; };
  if (const auto locks = held["locks"]["total"].get<std::uint64_t>(); locks != 0) {
    const std::string who = clients_of(held["locks"]["list"], everybody);
    add(causes, "locked", {{"ranges", locks}, {"clients", who}},
        std::to_string(locks) + (locks == 1 ? " range of its bytes is" : " ranges of its bytes are") + " locked by " +
            who + ": who wants another lock there waits or is refused",
        "end the program that holds it; " + evict);
  }
  if (const auto waiting = held["waiting"]["total"].get<std::uint64_t>(); waiting != 0) {
    const std::string who = clients_of(held["waiting"]["list"], everybody);
    add(causes, "lock_wanted", {{"requests", waiting}, {"clients", who}},
        std::to_string(waiting) + (waiting == 1 ? " request waits" : " requests wait") + " for a lock of it, of " + who,
        "they get it when those before them give it back; " + evict);
  }
  const std::string slow =
      clients_of(held["leases"]["list"], [](const Json& one) { return one["recalled"].get<bool>(); });
  if (!slow.empty()) {
    add(causes, "lease_recalled", {{"clients", slow}},
        "it is cached by " + slow + ", and asked back from there: whoever else wants it waits",
        "wait: what is not given back in time is taken away; from a dead client, stoa client evict ID takes it at "
        "once");
  }
}

void add_qos_class(Json& causes, const Json& qos_class) {
  const auto waiting = qos_class["use"]["waiting"].get<std::uint64_t>();
  if (waiting == 0) return;
  const auto target = qos_class["target"].get<std::string>();
  constexpr std::pair<const char*, const char*> kOptions[] = {{"read_bytes", "--read"},
                                                              {"write_bytes", "--write"},
                                                              {"read_ops", "--read-iops"},
                                                              {"write_ops", "--write-iops"},
                                                              {"metadata_ops", "--metadata"}};
  std::string limits;
  for (const auto& [name, option] : kOptions) {
    if (qos_class["limits"][name].is_null()) continue;
    limits.append(limits.empty() ? "" : " or ").append(option).append(" MORE");
  }
  const std::string raise = limits.empty() ? "; the limit is of a QoS class above this one: stoa qos list"
                                           : "; raise the limit: stoa qos set " + word(target) + " " + limits +
                                                 ", or that of a QoS class above it";
  add(causes, "limit", {{"target", target}, {"requests", waiting}},
      std::to_string(waiting) + (waiting == 1 ? " request waits" : " requests wait") + " now, because a limit of " +
          target + " or above it is reached",
      "stoa qos top shows who uses how much" + raise);
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
            " MiB left that new files may take at once; what needs space is refused, whatever quotas leave",
        "remove something, purge recycle bins (stoa recycle purge / --all), or give it another disk (blob_directories "
        "in stoad.toml, then start stoad again)");
    return;
  }
  for (const core::BlobStore::DirectoryHealth& disk : disks) {
    if (!disk.ok || has_room(disk)) continue;
    add(causes, "disk_full", {{"path", disk.path}},
        "the data directory " + disk.path +
            " is full: nothing new is put there, and large files that lie on it cannot grow",
        "make room on its disk; files that are written anew go to the others");
  }
}

void add_disk(Json& causes, const core::BlobStore::DirectoryHealth& disk) {
  if (disk.ok) return;
  add(causes, "disk_failed", {{"path", disk.path}, {"problem", disk.problem}},
      "the data directory " + disk.path + " does not work (" + disk.problem +
          "): what lies on it cannot be read, and nothing new is put there",
      "see that its disk is there, mounted and writable, then start stoad again; stoa check tells what is missing");
}

void add_damage(Json& causes, const std::string& path, const std::vector<std::string>& found) {
  const std::string below = path == "/" ? path : path + "/";
  std::size_t ranges = 0;
  for (const std::string& sentence : found) {
    if (sentence.starts_with(path + ": ")) {
      const std::string detail = sentence.substr(path.size() + 2);
      add(causes, "damaged", {{"detail", detail}}, "its content is damaged: " + detail + "; reading them fails",
          "put the file back from a copy; stoa check --read-data looks for more");
    }
    if (sentence.starts_with(below)) ++ranges;
  }
  if (ranges == 0) return;
  add(causes, "damaged_below", {{"ranges", ranges}},
      "content of files below it is damaged, in " + std::to_string(ranges) +
          (ranges == 1 ? " range of bytes" : " ranges of bytes") + "; reading them fails",
      "stoa status names the files; put them back from a copy");
}

}  // namespace stoa::admin
