// The table of opens, locks and leases by itself: the test defines the files, and time stands still unless it is
// moved.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "backends/kv/memory/memory_kv.h"
#include "core/state/state_table.h"
#include "tests/core/state/holder_callbacks.h"
#include "tests/core/state/lease_requests.h"

namespace stoa::core::test {

constexpr std::uint64_t kEnd = ~std::uint64_t{0};  // the end of a lock without one

class NamedFiles final : public FileWatch {
 public:
  Result<bool> orphan(FileId file) override {
    if (gone.contains(file)) return fail(Errc::kStale);
    return orphan_files.contains(file);
  }
  bool quiesced(FileId file) override {
    if (meanwhile) meanwhile();
    return !gone.contains(file) && !busy.contains(file);
  }
  Result<Place> place(FileId file) override {
    if (gone.contains(file)) return fail(Errc::kStale);
    Place place{.is_directory = directories.contains(file)};
    if (const auto found = names.find(file); found != names.end()) place.directories = found->second;
    return place;
  }
  std::set<FileId> directories;
  std::map<FileId, std::vector<FileId>> names;  // of files: the directories of all names
  void last_closed(FileId file) override { closed.push_back(file); }

  std::set<FileId> gone, orphan_files, busy;
  std::function<void()> meanwhile;  // while a lease is being granted
  Status delete_name(FileId file, const OpenedName& name) override {
    STOA_CHECK_OK(deleting ? deleting() : Status{});
    deleted.emplace_back(file, name.name);
    return {};
  }
  std::vector<FileId> closed;
  std::function<Status()> deleting;
  std::vector<std::pair<FileId, std::string>> deleted;
};

class TableTest : public ::testing::Test {
 protected:
  static constexpr FileId kFile{100};
  static constexpr FileId kOther{101};
  struct Recalled {
    LeaseId lease;
    FileId file;
    std::uint32_t keeps = kLeaseNone;
    bool operator==(const Recalled&) const = default;
  };
  // A client that records the recalls that it gets.
  struct Client {
    HolderId id;
    std::shared_ptr<std::vector<Recalled>> recalled;
    OpContext ctx() const {
      OpContext ctx;
      ctx.holder = id;
      return ctx;
    }
  };
  Client client(std::string_view peer = {}, const LeaseTerms& terms = {}) {
    Client made{{}, std::make_shared<std::vector<Recalled>>()};
    made.id = table().add_holder(Protocol::kNfs, on_recall([list = made.recalled](const LeaseRecall& r) {
                                   list->push_back({r.lease, r.file, r.keeps});
                                 }),
                                 peer, terms);
    return made;
  }
  VolumeState& table() {
    if (!table_) table_.emplace(options_, files_, kv_, committer_, metrics_);
    return *table_;
  }
  Result<OpenId> open(const Client& who, std::uint32_t access, std::uint32_t deny = kShareNone, FileId file = kFile) {
    return table().open({file, who.id, access, deny});
  }
  static Errc code(const auto& result) { return result ? Errc{} : result.error().code; }

  MetricRegistry metrics_;
  kv::MemoryKv kv_;
  Committer committer_{kv_, metrics_, 1};
  NamedFiles files_;
  StateClock::time_point now_ = StateClock::time_point(std::chrono::hours(1));
  StateOptions options_{.lease_recall_timeout = std::chrono::seconds(10), .now = [this] { return now_; }};
  std::optional<VolumeState> table_;
};

}  // namespace stoa::core::test
