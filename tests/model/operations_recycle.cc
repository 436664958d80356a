#include "base/clock.h"
#include "core/api/registry.h"
#include "core/inode/posix_name.h"
#include "tests/model/driver.h"

namespace stoa::model {
namespace {

constexpr std::size_t kPoliciesWanted = 6;
constexpr std::string_view kUserBin = "0";  // of the superuser

bool is_placeholder(FileId id) {
  return static_cast<std::uint64_t>(id) > 1ull << 63;
}

}  // namespace

std::set<FileId> Driver::present() const {
  std::set<FileId> ids;
  for (const auto& [id, inode] : twin_.inodes) ids.insert(id);
  return ids;
}

bool Driver::verify_gone(const std::set<FileId>& before) {
  for (const FileId id : before) {
    if (twin_.exists(id)) continue;
    gone_.push_back(id);
    directories_.erase(id);
    if (!verify(id, Touch::kNone)) return false;
  }
  return true;
}

bool Driver::forgive_all() {
  for (const FileId id : present()) {
    if (!verify(id, Touch::kMaybe)) return false;
  }
  return true;
}

bool Driver::settle_bin(FileId recycle_root) {
  const auto drop = [&] {
    gone_.push_back(twin_.at(recycle_root).bin);
    twin_.drop_bin(recycle_root);
  };
  const auto found = ns().lookup(context(), {recycle_root, core::kRecycleName});
  if (!found && found.error().code != Errc::kNotFound)
    return differ("look-up of the bin of " + text(recycle_root) + ": " + stoa::describe(found.error()));
  const FileId known = twin_.at(recycle_root).bin;
  const FileId real = found ? found->attr.id : core::kNoFile;
  if (known != real) {
    // An empty bin may go at any time, and one may come with a delete that was refused.
    if (known != core::kNoFile && (real == core::kNoFile || !is_placeholder(known))) {
      if (!twin_.bin_is_empty(recycle_root))
        return differ("the bin of " + text(recycle_root) + " is gone, or another one");
      drop();
    }
    if (real != core::kNoFile && is_placeholder(known)) {
      if (!learn(known, real)) return false;
    } else if (real != core::kNoFile) {
      FileId of = core::kNoFile;
      const core::RecyclePolicy* const policy = twin_.find_policy(recycle_root, &of);
      if (policy == nullptr || of != recycle_root) return differ("a bin of " + text(recycle_root) + " out of nowhere");
      if (!ever_.insert(real).second) return differ("id " + text(real) + " of a bin was given out before");
      twin_.add_bin(recycle_root, real, policy->counted);
    }
  }
  if (real == core::kNoFile) return true;
  seen_.erase(real);
  const auto user_bin = ns().lookup(context(), {real, kUserBin});
  auto& names = twin_.at(real).names;
  if (!user_bin) {
    if (names.empty()) return true;
    return differ("the bin of " + text(recycle_root) + " has lost its user_bin");
  }
  seen_.erase(user_bin->attr.id);
  if (names.empty()) {
    if (!ever_.insert(user_bin->attr.id).second)
      return differ("id " + text(user_bin->attr.id) + " of a user_bin was given out before");
    twin_.add_user_bin(real, user_bin->attr.id);
    return true;
  }
  const FileId user_bin_known = names.begin()->second;
  if (user_bin_known == user_bin->attr.id) return true;
  if (is_placeholder(user_bin_known)) return learn(user_bin_known, user_bin->attr.id);
  return differ("the bin of " + text(recycle_root) + " has another user_bin");
}

bool Driver::settle_item(TwinItem& waiting, const std::vector<core::RecycledItem>& listed) {
  const bool copied = is_placeholder(waiting.id);
  for (const core::RecycledItem& item : listed) {
    if (twin_.items.contains(item.item.serial)) continue;
    if (copied ? twin_.exists(item.id) : item.id != waiting.id) continue;
    if (item.path != twin_.original_path(waiting)) continue;
    if (copied) {
      if (!learn(waiting.id, item.id)) return false;
      waiting.id = item.id;
      const auto version = described_.find(waiting.copy_of);
      if (version != described_.end()) described_[item.id] = {item.id, version->second.data_version};
    }
    if (item.item.bin != twin_.at(waiting.recycle_root).bin) return differ("an item is in bin " + text(item.item.bin));
    // In the user's bin it has the name that it had, and its serial.
    char serial[20];
    std::snprintf(serial, sizeof serial, "@%llx", static_cast<unsigned long long>(item.item.serial));
    const auto listing = ns().readdir(
        context(), {.dir = twin_.at(item.item.bin).names.begin()->second, .cookie = 2, .entries_max = 100'000});
    if (!listing) return differ("readdir of a user_bin: " + stoa::describe(listing.error()));
    for (const core::DirectoryEntry& entry : listing->entries) {
      if (entry.id != item.id || !entry.name.ends_with(serial)) continue;
      const std::string had = entry.name.substr(0, entry.name.size() - std::string_view(serial).size());
      const std::string shown = core::posix_name_of(waiting.raw, false);
      if (!shown.starts_with(had) && !("_" + shown).starts_with(had)) break;
      twin_.settle_item(waiting, item.item.serial, entry.name);
      last_serial_ = std::max(last_serial_, item.item.serial);
      return !copied || verify(item.id, Touch::kNone);
    }
    return differ("the user_bin does not show " + in_quotes(waiting.raw));
  }
  return differ(in_quotes(twin_.original_path(waiting)) + " is not listed in a bin");
}

bool Driver::settle_bins() {
  for (const FileId id : present()) {
    if (!twin_.exists(id)) continue;  // its real id is known since
    const TwinInode& inode = twin_.at(id);
    const bool may_have = inode.bin != core::kNoFile || twin_.policies.contains(id) || twin_.export_roots.contains(id);
    if (may_have && !settle_bin(id)) return false;
  }
  if (twin_.pending.empty()) return true;
  const auto listed = ns().list_recycled(context(), {.dir = core::kRootId, .after = last_serial_});
  if (!listed) return differ("list_recycled: " + stoa::describe(listed.error()));
  if (listed->items.size() != twin_.pending.size()) {
    return differ(std::to_string(listed->items.size()) + " items are new in the bins, right is " +
                  std::to_string(twin_.pending.size()));
  }
  auto pending = twin_.pending;
  for (TwinItem& waiting : pending) {
    if (!settle_item(waiting, listed->items)) return false;
  }
  twin_.pending.clear();
  return true;
}

bool Driver::compare_items(FileId dir) {
  std::map<std::uint64_t, TwinItem> right;
  for (const auto& [serial, item] : twin_.items) {
    if (twin_.deleted_below(item, dir)) right.emplace(serial, item);
  }
  std::uint64_t after = 0;
  for (;;) {
    const auto limit = static_cast<std::uint32_t>(random_.percent(50) ? 1 + random_.below(10) : 1000);
    const auto reply = ns().list_recycled(context(), {.dir = dir, .after = after, .limit = limit});
    if (!reply) return differ("list_recycled: " + stoa::describe(reply.error()));
    if (reply->items.size() > limit) return differ("list_recycled: more than the limit");
    std::uint64_t last = after;
    for (const core::RecycledItem& item : reply->items) {
      const std::string who = "list_recycled: " + in_quotes(item.path) + " ";
      if (item.item.serial <= last) return differ(who + "is not in order");
      last = item.item.serial;
      const auto it = right.find(last);
      if (it == right.end()) return differ(who + "should not be there");
      const TwinItem& known = it->second;
      if (item.item.bin != known.bin || item.id != known.id || item.type != twin_.at(known.id).type)
        return differ(who + "is another file");
      if (const std::string path = twin_.original_path(known); item.path != path)
        return differ(who + "was at " + in_quotes(path));
      if (item.name != core::posix_name_of(known.raw, false)) return differ(who + "has name " + in_quotes(item.name));
      if (item.bytes != known.bytes || item.uid != 0) return differ(who + "has other bytes or another user");
      if (item.protocol != (known.by_key ? core::Protocol::kS3 : core::OpContext().protocol))
        return differ(who + "has another protocol");
      right.erase(it);
    }
    if (!reply->truncated) break;
    if (reply->next < last || reply->next <= after) return differ("list_recycled: the next page is one before");
    after = reply->next;
  }
  return right.empty() || differ("list_recycled: " + in_quotes(right.begin()->second.raw) + " is missing");
}

bool Driver::do_set_policy() {
  core::Registry& registry = engine_.volume().registry();
  if (twin_.policies.size() >= kPoliciesWanted || (!twin_.policies.empty() && random_.percent(30))) {
    auto it = twin_.policies.begin();
    std::advance(it, random_.below(twin_.policies.size()));
    describe("remove_recycle of " + text(it->first));
    if (const Status done = registry.remove_recycle(it->first); !done) return differ(stoa::describe(done.error()));
    twin_.policies.erase(it);
    return true;
  }
  const FileId dir = any_directory();
  if (!twin_.exists(dir) || !twin_.at(dir).is_directory() || twin_.at(dir).is_bin ||
      !twin_.is_below(dir, core::kRootId))
    return true;
  static constexpr std::uint32_t kDays[] = {0, 1, 14};
  core::RecyclePolicy policy{
      .dir = dir, .enabled = random_.percent(85), .days = random_.pick(kDays), .counted = random_.percent(50)};
  if (random_.percent(30)) policy.bytes_max = random_.below(100'000);
  describe("set_recycle of " + text(dir) + (policy.enabled ? "" : " off") + " days " + std::to_string(policy.days) +
           (policy.bytes_max ? " bytes " + std::to_string(*policy.bytes_max) : "") +
           (policy.counted ? "" : " not counted"));
  if (const Status done = registry.set_recycle(policy); !done) return differ(stoa::describe(done.error()));
  twin_.policies[dir] = policy;
  return true;
}

// The root of an export has a bin of its own when a directory above has the policy.
bool Driver::do_export() {
  core::Registry& registry = engine_.volume().registry();
  if (!exports_.empty() && random_.percent(50)) {
    const auto [dir, name] = *exports_.begin();
    describe("remove_export of " + text(dir));
    if (const Status done = registry.remove_export(name); !done) return differ(stoa::describe(done.error()));
    exports_.erase(dir);
    twin_.export_roots.erase(dir);
    return true;
  }
  const FileId dir = any_directory();
  if (!twin_.exists(dir) || !twin_.at(dir).is_directory() || twin_.at(dir).is_bin || exports_.contains(dir) ||
      !twin_.is_below(dir, core::kRootId))
    return true;
  const std::string name = "export-" + std::to_string(++exports_made_);
  describe("add_export of " + text(dir));
  const auto made = registry.add_export({.name = name, .root = dir, .path = "/" + name, .nfs = true});
  if (!made) return differ("add_export: " + stoa::describe(made.error()));
  exports_[dir] = name;
  twin_.export_roots.insert(dir);
  return true;
}

bool Driver::do_remove_tree() {
  const FileId parent = any_directory();
  const std::string name = name_in(parent);
  const core::OpContext ctx = context();
  Twin after = twin_;
  const Verdict verdict = after.remove_tree(parent, name, ctx.cred);
  if (!verdict.ok()) return true;  // a part of it may go: a test of its own
  FileId top = core::kNoFile;
  (void)twin_.lookup(parent, name, ctx.cred, &top);
  for (const auto& [id, inode] : twin_.inodes) {
    // In which order names go, and so where a file with several is charged, is the volume's to choose.
    const auto in_tree = [&](const auto& link) { return twin_.is_below(link.first, top); };
    if (inode.links.size() > 1 && std::ranges::any_of(inode.links, in_tree)) return true;
  }
  describe("remove_tree " + in_quotes(name) + " in " + text(parent));
  const std::set<FileId> before = present();
  twin_ = std::move(after);
  const Status done = ns().remove_tree(ctx, {parent, name});
  if (!same_outcome(verdict, done)) return false;
  return verify_gone(before) && verify_touched(verdict) && compare_usage(parent);
}

bool Driver::do_restore() {
  core::RestoreRequest request{};
  if (twin_.items.empty() || random_.percent(3)) {
    request.item = {random_.percent(50) ? any_inode() : core::FileId{12345}, random_.below(1000)};
    if (twin_.items.contains(request.item.serial)) return true;
  } else {
    auto it = twin_.items.begin();
    std::advance(it, random_.below(twin_.items.size()));
    request.item = {it->second.bin, it->first};
  }
  std::string name;
  if (random_.percent(40)) {
    request.to_parent = any_directory();
    if (random_.percent(70)) name = random_.percent(30) ? name_in(request.to_parent) : new_name();
    request.to_name = name;
  }
  const std::string to =
      request.to_parent == core::kNoFile ? "" : " to " + in_quotes(name) + " in " + text(request.to_parent);
  describe("restore " + core::to_string(request.item) + to);
  const core::OpContext ctx = context();
  Verdict verdict = twin_.restore(request.item.serial, request.to_parent, request.to_name, ctx.cred);
  const auto reply = ns().restore(ctx, request);
  if (!same_outcome(verdict, reply)) return false;
  // The directory where it was may have been restored before that failed.
  if (!reply) return forgive_all();
  if (!learn_new_directories()) return false;
  if (reply->id != verdict.subject) return differ("restored " + text(reply->id));
  const TwinInode& inode = twin_.at(reply->id);
  const FileId dir = inode.is_directory() ? inode.parent : request.to_parent;
  if (dir != core::kNoFile && !verify_reply(reply->moved.to, dir)) return false;
  std::erase_if(verdict.touched, [&](const auto& item) { return !twin_.exists(item.first); });
  if (dir != core::kNoFile && !compare_usage(dir)) return false;
  return verify_touched(verdict) && compare_content(reply->id);
}

bool Driver::do_purge() {
  const FileId dir = random_.percent(30) ? core::kRootId : any_directory();
  core::PurgeRequest request{.dir = dir};
  std::set<std::uint64_t> wanted;
  for (std::uint64_t count = random_.percent(60) ? 1 + random_.below(4) : 0; count > 0 && !twin_.items.empty();
       --count) {
    auto it = twin_.items.begin();
    std::advance(it, random_.below(twin_.items.size()));
    if (wanted.insert(it->first).second) request.items.push_back({it->second.bin, it->first});
  }
  const bool none = random_.percent(10);
  if (none || random_.percent(20)) request.older_than_seconds = none ? 36'000 : 0;
  describe("purge " + std::to_string(wanted.size()) + " items below " + text(dir) + (none ? " that are old" : ""));
  Verdict verdict;
  if (!twin_.exists(dir)) {
    verdict.errors.push_back(Errc::kStale);
  } else if (!twin_.at(dir).is_directory()) {
    verdict.errors.push_back(Errc::kNotDirectory);
  }
  const std::set<FileId> before = present();
  const std::uint64_t removed = verdict.ok() && !none ? twin_.purge(dir, wanted) : 0;
  const auto reply = ns().purge(context(), request);
  if (!same_outcome(verdict, reply)) return false;
  if (reply && reply->removed != removed)
    return differ("purged " + std::to_string(reply->removed) + ", right is " + std::to_string(removed));
  return verify_gone(before) && forgive_all();
}

bool Driver::do_age() {
  constexpr std::int64_t kDayNs = std::int64_t{24} * 3600 * 1'000'000'000;
  static constexpr std::uint32_t kDays[] = {0, 0, 1, 13, 14};
  const std::uint32_t days = random_.pick(kDays);
  describe("run_purge in " + std::to_string(days) + " days");
  const std::set<FileId> before = present();
  twin_.age(days);
  const Status done = engine_.volume().run_purge({wall_now().ns + days * kDayNs + kDayNs / 2});
  if (!same_outcome(Verdict{}, done)) return false;
  return verify_gone(before) && forgive_all();
}

bool Driver::do_recycle_status() {
  const FileId dir = any_directory();
  describe("recycle_status of " + text(dir));
  Verdict verdict;
  if (!twin_.exists(dir)) {
    verdict.errors.push_back(Errc::kStale);
  } else if (!twin_.at(dir).is_directory()) {
    verdict.errors.push_back(Errc::kNotDirectory);
  }
  const auto reply = ns().recycle_status(context(), {dir});
  if (!same_outcome(verdict, reply) || !reply) return verdict.ok() ? false : !failure_;
  FileId bin_of = core::kNoFile;
  const core::RecyclePolicy* const policy = twin_.find_policy(dir, &bin_of);
  const auto right = policy != nullptr ? std::optional(*policy) : std::nullopt;
  if (reply->policy != right) return differ("the policy is another one");
  if (bin_of == core::kNoFile && twin_.at(dir).bin != core::kNoFile) bin_of = dir;
  if (reply->bin_of != bin_of) return differ("bin_of is " + text(reply->bin_of) + ", right is " + text(bin_of));
  const FileId bin = bin_of == core::kNoFile ? bin_of : twin_.at(bin_of).bin;
  const core::Usage used = bin == core::kNoFile ? core::Usage{} : twin_.usage(bin);
  if (reply->used == used) return true;
  return differ("the bin uses " + std::to_string(bytes_of(reply->used)) + " bytes, right is " +
                std::to_string(bytes_of(used)));
}

bool Driver::do_list_recycled() {
  const FileId dir = any_directory();
  describe("list_recycled below " + text(dir));
  if (twin_.exists(dir) && twin_.at(dir).is_directory()) return compare_items(dir);
  const Errc right = twin_.exists(dir) ? Errc::kNotDirectory : Errc::kStale;
  return same_outcome(Verdict{.errors = {right}}, ns().list_recycled(context(), {.dir = dir}));
}

}  // namespace stoa::model
