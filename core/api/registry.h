// Exports and users: who may see what through which door. Records are persistent, in the volume.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "core/api/context.h"
#include "core/api/ids.h"

namespace stoa::core {

// An IPv4 or IPv6 network; IPv4 is kept as ::ffff:a.b.c.d.
struct Network {
  std::array<std::uint8_t, 16> address{};
  std::uint8_t prefix_bits = 0;  // of 128

  // "10.0.0.0/8", "::1", "fe80::/10", "*". kInvalid with the reason in detail.
  static Result<Network> parse(std::string_view text);
  std::string to_text() const;
  bool contains(const std::array<std::uint8_t, 16>& address) const;
  bool operator==(const Network&) const = default;
};

enum class Squash : std::uint8_t { kNone, kRoot, kAll };

struct ClientRule {
  Network network{};
  bool read_only = false;
  Squash squash = Squash::kRoot;
  std::uint32_t anonymous_uid = 65534;
  std::uint32_t anonymous_gid = 65534;
  bool operator==(const ClientRule&) const = default;
};

// A directory published through chosen doors. `name` is the NFS export path "/name" and the S3 bucket.
struct Export {
  ExportId id{};
  std::string name;  // 3..63 characters by the rules of S3 bucket names when `s3`; else 1..255, no '/'
  FileId root = kNoFile;
  std::string path;  // where the root was when the export was made; for people
  bool nfs = false;
  bool s3 = false;
  bool read_only = false;
  // The first match counts; clients that match none are refused. Empty: no NFS client may come, and every S3 client, which
  // shows with each request who it is.
  std::vector<ClientRule> clients{};
  std::string owner{};                // user name: the bucket's owner
  Timestamp created{};

  const ClientRule* rule_for(const std::array<std::uint8_t, 16>& address) const;
};

struct S3Key {
  std::string access_key;  // 20 characters
  std::string secret_key;  // 40 characters
  bool enabled = true;
};

struct User {
  std::string name;
  std::uint32_t uid = 65534;
  std::uint32_t gid = 65534;
  std::vector<std::uint32_t> groups{};
  std::vector<S3Key> keys{};

  Credentials credentials() const { return {.uid = uid, .gid = gid, .groups = groups}; }
};

// An immutable picture of the registry; doors take one for each request, without a lock.
class RegistrySnapshot {
 public:
  virtual ~RegistrySnapshot() = default;
  virtual const Export* find_export(ExportId id) const = 0;
  virtual const Export* find_export(std::string_view name) const = 0;
  virtual const std::vector<Export>& exports() const = 0;  // by name
  virtual const User* find_user(std::string_view name) const = 0;
  virtual const User* find_user_by_uid(std::uint32_t uid) const = 0;
  // The user of an enabled key, and the key.
  virtual std::pair<const User*, const S3Key*> find_key(std::string_view access_key) const = 0;
  virtual const std::vector<User>& users() const = 0;  // by name
};

class Registry {
 public:
  virtual ~Registry() = default;

  // Thread-safe, does not block.
  virtual std::shared_ptr<const RegistrySnapshot> snapshot() const = 0;

  // Each of these is durable and visible to every door when it returns. Errors: kExists, kNotFound, kInvalid (with a
  // sentence for people in detail), kIo.
  virtual Result<Export> add_export(const Export& wanted) = 0;      // gives it an id and a time
  virtual Status change_export(const Export& changed) = 0;          // by id; the root stays
  virtual Status remove_export(std::string_view name) = 0;          // the directory stays
  virtual Status add_user(const User& user) = 0;
  virtual Status change_user(const User& user) = 0;                 // by name
  virtual Status remove_user(std::string_view name) = 0;
};

// Fresh random keys of the usual shape.
S3Key make_s3_key();

}  // namespace stoa::core
