#include "frontends/native/fuse/command_ring.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace stoa::native::fuse {
namespace {

constexpr std::size_t kSubmissionBytes = 128;
constexpr std::size_t kArgumentsAt = 48;  // of io_uring_sqe::cmd

std::size_t ring_bytes(const io_uring_params& params) {
  const std::size_t submissions = params.sq_off.array + params.sq_entries * sizeof(std::uint32_t);
  const std::size_t completions = params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe);
  return std::max(submissions, completions);
}

}  // namespace

bool is_end_of_connection(std::int32_t result) {
  return result == -ENOTCONN || result == -ECONNABORTED || result == -ECANCELED || result == -ENODEV;
}

CommandRing::Mapping::Mapping(int fd, std::size_t bytes, std::uint64_t offset) : bytes_(bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  // A child of fork(2) has nothing to do with it.
  if (at == MAP_FAILED) return;
  ::madvise(at, bytes, MADV_DONTFORK);
  at_ = static_cast<std::byte*>(at);
}

CommandRing::Mapping::~Mapping() {
  if (at_ != nullptr) ::munmap(at_, bytes_);
}

Result<std::unique_ptr<CommandRing>> CommandRing::open(std::uint32_t commands) {
  io_uring_params params{};
  // Completions are worked on when the thread waits for them, and not by an interrupt.
  params.flags =
      IORING_SETUP_SQE128 | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_R_DISABLED;
  OwnedFd fd(static_cast<int>(::syscall(SYS_io_uring_setup, commands, &params)));
  if (!fd) return fail_errno(errno, "setting up an io_uring");
  if ((params.features & IORING_FEAT_SINGLE_MMAP) == 0) return fail(Errc::kNotSupported, "the io_uring is too old");
  std::unique_ptr<CommandRing> ring(new CommandRing(std::move(fd), params));
  if (!ring->mapped()) return fail(Errc::kNoSpace, "no memory for an io_uring");
  return ring;
}

CommandRing::CommandRing(OwnedFd fd, const io_uring_params& params)
    : fd_(std::move(fd)),
      params_(params),
      rings_(fd_.get(), ring_bytes(params), IORING_OFF_SQ_RING),
      submissions_(fd_.get(), params.sq_entries * kSubmissionBytes, IORING_OFF_SQES) {}

CommandRing::~CommandRing() = default;

Status CommandRing::enable() {
  if (::syscall(SYS_io_uring_register, fd_.get(), IORING_REGISTER_ENABLE_RINGS, nullptr, 0) == 0) return {};
  return fail_errno(errno, "enabling an io_uring");
}

void CommandRing::push_register(int fuse, const RingEntry& entry, std::uint16_t queue, std::uint64_t tag) {
  push(fuse, RingCommand::kRegister, {.flags = 0, .commit_id = 0, .queue = queue, .padding = {}}, entry.buffers(), tag);
}

void CommandRing::push_commit(int fuse, std::uint64_t commit_id, std::uint16_t queue, std::uint64_t tag) {
  push(fuse, RingCommand::kCommitAndFetch, {.flags = 0, .commit_id = commit_id, .queue = queue, .padding = {}}, {},
       tag);
}

void CommandRing::push_poll(int fd, std::uint64_t tag) {
  io_uring_sqe& sqe = next_submission(tag);
  sqe.opcode = IORING_OP_POLL_ADD;
  sqe.fd = fd;
  sqe.poll_events = POLLIN;
}

void CommandRing::push(int fuse, RingCommand command, const RingCommandArguments& arguments,
                       std::span<const iovec> buffers, std::uint64_t tag) {
  io_uring_sqe& sqe = next_submission(tag);
  sqe.opcode = IORING_OP_URING_CMD;
  sqe.fd = fuse;
  sqe.cmd_op = static_cast<std::uint32_t>(command);
  sqe.addr = reinterpret_cast<std::uint64_t>(buffers.data());
  sqe.len = static_cast<std::uint32_t>(buffers.size());
  std::memcpy(reinterpret_cast<std::byte*>(&sqe) + kArgumentsAt, &arguments, sizeof(arguments));
}

// The kernel looks at it with the next call of the system.
io_uring_sqe& CommandRing::next_submission(std::uint64_t tag) {
  auto* const tail_at = rings_.at<std::uint32_t>(params_.sq_off.tail);
  const std::uint32_t tail = *tail_at;
  const std::uint32_t index = tail & (params_.sq_entries - 1);
  auto* const bytes = submissions_.at<std::byte>(index * kSubmissionBytes);
  std::memset(bytes, 0, kSubmissionBytes);
  auto* const sqe = reinterpret_cast<io_uring_sqe*>(bytes);
  sqe->user_data = tag;
  rings_.at<std::uint32_t>(params_.sq_off.array)[index] = index;
  std::atomic_ref(*tail_at).store(tail + 1, std::memory_order_release);
  ++queued_;
  return *sqe;
}

Result<bool> CommandRing::enter(unsigned completions, const __kernel_timespec* patience) {
  unsigned flags = completions != 0 ? IORING_ENTER_GETEVENTS : 0;
  io_uring_getevents_arg argument{};
  if (patience != nullptr) {
    flags |= IORING_ENTER_EXT_ARG;
    argument.ts = reinterpret_cast<std::uint64_t>(patience);
  }
  const long taken = ::syscall(SYS_io_uring_enter, fd_.get(), queued_, completions, flags,
                               patience != nullptr ? &argument : nullptr, patience != nullptr ? sizeof(argument) : 0);
  if (taken >= 0) {
    queued_ -= std::min(queued_, static_cast<std::uint32_t>(taken));
  } else if (errno == ETIME) {
    return false;
  } else if (errno != EINTR && errno != EAGAIN && errno != EBUSY) {
    return fail_errno(errno, "waiting for requests of the kernel");
  }
  return true;
}

Status CommandRing::submit() {
  while (queued_ > 0) STOA_CHECK_OK(enter(0, nullptr));
  return {};
}

bool CommandRing::has_completion() const {
  auto* const tail_at = rings_.at<std::uint32_t>(params_.cq_off.tail);
  return std::atomic_ref(*tail_at).load(std::memory_order_acquire) != *rings_.at<std::uint32_t>(params_.cq_off.head);
}

CommandRing::Completion CommandRing::take() {
  auto* const head_at = rings_.at<std::uint32_t>(params_.cq_off.head);
  const std::uint32_t head = *head_at;
  const auto& done = rings_.at<io_uring_cqe>(params_.cq_off.cqes)[head & (params_.cq_entries - 1)];
  const Completion completion{.tag = done.user_data, .result = done.res};
  std::atomic_ref(*head_at).store(head + 1, std::memory_order_release);
  return completion;
}

Result<CommandRing::Completion> CommandRing::submit_and_wait() {
  for (;;) {
    const bool there = has_completion();
    if (there && queued_ == 0) return take();
    STOA_CHECK_OK(enter(there ? 0 : 1, nullptr));
  }
}

Result<std::optional<CommandRing::Completion>> CommandRing::submit_and_wait_for(std::chrono::milliseconds patience) {
  const __kernel_timespec time{.tv_sec = patience.count() / 1000, .tv_nsec = patience.count() % 1000 * 1'000'000};
  for (;;) {
    const bool there = has_completion();
    if (there && queued_ == 0) return take();
    STOA_TRY(in_time, enter(there ? 0 : 1, &time));
    if (!in_time && !has_completion()) return std::nullopt;
  }
}

}  // namespace stoa::native::fuse
