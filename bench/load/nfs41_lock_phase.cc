#include "bench/load/file_choice.h"
#include "bench/load/nfs41_phases.h"

namespace stoa::bench {
namespace {

constexpr std::uint64_t kLength = 4096;

// An operation on a file that the slot has opened beforehand; the slot's first operation on it names the open.
class LockUnlock final : public Phase41 {
 public:
  LockUnlock(std::vector<LockedFile>& files, std::uint64_t seed) : files_(files), seed_(seed) {}

  void begin(Slot41& slot) override {
    LockedFile& file = files_[slot.number];
    slot.step = kLocked;
    offset_of(slot);
    Call41 call(slot, true);
    call.putfh(file.handle);
    if (file.has_locks) {
      call.lock_again(file.locks, slot.verifier, kLength);
    } else {
      call.lock(file.open, slot.client->id(), slot.owner, slot.verifier, kLength);
    }
  }
  void reply(Slot41& slot, Results41& results) override {
    LockedFile& file = files_[slot.number];
    results.expect(Op::kPutFh);
    const Stateid41 locks = slot.step == kLocked ? results.lock() : results.unlock();
    if (!results.ok()) return slot.client->failed(slot, results.why());
    file.locks = locks;
    file.has_locks = true;
    if (slot.step == kUnlocked) return slot.client->done(slot, 0);
    slot.step = kUnlocked;
    Call41(slot, true).putfh(file.handle).unlock(file.locks, slot.verifier, kLength);
  }

 private:
  enum { kLocked, kUnlocked };
  void offset_of(Slot41& slot) const { slot.verifier = mix(seed_ + slot.index) % (1 << 20) * kLength; }

  std::vector<LockedFile>& files_;
  const std::uint64_t seed_;
};

class OpenFiles final : public Phase41 {
 public:
  OpenFiles(const Handle41& dir, std::vector<LockedFile>& files) : dir_(dir), files_(files) {}
  void begin(Slot41& slot) override {
    char name[kFileNameBytes];
    write_file_name(name, slot.number);
    Call41(slot, true)
        .putfh(dir_)
        .open(slot.client->id(), slot.owner, kShareBoth | kWantNoDelegation, true, {name, sizeof name})
        .getfh();
  }
  void reply(Slot41& slot, Results41& results) override {
    LockedFile& file = files_[slot.number];
    file.open = results.expect(Op::kPutFh).open().stateid;
    results.getfh(file.handle);
    if (!results.ok()) return slot.client->failed(slot, results.why());
    slot.client->done(slot, 0);
  }

 private:
  const Handle41 dir_;
  std::vector<LockedFile>& files_;
};

class CloseFiles final : public Phase41 {
 public:
  explicit CloseFiles(std::vector<LockedFile>& files) : files_(files) {}
  void begin(Slot41& slot) override {
    Call41(slot, true).putfh(files_[slot.number].handle).close(files_[slot.number].open);
  }
  void reply(Slot41& slot, Results41& results) override {
    results.expect(Op::kPutFh).close();
    if (!results.ok()) return slot.client->failed(slot, results.why());
    slot.client->done(slot, 0);
  }

 private:
  std::vector<LockedFile>& files_;
};

}  // namespace

std::unique_ptr<Phase41> open_files(const Handle41& dir, std::vector<LockedFile>& files) {
  return std::make_unique<OpenFiles>(dir, files);
}
std::unique_ptr<Phase41> lock_unlock(std::vector<LockedFile>& files, std::uint64_t seed) {
  return std::make_unique<LockUnlock>(files, seed);
}
std::unique_ptr<Phase41> close_files(std::vector<LockedFile>& files) {
  return std::make_unique<CloseFiles>(files);
}

}  // namespace stoa::bench
