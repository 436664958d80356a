// The keys of hosts that use the native protocol, in a file of the data folder that nobody else may read.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "frontends/admin/service.h"
#include "frontends/native/server/host_keys.h"

namespace stoa::appliance {

// Thread-safe. A change is durable when it returns. Lines of "NAME KEY SECRET CREATED", the time in nanoseconds.
class HostKeyFile final : public native::HostKeys {
 public:
  static constexpr std::size_t kHostKeysMax = 4096;

  // kCorrupt: a line cannot be read; kAccess: others may read it. No file: no keys.
  static Result<std::unique_ptr<HostKeyFile>> open(const std::string& path);

  std::optional<native::HostKey> find(std::string_view key) const override;
  std::vector<admin::HostKey> list() const;  // by name, without secrets
  // Fresh and random. kExists; kInvalid: the name; kBusy: there are too many.
  Result<admin::HostKey> create(const std::string& name);
  Status remove(const std::string& name);  // kNotFound

 private:
  using ByName = std::map<std::string, admin::HostKey, std::less<>>;
  explicit HostKeyFile(std::string path) : path_(std::move(path)) {}
  Status store(const ByName& keys) const;

  const std::string path_;
  mutable std::mutex mutex_;  // guards keys_, over the write of a change
  ByName keys_;
};

}  // namespace stoa::appliance
