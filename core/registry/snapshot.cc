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

RegistryPicture::RegistryPicture(std::vector<Export> exports, std::vector<User> users)
    : exports_(std::move(exports)), users_(std::move(users)) {
  std::ranges::sort(exports_, {}, &Export::name);
  std::ranges::sort(users_, {}, &User::name);
  for (const Export& record : exports_) exports_by_id_.emplace(static_cast<std::uint32_t>(record.id), &record);
  for (const User& user : users_) {
    users_by_uid_.emplace(user.uid, &user);  // The first by name speaks for a uid that several users share.
    for (const S3Key& key : user.keys) {
      if (key.enabled) enabled_keys_.emplace(key.access_key, std::pair{&user, &key});
    }
  }
}

const Export* RegistryPicture::find_export(ExportId id) const {
  const auto it = exports_by_id_.find(static_cast<std::uint32_t>(id));
  return it == exports_by_id_.end() ? nullptr : it->second;
}

const Export* RegistryPicture::find_export(std::string_view name) const {
  return find_by_name(exports_, name);
}
const User* RegistryPicture::find_user(std::string_view name) const {
  return find_by_name(users_, name);
}

const User* RegistryPicture::find_user_by_uid(std::uint32_t uid) const {
  const auto it = users_by_uid_.find(uid);
  return it == users_by_uid_.end() ? nullptr : it->second;
}

std::pair<const User*, const S3Key*> RegistryPicture::find_key(std::string_view access_key) const {
  const auto it = enabled_keys_.find(access_key);
  return it == enabled_keys_.end() ? std::pair<const User*, const S3Key*>{} : it->second;
}

}  // namespace stoa::core
