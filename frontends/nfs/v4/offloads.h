// Copies that go on behind the answer to COPY (RFC 7862 4, 15.8, 15.9, 16.1). A few threads copy piece by piece in
// turn, so that a long one does not block others. The result is offered to the client until it takes it. A copy ends
// with its client.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "core/api/namespace.h"
#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

struct OffloadedCopy {
  core::OpContext ctx;
  core::CopyRangeRequest request;  // length: not 0
  core::HandleBytes to;            // coa_fh
  // Of the first bytes copied: when those are lost, the client must see it, regardless of later pieces.
  std::uint64_t verifier = 0;
};

class Offloads {
 public:
  static constexpr std::size_t kCopiesMax = 256;  // including finished ones that were not taken yet
  static constexpr std::size_t kCopiesPerClientMax = 16;

  Offloads(core::Namespace& ns, MetricRegistry& metrics);
  ~Offloads();  // running copies stay

  // Empty: there are too many, or the client cannot be called back.
  std::optional<Stateid> start(const std::shared_ptr<Client>& client, OffloadedCopy copy);

  struct Progress {
    std::uint64_t bytes = 0;
    std::optional<Nfs4Status> result{};  // it is done
  };
  // Empty: the client has no such copy.
  std::optional<Progress> progress(const Client& client, const Stateid& stateid) const;
  // When it returns, nothing more is copied; waits for one piece. False: the client has no such copy.
  bool cancel(const Client& client, const Stateid& stateid);
  // The client has lost all its state: its copies are forgotten. A running one ends with its piece, without a wait.
  void end(const Client& client);

 private:
  struct Job {
    std::shared_ptr<Client> client;
    OffloadedCopy copy;
    Stateid stateid;
    // Guarded by mutex_.
    std::uint64_t bytes = 0;
    std::optional<Nfs4Status> result{};
    bool running = false;
    bool cancelled = false;
  };
  using JobRef = std::shared_ptr<Job>;
  using Key = std::array<std::byte, 12>;

  void work(const std::stop_token& stop);
  void copy_piece(Job& job, std::uint64_t done, std::uint64_t& copied, std::optional<Nfs4Status>& result);
  void tell(const JobRef& job);
  // Repeats results to clients that have not taken them, and forgets those of clients that have ended.
  void tell_again(std::unique_lock<std::mutex>& lock);
  JobRef find_locked(const Client& client, const Stateid& stateid) const;

  core::Namespace& ns_;
  mutable std::mutex mutex_;  // guards the members below; never held while copying or calling a client
  std::uint32_t next_ = 0;
  std::map<Key, JobRef> jobs_;
  std::deque<JobRef> ready_;
  std::chrono::steady_clock::time_point tell_again_at_{};
  std::condition_variable_any wake_, piece_done_;
  std::vector<std::jthread> threads_;  // from the first copy on
};

}  // namespace stoa::nfs4
