#include "frontends/native/fuse/ring_fill.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/xattr.h>

#include <array>
#include <cerrno>

#include "frontends/native/fuse/blocked_signals.h"

namespace stoa::native::fuse {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} << 10;

class ThreadAttributes {
 public:
  explicit ThreadAttributes(std::uint16_t processor) {
    ::pthread_attr_init(&attributes_);
    ::pthread_attr_setstacksize(&attributes_, kStackBytes);
    const std::size_t bytes = CPU_ALLOC_SIZE(processor + 1);
    cpu_set_t* const one = CPU_ALLOC(processor + 1);
    if (one == nullptr) return;
    CPU_ZERO_S(bytes, one);
    CPU_SET_S(processor, bytes, one);
    sound_ = ::pthread_attr_setaffinity_np(&attributes_, bytes, one) == 0;
    CPU_FREE(one);
  }
  ~ThreadAttributes() { ::pthread_attr_destroy(&attributes_); }
  ThreadAttributes(const ThreadAttributes&) = delete;
  ThreadAttributes& operator=(const ThreadAttributes&) = delete;
  const pthread_attr_t* get() const { return sound_ ? &attributes_ : nullptr; }

 private:
  pthread_attr_t attributes_{};
  bool sound_ = false;
};

}  // namespace

Result<std::string> RingFill::new_name() {
  std::array<unsigned char, 16> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return fail_errno(errno, "getrandom");
  }
  std::string name = "user.stoa.";
  for (const unsigned char byte : random) {
    name += "0123456789abcdef"[byte >> 4];
    name += "0123456789abcdef"[byte & 15];
  }
  return name;
}

Result<std::unique_ptr<RingFill>> RingFill::open(const std::string& directory, std::string name) {
  OwnedFd root(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return fail_errno(errno, directory);
  return std::unique_ptr<RingFill>(new RingFill(std::move(root), std::move(name)));
}

RingFill::RingFill(OwnedFd root, std::string name)
    : root_(std::move(root)), path_("/proc/self/fd/" + std::to_string(root_.get())), name_(std::move(name)) {}

RingFill::~RingFill() {
  for (const pthread_t thread : threads_) ::pthread_join(thread, nullptr);
}

Status RingFill::add(std::uint16_t processor) {
  const ThreadAttributes attributes(processor);
  const BlockedSignals blocked;
  pthread_t thread{};
  const int failed = attributes.get() == nullptr ? ENOMEM : ::pthread_create(&thread, attributes.get(), &run, this);
  if (failed == 0) {
    threads_.push_back(thread);
    return {};
  }
  if (failed != EINVAL) return fail(Errc::kBusy, "the system starts no more threads; end some programs");
  return fail(Errc::kNotSupported, "its process may not run on processor " + std::to_string(processor) +
                                       ", so it cannot hand over the requests from there; give it all processors");
}

void* RingFill::run(void* self) {
  auto* const fill = static_cast<RingFill*>(self);
  (void)::getxattr(fill->path_.c_str(), fill->name_.c_str(), nullptr, 0);
  fill->ended_.store(true);
  return nullptr;
}

}  // namespace stoa::native::fuse
