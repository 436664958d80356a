#include "frontends/nfs/v4/offloads.h"

#include <pthread.h>

#include <algorithm>

#include "frontends/nfs/v4/client.h"
#include "frontends/nfs/v4/stable_how.h"

namespace stoa::nfs4 {
namespace {

constexpr std::size_t kThreads = 2;
constexpr std::uint64_t kPieceBytes = 8u << 20;
constexpr std::chrono::milliseconds kLeasePatience{200};  // of a piece; then the next copy gets its turn
constexpr std::chrono::seconds kPieceTime{50};
constexpr std::chrono::seconds kTellAgain{15};

bool has_ended(Client& client) {
  const std::lock_guard lock(client.mutex);
  return client.gone;
}

}  // namespace

Offloads::Offloads(core::Namespace& ns, MetricRegistry& metrics) : ns_(ns) {
  metrics.gauge_callback("stoa_nfs4_offloaded_copies",
                         "COPYs that go on in the background, or whose end was not taken yet", {}, [this] {
                           const std::lock_guard lock(mutex_);
                           return static_cast<double>(jobs_.size());
                         });
}

Offloads::~Offloads() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

std::optional<Stateid> Offloads::start(const std::shared_ptr<Client>& client, OffloadedCopy copy) {
  if (!client->recalls.channel_up()) return std::nullopt;
  auto job = std::make_shared<Job>();
  job->client = client;
  job->copy = std::move(copy);
  {
    const std::lock_guard lock(mutex_);
    const auto mine = std::ranges::count_if(jobs_, [&](const auto& entry) { return entry.second->client == client; });
    if (jobs_.size() >= kCopiesMax || static_cast<std::size_t>(mine) >= kCopiesPerClientMax) return std::nullopt;
    // 4.8: the seqid is never zero.
    job->stateid.seqid = 1;
    rpc::store_be32(job->stateid.other.data(), static_cast<std::uint32_t>(client->id >> 32));
    rpc::store_be32(job->stateid.other.data() + 4, static_cast<std::uint32_t>(client->id));
    do {
      rpc::store_be32(job->stateid.other.data() + 8, kCopySerials | next_++);
    } while (!jobs_.emplace(job->stateid.other, job).second);
    ready_.push_back(job);
    while (threads_.size() < kThreads) {
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }
  wake_.notify_one();
  return job->stateid;
}

Offloads::JobRef Offloads::find_locked(const Client& client, const Stateid& stateid) const {
  const auto found = jobs_.find(stateid.other);
  return found != jobs_.end() && found->second->client.get() == &client && stateid.seqid == found->second->stateid.seqid
             ? found->second
             : nullptr;
}

std::optional<Offloads::Progress> Offloads::progress(const Client& client, const Stateid& stateid) const {
  const std::lock_guard lock(mutex_);
  const JobRef job = find_locked(client, stateid);
  if (job == nullptr) return std::nullopt;
  return Progress{job->bytes, job->result};
}

bool Offloads::cancel(const Client& client, const Stateid& stateid) {
  std::unique_lock lock(mutex_);
  const JobRef job = find_locked(client, stateid);
  if (job == nullptr) return false;
  job->cancelled = true;
  jobs_.erase(job->stateid.other);
  std::erase(ready_, job);
  piece_done_.wait(lock, [&] { return !job->running; });
  return true;
}

void Offloads::end(const Client& client) {
  const std::lock_guard lock(mutex_);
  std::erase_if(ready_, [&](const JobRef& job) { return job->client.get() == &client; });
  std::erase_if(jobs_, [&](const auto& entry) {
    Job& job = *entry.second;
    if (job.client.get() != &client) return false;
    job.cancelled = true;
    return true;
  });
}

void Offloads::tell_again(std::unique_lock<std::mutex>& lock) {
  std::vector<JobRef> done;
  std::erase_if(jobs_, [](const auto& entry) { return entry.second->result && has_ended(*entry.second->client); });
  for (const auto& [key, job] : jobs_) {
    if (job->result) done.push_back(job);
  }
  lock.unlock();
  for (const JobRef& job : done) tell(job);
  lock.lock();
}

void Offloads::work(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "nfs-copy");
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    // However much there is to copy.
    if (const auto now = std::chrono::steady_clock::now(); now >= tell_again_at_) {
      tell_again_at_ = now + kTellAgain;
      tell_again(lock);
    }
    if (!wake_.wait_until(lock, stop, tell_again_at_, [&] { return !ready_.empty(); })) continue;
    const JobRef job = std::move(ready_.front());
    ready_.pop_front();
    if (has_ended(*job->client)) {
      jobs_.erase(job->stateid.other);
      continue;
    }
    job->running = true;
    const std::uint64_t done = job->bytes;
    lock.unlock();
    std::uint64_t copied = 0;
    std::optional<Nfs4Status> result;
    copy_piece(*job, done, copied, result);
    lock.lock();
    job->running = false;
    job->bytes += copied;
    piece_done_.notify_all();
    if (job->cancelled) continue;
    job->result = result;
    if (!result) {
      ready_.push_back(job);
      continue;
    }
    lock.unlock();
    tell(job);
    lock.lock();
  }
}

void Offloads::copy_piece(Job& job, std::uint64_t done, std::uint64_t& copied, std::optional<Nfs4Status>& result) {
  core::CopyRangeRequest piece = job.copy.request;
  const std::uint64_t left = piece.length - done;
  piece.from_offset += done;
  piece.to_offset += done;
  piece.length = std::min(left, kPieceBytes);
  job.copy.ctx.deadline = Deadline::in(kPieceTime);
  job.copy.ctx.lease_patience = kLeasePatience;
  const auto reply = ns_.copy_range(job.copy.ctx, piece);
  if (reply) {
    copied = reply->length;
    if (copied == left || copied == 0) result = Nfs4Status::kOk;
    return;
  }
  // A delegation is being recalled: in the end it is returned or revoked.
  if (reply.error().code == Errc::kRecallPending) return;
  // The source has become shorter meanwhile: all its bytes were copied (15.2.3).
  const bool shorter = reply.error().code == Errc::kInvalid && done > 0;
  result = shorter ? Nfs4Status::kOk : to_nfs4_status(reply.error().code);
}

void Offloads::tell(const JobRef& job) {
  constexpr std::uint32_t kCbOffload = 15;
  std::uint64_t bytes = 0;
  Nfs4Status result{};
  {
    const std::lock_guard lock(mutex_);
    bytes = job->bytes;
    result = *job->result;
  }
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  out.opaque(job->copy.to);
  write_stateid(out, job->stateid);
  out.u32(static_cast<std::uint32_t>(result));
  if (result == Nfs4Status::kOk) {
    out.u32(0);  // no further callback
    out.u64(bytes);
    out.u32(static_cast<std::uint32_t>(StableHow::kUnstable));
    out.u64(job->copy.verifier);
  } else {
    out.u64(bytes);
  }
  const auto arguments = buffer.bytes();
  // 4.8: the stateid is good until the client has replied.
  const auto forget = [this, key = job->stateid.other](bool taken) {
    const std::lock_guard lock(mutex_);
    if (taken) jobs_.erase(key);
  };
  job->client->recalls.call({.operation = kCbOffload,
                             .about = job->stateid,
                             .arguments = {arguments.begin(), arguments.end()},
                             .done = forget});
}

}  // namespace stoa::nfs4
