// The savings of a delegation, and the cost to get one back.
#include <cstring>

#include "bench/load/file_choice.h"
#include "bench/load/nfs41_phases.h"

namespace stoa::bench {
namespace {

void open_by_name(Slot41& slot, const OpenWork41& work, std::uint64_t number, std::uint32_t access) {
  char name[kFileNameBytes];
  write_file_name(name, number);
  Call41(slot, true)
      .putfh(work.dir)
      .open(slot.client->id(), slot.owner, access, false, {name, sizeof name})
      .getfh()
      .getattr();
}

class OpenCached final : public Phase41 {
 public:
  OpenCached(const OpenWork41& work, std::vector<CachedFile>& files, DelegationCounts& counts)
      : work_(work), files_(files), counts_(counts), expected_(work.bytes, 'x') {}

  void begin(Slot41& slot) override {
    CachedFile& file = files_[slot.number];
    if (file.uses == kOpensInARow) file = {};
    if (file.uses == 0) file.number = next_file_++ % work_.files;
    ++file.uses;
    if (!file.has_delegation) {
      slot.step = kOpened;
      open_by_name(slot, work_, file.number, kShareRead | kWantReadDelegation);
    } else if (file.uses < kOpensInARow) {
      slot.client->done(slot, 0);
    } else {
      give_back(slot);
    }
  }
  void reply(Slot41& slot, Results41& results) override {
    CachedFile& file = files_[slot.number];
    results.expect(Op::kPutFh);
    bool cached = false;
    switch (slot.step) {
      case kOpened:
        cached = opened(slot, file, results);
        break;
      case kRead: {
        std::string_view data;
        results.read(work_.bytes, data);
        if (results.ok() && data != expected_) results.reject("wrong bytes");
        break;
      }
      case kClosed:
        results.close();
        break;
      case kReturned:
        results.expect(Op::kDelegReturn);
        break;
    }
    if (!results.ok()) {
      file = {.uses = kOpensInARow};
      return slot.client->failed(slot, results.why());
    }
    if (slot.step == kOpened && !cached) {
      slot.step = kRead;
      Call41(slot, false).putfh(file.handle).read(slot.open, 0, work_.bytes);
    } else if (slot.step == kOpened || slot.step == kRead) {
      slot.step = kClosed;
      Call41(slot, true).putfh(file.handle).close(slot.open);
    } else if (slot.step == kClosed && file.has_delegation && file.uses == kOpensInARow) {
      give_back(slot);  // it came with the last OPEN of the row
    } else {
      if (slot.step == kReturned) file.has_delegation = false;
      slot.client->done(slot, 0);
    }
  }

 private:
  enum { kOpened, kRead, kClosed, kReturned };

  bool opened(Slot41& slot, CachedFile& file, Results41& results) {
    const Opened41 open = results.open();
    slot.open = open.stateid;
    results.getfh(file.handle);
    const Attributes41 attributes = results.getattr();
    if (results.ok() && attributes.size != work_.bytes) results.reject("wrong size");
    if (!results.ok()) return false;
    file.has_delegation = open.delegation != Delegation41::kNone;
    file.delegation = open.delegation_stateid;
    ++(file.has_delegation ? counts_.granted : counts_.refused);
    const bool cached = file.uses > 1 && attributes.change == file.change;
    file.change = attributes.change;
    return cached;
  }
  void give_back(Slot41& slot) {
    const CachedFile& file = files_[slot.number];
    slot.step = kReturned;
    Call41(slot, true).putfh(file.handle).delegreturn(file.delegation);
  }

  const OpenWork41 work_;
  std::vector<CachedFile>& files_;
  DelegationCounts& counts_;
  const std::string expected_;
  std::uint64_t next_file_ = 0;
};

class ReturnDelegations final : public Phase41 {
 public:
  explicit ReturnDelegations(const std::vector<CachedFile>& files) : files_(files) {}
  void begin(Slot41& slot) override {
    const CachedFile& file = files_[slot.index];
    if (!file.has_delegation) return slot.client->done(slot, 0);
    Call41(slot, true).putfh(file.handle).delegreturn(file.delegation);
  }
  void reply(Slot41& slot, Results41& results) override {
    results.expect(Op::kPutFh).expect(Op::kDelegReturn);
    if (!results.ok()) return slot.client->failed(slot, results.why());
    slot.client->done(slot, 0);
  }

 private:
  const std::vector<CachedFile>& files_;
};

class RecallDelegations final : public Phase41 {
 public:
  RecallDelegations(const OpenWork41& work, Client41& other, DelegationCounts& counts)
      : work_(work), other_(other), counts_(counts), turns_(other.slots()) {}

  void begin(Slot41& slot) override {
    turns_[slot.number] = {.mine = &slot};
    Slot41& other = other_.slot(slot.number);
    other.phase = this;
    other.outcome = slot.outcome;
    slot.step = kOpened;
    open_by_name(slot, work_, slot.index % work_.files, kShareRead | kWantReadDelegation);
  }
  void recalled(Client41&, const Stateid41& delegation, std::string_view) override {
    for (Turn& turn : turns_) {
      if (!turn.delegated || turn.returned || turn.mine->step == kReturned || turn.delegation.other != delegation.other)
        continue;
      turn.mine->step = kReturned;
      Call41(*turn.mine, true).putfh(turn.mine->handle).delegreturn(turn.delegation);
    }
  }
  void reply(Slot41& slot, Results41& results) override {
    Turn& turn = turns_[slot.number];
    const std::uint32_t status = results.status().value_or(kNfs4Ok);
    results.expect(Op::kPutFh);
    if (slot.step == kWanted && status == kNfs4Delay) {
      turn.refused = true;
      if (turn.returned || !turn.delegated) want(turn);
      return;
    }
    switch (slot.step) {
      case kOpened:
        opened(turn, results);
        break;
      case kReturned:
        results.expect(Op::kDelegReturn);
        break;
      case kWanted:
        slot.open = results.open().stateid;
        results.getfh(slot.handle);
        break;
      case kClosed:
        results.close();
        break;
    }
    if (!results.ok()) return turn.mine->client->failed(*turn.mine, results.why());
    go_on(slot, turn);
  }

 private:
  enum { kOpened, kReturned, kWanted, kClosed };
  struct Turn {
    Slot41* mine = nullptr;
    bool delegated = false;
    Stateid41 delegation{};
    bool returned = false;  // DELEGRETURN is answered
    bool refused = false;   // the other one was told to come again
    bool granted = false;   // the other one has its open
  };

  void opened(Turn& turn, Results41& results) {
    const Opened41 open = results.open();
    turn.mine->open = open.stateid;
    results.getfh(turn.mine->handle);
    if (!results.ok()) return;
    turn.delegated = open.delegation != Delegation41::kNone;
    turn.delegation = open.delegation_stateid;
    ++(turn.delegated ? counts_.granted : counts_.refused);
  }
  void want(Turn& turn) {
    Slot41& other = other_.slot(turn.mine->number);
    turn.refused = false;
    other.step = kWanted;
    open_by_name(other, work_, turn.mine->index % work_.files, kShareWrite | kWantNoDelegation);
  }
  static void close(Slot41& slot) {
    slot.step = kClosed;
    Call41(slot, true).putfh(slot.handle).close(slot.open);
  }
  void go_on(Slot41& slot, Turn& turn) {
    const bool mine = &slot == turn.mine;
    switch (slot.step) {
      case kOpened:
        want(turn);
        break;
      case kReturned:
        turn.returned = true;
        if (turn.refused) want(turn);
        if (turn.granted) close(other_.slot(slot.number));
        break;
      case kWanted:
        turn.granted = true;
        if (turn.returned || !turn.delegated) close(slot);
        break;
      case kClosed:
        mine ? slot.client->done(slot, 0) : close(*turn.mine);
        break;
    }
  }

  const OpenWork41 work_;
  Client41& other_;
  DelegationCounts& counts_;
  std::vector<Turn> turns_;
};

}  // namespace

std::unique_ptr<Phase41> open_cached(const OpenWork41& work, std::vector<CachedFile>& files, DelegationCounts& counts) {
  return std::make_unique<OpenCached>(work, files, counts);
}
std::unique_ptr<Phase41> return_delegations(const std::vector<CachedFile>& files) {
  return std::make_unique<ReturnDelegations>(files);
}
std::unique_ptr<Phase41> recall_delegations(const OpenWork41& work, Client41& other, DelegationCounts& counts) {
  return std::make_unique<RecallDelegations>(work, other, counts);
}

}  // namespace stoa::bench
