#include "frontends/native/fuse/device.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "base/log.h"
#include "frontends/native/fuse/init.h"

namespace stoa::native::fuse {
namespace {

constexpr int kBreakSignal = SIGUSR2;  // has no effect but to end a read(2)
constexpr std::chrono::milliseconds kBreakAgain{1};

// For this thread, which has the mask of who has started the program.
void take_break_signal() {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, kBreakSignal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

// Without SA_RESTART, with which the read would go on.
void handle_break_signal() {
  struct sigaction none{};
  none.sa_handler = [](int) {};
  ::sigaction(kBreakSignal, &none, nullptr);
}

struct FreeBuffer {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using RequestBuffer = std::unique_ptr<std::byte, FreeBuffer>;

// Memory that is not touched is not taken: most requests need one page of it.
RequestBuffer new_buffer() {
  return RequestBuffer(static_cast<std::byte*>(std::aligned_alloc(kRequestHeadBytes, kRequestBytes)));
}

enum class Read { kRequest, kAgain, kEnded };

Read read_request(int fd, std::byte* buffer, std::size_t& length) {
  const ssize_t got = ::read(fd, buffer, kRequestBytes);
  if (got >= 0) {
    length = static_cast<std::size_t>(got);
    return got > 0 ? Read::kRequest : Read::kEnded;
  }
  // ENOENT: the request was interrupted while it was read (libfuse does the same).
  if (errno == EINTR || errno == EAGAIN || errno == ENOENT) return Read::kAgain;
  if (errno != ENODEV && errno != ECONNABORTED) {
    log_error("mount", "reading from /dev/fuse failed", {{"errno", errno}});
  }
  return Read::kEnded;
}

// Errno of the write, or 0.
int write_reply(int fd, std::uint64_t unique, int error, std::span<const std::byte> body) {
  fuse_out_header header{};
  header.len = static_cast<std::uint32_t>(sizeof(header) + body.size());
  header.error = -error;
  header.unique = unique;
  const std::array<iovec, 2> parts{iovec{&header, sizeof(header)},
                                   iovec{const_cast<std::byte*>(body.data()), body.size()}};
  for (;;) {
    if (::writev(fd, parts.data(), body.empty() ? 1 : 2) >= 0) return 0;
    if (errno != EINTR) return errno;
  }
}

// Empty: requests come over /dev/fuse alone.
std::unique_ptr<RingQueues> prepare_rings(int fd, const fuse_init_in& in) {
  if (in.major != kProtocolMajor || in.minor < kOverIoUringMinor) return nullptr;
  if (!offers_io_uring(in)) return nullptr;
  auto rings = RingQueues::prepare(fd, processors());
  if (rings) return std::move(*rings);
  log_warning("mount", "no FUSE over io_uring", {{"cause", describe(rings.error())}});
  return nullptr;
}

struct Begun {
  Negotiated negotiated;
  std::unique_ptr<RingQueues> rings;
};

// The kernel's first request. Its structure was shorter before 7.36.
Result<Begun> answer_init(int fd) {
  const RequestBuffer buffer = new_buffer();
  if (!buffer) return fail(Errc::kNoSpace, "no memory for a request");
  for (;;) {
    std::size_t length = 0;
    const Read read = read_request(fd, buffer.get(), length);
    if (read == Read::kEnded) return fail(Errc::kShutdown, "the file system was unmounted");
    if (read == Read::kAgain) continue;
    const auto request = parse_request(std::span<const std::byte>(buffer.get(), length));
    if (!request || request->header.opcode != FUSE_INIT) {
      return fail(Errc::kNotSupported, "the kernel did not begin with INIT");
    }
    fuse_init_in in{};
    std::memcpy(&in, buffer.get() + sizeof(fuse_in_header), std::min(sizeof(in), length - sizeof(fuse_in_header)));
    auto rings = prepare_rings(fd, in);
    const auto reply = negotiate(in, rings != nullptr);
    if (!reply) {
      write_reply(fd, request->header.unique, EPROTO, {});
      return fail(reply.error());
    }
    const int error = write_reply(fd, request->header.unique, 0, std::as_bytes(std::span(&reply->out, 1)));
    if (error != 0) return fail_errno(error, "answering INIT");
    if (in.major == kProtocolMajor) return Begun{reply->negotiated, std::move(rings)};
  }
}

// A descriptor of the same connection, with a list of requests of its own. Linux 4.2.
OwnedFd clone_of(int fuse) {
  OwnedFd fd(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (!fd) return OwnedFd{};
  auto source = static_cast<std::uint32_t>(fuse);
  if (::ioctl(fd.get(), FUSE_DEV_IOC_CLONE, &source) != 0) return OwnedFd{};
  return fd;
}

}  // namespace

class Device::Seat : public ReplyChannel {
 public:
  // Without a clone of its own (no right to open /dev/fuse again) the workers share the first descriptor.
  explicit Seat(int shared) : own_(clone_of(shared)), fd_(own_ ? own_.get() : shared) {}
  enum Shares { kShares };
  Seat(int shared, Shares) : fd_(shared) {}
  // A clone that another process has made.
  explicit Seat(OwnedFd clone) : own_(std::move(clone)), fd_(own_.get()) {}

  void reply(std::uint64_t unique, int error, std::span<const std::byte> body) override {
    int failed = write_reply(fd_, unique, error, body);
    // EINVAL: the kernel does not like the reply. It must get one all the same, or the process hangs.
    if (failed == EINVAL && error == 0) {
      log_error("mount", "the kernel refused a reply", {{"bytes", body.size()}});
      failed = write_reply(fd_, unique, EIO, {});
    }
  }
  int fd() const { return fd_; }

  // Around the reads of the worker, so that break_off() ends them.
  void begins(pid_t thread) { thread_ = thread; }
  Read read(std::byte* buffer, std::size_t& length) {
    reads_.store(true, std::memory_order_relaxed);
    const Read read = read_request(fd_, buffer, length);
    reads_.store(false, std::memory_order_relaxed);
    return read;
  }
  // A read that begins at this moment is missed, so this is done again until it has an effect. No request is lost: the
  // kernel ends only the wait for one.
  void break_off() const {
    if (reads_) ::syscall(SYS_tgkill, ::getpid(), thread_.load(), kBreakSignal);
  }

 private:
  const OwnedFd own_{};
  const int fd_;
  std::atomic<pid_t> thread_{0};
  std::atomic<bool> reads_{false};
};

Result<std::unique_ptr<Device>> Device::start(OwnedFd fuse, FileSystem& fs) {
  STOA_TRY(begun, answer_init(fuse.get()));
  std::unique_ptr<Device> device(new Device(std::move(fuse), fs, begun.negotiated, std::move(begun.rings)));
  {
    const std::lock_guard lock(device->mutex_);
    if (!device->add_worker()) return fail(Errc::kBusy, "the system starts no more threads; end some programs");
  }
  if (device->rings_) device->rings_->start(*device->dispatcher_);
  return device;
}

Device::Device(OwnedFd fuse, FileSystem& fs, const Negotiated& negotiated, std::unique_ptr<RingQueues> rings)
    : fuse_(std::move(fuse)),
      negotiated_(negotiated),
      notifier_(fuse_.get(), fs.root()),
      rings_(std::move(rings)),
      dispatcher_(std::make_unique<Dispatcher>(fs, negotiated)) {}

Result<std::unique_ptr<Device>> Device::take_over(std::vector<OwnedFd> descriptors, const DeviceState& state,
                                                  FileSystem& fs) {
  const std::size_t memories = state.rings.memories.size();
  if (descriptors.size() <= memories) return fail(Errc::kInvalid, "no descriptor of a FUSE connection");
  std::vector<OwnedFd> of_rings;
  for (std::size_t i = descriptors.size() - memories; i < descriptors.size(); ++i) {
    of_rings.push_back(std::move(descriptors[i]));
  }
  descriptors.resize(descriptors.size() - memories);
  for (const DeviceState::Wait& wait : state.waits) {
    if (wait.descriptor == DeviceState::kOverRing ? !state.over_rings : wait.descriptor >= descriptors.size())
      return fail(Errc::kInvalid, "a wait without its descriptor");
  }
  std::unique_ptr<RingQueues> rings;
  if (state.over_rings) {
    STOA_TRY(taken, RingQueues::take_over(descriptors[0].get(), state.rings, std::move(of_rings), processors()));
    rings = std::move(taken);
  }
  std::unique_ptr<Device> device(new Device(std::move(descriptors[0]), fs, state.negotiated, std::move(rings)));
  device->paused_ = true;
  LockWaits& waits = device->dispatcher_->lock_waits();
  (void)waits.pause({});  // there is no question yet
  const std::lock_guard lock(device->mutex_);
  // Seats, which answer and are free for workers; the first one shares the connection's own descriptor.
  device->seats_.push_back(std::make_unique<Seat>(device->fuse_.get(), Seat::kShares));
  for (std::size_t i = 1; i < descriptors.size(); ++i) {
    device->seats_.push_back(std::make_unique<Seat>(std::move(descriptors[i])));
    device->free_seats_.push_back(device->seats_.back().get());
  }
  for (const DeviceState::Wait& wait : state.waits) {
    ReplyChannel* channel = nullptr;
    if (wait.descriptor == DeviceState::kOverRing) {
      STOA_TRY(found, device->rings_->channel_of(wait.unique));
      channel = found;
    } else {
      channel = device->seats_[wait.descriptor].get();
    }
    if (!waits.add(wait.unique, wait.caller, wait.lock, *channel)) {
      return fail(Errc::kBusy, "the system starts no more threads; end some programs");
    }
  }
  if (device->rings_) STOA_CHECK_OK(device->rings_->start_paused(*device->dispatcher_));
  if (!device->add_worker()) return fail(Errc::kBusy, "the system starts no more threads; end some programs");
  return device;
}

Status Device::may_pause() const {
  return rings_ ? rings_->may_pause() : Status{};
}

Status Device::pause(const std::string& directory, Clock::time_point until) {
  const Status paused = pause_all(directory, until);
  if (!paused) resume();
  return paused;
}

Status Device::pause_all(const std::string& directory, Clock::time_point until) {
  handle_break_signal();
  std::unique_lock lock(mutex_);
  paused_ = true;
  while (parked_ != workers_ && Clock::now() < until) {
    for (const auto& seat : seats_) seat->break_off();
    left_.wait_for(lock, kBreakAgain, [this] { return parked_ == workers_; });
  }
  const bool quiet = parked_ == workers_;
  const bool ended = ends_ || workers_ == 0;
  lock.unlock();
  if (ended) return fail(Errc::kShutdown, "it was unmounted");
  // Interrupts, which would answer who waits, come over the descriptors.
  if (!quiet || !dispatcher_->lock_waits().pause(until)) return fail(Errc::kTimeout, "a request of it does not end");
  return rings_ ? pause_rings(directory, until) : Status{};
}

Status Device::pause_rings(const std::string& directory, Clock::time_point until) {
  if (!rings_->serve()) return {};
  STOA_TRY(fill, RingFill::open(directory, rings_->name_of_fill()));
  fill_ = std::move(fill);
  return rings_->pause(*fill_, processors(), until);
}

void Device::resume() {
  dispatcher_->lock_waits().resume();
  if (rings_) rings_->resume();
  {
    const std::lock_guard lock(mutex_);
    paused_ = false;
    resumed_.notify_all();
  }
  if (!fill_) return;
  fill_.reset();
  rings_->end_of_fill();
}

DeviceState Device::state(std::vector<int>& descriptors) {
  DeviceState state{.negotiated = negotiated_, .over_rings = fill_ != nullptr};
  descriptors = {fuse_.get()};
  for (const LockWaits::Waiting& wait : dispatcher_->lock_waits().waiting()) {
    std::size_t at = DeviceState::kOverRing;
    if (!state.over_rings || !rings_->has_waiting(wait.unique)) {
      const int fd = static_cast<const Seat*>(wait.channel)->fd();
      at = static_cast<std::size_t>(std::ranges::find(descriptors, fd) - descriptors.begin());
      if (at == descriptors.size()) descriptors.push_back(fd);
    }
    state.waits.push_back({wait.unique, wait.caller, wait.lock, at});
  }
  if (!state.over_rings) return state;
  std::vector<int> memories;
  state.rings = rings_->state(memories);
  descriptors.insert(descriptors.end(), memories.begin(), memories.end());
  return state;
}

void Device::leave() {
  dispatcher_->lock_waits().leave();
  if (rings_) rings_->leave();
  const std::lock_guard lock(mutex_);
  handed_over_ = true;
  resumed_.notify_all();
}

bool Device::may_read() {
  if (!paused_) return true;
  std::unique_lock lock(mutex_);
  ++parked_;
  left_.notify_all();
  resumed_.wait(lock, [this] { return !paused_ || handed_over_; });
  --parked_;
  return !handed_over_;
}

Device::~Device() {
  if (paused_) leave();
  wait();
  dispatcher_.reset();
}

void Device::wait() {
  std::unique_lock lock(mutex_);
  left_.wait(lock, [this] { return workers_ == 0; });
  lock.unlock();
  if (rings_) rings_->wait();
}

bool Device::add_worker() {
  if (free_seats_.empty()) {
    seats_.push_back(std::make_unique<Seat>(fuse_.get()));
    free_seats_.push_back(seats_.back().get());
  }
  Seat& seat = *free_seats_.back();
  try {
    // Not joined: leave() is the last thing that a worker does with this object.
    std::thread([this, &seat] { work(seat); }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  free_seats_.pop_back();
  ++workers_;
  ++idle_;
  return true;
}

void Device::became_busy() {
  const std::lock_guard lock(mutex_);
  --idle_;
  // Without another thread the request after the next one waits.
  if (idle_ == 0 && workers_ < kWorkersMost && !ends_) (void)add_worker();
}

bool Device::became_idle() {
  const std::lock_guard lock(mutex_);
  ++idle_;
  return idle_ <= kIdleMost;
}

void Device::leave(Seat& seat) {
  const std::lock_guard lock(mutex_);
  --idle_;
  --workers_;
  free_seats_.push_back(&seat);
  left_.notify_all();
}

void Device::work(Seat& seat) {
  take_break_signal();
  seat.begins(::gettid());
  const RequestBuffer buffer = new_buffer();
  const std::span<std::byte> space(buffer.get() + kRequestHeadBytes, kIoBytes);
  for (bool goes_on = buffer != nullptr; goes_on && may_read();) {
    std::size_t length = 0;
    const Read read = seat.read(buffer.get(), length);
    if (read == Read::kEnded) {
      dispatcher_->unmount();
      if (rings_) rings_->end();
      const std::lock_guard lock(mutex_);
      ends_ = true;
      break;
    }
    if (read == Read::kAgain) continue;
    became_busy();
    if (!dispatcher_->handle(std::span<const std::byte>(buffer.get(), length), space, seat)) {
      log_error("mount", "the kernel sent a request that is none", {{"bytes", length}});
    }
    goes_on = became_idle();
  }
  leave(seat);
}

}  // namespace stoa::native::fuse
