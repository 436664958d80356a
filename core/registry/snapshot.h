// One immutable picture of the registry with its indexes.
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

// What the registry holds.
struct RegistryRecords {
  std::vector<Export> exports;
  std::vector<User> users;
  std::vector<Group> groups;
  std::vector<FlowRule> flows;
  std::vector<RecyclePolicy> recycle;
  std::vector<Token> tokens;
  std::vector<AuditPolicy> audit;
};

// Immutable after construction, so any number of threads may use it.
class RegistryPicture final : public RegistrySnapshot {
 public:
  RegistryPicture(RegistryRecords records, const SidDomain& domain, std::shared_ptr<const FlowTable> flows,
                  std::shared_ptr<const qos::Flow> background);
  RegistryPicture(const RegistryPicture&) = delete;
  RegistryPicture& operator=(const RegistryPicture&) = delete;

  const Export* find_export(ExportId id) const override;
  const Export* find_export(std::string_view name) const override;
  const std::vector<Export>& exports() const override { return records_.exports; }
  const User* find_user(std::string_view name) const override;
  const User* find_user_by_uid(std::uint32_t uid) const override;
  std::pair<const User*, const S3Key*> find_key(std::string_view access_key) const override;
  const std::vector<User>& users() const override { return records_.users; }
  const User* find_user_by_principal(std::string_view principal) const override;
  const User* find_user_by_sid(std::string_view sid) const override;
  const Group* find_group(std::string_view name) const override;
  const Group* find_group_by_gid(std::uint32_t gid) const override;
  const Group* find_group_by_sid(std::string_view sid) const override;
  const std::vector<Group>& groups() const override { return records_.groups; }
  const std::vector<FlowRule>& flow_rules() const override { return records_.flows; }
  const Token* find_token(const TokenHash& hash) const override;
  const Token* find_token(std::string_view name) const;
  const std::vector<Token>& tokens() const override { return records_.tokens; }
  const FlowTable* flows() const override { return flows_.get(); }
  qos::FlowUse flow_use(const FlowTarget& target) const override;
  const RecycleTable* recycle() const override { return recycle_ ? &*recycle_ : nullptr; }
  const AuditTable* audit() const override { return audit_.get(); }
  const std::shared_ptr<const FlowTable>& flow_table() const { return flows_; }
  std::string sid_of(const User& user) const override;
  std::string sid_of(const Group& group) const override;
  const RegistryRecords& records() const { return records_; }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  template <class Record>
  using BySid = std::unordered_map<std::string, const Record*, TextHash, std::equal_to<>>;

  RegistryRecords records_;  // each list by name
  const SidDomain domain_;
  const std::shared_ptr<const FlowTable> flows_;  // null: there are none
  const std::shared_ptr<const qos::Flow> background_;
  std::optional<RecycleTable> recycle_;           // absent: there is no policy
  const std::unique_ptr<const AuditTable> audit_;  // null: there are no policies
  // Views and pointers into the lists above, which never change.
  std::unordered_map<std::uint32_t, const Export*> exports_by_id_;
  std::unordered_map<std::uint32_t, const User*> users_by_uid_;
  std::unordered_map<std::string_view, std::pair<const User*, const S3Key*>> enabled_keys_;
  std::unordered_map<std::string_view, const User*> users_by_principal_;
  std::unordered_map<std::uint32_t, const Group*> groups_by_gid_;
  std::map<TokenHash, const Token*> tokens_by_hash_;
  BySid<User> users_by_sid_;
  BySid<Group> groups_by_sid_;
};

}  // namespace stoa::core
