// The registry: exports, users and groups, QoS classes, recycle policies, audit policies, and tokens of administrators.
// Records are persistent, in the volume.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/error.h"
#include "core/api/audit_policy.h"
#include "core/api/context.h"
#include "core/api/ids.h"
#include "core/api/network.h"
#include "core/api/qos_rules.h"
#include "core/api/qos_table.h"
#include "core/api/recycle.h"
#include "core/api/token.h"

namespace stoa::core {

enum class Squash : std::uint8_t { kNone, kRoot, kAll };

struct ClientRule {
  Network network{};
  bool read_only = false;
  Squash squash = Squash::kRoot;
  std::uint32_t anonymous_uid = 65534;
  std::uint32_t anonymous_gid = 65534;
  bool operator==(const ClientRule&) const = default;
};

// Authentication of callers by an NFS client (RFC 2623 2.1, RFC 7530 3.2.1). Persistent: never renumber.
enum class SecurityFlavor : std::uint8_t {
  kSys = 1,    // AUTH_SYS: claimed by the client
  kKrb5 = 2,   // Kerberos, calls authenticated
  kKrb5i = 3,  // and their content protected against change
  kKrb5p = 4,  // and encrypted
};
inline constexpr std::size_t kSecurityFlavors = 4;

// A directory published through chosen protocols. `name` is the NFS export path "/name" and the S3 bucket.
struct Export {
  ExportId id{};
  std::string name;  // 3..63 characters by the rules of S3 bucket names when `s3`; else 1..255, no '/'
  FileId root = kNoFile;
  std::string path;  // path of the root when the export was made; for people
  bool nfs = false;
  bool s3 = false;
  bool native = false;
  bool native_tls_required = false;  // native clients must come with TLS
  bool read_only = false;
  // The first match counts; clients that match none are refused. Empty: all NFS and native clients are refused, and all
  // S3 clients are accepted, because each S3 request is authenticated.
  std::vector<ClientRule> clients{};
  // Flavors that NFS clients may use, in order of preference. Empty: all that the server has.
  std::vector<SecurityFlavor> security{};
  std::string owner{};  // user name: the bucket's owner
  Timestamp created{};

  const ClientRule* rule_for(const std::array<std::uint8_t, 16>& address) const;
};

struct S3Key {
  std::string access_key;  // 20 characters
  std::string secret_key;  // 40 characters
  bool enabled = true;
};

// One user in the terms of every protocol.
struct User {
  std::string name;
  std::uint32_t uid = 65534;
  std::uint32_t gid = 65534;
  std::vector<std::uint32_t> groups{};  // beside gid; up to 1024, regardless of the limit of a protocol
  std::vector<S3Key> keys{};
  std::string principal{};  // Kerberos principal, "ann@EXAMPLE.ORG"; unique; empty: `name` in the realm of the server
  std::string sid{};        // "S-1-5-21-..."; unique; empty: RegistrySnapshot::sid_of() tells the automatic one

  Credentials credentials() const { return {.uid = uid, .gid = gid, .groups = groups}; }
};

// A group that has a name. Numbers without a record are groups, too.
struct Group {
  std::string name;
  std::uint32_t gid = 65534;  // unique
  std::string sid{};          // as User::sid
};

// An immutable snapshot of the registry; front ends take one for each request, without a lock.
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
  virtual const std::vector<User>& users() const = 0;                                // by name
  virtual const User* find_user_by_principal(std::string_view principal) const = 0;  // of those that have one on record
  virtual const User* find_user_by_sid(std::string_view sid) const = 0;
  virtual const Group* find_group(std::string_view name) const = 0;
  virtual const Group* find_group_by_gid(std::uint32_t gid) const = 0;
  virtual const Group* find_group_by_sid(std::string_view sid) const = 0;
  virtual const std::vector<Group>& groups() const = 0;                     // by name
  virtual std::vector<const QosRule*> qos_rules() const = 0;                // by target; in O(n log n)
  virtual const QosRule* find_qos_rule(const QosTarget& target) const = 0;  // null: it has no limits of its own
  virtual const Token* find_token(const TokenHash& hash) const = 0;         // expired ones, too
  virtual const std::vector<Token>& tokens() const = 0;                     // by name
  // QoS classes that requests pay; null: there are none.
  virtual const QosTable* qos_classes() const = 0;
  // Use of the QoS class of one of the rules, or of background work.
  virtual qos::QosUse qos_use(const QosTarget& target) const = 0;
  // Recycle policies; null: there are none, and deletions keep nothing.
  virtual const RecycleTable* recycle() const = 0;
  // Directories that have an audit policy; null: none.
  virtual const AuditTable* audit() const = 0;
  // The SID on record, else the automatic one: 1000 + 2 * uid for a user and 1001 + 2 * gid for a group, in the
  // volume's own domain. The domain, S-1-5-21-x-y-z, is made once and at random. Ids from 2147483148 on, for which this
  // has no room, are S-1-22-1-uid and S-1-22-2-gid. Users that share a uid share the automatic SID, and the first by
  // name is found by it.
  virtual std::string sid_of(const User& user) const = 0;
  virtual std::string sid_of(const Group& group) const = 0;
};

class Registry {
 public:
  virtual ~Registry() = default;

  // Thread-safe, does not block.
  virtual std::shared_ptr<const RegistrySnapshot> snapshot() const = 0;

  // Each of these is durable and visible to every protocol when it returns. Errors: kExists, kNotFound, kInvalid (with
  // a cause and its arguments), kIo; kTimeout: other changes, or a full queue, were in the way until `by`, and
  // nothing was changed.
  virtual Result<Export> add_export(const Export& wanted, const Deadline& by = {}) = 0;  // gives it an id and a time
  virtual Status change_export(const Export& changed, const Deadline& by = {}) = 0;      // by id; the root stays
  virtual Status remove_export(std::string_view name,
                               const Deadline& by = {}) = 0;  // the directory stays; its QoS class goes
  virtual Status add_user(const User& user, const Deadline& by = {}) = 0;
  virtual Status change_user(const User& user, const Deadline& by = {}) = 0;  // by name
  virtual Status remove_user(std::string_view name, const Deadline& by = {}) = 0;
  virtual Status add_group(const Group& group, const Deadline& by = {}) = 0;
  virtual Status remove_group(std::string_view name, const Deadline& by = {}) = 0;  // users and files keep its number
  // Made or changed; holds for the next request, and for those that wait.
  virtual Status set_qos_class(const QosRule& rule, const Deadline& by = {}) = 0;
  virtual Status remove_qos_class(const QosTarget& target, const Deadline& by = {}) = 0;
  // The policy of a directory, made or changed in O(1): holds for the next deletion. What is in bins stays, and ages
  // on.
  virtual Status set_recycle(const RecyclePolicy& policy, const Deadline& by = {}) = 0;
  virtual Status remove_recycle(FileId dir, const Deadline& by = {}) = 0;
  virtual Status add_token(const Token& token, const Deadline& by = {}) = 0;
  virtual Status remove_token(std::string_view name, const Deadline& by = {}) = 0;  // holds for the next request

  // Records the use of the token, and stores it at most once a minute, so that it blocks seldom. Errors are logged, not
  // returned.
  virtual void note_use(const Token& token, Timestamp now) = 0;
  // {}: never. After a crash up to a minute old.
  virtual Timestamp last_use(const Token& token) const = 0;
  // By directory; made or changed. Does not check that the directory exists.
  virtual Status set_audit_policy(const AuditPolicy& policy, const Deadline& by = {}) = 0;
  virtual Status remove_audit_policy(FileId directory, const Deadline& by = {}) = 0;
  // Whether there is any policy of audit. One look at memory that hardly ever changes.
  virtual bool audited() const = 0;
};

// Fresh random keys of the usual shape.
S3Key make_s3_key();

}  // namespace stoa::core
