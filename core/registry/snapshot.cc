#include "core/registry/snapshot.h"

#include <algorithm>

#include "base/assert.h"

namespace stoa::core {
namespace {

template <class Record>
const Record* find_by_name(const std::vector<Record>& records, std::string_view name) {
  const auto it = std::ranges::lower_bound(records, name, {}, [](const Record& r) { return std::string_view(r.name); });
  return it != records.end() && it->name == name ? &*it : nullptr;
}

}  // namespace

RegistryView::Held::Held(RegistryRecords held, const SidDomain& sids)
    : records(std::move(held)),
      domain(sids),
      audit(records.audit.empty() ? nullptr : std::make_unique<const AuditTable>(records.audit)) {
  std::ranges::sort(records.exports, {}, &Export::name);
  std::ranges::sort(records.users, {}, &User::name);
  std::ranges::sort(records.groups, {}, &Group::name);
  if (!records.recycle.empty()) {
    std::vector<FileId> roots;
    for (const Export& record : records.exports) roots.push_back(record.root);
    recycle.emplace(records.recycle, std::move(roots));
  }
  std::ranges::sort(records.tokens, {}, &Token::name);
  for (const Export& record : records.exports) exports_by_id.emplace(static_cast<std::uint32_t>(record.id), &record);
  for (const User& user : records.users) {
    users_by_uid.emplace(user.uid, &user);  // The first by name speaks for a uid that several users share.
    for (const S3Key& key : user.keys) {
      if (key.enabled) enabled_keys.emplace(key.access_key, std::pair{&user, &key});
    }
    if (!user.principal.empty()) users_by_principal.emplace(user.principal, &user);
    users_by_sid.emplace(sid_of(user), &user);
  }
  for (const Group& group : records.groups) {
    groups_by_gid.emplace(group.gid, &group);
    groups_by_sid.emplace(sid_of(group), &group);
  }
  for (const Token& token : records.tokens) tokens_by_hash.emplace(token.hash, &token);
}

std::string RegistryView::Held::sid_of(const User& user) const {
  return user.sid.empty() ? automatic_user_sid(domain, user.uid) : user.sid;
}

std::string RegistryView::Held::sid_of(const Group& group) const {
  return group.sid.empty() ? automatic_group_sid(domain, group.gid) : group.sid;
}

RegistryView::RegistryView(RegistryRecords records, const SidDomain& domain, QosTable qos_classes,
                           std::shared_ptr<const qos::QosClass> background)
    : held_(std::make_shared<const Held>(std::move(records), domain)),
      qos_classes_(std::move(qos_classes)),
      background_(std::move(background)) {}

RegistryView::RegistryView(const RegistryView& other, QosTable qos_classes)
    : held_(other.held_), qos_classes_(std::move(qos_classes)), background_(other.background_) {}

std::vector<const QosRule*> RegistryView::qos_rules() const {
  std::vector<const QosRule*> rules;
  rules.reserve(qos_classes_.size());
  for (const QosEntry* entry : qos_classes_.entries()) rules.push_back(&entry->rule);
  return rules;
}

const QosRule* RegistryView::find_qos_rule(const QosTarget& target) const {
  const QosEntry* entry = qos_classes_.find(target);
  return entry == nullptr ? nullptr : &entry->rule;
}

qos::QosUse RegistryView::qos_use(const QosTarget& target) const {
  if (target.kind == QosKind::kBackground) return background_->use();
  const QosEntry* const entry = qos_classes_.find(target);
  STOA_ASSERT(entry != nullptr, "the use is asked of a QoS class that there is");
  return entry->qos_class->use();
}

const Export* RegistryView::find_export(ExportId id) const {
  const auto it = held_->exports_by_id.find(static_cast<std::uint32_t>(id));
  return it == held_->exports_by_id.end() ? nullptr : it->second;
}

const Export* RegistryView::find_export(std::string_view name) const {
  return find_by_name(held_->records.exports, name);
}
const User* RegistryView::find_user(std::string_view name) const {
  return find_by_name(held_->records.users, name);
}

const User* RegistryView::find_user_by_uid(std::uint32_t uid) const {
  const auto it = held_->users_by_uid.find(uid);
  return it == held_->users_by_uid.end() ? nullptr : it->second;
}

const User* RegistryView::find_user_by_principal(std::string_view principal) const {
  const auto it = held_->users_by_principal.find(principal);
  return it == held_->users_by_principal.end() ? nullptr : it->second;
}

const User* RegistryView::find_user_by_sid(std::string_view sid) const {
  const auto it = held_->users_by_sid.find(sid);
  return it == held_->users_by_sid.end() ? nullptr : it->second;
}

const Group* RegistryView::find_group(std::string_view name) const {
  return find_by_name(held_->records.groups, name);
}

const Group* RegistryView::find_group_by_gid(std::uint32_t gid) const {
  const auto it = held_->groups_by_gid.find(gid);
  return it == held_->groups_by_gid.end() ? nullptr : it->second;
}

const Group* RegistryView::find_group_by_sid(std::string_view sid) const {
  const auto it = held_->groups_by_sid.find(sid);
  return it == held_->groups_by_sid.end() ? nullptr : it->second;
}

// The time that this takes tells of hashes, from which no secret can be found.
const Token* RegistryView::find_token(const TokenHash& hash) const {
  const auto it = held_->tokens_by_hash.find(hash);
  return it == held_->tokens_by_hash.end() ? nullptr : it->second;
}

const Token* RegistryView::find_token(std::string_view name) const {
  return find_by_name(held_->records.tokens, name);
}

std::string RegistryView::sid_of(const User& user) const {
  return held_->sid_of(user);
}
std::string RegistryView::sid_of(const Group& group) const {
  return held_->sid_of(group);
}

std::pair<const User*, const S3Key*> RegistryView::find_key(std::string_view access_key) const {
  const auto it = held_->enabled_keys.find(access_key);
  return it == held_->enabled_keys.end() ? std::pair<const User*, const S3Key*>{} : it->second;
}

}  // namespace stoa::core
