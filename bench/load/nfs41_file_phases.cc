// Loads on names, attributes and content, without anything cached.
#include <algorithm>
#include <cstring>

#include "bench/load/file_choice.h"
#include "bench/load/nfs41_phases.h"

namespace stoa::bench {
namespace {

struct Name {
  explicit Name(std::uint64_t index) { write_file_name(bytes, index); }
  std::string_view view() const { return {bytes, kFileNameBytes}; }
  char bytes[kFileNameBytes];
};

class CreateFiles final : public Phase41 {
 public:
  explicit CreateFiles(const CreateWork41& work) : work_(work), data_(work.bytes, 'x') {}

  void begin(Slot41& slot) override {
    slot.step = kOpened;
    Call41(slot, true)
        .putfh(work_.dir)
        .open(slot.client->id(), slot.owner, kShareWrite | kWantNoDelegation, true, Name(slot.index).view())
        .getfh()
        .getattr();
  }
  void reply(Slot41& slot, Results41& results) override {
    results.expect(Op::kPutFh);
    switch (slot.step) {
      case kOpened:
        opened(slot, results);
        break;
      case kWritten:
        slot.verifier = results.write(work_.bytes);
        break;
      case kCommitted:
        // Another verifier means that the server lost uncommitted data (RFC 8881 18.3.3).
        if (results.commit() != slot.verifier) results.reject("the write verifier changed");
        break;
      case kClosed:
        results.close();
        break;
    }
    if (!results.ok()) return slot.client->failed(slot, results.why());
    if (slot.step == kClosed) return slot.client->done(slot, work_.bytes);
    go_on(slot);
  }

 private:
  enum { kOpened, kWritten, kCommitted, kClosed };

  static void opened(Slot41& slot, Results41& results) {
    slot.open = results.open().stateid;
    results.getfh(slot.handle);
    const Attributes41 attributes = results.getattr();
    if (results.ok() && (attributes.type != kTypeRegular || attributes.size != 0))
      results.reject("OPEN made something else");
  }
  void go_on(Slot41& slot) {
    if (slot.step == kOpened && work_.bytes > 0) {
      slot.step = kWritten;
      Call41(slot, false).putfh(slot.handle).write(slot.open, 0, kUnstable, data_);
    } else if (slot.step == kWritten && work_.commit) {
      slot.step = kCommitted;
      Call41(slot, true).putfh(slot.handle).commit();
    } else {
      slot.step = kClosed;
      Call41(slot, true).putfh(slot.handle).close(slot.open);
    }
  }
  const CreateWork41 work_;
  const std::string data_;
};

class CollectHandles final : public Phase41 {
 public:
  CollectHandles(const Handle41& dir, std::vector<Handle41>* handles) : dir_(dir), handles_(handles) {}
  void begin(Slot41& slot) override { Call41(slot, false).putfh(dir_).lookup(Name(slot.index).view()).getfh(); }
  void reply(Slot41& slot, Results41& results) override {
    results.expect(Op::kPutFh).expect(Op::kLookup).getfh(slot.handle);
    if (!results.ok()) return slot.client->failed(slot, results.why());
    if (handles_->size() <= slot.index) handles_->resize(slot.index + 1);
    (*handles_)[slot.index] = slot.handle;
    slot.client->done(slot, 0);
  }

 private:
  const Handle41 dir_;
  std::vector<Handle41>* const handles_;
};

class GetattrFiles final : public Phase41 {
 public:
  GetattrFiles(const std::vector<Handle41>& handles, std::uint64_t seed) : handles_(handles), seed_(seed) {}
  void begin(Slot41& slot) override {
    Call41(slot, false).putfh(handles_[mix(seed_ + slot.index) % handles_.size()]).getattr();
  }
  void reply(Slot41& slot, Results41& results) override {
    const Attributes41 attributes = results.expect(Op::kPutFh).getattr();
    if (results.ok() && (attributes.type != kTypeRegular || attributes.size != 0)) results.reject("wrong attributes");
    if (!results.ok()) return slot.client->failed(slot, results.why());
    slot.client->done(slot, 0);
  }

 private:
  const std::vector<Handle41> handles_;
  const std::uint64_t seed_;
};

class OpenReadClose final : public Phase41 {
 public:
  explicit OpenReadClose(const OpenWork41& work) : work_(work), expected_(work.bytes, 'x') {}
  void begin(Slot41& slot) override {
    slot.step = kOpened;
    const Name name(mix(work_.seed + slot.index) % work_.files);
    Call41(slot, true)
        .putfh(work_.dir)
        .open(slot.client->id(), slot.owner, kShareRead | kWantNoDelegation, false, name.view())
        .getfh()
        .getattr();
  }
  void reply(Slot41& slot, Results41& results) override {
    results.expect(Op::kPutFh);
    switch (slot.step) {
      case kOpened: {
        slot.open = results.open().stateid;
        results.getfh(slot.handle);
        if (results.getattr().size != work_.bytes) results.reject("wrong size");
        break;
      }
      case kRead: {
        std::string_view data;
        results.read(work_.bytes, data);
        if (results.ok() && data != expected_) results.reject("wrong bytes");
        break;
      }
      case kClosed:
        results.close();
        break;
    }
    if (!results.ok()) return slot.client->failed(slot, results.why());
    switch (slot.step++) {
      case kOpened:
        Call41(slot, false).putfh(slot.handle).read(slot.open, 0, work_.bytes);
        break;
      case kRead:
        Call41(slot, true).putfh(slot.handle).close(slot.open);
        break;
      default:
        slot.client->done(slot, work_.bytes);
    }
  }

 private:
  enum { kOpened, kRead, kClosed };
  const OpenWork41 work_;
  const std::string expected_;
};

}  // namespace

std::unique_ptr<Phase41> create_files(const CreateWork41& work) {
  return std::make_unique<CreateFiles>(work);
}
std::unique_ptr<Phase41> collect_handles(const Handle41& dir, std::vector<Handle41>* handles) {
  return std::make_unique<CollectHandles>(dir, handles);
}
std::unique_ptr<Phase41> getattr_files(const std::vector<Handle41>& handles, std::uint64_t seed) {
  return std::make_unique<GetattrFiles>(handles, seed);
}
std::unique_ptr<Phase41> open_read_close(const OpenWork41& work) {
  return std::make_unique<OpenReadClose>(work);
}

}  // namespace stoa::bench
