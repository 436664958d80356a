#include "core/registry/stored_registry.h"

#include <algorithm>
#include <chrono>

#include "base/assert.h"
#include "base/log.h"
#include "core/kv/keys.h"
#include "core/registry/name_rules.h"
#include "core/registry/record.h"

namespace stoa::core {
namespace {

template <class Record>
Status load_all(KvStore& kv, std::string_view prefix, Result<Record> (*decode)(std::string_view),
                std::vector<Record>& records) {
  const auto it = kv.scan(Family::kConfig, prefix, keys::behind_prefix(std::string(prefix)));
  for (it->seek(prefix); it->valid(); it->next()) {
    auto record = decode(it->value());
    if (!record) {
      Error error = std::move(record).error();
      error.detail = std::string(it->key());
      return fail(std::move(error));
    }
    records.push_back(*std::move(record));
  }
  return it->status();
}

constexpr std::int64_t kUseStoredEvery_ns = std::chrono::nanoseconds(std::chrono::minutes(1)).count();

std::unexpected<Error> no_such(std::string_view what, std::string_view name) {
  return fail(Cause::kNameUnknown, what, name);
}
std::unexpected<Error> taken(std::string_view what, std::string_view name) {
  return fail(Cause::kNameTaken, what, name);
}

// An access key names one user, so that each request has one sender. Disabled keys count: they may be enabled.
Status check_keys_are_free(const RegistryView& snapshot, const User& user) {
  for (const User& other : snapshot.users()) {
    if (other.name == user.name) continue;
    for (const S3Key& theirs : other.keys) {
      if (std::ranges::find(user.keys, theirs.access_key, &S3Key::access_key) != user.keys.end()) {
        return taken("access key", theirs.access_key);
      }
    }
  }
  return {};
}

// A name of Kerberos and a SID tell one user or group. Users that share a uid share its automatic SID.
Status check_identity_is_free(const RegistryView& snapshot, const User& user) {
  const User* same_principal = user.principal.empty() ? nullptr : snapshot.find_user_by_principal(user.principal);
  if (same_principal != nullptr && same_principal->name != user.name) return taken("principal", user.principal);
  const std::string sid = snapshot.sid_of(user);
  const User* same = snapshot.find_user_by_sid(sid);
  const bool shared = same != nullptr && same->sid.empty() && user.sid.empty();
  if ((same != nullptr && same->name != user.name && !shared) || snapshot.find_group_by_sid(sid) != nullptr) {
    return taken("SID", sid);
  }
  return {};
}

Status check_identity_is_free(const RegistryView& snapshot, const Group& group) {
  if (const Group* same = snapshot.find_group_by_gid(group.gid); same != nullptr) {
    return fail(Cause::kNumberTaken, same->name, group.gid);
  }
  const std::string sid = snapshot.sid_of(group);
  if (snapshot.find_user_by_sid(sid) != nullptr || snapshot.find_group_by_sid(sid) != nullptr) return taken("SID", sid);
  return {};
}

Status check_owner(const RegistryView& snapshot, const Export& record) {
  if (record.owner.empty() || snapshot.find_user(record.owner) != nullptr) return {};
  return fail(Cause::kExportOwnerUnknown, record.name, record.owner);
}

}  // namespace

Result<std::unique_ptr<StoredRegistry>> StoredRegistry::load(KvStore& kv, RegistryCommit commit,
                                                             qos::Scheduler& scheduler, const TimeSource& time) {
  RegistryRecords records;
  STOA_CHECK_OK(load_all(kv, keys::kExportPrefix, decode_export, records.exports));
  STOA_CHECK_OK(load_all(kv, keys::kUserPrefix, decode_user, records.users));
  STOA_CHECK_OK(load_all(kv, keys::kGroupPrefix, decode_group, records.groups));
  std::vector<QosRule> rules;
  STOA_CHECK_OK(load_all(kv, keys::kQosPrefix, decode_qos_class, rules));
  STOA_CHECK_OK(load_all(kv, keys::kRecyclePrefix, decode_recycle, records.recycle));
  STOA_CHECK_OK(load_all(kv, keys::kTokenPrefix, decode_token, records.tokens));
  STOA_CHECK_OK(load_all(kv, keys::kAuditPrefix, decode_audit, records.audit));
  std::uint32_t next_export = 1;
  std::string value;
  STOA_TRY(found, kv.get(Family::kConfig, kNextExportKey, &value));
  if (found) {
    STOA_TRY(stored, decode_next_export(value));
    next_export = stored;
  }
  SidDomain domain{};
  STOA_TRY(has_domain, kv.get(Family::kConfig, kSidDomainKey, &value));
  if (has_domain) {
    STOA_TRY(stored, decode_sid_domain(value));
    domain = stored;
  } else {
    domain = make_sid_domain();
    WriteBatch batch;
    batch.put(Family::kConfig, kSidDomainKey, encode_sid_domain(domain));
    STOA_CHECK_OK(commit(batch, {}));
  }
  std::unique_ptr<StoredRegistry> registry(new StoredRegistry(std::move(commit), scheduler, time, std::move(records),
                                                              std::move(rules), domain, next_export));
  STOA_CHECK_OK(registry->load_uses(kv));
  return registry;
}

StoredRegistry::StoredRegistry(RegistryCommit commit, qos::Scheduler& scheduler, const TimeSource& time,
                               RegistryRecords records, std::vector<QosRule> rules, const SidDomain& domain,
                               std::uint32_t next_export)
    : commit_(std::move(commit)), time_(time), scheduler_(scheduler), domain_(domain), next_export_(next_export) {
  std::vector<QosEntry> entries;
  std::vector<std::pair<qos::QosClass*, qos::Limits>> limits{{background_.get(), background_default().limits}};
  for (QosRule& rule : rules) {
    const auto qos_class = qos_class_for(rule.target);
    limits.emplace_back(qos_class.get(), rule.limits);
    entries.push_back({std::move(rule), qos_class});
  }
  scheduler_.change(limits);
  publish(std::move(records), QosTable(std::move(entries)));
}

std::shared_ptr<qos::QosClass> StoredRegistry::qos_class_for(const QosTarget& target) const {
  return target == QosTarget::background() ? background_ : std::make_shared<qos::QosClass>();
}

void StoredRegistry::publish(RegistryRecords records, QosTable qos_classes) {
  publish(std::make_shared<const RegistryView>(std::move(records), domain_, std::move(qos_classes), background_));
}

void StoredRegistry::publish(QosTable qos_classes) {
  publish(std::make_shared<const RegistryView>(now(), std::move(qos_classes)));
}

void StoredRegistry::publish(std::shared_ptr<const RegistryView> now_on) {
  snapshot_ = std::move(now_on);
  for (Cell& cell : cells_) {
    // The holder gives each cell a reference count of its own; see Cell.
    const auto holder = std::make_shared<const std::shared_ptr<const RegistryView>>(snapshot_);
    std::shared_ptr<const RegistrySnapshot> snapshot(holder, holder->get());
    const std::lock_guard lock(cell.mutex);
    cell.snapshot.swap(snapshot);
  }
  // Last: a reader that sees it finds the table.
  audited_.store(now().audit() != nullptr, std::memory_order_release);
}

std::shared_ptr<const RegistrySnapshot> StoredRegistry::snapshot() const {
  const Cell& cell = cells_[metric_cell()];
  const std::lock_guard lock(cell.mutex);
  return cell.snapshot;
}

qos::BackgroundThrottle::Terms StoredRegistry::background_terms() const {
  const auto registry = snapshot();
  const QosRule* own = registry->find_qos_rule(QosTarget::background());
  qos::BackgroundThrottle::Terms terms{.weight =
                                           own != nullptr ? own->limits.weight : background_default().limits.weight};
  if (const QosTable* table = registry->qos_classes(); table != nullptr) {
    if (const QosEntry* root = table->find(QosTarget::directory(kRootId)); root != nullptr)
      terms.path.push_back(root->qos_class);
  }
  terms.path.push_back(background_);
  return terms;
}

Result<Export> StoredRegistry::add_export(const Export& wanted, const Deadline& by) {
  STOA_CHECK_OK(check_export(wanted));
  STOA_TRY(lock, lock_by(change_lock_, by));
  if (now().find_export(wanted.name) != nullptr) return taken("export", wanted.name);
  STOA_CHECK_OK(check_owner(now(), wanted));
  if (now().exports().size() >= kExportsMax) return fail(Cause::kTooManyRecords, "exports", kExportsMax);

  Export record = wanted;
  record.id = ExportId{next_export_};
  record.created = time_.wall();
  WriteBatch batch;
  batch.put(Family::kConfig, export_key(record.id), encode_export(record));
  batch.put(Family::kConfig, kNextExportKey, encode_next_export(next_export_ + 1));
  STOA_CHECK_OK(commit_(batch, by));
  ++next_export_;

  RegistryRecords records = now().records();
  records.exports.push_back(record);
  publish(std::move(records));
  return record;
}

Status StoredRegistry::change_export(const Export& changed, const Deadline& by) {
  STOA_TRY(lock, lock_by(change_lock_, by));
  const Export* old = now().find_export(changed.id);
  if (old == nullptr) return no_such("export", changed.name);
  Export record = changed;
  record.root = old->root;
  record.path = old->path;
  record.created = old->created;
  STOA_CHECK_OK(check_export(record));
  STOA_CHECK_OK(check_owner(now(), record));
  const Export* same_name = now().find_export(record.name);
  if (same_name != nullptr && same_name->id != record.id) return taken("export", record.name);

  WriteBatch batch;
  batch.put(Family::kConfig, export_key(record.id), encode_export(record));
  STOA_CHECK_OK(commit_(batch, by));

  RegistryRecords records = now().records();
  const auto known = std::ranges::find(records.exports, record.id, &Export::id);
  STOA_ASSERT(known != records.exports.end(), "an export in the index is in the list");
  *known = std::move(record);
  publish(std::move(records));
  return {};
}

Status StoredRegistry::remove_export(std::string_view name, const Deadline& by) {
  STOA_TRY(lock, lock_by(change_lock_, by));
  const Export* old = now().find_export(name);
  if (old == nullptr) return no_such("export", name);
  const ExportId id = old->id;
  WriteBatch batch;
  batch.remove(Family::kConfig, export_key(id));
  batch.remove(Family::kConfig, qos_key(QosTarget::of_export(id)));
  STOA_CHECK_OK(commit_(batch, by));

  RegistryRecords records = now().records();
  const auto gone = std::erase_if(records.exports, [id](const Export& e) { return e.id == id; });
  STOA_ASSERT(gone > 0, "an export in the index is in the list");
  publish(std::move(records), without_qos_class(QosTarget::of_export(id)));
  return {};
}

Status StoredRegistry::add_user(const User& user, const Deadline& by) {
  STOA_CHECK_OK(check_user(user));
  STOA_TRY(lock, lock_by(change_lock_, by));
  if (now().find_user(user.name) != nullptr) return taken("user", user.name);
  STOA_CHECK_OK(check_keys_are_free(now(), user));
  STOA_CHECK_OK(check_identity_is_free(now(), user));
  if (now().users().size() >= kUsersMax) return fail(Cause::kTooManyRecords, "users", kUsersMax);

  WriteBatch batch;
  batch.put(Family::kConfig, user_key(user.name), encode_user(user));
  STOA_CHECK_OK(commit_(batch, by));

  RegistryRecords records = now().records();
  records.users.push_back(user);
  publish(std::move(records));
  return {};
}

Status StoredRegistry::change_user(const User& user, const Deadline& by) {
  STOA_CHECK_OK(check_user(user));
  STOA_TRY(lock, lock_by(change_lock_, by));
  if (now().find_user(user.name) == nullptr) return no_such("user", user.name);
  STOA_CHECK_OK(check_keys_are_free(now(), user));
  STOA_CHECK_OK(check_identity_is_free(now(), user));

  WriteBatch batch;
  batch.put(Family::kConfig, user_key(user.name), encode_user(user));
  STOA_CHECK_OK(commit_(batch, by));

  RegistryRecords records = now().records();
  const auto known = std::ranges::find(records.users, user.name, &User::name);
  STOA_ASSERT(known != records.users.end(), "a user in the index is in the list");
  *known = user;
  publish(std::move(records));
  return {};
}

Status StoredRegistry::remove_user(std::string_view name, const Deadline& by) {
  STOA_TRY(lock, lock_by(change_lock_, by));
  if (now().find_user(name) == nullptr) return no_such("user", name);
  for (const Export& record : now().exports()) {
    if (record.owner == name) {
      return fail(Cause::kUserOwnsExport, name, record.name);
    }
  }
  WriteBatch batch;
  batch.remove(Family::kConfig, user_key(name));
  STOA_CHECK_OK(commit_(batch, by));

  RegistryRecords records = now().records();
  const auto gone = std::erase_if(records.users, [name](const User& u) { return u.name == name; });
  STOA_ASSERT(gone > 0, "a user in the index is in the list");
  publish(std::move(records));
  return {};
}

Status StoredRegistry::add_group(const Group& group, const Deadline& by) {
  STOA_CHECK_OK(check_group(group));
  STOA_TRY(lock, lock_by(change_lock_, by));
  if (now().find_group(group.name) != nullptr) return taken("group", group.name);
  STOA_CHECK_OK(check_identity_is_free(now(), group));
  if (now().groups().size() >= kGroupsMax) return fail(Cause::kTooManyRecords, "groups", kGroupsMax);

  WriteBatch batch;
  batch.put(Family::kConfig, group_key(group.name), encode_group(group));
  STOA_CHECK_OK(commit_(batch, by));

  RegistryRecords records = now().records();
  records.groups.push_back(group);
  publish(std::move(records));
  return {};
}

Status StoredRegistry::set_qos_class(const QosRule& rule, const Deadline& by) {
  STOA_CHECK_OK(check_qos_class(rule));
  STOA_TRY(lock, lock_by(change_lock_, by));
  const QosTable& qos_classes = now().qos_table();
  const QosEntry* known = qos_classes.find(rule.target);
  if (known == nullptr && qos_classes.size() >= kQosClassesMax)
    return fail(Cause::kTooManyRecords, "qos_classes", kQosClassesMax);
  if (known != nullptr && known->rule == rule) return {};
  WriteBatch batch;
  batch.put(Family::kConfig, qos_key(rule.target), encode_qos_class(rule));
  STOA_CHECK_OK(commit_(batch, by));
  // Known QoS classes keep their state: their use, their debts and their waiting requests.
  const auto qos_class = known != nullptr ? known->qos_class : qos_class_for(rule.target);
  set_limits(*qos_class, rule.limits);
  publish(qos_classes.with({rule, qos_class}));
  return {};
}

Status StoredRegistry::remove_qos_class(const QosTarget& target, const Deadline& by) {
  STOA_TRY(lock, lock_by(change_lock_, by));
  if (now().find_qos_rule(target) == nullptr) return fail(Errc::kNotFound);
  WriteBatch batch;
  batch.remove(Family::kConfig, qos_key(target));
  STOA_CHECK_OK(commit_(batch, by));
  publish(without_qos_class(target));
  return {};
}

void StoredRegistry::set_limits(qos::QosClass& qos_class, const qos::Limits& limits) {
  const std::pair<qos::QosClass*, qos::Limits> change{&qos_class, limits};
  scheduler_.change({&change, 1});
}

QosTable StoredRegistry::without_qos_class(const QosTarget& target) {
  const QosTable& qos_classes = now().qos_table();
  const QosEntry* known = qos_classes.find(target);
  if (known == nullptr) return qos_classes;
  set_limits(*known->qos_class, target == QosTarget::background() ? background_default().limits : qos::Limits{});
  return qos_classes.without(target);
}

Status StoredRegistry::set_recycle(const RecyclePolicy& policy, const Deadline& by) {
  STOA_CHECK_OK(check_recycle(policy));
  STOA_TRY(lock, lock_by(change_lock_, by));
  RegistryRecords records = now().records();
  const auto known = std::ranges::find(records.recycle, policy.dir, &RecyclePolicy::dir);
  if (known == records.recycle.end() && records.recycle.size() >= kRecyclePoliciesMax)
    return fail(Cause::kTooManyRecords, "recycle policies", kRecyclePoliciesMax);
  WriteBatch batch;
  batch.put(Family::kConfig, recycle_key(policy.dir), encode_recycle(policy));
  STOA_CHECK_OK(commit_(batch, by));
  if (known == records.recycle.end()) {
    records.recycle.push_back(policy);
  } else {
    *known = policy;
  }
  publish(std::move(records));
  return {};
}

Status StoredRegistry::remove_recycle(FileId dir, const Deadline& by) {
  STOA_TRY(lock, lock_by(change_lock_, by));
  if (now().recycle() == nullptr || now().recycle()->find(dir) == nullptr) return fail(Errc::kNotFound);
  WriteBatch batch;
  batch.remove(Family::kConfig, recycle_key(dir));
  STOA_CHECK_OK(commit_(batch, by));

  RegistryRecords records = now().records();
  std::erase_if(records.recycle, [dir](const RecyclePolicy& policy) { return policy.dir == dir; });
  publish(std::move(records));
  return {};
}

Status StoredRegistry::set_audit_policy(const AuditPolicy& policy, const Deadline& by) {
  STOA_TRY(lock, lock_by(change_lock_, by));
  RegistryRecords records = now().records();
  const auto known = std::ranges::find(records.audit, policy.directory, &AuditPolicy::directory);
  if (known == records.audit.end() && records.audit.size() >= kAuditPoliciesMax)
    return fail(Cause::kTooManyRecords, "policies of audit", kAuditPoliciesMax);
  WriteBatch batch;
  batch.put(Family::kConfig, audit_key(policy.directory), encode_audit(policy));
  STOA_CHECK_OK(commit_(batch, by));
  if (known == records.audit.end()) {
    records.audit.push_back(policy);
  } else {
    *known = policy;
  }
  publish(std::move(records));
  return {};
}

Status StoredRegistry::remove_audit_policy(FileId directory, const Deadline& by) {
  STOA_TRY(lock, lock_by(change_lock_, by));
  RegistryRecords records = now().records();
  if (std::erase_if(records.audit, [directory](const AuditPolicy& policy) { return policy.directory == directory; }) ==
      0)
    return fail(Errc::kNotFound);
  WriteBatch batch;
  batch.remove(Family::kConfig, audit_key(directory));
  STOA_CHECK_OK(commit_(batch, by));
  publish(std::move(records));
  return {};
}

Status StoredRegistry::add_token(const Token& token, const Deadline& by) {
  STOA_CHECK_OK(check_token(token));
  STOA_TRY(lock, lock_by(change_lock_, by));
  if (now().find_token(token.name) != nullptr) return taken("token", token.name);
  if (now().find_token(token.hash) != nullptr) return fail(Errc::kExists, "secret of a token");
  if (now().tokens().size() >= kTokensMax) return fail(Cause::kTooManyRecords, "tokens", kTokensMax);

  WriteBatch batch;
  batch.put(Family::kConfig, token_key(token.name), encode_token(token));
  STOA_CHECK_OK(commit_(batch, by));

  RegistryRecords records = now().records();
  records.tokens.push_back(token);
  publish(std::move(records));
  return {};
}

Status StoredRegistry::remove_token(std::string_view name, const Deadline& by) {
  STOA_TRY(lock, lock_by(change_lock_, by));
  if (now().find_token(name) == nullptr) return no_such("token", name);
  WriteBatch batch;
  batch.remove(Family::kConfig, token_key(name));
  batch.remove(Family::kConfig, token_use_key(name));
  STOA_CHECK_OK(commit_(batch, by));

  RegistryRecords records = now().records();
  const auto gone = std::erase_if(records.tokens, [name](const Token& t) { return t.name == name; });
  STOA_ASSERT(gone > 0, "a token in the index is in the list");
  publish(std::move(records));
  const std::lock_guard uses(uses_mutex_);
  if (const auto it = uses_.find(name); it != uses_.end()) uses_.erase(it);
  return {};
}

Status StoredRegistry::load_uses(KvStore& kv) {
  for (const Token& token : now().tokens()) {
    std::string value;
    STOA_TRY(found, kv.get(Family::kConfig, token_use_key(token.name), &value));
    if (!found) continue;
    STOA_TRY(last, decode_token_use(value));
    uses_.emplace(token.name, TokenUse{last, last});
  }
  return {};
}

void StoredRegistry::note_use(const Token& token, Timestamp used) {
  {
    const std::lock_guard uses(uses_mutex_);
    TokenUse& use = uses_[token.name];
    use.last = used;
    if (used.ns - use.stored.ns < kUseStoredEvery_ns) return;
    use.stored = used;
  }
  const std::lock_guard lock(change_lock_);
  const Token* known = now().find_token(token.name);
  if (known == nullptr || known->hash != token.hash) {  // removed since: its use must not come back
    const std::lock_guard uses(uses_mutex_);
    uses_.erase(token.name);
    return;
  }
  WriteBatch batch;
  batch.put(Family::kConfig, token_use_key(token.name), encode_token_use(used));
  if (const Status stored = commit_(batch, {}); !stored)
    log_warning("registry", "the last use of a token is not stored",
                {{"token", token.name}, {"error", describe(stored.error())}});
}

Timestamp StoredRegistry::last_use(const Token& token) const {
  const std::lock_guard uses(uses_mutex_);
  const auto it = uses_.find(token.name);
  return it == uses_.end() ? Timestamp{} : it->second.last;
}

Status StoredRegistry::remove_group(std::string_view name, const Deadline& by) {
  STOA_TRY(lock, lock_by(change_lock_, by));
  if (now().find_group(name) == nullptr) return no_such("group", name);
  WriteBatch batch;
  batch.remove(Family::kConfig, group_key(name));
  STOA_CHECK_OK(commit_(batch, by));

  RegistryRecords records = now().records();
  const auto gone = std::erase_if(records.groups, [name](const Group& g) { return g.name == name; });
  STOA_ASSERT(gone > 0, "a group in the index is in the list");
  publish(std::move(records));
  return {};
}

}  // namespace stoa::core
