#include "tests/crash/state_worker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace stoa::crash {
namespace {

constexpr std::uint32_t kRead = 1, kBoth = 3;
constexpr std::uint32_t kWantRead = 0x100, kWantWrite = 0x200, kWantNone = 0x400;
constexpr std::uint32_t kNoDelegation = 0, kWriteDelegation = 2, kNoDelegationExt = 3;
constexpr std::uint32_t kUnstable = 0, kFileSync = 2;
constexpr std::size_t kFilesMax = 12;
constexpr std::uint64_t kFileBytesMax = 400'000;
constexpr std::uint32_t kMustConfirm = 2;

Bytes copy(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

void apply(std::string& content, std::uint64_t offset, std::string_view data) {
  if (content.size() < offset + data.size()) content.resize(offset + data.size());
  content.replace(offset, data.size(), data);
}

std::string text(Nfs4Status status) {
  return "status " + std::to_string(static_cast<std::uint32_t>(status));
}

bool delegated(const HeldFile& file) {
  return file.delegation.type != kNoDelegation && file.delegation.type != kNoDelegationExt;
}

}  // namespace

StateWorker::StateWorker(int number, std::uint32_t minor, std::uint64_t seed, Arena& arena)
    : number_(number),
      minor_(minor),
      folder_("v4" + std::to_string(minor) + "-" + std::to_string(number)),
      arena_(arena),
      random_(seed) {}

// --- talking

CompoundResult StateWorker::send(const Ops& ops) {
  for (;;) {
    CompoundResult result = minor_ == 0
                                ? wire_->send(ops, 0)
                                : wire_->send(Ops().sequence(wire_->session, wire_->sequence++, 0, false).more(ops));
    if (!result.good || result.status != Nfs4Status::kDelay) {
      if (result.good && minor_ != 0) result.skip_sequence();
      return result;
    }
    ::usleep(1000);
  }
}

bool StateWorker::expect(const CompoundResult& result, const char* what, const HeldFile* file) const {
  if (lost(result)) return false;
  EXPECT_EQ(result.status, Nfs4Status::kOk)
      << folder_ << ": " << what << " of '" << (file != nullptr ? file->name : "") << "', " << text(result.status);
  return result.ok();
}

Nfs4Status StateWorker::connect(bool reclaim_complete) {
  // The connection counts its requests anew, and so does the session.
  wire_ = std::make_unique<CompoundCaller>(port_, folder_, incarnation_);
  constexpr auto kLost = static_cast<Nfs4Status>(77'777);
  if (minor_ == 0) {
    auto set = wire_->send(
        Ops().op(35).u64(incarnation_).string(folder_).u32(0x40000000).string("tcp").string("127.0.0.1.4.1").u32(7), 0);
    if (!set.ok()) return set.status;
    set.next(35);
    client_ = set.in.u64();
    const std::uint64_t confirm = set.in.u64();
    return wire_->send(Ops().op(36).u64(client_).u64(confirm), 0).status;
  }
  wire_->back_channel = true;
  auto exchanged = wire_->exchange();
  if (!exchanged.ok()) return exchanged.status;
  exchanged.next(42);
  client_ = wire_->client = exchanged.in.u64();
  auto made = wire_->create_session(client_, exchanged.in.u32());
  if (!made.ok()) return made.status;
  made.next(43);
  wire_->session = copy(made.in.fixed(16));
  wire_->sequence = 1;
  if (!reclaim_complete) return Nfs4Status::kOk;
  return complete() ? Nfs4Status::kOk : kLost;
}

bool StateWorker::complete() {
  if (minor_ == 0) return true;
  const auto done = wire_->call(Ops().op(58).u32(0));
  return !lost(done) && expect(done, "RECLAIM_COMPLETE");
}

// Empty: there is none.
Bytes StateWorker::look_up(const Bytes& dir, const std::string& name, bool* broken) {
  auto result = send(Ops().putfh(dir).lookup(name).getfh());
  *broken = lost(result);
  if (!result.ok()) return {};
  result.next(22);
  result.next(15);
  result.next(10);
  return copy(result.in.opaque(128));
}

// --- opens and locks

bool StateWorker::open_file(HeldFile& file, std::uint32_t access, bool create, std::uint32_t wants) {
  file.owner = "o" + std::to_string(next_owner_++);
  file.open_seqid = 1;
  Ops ops;
  ops.putfh(file.name == Arena::kName ? top_ : dir_)
      .op(18)
      .u32(file.open_seqid)
      .u32(access | (minor_ != 0 ? wants : 0))
      .u32(0)
      .u64(client_)
      .string(file.owner);
  ops.u32(create ? 1 : 0);
  if (create) ops.u32(0).u32(0).u32(0);  // UNCHECKED4, no attributes
  ops.u32(0).string(file.name);
  auto result = send(ops.getfh());
  if (!expect(result, "OPEN", &file)) return false;
  result.next(22);
  result.next(18);
  file.stateid = test::read_wire_stateid(result.in);
  result.in.fixed(20);
  const std::uint32_t flags = result.in.u32();
  for (std::uint32_t words = result.in.u32(); words > 0; --words) result.in.u32();
  file.delegation = test::read_delegation(result.in);
  result.next(10);
  file.handle = copy(result.in.opaque(128));
  file.access = access;
  if (minor_ == 0 && (flags & kMustConfirm) != 0) {
    auto confirmed = send(Ops().putfh(file.handle).op(20).stateid(file.stateid).u32(++file.open_seqid));
    if (!expect(confirmed, "OPEN_CONFIRM", &file)) return false;
    confirmed.next(22);
    confirmed.next(20);
    file.stateid = test::read_wire_stateid(confirmed.in);
  }
  file.open = true;
  return true;
}

bool StateWorker::reclaim_open(HeldFile& file) {
  const std::uint32_t held = delegated(file) ? file.delegation.type : kNoDelegation;
  file.open_seqid = 1;
  auto result = send(Ops()
                         .putfh(file.handle)
                         .op(18)
                         .u32(file.open_seqid)
                         .u32(file.access)
                         .u32(0)
                         .u64(client_)
                         .string(file.owner)
                         .u32(0)
                         .u32(1)
                         .u32(held)
                         .getfh());
  if (!expect(result, "OPEN, reclaimed,", &file)) return false;
  result.next(22);
  result.next(18);
  file.stateid = test::read_wire_stateid(result.in);
  result.in.fixed(20);
  EXPECT_EQ(result.in.u32() & kMustConfirm, 0u);
  for (std::uint32_t words = result.in.u32(); words > 0; --words) result.in.u32();
  file.delegation = test::read_delegation(result.in);
  result.next(10);
  EXPECT_EQ(copy(result.in.opaque(128)), file.handle);
  ++reclaimed_;
  return true;
}

bool StateWorker::return_delegation(HeldFile& file) {
  if (!delegated(file)) return true;
  const WireDelegation delegation = std::exchange(file.delegation, {});
  return expect(send(Ops().putfh(file.handle).op(8).stateid(delegation.stateid)), "DELEGRETURN", &file);
}

bool StateWorker::return_delegations() {
  return std::ranges::all_of(files_, [&](HeldFile& file) { return return_delegation(file); });
}

bool StateWorker::close_file(HeldFile& file) {
  if (!commit(file) || !return_delegation(file)) return false;
  // From here on the client does not count on it; also when the answer never comes.
  for (const std::size_t range : file.ranges) {
    if (file.name == Arena::kName) arena_.leave(range);
  }
  file.ranges.clear();
  file.open = false;
  if (file.name.empty()) gone_.push_back(file.handle);
  return expect(send(Ops().putfh(file.handle).op(4).u32(++file.open_seqid).stateid(file.stateid)), "CLOSE", &file);
}

bool StateWorker::lock_range(HeldFile& file, std::size_t range, bool reclaim) {
  const bool first = reclaim ? *file.ranges.begin() == range : file.ranges.empty();
  Ops ops;
  ops.putfh(file.handle)
      .op(12)
      .u32(2)
      .u32(reclaim ? 1 : 0)
      .u64(range * Arena::kRangeBytes)
      .u64(Arena::kRangeBytes)
      .u32(first ? 1 : 0);
  if (first) {
    // A new lock owner each time: 4.0 numbers the requests of an owner.
    file.lock_seqid = 1;
    ops.u32(++file.open_seqid)
        .stateid(file.stateid)
        .u32(file.lock_seqid)
        .u64(client_)
        .string(file.owner + "-l" + std::to_string(next_owner_++));
  } else {
    ops.stateid(file.locks).u32(++file.lock_seqid);
  }
  auto result = send(ops);
  if (lost(result)) return false;
  const bool shared = file.name == Arena::kName;
  if (result.status == Nfs4Status::kDenied && shared && !reclaim) return true;
  if (!expect(result, reclaim ? "LOCK, reclaimed," : "LOCK", &file)) return false;
  result.next(22);
  result.next(12);
  file.locks = test::read_wire_stateid(result.in);
  file.ranges.insert(range);
  if (shared) {
    EXPECT_TRUE(arena_.take(range, number_))
        << folder_ << " got range " << range << ", which worker " << arena_.holder(range) << " holds";
  }
  if (reclaim) ++reclaimed_;
  return true;
}

bool StateWorker::unlock_range(HeldFile& file, std::size_t range) {
  if (file.name == Arena::kName) arena_.leave(range);
  file.ranges.erase(range);
  auto result = send(Ops()
                         .putfh(file.handle)
                         .op(14)
                         .u32(2)
                         .u32(++file.lock_seqid)
                         .stateid(file.locks)
                         .u64(range * Arena::kRangeBytes)
                         .u64(Arena::kRangeBytes));
  if (!expect(result, "LOCKU", &file)) return false;
  result.next(22);
  result.next(14);
  file.locks = test::read_wire_stateid(result.in);
  if (!file.ranges.empty()) return true;
  // The stateid is useless.
  if (minor_ != 0) return expect(send(Ops().op(45).stateid(file.locks)), "FREE_STATEID", &file);
  return true;
}

// --- content

bool StateWorker::write(HeldFile& file, std::uint64_t offset, std::string data, bool stable) {
  apply(file.now, offset, data);
  file.promised.write_perhaps(offset, data);
  file.unstable.emplace_back(offset, data.size());
  const WireStateid stateid = file.delegation.type == kWriteDelegation ? file.delegation.stateid : file.stateid;
  auto result = send(
      Ops().putfh(file.handle).op(38).stateid(stateid).u64(offset).u32(stable ? kFileSync : kUnstable).string(data));
  if (!expect(result, "WRITE", &file)) return false;
  result.next(22);
  result.next(38);
  EXPECT_EQ(result.in.u32(), data.size());
  const std::uint32_t committed = result.in.u32();
  const std::uint64_t verifier = result.in.u64();
  EXPECT_EQ(verifier_.value_or(verifier), verifier) << "the write verifier changed while the server ran";
  verifier_ = verifier;
  EXPECT_TRUE(!stable || committed == kFileSync);
  if (committed == kUnstable) return true;
  file.promised.write_durably(offset, data);
  file.unstable.pop_back();
  return true;
}

bool StateWorker::commit(HeldFile& file) {
  if (file.unstable.empty()) return true;
  auto result = send(Ops().putfh(file.handle).op(5).u64(0).u32(0));
  if (!expect(result, "COMMIT", &file)) return false;
  result.next(22);
  result.next(5);
  const std::uint64_t verifier = result.in.u64();
  EXPECT_EQ(verifier_.value_or(verifier), verifier) << "WRITE and COMMIT give different verifiers";
  file.unstable.clear();
  file.promised.commit();
  return true;
}

bool StateWorker::read(const HeldFile& file, std::string* found) {
  const WireStateid stateid = !file.open ? WireStateid{} : delegated(file) ? file.delegation.stateid : file.stateid;
  auto result = send(Ops().putfh(file.handle).op(25).stateid(stateid).u64(0).u32(kFileBytesMax * 2));
  if (!expect(result, "READ", &file)) return false;
  result.next(22);
  result.next(25);
  result.in.boolean();
  *found = result.in.string(kFileBytesMax * 2);
  return true;
}

bool StateWorker::cut(HeldFile& file, std::uint64_t size) {
  if (!commit(file)) return false;
  file.cut = size;
  const auto result = send(Ops().putfh(file.handle).op(34).stateid(file.stateid).u32(1).u32(16).u32(8).u64(size));
  if (!expect(result, "SETATTR", &file)) return false;
  file.cut.reset();
  file.promised.truncate(size);
  file.now.resize(size);
  return true;
}

// --- names

bool StateWorker::remove(HeldFile& file) {
  doubt_ = {Doubt::kRemove, file.name, {}, file.handle};
  if (!expect(send(Ops().putfh(dir_).op(28).string(file.name)), "REMOVE", &file)) return false;
  doubt_.reset();
  file.name.clear();
  if (!file.open) gone_.push_back(file.handle);
  return true;
}

bool StateWorker::rename_over(HeldFile& from, HeldFile& to) {
  doubt_ = {Doubt::kRename, from.name, to.name, from.handle};
  const auto result = send(Ops().putfh(dir_).op(32).op(29).string(from.name).string(to.name));
  if (!expect(result, "RENAME", &from)) return false;
  doubt_.reset();
  from.name = std::exchange(to.name, {});
  if (!to.open) gone_.push_back(to.handle);
  return true;
}

// --- the load

HeldFile* StateWorker::any(bool open) {
  std::vector<HeldFile*> found;
  for (HeldFile& file : files_) {
    if (file.open == open && file.name != Arena::kName) found.push_back(&file);
  }
  return found.empty() ? nullptr : random_.pick(found);
}

void StateWorker::drop_gone() {
  std::erase_if(files_, [](const HeldFile& file) { return file.name.empty() && !file.open; });
}

bool StateWorker::step() {
  drop_gone();
  const std::uint64_t choice = random_.below(100);
  HeldFile& arena = files_.front();
  if (choice < 20) {
    const std::size_t range = random_.below(Arena::kRanges);
    return arena.ranges.contains(range) ? unlock_range(arena, range) : lock_range(arena, range, false);
  }
  HeldFile* const file = any(true);
  if (file == nullptr || (choice < 28 && files_.size() < kFilesMax)) {
    HeldFile made{
        .name = "f" + std::to_string(next_name_++), .handle = {}, .owner = {}, .now = {}, .promised = ExpectedFile()};
    doubt_ = {Doubt::kCreate, made.name, {}, {}};
    const std::uint32_t wants = random_.percent(50) ? kWantWrite : kWantNone;
    if (!open_file(made, kBoth, true, wants)) return false;
    doubt_.reset();
    files_.push_back(std::move(made));
    return true;
  }
  if (choice < 32) {
    HeldFile* const closed = any(false);
    if (closed == nullptr) return true;
    const bool reads = random_.percent(40);
    return open_file(*closed, reads ? kRead : kBoth, false,
                     reads                 ? kWantRead
                     : random_.percent(50) ? kWantWrite
                                           : kWantNone);
  }
  if (choice < 37) return close_file(*file);
  if (choice < 41) return file->name.empty() || remove(*file);
  if (choice < 45) {
    HeldFile* const other = any(random_.percent(70));
    if (other == nullptr || other == file || other->name.empty() || file->name.empty()) return true;
    return rename_over(*file, *other);
  }
  if (choice < 55)
    return [&] {
      std::string found;
      if (!read(*file, &found)) return false;
      EXPECT_TRUE(found == file->now) << folder_ << ": READ of '" << file->name << "' differs";
      return true;
    }();
  if (file->access == kRead) return true;
  if (choice < 62) {
    const std::size_t range = random_.below(Arena::kRanges);
    return file->ranges.contains(range) ? unlock_range(*file, range) : lock_range(*file, range, false);
  }
  if (choice < 68) return commit(*file);
  if (choice < 72) return cut(*file, random_.below(file->now.size() * 5 / 4 + 10));
  const std::uint64_t size = file->now.size();
  const std::uint64_t offset = random_.percent(40) ? size : random_.below(size + 1);
  const std::uint64_t length = 1 + random_.below(random_.percent(10) ? 200'000 : 9000);
  if (offset + length > kFileBytesMax) return cut(*file, random_.below(1000));
  return write(*file, offset, random_.bytes(length), random_.percent(40));
}

void StateWorker::work(std::uint16_t port) {
  port_ = port;
  while (!testing::Test::HasFailure()) {
    if (random_.below(400) == 0) {
      // Its machine restarts: the server learns it from the verifier and ends the client's state.
      ++incarnation_;
      forget_state();
      if (connect(true) != Nfs4Status::kOk) return;
      if (!open_file(files_.front(), kBoth, false, kWantNone)) return;
      continue;
    }
    if (!step()) return;
    ++steps_;
  }
}

// --- after a restart

// Its state is lost, and with it the files that only lived because they were open.
void StateWorker::forget_state() {
  for (HeldFile& file : files_) {
    if (file.name == Arena::kName) {
      for (const std::size_t range : file.ranges) arena_.leave(range);
    }
    if (file.name.empty() && file.open) gone_.push_back(file.handle);
    file.open = false;
    file.ranges.clear();
    file.delegation = {};
  }
}

bool StateWorker::begin(std::uint16_t port) {
  port_ = port;
  if (connect(true) != Nfs4Status::kOk) return false;
  auto root = send(Ops().putrootfh().lookup("test").getfh());
  if (!expect(root, "LOOKUP of the export")) return false;
  root.next(24);
  root.next(15);
  root.next(10);
  top_ = copy(root.in.opaque(128));
  // CREATE of a directory, mode 0777
  if (!expect(send(Ops().putfh(top_).op(6).u32(2).string(folder_).u32(2).u32(0).u32(2).u32(4).u32(0777)), "CREATE"))
    return false;
  bool broken = false;
  arena_handle_ = look_up(top_, Arena::kName, &broken);
  HeldFile arena{.name = Arena::kName, .handle = {}, .owner = {}, .now = {}, .promised = ExpectedFile()};
  if (!open_file(arena, kBoth, arena_handle_.empty(), kWantNone)) return false;
  arena_handle_ = arena.handle;
  files_.push_front(std::move(arena));
  dir_ = look_up(top_, folder_, &broken);
  return !broken;
}

bool StateWorker::reclaim(std::uint16_t port) {
  port_ = port;
  verifier_.reset();
  // The first sign of a restart for a client.
  wire_->reconnect(port);
  if (minor_ != 0) {
    if (!wire_->session.empty()) {
      const auto first = wire_->call(Ops().putrootfh());
      if (lost(first)) return false;
      EXPECT_EQ(first.status, Nfs4Status::kBadSession);
    }
    const auto made = wire_->create_session(client_, 2);
    if (lost(made)) return false;
    EXPECT_EQ(made.status, Nfs4Status::kStaleClientId);
  } else {
    const auto renewed = wire_->send(Ops().op(30).u64(client_), 0);
    if (lost(renewed)) return false;
    EXPECT_EQ(renewed.status, Nfs4Status::kStaleClientId);
  }
  if (const Nfs4Status connected = connect(false); connected != Nfs4Status::kOk) {
    EXPECT_EQ(connected, static_cast<Nfs4Status>(77'777)) << folder_ << " cannot come back";
    return false;
  }
  for (HeldFile& file : files_) {
    if (!file.open) continue;
    if (!reclaim_open(file)) return false;
    const std::set<std::size_t> ranges = file.ranges;
    for (const std::size_t range : ranges) {
      if (!lock_range(file, range, true)) return false;
    }
  }
  return true;
}

bool StateWorker::come_late(std::uint16_t port) {
  port_ = port;
  verifier_.reset();
  if (connect(false) != Nfs4Status::kOk) return false;
  for (HeldFile& file : files_) {
    if (!file.open) continue;
    const auto refused = send(Ops()
                                  .putfh(file.handle)
                                  .op(18)
                                  .u32(1)
                                  .u32(file.access)
                                  .u32(0)
                                  .u64(client_)
                                  .string(file.owner + "-late")
                                  .u32(0)
                                  .u32(1)
                                  .u32(0));
    if (lost(refused)) return false;
    // A file that lived only because it was open may be gone already.
    const bool stale = file.name.empty() && refused.status == Nfs4Status::kStale;
    EXPECT_TRUE(stale || refused.status == Nfs4Status::kNoGrace)
        << folder_ << ": '" << file.name << "', " << text(refused.status);
  }
  forget_state();
  return complete();
}

bool StateWorker::resolve_doubt() {
  if (!doubt_) return true;
  const Doubt doubt = *doubt_;
  bool broken = false;
  const Bytes there = look_up(dir_, doubt.what == Doubt::kRename ? doubt.to : doubt.name, &broken);
  if (broken) return false;
  const auto named = [&](const std::string& name) {
    return std::ranges::find_if(files_, [&](const HeldFile& file) { return file.name == name; });
  };
  switch (doubt.what) {
    case Doubt::kCreate:
      if (!there.empty() && !expect(send(Ops().putfh(dir_).op(28).string(doubt.name)), "REMOVE")) return false;
      break;
    case Doubt::kRemove: {
      const auto file = named(doubt.name);
      if (!there.empty() || file == files_.end()) break;
      file->name.clear();
      if (!file->open) gone_.push_back(file->handle);
      break;
    }
    case Doubt::kRename: {
      const auto from = named(doubt.name), to = named(doubt.to);
      if (there != doubt.handle || from == files_.end() || to == files_.end()) break;
      from->name = std::exchange(to->name, {});
      if (!to->open) gone_.push_back(to->handle);
      break;
    }
  }
  doubt_.reset();
  return true;
}

bool StateWorker::verify() {
  if (!resolve_doubt()) return false;
  drop_gone();
  if (!files_.front().open && !open_file(files_.front(), kBoth, false, kWantNone)) return false;
  for (HeldFile& file : files_) {
    if (file.name == Arena::kName) continue;
    bool broken = false;
    if (!file.name.empty()) {
      EXPECT_EQ(look_up(dir_, file.name, &broken), file.handle)
          << folder_ << ": '" << file.name << "' is another file, or lost";
    }
    std::string found;
    if (broken || !read(file, &found)) return false;
    std::string difference = file.promised.difference(found);
    if (!difference.empty() && file.cut) {
      ExpectedFile after = file.promised;
      after.truncate(*file.cut);
      difference = after.difference(found);
    }
    EXPECT_EQ(difference, "") << folder_ << ": '" << file.name << "'";
    // Writes without a promise are repeated, as a client does that sees another verifier.
    if (file.unstable.empty() && !file.cut) {
      EXPECT_TRUE(found == file.now) << folder_ << ": '" << file.name << "'";
      continue;
    }
    const auto again = std::exchange(file.unstable, {});
    if (!file.open || file.access == kRead) {
      if (file.name.empty()) {
        // Its machine has restarted since the write, and no other client can write any more.
        file.now = found;
        file.promised = ExpectedFile(std::move(found));
        file.cut.reset();
        continue;
      }
      if (file.open && !close_file(file)) return false;
      if (!open_file(file, kBoth, false, kWantNone)) return false;
    }
    for (const auto& [offset, length] : again) {
      if (!write(file, offset, file.now.substr(offset, length), false)) return false;
    }
    if (!commit(file)) return false;
    if (file.cut && !cut(file, *file.cut)) return false;
    if (!read(file, &found)) return false;
    EXPECT_TRUE(found == file.now) << folder_ << ": '" << file.name << "' after all was written again";
  }
  return true;
}

void StateWorker::close_all() {
  for (HeldFile& file : files_) {
    if (file.open && !close_file(file)) return;
  }
  drop_gone();
}

bool StateWorker::counts(const HeldFile& file) {
  return file.name.empty() ? file.open : file.name != Arena::kName;
}

std::uint64_t StateWorker::bytes() const {
  std::uint64_t sum = 0;
  for (const HeldFile& file : files_) sum += counts(file) ? file.now.size() : 0;
  return sum;
}

std::uint64_t StateWorker::counted() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(files_, counts));
}

}  // namespace stoa::crash
