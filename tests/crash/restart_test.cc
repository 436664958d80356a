// Clients with state across kills of the server: RFC 8881 8.4.2, RFC 7530 9.6.2. See README.md.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/clients/server_process.h"
#include "tests/crash/state_worker.h"
#include "tests/crash/worker.h"

namespace stoa::crash {
namespace {

namespace fs = std::filesystem;
using clients::run_command;
using clients::ServerProcess;

constexpr std::uint32_t kBoth = 3, kWantNone = 0x400, kClaimFile = 4;

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

std::uint64_t json_number(const std::string& json, const std::string& name) {
  const auto at = json.find("\"" + name + "\": ");
  EXPECT_NE(at, json.npos) << json;
  return at == json.npos ? 0 : std::strtoull(json.c_str() + at + name.size() + 4, nullptr, 10);
}

class RestartTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "stoa-restart.XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    std::printf("STOA_RESTART_SEED=%llu\n", static_cast<unsigned long long>(seed_));
  }
  void TearDown() override {
    server_.reset();
    if (HasFailure() && std::getenv("STOA_RESTART_KEEP") != nullptr) {
      std::printf("the data is kept in %s\n", folder_.c_str());
    } else {
      fs::remove_all(folder_);
    }
  }

  void start(std::uint64_t grace_ms) {
    std::string why;
    server_ = ServerProcess::start({STOA_SERVE, "--data", folder_, "--", "--volume-grace-ms", std::to_string(grace_ms)},
                                   &why);
    ASSERT_NE(server_, nullptr) << why;
    port_ = static_cast<std::uint16_t>(server_->nfs().nfs_port);
  }
  std::string stoa(const std::vector<std::string>& arguments) {
    std::vector<std::string> command{STOA_CLI, "--data", folder_, "--json"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::string output;
    EXPECT_EQ(run_command(command, &output), 0) << output;
    return output;
  }
  // All at the same time. True: all of them did.
  template <class Do>
  bool each(Do what) {
    std::atomic<bool> all{true};
    std::vector<std::thread> threads;
    for (auto& worker : workers_) {
      threads.emplace_back([&, w = worker.get()] {
        if (!what(*w)) all = false;
      });
    }
    for (std::thread& thread : threads) thread.join();
    return all;
  }
  // The server dies at a random moment of the workers' operations.
  template <class Do>
  void kill_during(std::uint64_t ms_max, Do what) {
    std::thread killer([&, after = random_.below(ms_max * 1000)] {
      ::usleep(static_cast<useconds_t>(after));
      server_->kill_hard();
    });
    each(what);
    killer.join();
    stoa({"check"});
  }

  // Another client, without earlier state.
  class Intruder {
   public:
    explicit Intruder(std::uint16_t port) : caller_(port, "intruder") {
      caller_.connect();
      root_ = caller_.handle_of({"test"});
    }
    ~Intruder() {
      // It leaves no record behind: the next start does not wait for it.
      caller_.call(Ops().op(44).fixed(caller_.session));
      EXPECT_TRUE(caller_.send(Ops().op(57).u64(caller_.client)).ok());
    }
    CompoundCaller::Open open(const Bytes& handle) {
      return caller_.open_claim(handle, Ops().u32(kClaimFile), kBoth | kWantNone, "i");
    }
    Nfs4Status new_file() { return caller_.open(root_, Arena::kName, kBoth | kWantNone, 0, false, "n").status; }
    Nfs4Status test_lock(const Bytes& handle) {
      return caller_
          .call(Ops().putfh(handle).op(13).u32(2).u64(0).u64(~std::uint64_t{0}).u64(caller_.client).string("i"))
          .status;
    }
    // Whether each range that this worker holds is denied, and each other one granted; nothing is held of a worker that
    // is gone.
    void expect_locks(const HeldFile& file, const std::set<std::size_t>& held) {
      const auto mine = open(file.handle);
      ASSERT_EQ(mine.status, Nfs4Status::kOk) << file.name;
      for (std::size_t range = 0; range < Arena::kRanges; ++range) {
        auto lock = caller_.lock(mine.handle, mine.stateid, "l", range * Arena::kRangeBytes, Arena::kRangeBytes);
        EXPECT_EQ(lock.status, held.contains(range) ? Nfs4Status::kDenied : Nfs4Status::kOk)
            << file.name << ", range " << range;
        if (lock.status == Nfs4Status::kOk)
          caller_.unlock(mine.handle, lock.stateid, range * Arena::kRangeBytes, Arena::kRangeBytes);
      }
      EXPECT_EQ(caller_.close(mine.handle, mine.stateid), Nfs4Status::kOk);
    }
    bool stale(const Bytes& handle) {
      return caller_.call(Ops().putfh(handle).op(9).u32(1).u32(2)).status == Nfs4Status::kStale;
    }
    void wait_for_end_of_grace(const Bytes& handle) {
      Nfs4Status status;
      CompoundCaller::Open mine;
      while ((status = (mine = open(handle)).status) == Nfs4Status::kGrace) ::usleep(20'000);
      ASSERT_EQ(status, Nfs4Status::kOk);
      EXPECT_EQ(caller_.close(mine.handle, mine.stateid), Nfs4Status::kOk);
    }

   private:
    CompoundCaller caller_;
    Bytes root_;
  };

  // For a server that has just restarted: first in grace, then after it. `absent` comes only when grace is over.
  void come_back(const StateWorker* absent, bool ends_early) {
    const Bytes arena = workers_.front()->arena_handle();
    ASSERT_TRUE(each([&](StateWorker& w) { return &w == absent || w.reclaim(port_); }));
    Intruder intruder(port_);
    EXPECT_EQ(intruder.open(arena).status, Nfs4Status::kGrace);
    EXPECT_EQ(intruder.new_file(), Nfs4Status::kGrace);
    EXPECT_EQ(intruder.test_lock(arena), Nfs4Status::kGrace);
    ASSERT_TRUE(each([&](StateWorker& w) { return &w == absent || w.complete(); }));
    if (ends_early) {
      EXPECT_NE(intruder.open(arena).status, Nfs4Status::kGrace) << "all have reclaimed";
    }
    intruder.wait_for_end_of_grace(arena);
    ASSERT_TRUE(each([&](StateWorker& w) { return &w == absent || w.return_delegations(); }));

    std::set<std::size_t> in_arena;
    for (const auto& worker : workers_) {
      for (const HeldFile& file : worker->files()) {
        if (!file.open) continue;
        if (file.name == Arena::kName) {
          if (worker.get() != absent) in_arena.insert(file.ranges.begin(), file.ranges.end());
        } else if (worker.get() != absent) {
          intruder.expect_locks(file, file.ranges);
        } else if (!file.name.empty()) {
          intruder.expect_locks(file, {});
        }
      }
    }
    intruder.expect_locks(workers_.front()->files().front(), in_arena);
    if (absent != nullptr) {
      ASSERT_TRUE(each([&](StateWorker& w) { return &w != absent || w.come_late(port_); }));
    }
    wait_until_gone(intruder);
    ASSERT_TRUE(each([](StateWorker& w) { return w.verify(); }));
    if (v3_ != nullptr) {
      v3_->verify({server_->nfs(), server_->s3()});
      EXPECT_EQ(v3_->problems(), std::vector<std::string>());
    }
    expect_usage();
  }

  // Unclaimed files go by background work, and count until then.
  void wait_until_gone(Intruder& intruder) {
    for (const auto& worker : workers_) {
      for (const Bytes& handle : worker->gone()) {
        while (!intruder.stale(handle)) ::usleep(50'000);
      }
    }
  }

  // To the byte: files with a name, and open ones without.
  void expect_usage() {
    for (const auto& worker : workers_) {
      const std::string usage = stoa({"du", "/test/" + worker->folder()});
      const std::string counted = usage.substr(usage.find("\"usage\""));
      EXPECT_EQ(json_number(counted, "bytes"), worker->bytes()) << worker->folder();
      EXPECT_EQ(json_number(counted, "files"), worker->counted()) << worker->folder();
    }
  }

  // All clients return their state: no file without a name is left.
  void finish() {
    each([](StateWorker& w) {
      w.close_all();
      return true;
    });
    {
      Intruder intruder(port_);
      wait_until_gone(intruder);
    }
    expect_usage();
    const std::string usage = stoa({"du", "/test"}), checked = stoa({"check"});
    EXPECT_EQ(json_number(checked, "files"), json_number(usage.substr(usage.find("\"usage\"")), "files"));
    std::uint64_t steps = 0, reclaimed = 0;
    for (const auto& worker : workers_) {
      steps += worker->steps();
      reclaimed += worker->reclaimed();
    }
    std::printf("%llu steps, %llu opens and locks reclaimed\n", static_cast<unsigned long long>(steps),
                static_cast<unsigned long long>(reclaimed));
    EXPECT_GT(reclaimed, 0u);
  }

  void work(std::uint64_t ms_max) {
    std::thread version3([&, protocols = Protocols{server_->nfs(), server_->s3()}] {
      if (v3_ != nullptr) v3_->work(protocols);
    });
    kill_during(ms_max, [&](StateWorker& w) {
      w.work(port_);
      return true;
    });
    version3.join();
  }

  const std::uint64_t seed_ = number_of("STOA_RESTART_SEED", static_cast<std::uint64_t>(std::time(nullptr)));
  const std::uint64_t cycles_ = number_of("STOA_RESTART_CYCLES", 8);
  model::Random random_{seed_};
  std::string folder_;
  std::unique_ptr<ServerProcess> server_;
  std::uint16_t port_ = 0;
  Arena arena_;
  std::vector<std::unique_ptr<StateWorker>> workers_;
  std::unique_ptr<Worker> v3_;
};

constexpr std::uint64_t kGraceMs = 90'000, kShortGraceMs = 4'000, kLoadMs = 800;

TEST_F(RestartTest, ClientsWithSessionsKeepWhatTheyHold) {
  for (int i = 0; i < 3; ++i) workers_.push_back(std::make_unique<StateWorker>(i, 1, random_.next(), arena_));
  v3_ = make_nfs_worker(0, random_.next());
  start(kGraceMs);
  ASSERT_FALSE(HasFatalFailure());
  for (auto& worker : workers_) ASSERT_TRUE(worker->begin(port_));
  work(kLoadMs);
  for (std::uint64_t cycle = 1; cycle <= cycles_ && !HasFailure(); ++cycle) {
    if (cycle % 3 == 0) {
      // It dies again while they reclaim.
      start(kGraceMs);
      ASSERT_FALSE(HasFatalFailure());
      kill_during(60, [&](StateWorker& w) { return w.reclaim(port_) && w.complete(); });
    }
    const bool one_is_absent = cycle % 4 == 0;
    start(one_is_absent ? kShortGraceMs : kGraceMs);
    ASSERT_FALSE(HasFatalFailure());
    come_back(one_is_absent ? random_.pick(workers_).get() : nullptr, !one_is_absent);
    ASSERT_FALSE(HasFatalFailure());
    if (cycle < cycles_) work(kLoadMs);
  }
  if (!HasFailure()) finish();
}

// These clients do not report completion: grace lasts its whole time.
TEST_F(RestartTest, ClientsOfMinorVersion0KeepWhatTheyHold) {
  for (int i = 0; i < 3; ++i)
    workers_.push_back(std::make_unique<StateWorker>(i, i == 2 ? 1 : 0, random_.next(), arena_));
  start(kShortGraceMs);
  ASSERT_FALSE(HasFatalFailure());
  for (auto& worker : workers_) ASSERT_TRUE(worker->begin(port_));
  work(kLoadMs);
  const std::uint64_t cycles = (cycles_ + 3) / 4;
  for (std::uint64_t cycle = 1; cycle <= cycles && !HasFailure(); ++cycle) {
    start(kShortGraceMs);
    ASSERT_FALSE(HasFatalFailure());
    come_back(cycle % 2 == 0 ? workers_.front().get() : nullptr, false);
    ASSERT_FALSE(HasFatalFailure());
    if (cycle < cycles) work(kLoadMs);
  }
  if (!HasFailure()) finish();
}

}  // namespace
}  // namespace stoa::crash
