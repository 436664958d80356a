// One immutable snapshot of the registry with its indexes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/api/registry.h"
#include "core/registry/sid.h"

namespace stoa::core {

// The registry without QoS classes: there may be too many to be copied by a change of another record.
struct RegistryRecords {
  std::vector<Export> exports;
  std::vector<User> users;
  std::vector<Group> groups;
  std::vector<RecyclePolicy> recycle;
  std::vector<Token> tokens;
  std::vector<AuditPolicy> audit;
};

// Immutable after construction, so any number of threads may use it.
class RegistryView final : public RegistrySnapshot {
 public:
  RegistryView(RegistryRecords records, const SidDomain& domain, QosTable qos_classes,
               std::shared_ptr<const qos::QosClass> background);
  // The same with other QoS classes; all else is shared.
  RegistryView(const RegistryView& other, QosTable qos_classes);
  RegistryView(const RegistryView&) = delete;
  RegistryView& operator=(const RegistryView&) = delete;

  const Export* find_export(ExportId id) const override;
  const Export* find_export(std::string_view name) const override;
  const std::vector<Export>& exports() const override { return held_->records.exports; }
  const User* find_user(std::string_view name) const override;
  const User* find_user_by_uid(std::uint32_t uid) const override;
  std::pair<const User*, const S3Key*> find_key(std::string_view access_key) const override;
  const std::vector<User>& users() const override { return held_->records.users; }
  const User* find_user_by_principal(std::string_view principal) const override;
  const User* find_user_by_sid(std::string_view sid) const override;
  const Group* find_group(std::string_view name) const override;
  const Group* find_group_by_gid(std::uint32_t gid) const override;
  const Group* find_group_by_sid(std::string_view sid) const override;
  const std::vector<Group>& groups() const override { return held_->records.groups; }
  std::vector<const QosRule*> qos_rules() const override;
  const QosRule* find_qos_rule(const QosTarget& target) const override;
  const Token* find_token(const TokenHash& hash) const override;
  const Token* find_token(std::string_view name) const;
  const std::vector<Token>& tokens() const override { return held_->records.tokens; }
  const QosTable* qos_classes() const override { return qos_classes_.governs_requests() ? &qos_classes_ : nullptr; }
  qos::QosUse qos_use(const QosTarget& target) const override;
  const RecycleTable* recycle() const override { return held_->recycle ? &*held_->recycle : nullptr; }
  const AuditTable* audit() const override { return held_->audit.get(); }
  const QosTable& qos_table() const { return qos_classes_; }  // with that of background work, where it is set
  std::string sid_of(const User& user) const override;
  std::string sid_of(const Group& group) const override;
  const RegistryRecords& records() const { return held_->records; }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  template <class Record>
  using BySid = std::unordered_map<std::string, const Record*, TextHash, std::equal_to<>>;

  struct Held {
    Held(RegistryRecords held, const SidDomain& sids);
    Held(const Held&) = delete;
    std::string sid_of(const User& user) const;
    std::string sid_of(const Group& group) const;

    RegistryRecords records;  // each list by name
    const SidDomain domain;
    std::optional<RecycleTable> recycle;            // absent: there is no policy
    const std::unique_ptr<const AuditTable> audit;  // null: there are no policies
    // Views and pointers into the lists above, which never change.
    std::unordered_map<std::uint32_t, const Export*> exports_by_id;
    std::unordered_map<std::uint32_t, const User*> users_by_uid;
    std::unordered_map<std::string_view, std::pair<const User*, const S3Key*>> enabled_keys;
    std::unordered_map<std::string_view, const User*> users_by_principal;
    std::unordered_map<std::uint32_t, const Group*> groups_by_gid;
    std::map<TokenHash, const Token*> tokens_by_hash;
    BySid<User> users_by_sid;
    BySid<Group> groups_by_sid;
  };

  const std::shared_ptr<const Held> held_;
  const QosTable qos_classes_;
  const std::shared_ptr<const qos::QosClass> background_;
};

}  // namespace stoa::core
