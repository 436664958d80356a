#include "core/registry/snapshot.h"

#include <algorithm>

namespace stoa::core {
namespace {

template <class Record>
const Record* find_by_name(const std::vector<Record>& records, std::string_view name) {
  const auto it = std::ranges::lower_bound(records, name, {}, [](const Record& r) { return std::string_view(r.name); });
  return it != records.end() && it->name == name ? &*it : nullptr;
}

}  // namespace

RegistryPicture::RegistryPicture(RegistryRecords records, const SidDomain& domain, std::shared_ptr<const FlowTable> flows,
                                 std::shared_ptr<const qos::Flow> background)
    : records_(std::move(records)), domain_(domain), flows_(std::move(flows)), background_(std::move(background)),
      audit_(records_.audit.empty() ? nullptr : std::make_unique<const AuditTable>(records_.audit)) {
  std::ranges::sort(records_.exports, {}, &Export::name);
  std::ranges::sort(records_.users, {}, &User::name);
  std::ranges::sort(records_.groups, {}, &Group::name);
  std::ranges::sort(records_.flows, {}, &FlowRule::target);
  if (!records_.recycle.empty()) {
    std::vector<FileId> roots;
    for (const Export& record : records_.exports) roots.push_back(record.root);
    recycle_.emplace(records_.recycle, std::move(roots));
  }
  std::ranges::sort(records_.tokens, {}, &Token::name);
  for (const Export& record : records_.exports) exports_by_id_.emplace(static_cast<std::uint32_t>(record.id), &record);
  for (const User& user : records_.users) {
    users_by_uid_.emplace(user.uid, &user);  // The first by name speaks for a uid that several users share.
    for (const S3Key& key : user.keys) {
      if (key.enabled) enabled_keys_.emplace(key.access_key, std::pair{&user, &key});
    }
    if (!user.principal.empty()) users_by_principal_.emplace(user.principal, &user);
    users_by_sid_.emplace(sid_of(user), &user);
  }
  for (const Group& group : records_.groups) {
    groups_by_gid_.emplace(group.gid, &group);
    groups_by_sid_.emplace(sid_of(group), &group);
  }
  for (const Token& token : records_.tokens) tokens_by_hash_.emplace(token.hash, &token);
}

qos::FlowUse RegistryPicture::flow_use(const FlowTarget& target) const {
  return target.kind == FlowKind::kBackground ? background_->use() : flows_->flows().at(target)->use();
}

const Export* RegistryPicture::find_export(ExportId id) const {
  const auto it = exports_by_id_.find(static_cast<std::uint32_t>(id));
  return it == exports_by_id_.end() ? nullptr : it->second;
}

const Export* RegistryPicture::find_export(std::string_view name) const {
  return find_by_name(records_.exports, name);
}
const User* RegistryPicture::find_user(std::string_view name) const {
  return find_by_name(records_.users, name);
}

const User* RegistryPicture::find_user_by_uid(std::uint32_t uid) const {
  const auto it = users_by_uid_.find(uid);
  return it == users_by_uid_.end() ? nullptr : it->second;
}

const User* RegistryPicture::find_user_by_principal(std::string_view principal) const {
  const auto it = users_by_principal_.find(principal);
  return it == users_by_principal_.end() ? nullptr : it->second;
}

const User* RegistryPicture::find_user_by_sid(std::string_view sid) const {
  const auto it = users_by_sid_.find(sid);
  return it == users_by_sid_.end() ? nullptr : it->second;
}

const Group* RegistryPicture::find_group(std::string_view name) const {
  return find_by_name(records_.groups, name);
}

const Group* RegistryPicture::find_group_by_gid(std::uint32_t gid) const {
  const auto it = groups_by_gid_.find(gid);
  return it == groups_by_gid_.end() ? nullptr : it->second;
}

const Group* RegistryPicture::find_group_by_sid(std::string_view sid) const {
  const auto it = groups_by_sid_.find(sid);
  return it == groups_by_sid_.end() ? nullptr : it->second;
}

// The time that this takes tells of hashes, from which no secret can be found.
const Token* RegistryPicture::find_token(const TokenHash& hash) const {
  const auto it = tokens_by_hash_.find(hash);
  return it == tokens_by_hash_.end() ? nullptr : it->second;
}

const Token* RegistryPicture::find_token(std::string_view name) const {
  return find_by_name(records_.tokens, name);
}

std::string RegistryPicture::sid_of(const User& user) const {
  return user.sid.empty() ? automatic_user_sid(domain_, user.uid) : user.sid;
}

std::string RegistryPicture::sid_of(const Group& group) const {
  return group.sid.empty() ? automatic_group_sid(domain_, group.gid) : group.sid;
}

std::pair<const User*, const S3Key*> RegistryPicture::find_key(std::string_view access_key) const {
  const auto it = enabled_keys_.find(access_key);
  return it == enabled_keys_.end() ? std::pair<const User*, const S3Key*>{} : it->second;
}

}  // namespace stoa::core
