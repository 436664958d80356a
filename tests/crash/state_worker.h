// One client of the restart test: NFSv4.1 or 4.0 by hand. It has opens, byte-range locks and delegations, on files with
// and without a name. It writes verifiable data, and reclaims all of it after the server was killed.
#pragma once

#include <array>
#include <atomic>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/crash/expected_file.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"
#include "tests/model/random.h"

namespace stoa::crash {

using nfs4::Nfs4Status;
using test::Bytes;
using test::CompoundCaller;
using test::CompoundResult;
using test::Ops;
using test::WireDelegation;
using test::WireStateid;

// A file in which all workers lock ranges, with the holder of each, as the holders know: from the reply to LOCK until
// the request of LOCKU. A worker that gets one that another holds has found a lost lock.
class Arena {
 public:
  static constexpr std::size_t kRanges = 16;
  static constexpr std::uint64_t kRangeBytes = 100;
  static constexpr const char* kName = "arena";
  // False: another worker holds it.
  bool take(std::size_t range, int worker) {
    int nobody = -1;
    return holders_[range].compare_exchange_strong(nobody, worker) || nobody == worker;
  }
  void leave(std::size_t range) { holders_[range] = -1; }
  int holder(std::size_t range) const { return holders_[range]; }

  Arena() {
    for (auto& holder : holders_) holder = -1;
  }

 private:
  std::array<std::atomic<int>, kRanges> holders_;
};

struct HeldFile {
  std::string name;  // empty: it has none any more
  Bytes handle;
  // Open, as far as the client knows.
  bool open = false;
  std::uint32_t access = 0;
  std::string owner;
  WireStateid stateid{};
  std::uint32_t open_seqid = 0, lock_seqid = 0;  // of 4.0
  std::set<std::size_t> ranges;                  // that are locked, of Arena::kRangeBytes each
  WireStateid locks{};
  WireDelegation delegation{};

  std::string now;                                                  // the content that a reader must see
  ExpectedFile promised;                                            // the possible contents after a crash
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unstable{};  // to be written again when the verifier changes
  std::optional<std::uint64_t> cut{};                               // a SETATTR of the size without an answer
};

class StateWorker {
 public:
  StateWorker(int number, std::uint32_t minor, std::uint64_t seed, Arena& arena);

  // The first time, and whenever the client's machine has restarted: its state is gone.
  bool begin(std::uint16_t port);
  // After a restart of the server: a connection, a client id, a session; opens and locks reclaimed. False: killed
  // meanwhile.
  bool reclaim(std::uint16_t port);
  bool complete();            // RECLAIM_COMPLETE
  bool return_delegations();  // that were reclaimed: others may open now
  // After grace: files must match the promises; then the rest is written again, and all must be as it was.
  bool verify();
  // Comes too late: the server has granted its state to others.
  bool come_late(std::uint16_t port);
  // Until the connection breaks.
  void work(std::uint16_t port);
  // Gives everything back.
  void close_all();

  int number() const { return number_; }
  std::uint32_t minor() const { return minor_; }
  const std::string& folder() const { return folder_; }
  const std::list<HeldFile>& files() const { return files_; }
  const Bytes& arena_handle() const { return arena_handle_; }
  // For files with a name, and open ones without.
  std::uint64_t bytes() const;
  std::uint64_t counted() const;
  std::uint64_t steps() const { return steps_; }
  std::uint64_t reclaimed() const { return reclaimed_; }
  const std::vector<Bytes>& gone() const { return gone_; }  // handles of files that must not be there any more

 private:
  CompoundResult send(const Ops& ops);  // behind a SEQUENCE with sessions; retried while the server answers DELAY
  Nfs4Status connect(bool reclaim_complete);
  bool lost(const CompoundResult& result) const { return !result.good; }
  // True: done; false: the connection broke. Any other answer than `expected` is a failure of the test.
  bool expect(const CompoundResult& result, const char* what, const HeldFile* file = nullptr) const;
  Bytes look_up(const Bytes& dir, const std::string& name, bool* broken);

  bool open_file(HeldFile& file, std::uint32_t access, bool create, std::uint32_t wants = 0);
  bool reclaim_open(HeldFile& file);
  bool return_delegation(HeldFile& file);
  bool close_file(HeldFile& file);
  bool lock_range(HeldFile& file, std::size_t range, bool reclaim);
  bool unlock_range(HeldFile& file, std::size_t range);
  bool write(HeldFile& file, std::uint64_t offset, std::string data, bool stable);
  bool commit(HeldFile& file);
  bool read(const HeldFile& file, std::string* found);
  bool cut(HeldFile& file, std::uint64_t size);
  bool remove(HeldFile& file);
  bool rename_over(HeldFile& from, HeldFile& to);
  bool step();
  bool resolve_doubt();
  void forget_state();
  void drop_gone();
  HeldFile* any(bool open);
  static bool counts(const HeldFile& file);

  const int number_;
  const std::uint32_t minor_;
  const std::string folder_;
  Arena& arena_;
  model::Random random_;
  std::uint64_t incarnation_ = 1;
  std::unique_ptr<CompoundCaller> wire_;
  std::uint64_t client_ = 0;  // of 4.0
  std::uint16_t port_ = 0;
  Bytes top_, dir_, arena_handle_;
  std::list<HeldFile> files_;  // the arena first
  std::vector<Bytes> gone_;
  std::uint64_t next_name_ = 1, next_owner_ = 1, steps_ = 0, reclaimed_ = 0;
  std::optional<std::uint64_t> verifier_;  // of WRITE, of this run of the server

  // The operation in progress when the connection broke, if it must be checked.
  struct Doubt {
    enum { kCreate, kRemove, kRename } what;
    std::string name, to;
    Bytes handle;
  };
  std::optional<Doubt> doubt_;
};

}  // namespace stoa::crash
