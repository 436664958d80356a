// A volume of this process as a server that grants leases as a test wants it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <ctime>
#include <map>
#include <set>

#include "frontends/native/cache/lease_calls.h"
#include "frontends/native/storage/forwarding_storage.h"
#include "tests/frontends/native/mount/volume_storage.h"

namespace stoa::native {

// Counts what is asked. Numbers of opens that the client chose stand for those of the volume.
class GrantingStorage : public ForwardingStorage, public LeaseCalls {
 public:
  explicit GrantingStorage(Storage& volume) : ForwardingStorage(volume) {}

  std::atomic<std::uint32_t> grants{core::kAllCaching};
  std::atomic<bool> trusts{true};
  std::atomic<int> calls{0}, opened{0}, wishes{0};
  std::atomic<bool> loses_reply_of_create{false};  // of the next one, which was run
  std::function<void()> before_reply{};            // of look-ups, getattr, access and create, when they were run

  // The lease that was granted last on a directory; 0: none.
  std::uint64_t lease_of(core::FileId file) {
    const std::lock_guard lock(mutex_);
    const auto found = leases_.find(file);
    return found == leases_.end() ? 0 : found->second;
  }
  // Waits until a lease was answered, and says what stays.
  std::uint32_t acknowledged(std::uint64_t lease) {
    std::unique_lock lock(mutex_);
    answered_.wait(lock, [&] { return answers_.contains(lease); });
    const std::uint32_t keeps = answers_.at(lease);
    answers_.erase(lease);
    return keeps;
  }
  bool is_acknowledged(std::uint64_t lease) {
    const std::lock_guard lock(mutex_);
    return answers_.contains(lease);
  }
  std::function<void()> on_acknowledge{};
  // Until `go_on_granting` nothing is granted; those that were and are not given back.
  std::set<std::uint64_t> stop_granting() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    return live_;
  }
  void go_on_granting() {
    const std::lock_guard lock(mutex_);
    stopped_ = false;
  }
  void wait_for_return(std::uint64_t lease) {
    std::unique_lock lock(mutex_);
    answered_.wait(lock, [&] { return !live_.contains(lease); });
  }

  // --- LeaseCalls
  std::uint64_t new_lease() override { return ++last_lease_; }
  std::uint64_t new_open() override { return kChosen + ++last_open_; }
  std::int64_t trusted_until_ns() const override {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return trusts ? (std::int64_t{now.tv_sec} + 20) * 1'000'000'000 : 1;
  }
  Status acknowledge(std::uint64_t lease, std::uint32_t keeps) override {
    if (on_acknowledge) on_acknowledge();
    const std::lock_guard lock(mutex_);
    answers_[lease] = keeps;
    if (keeps == 0) live_.erase(lease);
    answered_.notify_all();
    return {};
  }
  std::vector<Status> open_numbered(const core::Credentials& cred, std::span<const NumberedOpen> opens) override {
    std::vector<Status> results;
    for (const NumberedOpen& one : opens) {
      auto open = below_.open({.cred = cred}, {.id = one.file, .access = one.access});
      results.push_back(open ? Status{} : fail(open.error()));
      if (!open) continue;
      ++opened;
      const std::lock_guard lock(mutex_);
      chosen_[one.number] = open->open;
    }
    return results;
  }

  void stop_waiting() override {}

  // --- Storage
  Result<core::Attributes> lookup(const Asker& asker, core::FileId parent, std::string_view name) override {
    grant(asker);
    return replied(below_.lookup(asker, parent, name));
  }
  Result<core::Attributes> getattr(const Asker& asker, core::FileId id) override {
    grant(asker);
    return replied(below_.getattr(asker, id));
  }
  Result<std::uint32_t> access(const Asker& asker, core::FileId id, std::uint32_t wanted) override {
    grant(asker);
    return replied(below_.access(asker, id, wanted));
  }
  Result<StorageEntries> readdir(const Asker& asker, const core::ReaddirRequest& request) override {
    grant(asker);
    return below_.readdir(asker, request);
  }
  Result<core::Attributes> create(const Asker& asker, const core::CreateRequest& request) override {
    grant(asker);
    auto made = replied(below_.create(asker, request));
    if (loses_reply_of_create.exchange(false)) return fail(Errc::kIo);
    return made;
  }
  Result<core::Attributes> mkdir(const Asker& asker, const core::MkdirRequest& request) override {
    grant(asker);
    return below_.mkdir(asker, request);
  }
  Result<std::string> get_xattr(const Asker& asker, const core::GetXattrRequest& request) override {
    ++calls;
    return below_.get_xattr(asker, request);
  }
  Result<std::string> readlink(const Asker& asker, core::FileId id) override {
    ++calls;
    return below_.readlink(asker, id);
  }
  Result<StorageOpen> open(const Asker& asker, const core::OpenRequest& request) override {
    grant(asker);
    ++opened;
    return below_.open(asker, request);
  }
  void close(const Asker& asker, OpenNumber open) override {
    ++calls;
    below_.close(asker, real(open));
  }
  Result<std::size_t> read(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                           std::span<std::byte> into) override {
    ++calls;
    return below_.read(by_open(asker, open), id, real(open), offset, into);
  }
  Result<StorageWritten> write(const Asker& asker, core::FileId id, OpenNumber open, std::uint64_t offset,
                               std::span<const std::byte> data, WriteWay way) override {
    ++calls;
    return below_.write(by_open(asker, open), id, real(open), offset, data, way);
  }
  std::vector<Result<StorageWritten>> write_all(const Asker& asker, std::span<const StorageWrite> writes) override {
    return Storage::write_all(asker, writes);
  }

 private:
  static constexpr OpenNumber kChosen = OpenNumber{1} << 48;

  void grant(const Asker& asker) {
    ++calls;
    if (asker.wish == nullptr) return;
    ++wishes;
    const std::lock_guard lock(mutex_);
    asker.wish->answered = true;
    asker.wish->granted = stopped_ ? 0 : asker.wish->bits & grants;
    if ((asker.wish->granted & core::kReadCaching) == 0) asker.wish->granted = 0;
    if (asker.wish->granted == 0) return;
    leases_[asker.wish->file] = asker.wish->number;
    live_.insert(asker.wish->number);
  }
  template <class T>
  T replied(T result) {
    if (before_reply) before_reply();
    return result;
  }
  // As the server does: an open that it knows gives the rights that it was granted.
  Asker by_open(const Asker& asker, OpenNumber open) {
    return real(open) == open ? asker : Asker{.cred = core::Credentials::superuser()};
  }
  OpenNumber real(OpenNumber open) {
    const std::lock_guard lock(mutex_);
    const auto found = chosen_.find(open);
    return found == chosen_.end() ? open : found->second;
  }

  std::atomic<std::uint64_t> last_lease_{0}, last_open_{0};
  std::mutex mutex_;  // guards all below
  std::condition_variable answered_;
  std::map<core::FileId, std::uint64_t> leases_;
  std::map<std::uint64_t, std::uint32_t> answers_;
  std::set<std::uint64_t> live_;
  bool stopped_ = false;
  std::map<OpenNumber, OpenNumber> chosen_;
};

}  // namespace stoa::native
