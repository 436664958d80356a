#include "appliance/daemon/host_key_file.h"

#include <algorithm>
#include <sstream>

#include "appliance/data_folder/secret_file.h"
#include "appliance/data_folder/small_file.h"
#include "core/api/registry.h"

namespace stoa::appliance {
namespace {

constexpr std::size_t kHostNameBytesMax = 64;

Status check_host_name(const std::string& name) {
  const bool sound = !name.empty() && name.size() <= kHostNameBytesMax && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
  if (sound) return {};
  return fail(Errc::kInvalid, "'" + name + "' is no name of a host key: 1 to 64 letters, digits, '-', '_' and '.'");
}

}  // namespace

Result<std::unique_ptr<HostKeyFile>> HostKeyFile::open(const std::string& path) {
  std::unique_ptr<HostKeyFile> file(new HostKeyFile(path));
  const auto text = read_secret_file(path);
  if (!text && text.error().code == Errc::kNotFound) return file;
  if (!text) return fail(text.error());
  std::istringstream lines(*text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    admin::HostKey key;
    if (!(words >> key.name >> key.key >> key.secret >> key.created.ns) || !check_host_name(key.name))
      return fail(Errc::kCorrupt, path + " has a line that is no host key");
    file->keys_.emplace(key.name, key);
  }
  return file;
}

std::optional<native::HostKey> HostKeyFile::find(std::string_view key) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(keys_, [&](const auto& entry) { return entry.second.key == key; });
  if (found == keys_.end()) return std::nullopt;
  return native::HostKey{found->second.name, found->second.key, found->second.secret};
}

std::vector<admin::HostKey> HostKeyFile::list() const {
  std::vector<admin::HostKey> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, key] : keys_) all.push_back({.name = name, .key = key.key, .created = key.created});
  return all;
}

Status HostKeyFile::store(const ByName& keys) const {
  std::string text;
  for (const auto& [name, key] : keys)
    text += name + " " + key.key + " " + key.secret + " " + std::to_string(key.created.ns) + "\n";
  return write_small_file(path_, text, 0600);
}

Result<admin::HostKey> HostKeyFile::create(const std::string& name) {
  STOA_CHECK_OK(check_host_name(name));
  const core::S3Key fresh = core::make_s3_key();
  const admin::HostKey key{name, fresh.access_key, fresh.secret_key, wall_now()};
  const std::lock_guard lock(mutex_);
  if (keys_.contains(name)) return fail(Errc::kExists, "there is a host key '" + name + "' already");
  if (keys_.size() >= kHostKeysMax) return fail(Errc::kBusy, "there are 4096 host keys already");
  ByName changed = keys_;
  changed.emplace(name, key);
  STOA_CHECK_OK(store(changed));
  keys_ = std::move(changed);
  return key;
}

Status HostKeyFile::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  ByName changed = keys_;
  if (changed.erase(name) == 0) return fail(Errc::kNotFound, "there is no host key '" + name + "'");
  STOA_CHECK_OK(store(changed));
  keys_ = std::move(changed);
  return {};
}

}  // namespace stoa::appliance
