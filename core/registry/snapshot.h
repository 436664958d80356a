// One immutable picture of the registry with its indexes.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/api/registry.h"

namespace stoa::core {

// Immutable after construction, so any number of threads may use it.
class RegistryPicture final : public RegistrySnapshot {
 public:
  RegistryPicture(std::vector<Export> exports, std::vector<User> users);
  RegistryPicture(const RegistryPicture&) = delete;
  RegistryPicture& operator=(const RegistryPicture&) = delete;

  const Export* find_export(ExportId id) const override;
  const Export* find_export(std::string_view name) const override;
  const std::vector<Export>& exports() const override { return exports_; }
  const User* find_user(std::string_view name) const override;
  const User* find_user_by_uid(std::uint32_t uid) const override;
  std::pair<const User*, const S3Key*> find_key(std::string_view access_key) const override;
  const std::vector<User>& users() const override { return users_; }

 private:
  std::vector<Export> exports_;  // by name
  std::vector<User> users_;      // by name
  // Views and pointers into the vectors above, which never change.
  std::unordered_map<std::uint32_t, const Export*> exports_by_id_;
  std::unordered_map<std::uint32_t, const User*> users_by_uid_;
  std::unordered_map<std::string_view, std::pair<const User*, const S3Key*>> enabled_keys_;
};

}  // namespace stoa::core
