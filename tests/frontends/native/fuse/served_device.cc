#include "tests/frontends/native/fuse/served_device.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "frontends/native/fuse/device.h"
#include "frontends/native/fuse/mount_point.h"
#include "tests/frontends/native/fuse/stub_file_system.h"
#include "tests/frontends/native/fuse/uring_parameter.h"

namespace stoa::native::fuse {
namespace {

constexpr std::array<std::string_view, 5> kNames{"bytes", "stuck", "release", "lock", "uring"};
constexpr std::size_t kBytesMost = 8 << 20;

class SpecialFiles : public StubFileSystem {
 public:
  std::atomic<const Device*> device{nullptr};

  SpecialFiles() {
    lock_is_free = false;
    core::Attributes attr{.id = core::FileId{kFirstFile - 1}, .mode = 0777};
    attr.size = ~std::uint64_t{0};
    entries = {{.id = attr.id, .type = attr.type, .cookie = 1, .name = "impossible", .attr = attr}};
  }

  Result<Entry> lookup(const Call&, core::FileId, std::string_view name) override {
    const auto found = std::ranges::find(kNames, name);
    if (found == kNames.end()) return fail(Errc::kNotFound);
    return Entry{.attr = attributes(file_of(static_cast<std::size_t>(found - kNames.begin())))};
  }
  Result<TimedAttributes> getattr(const Call& call, const OpenFile& file) override {
    call.hold(std::make_shared<int>(0));
    return TimedAttributes{.attr = attributes(file.id)};
  }
  Result<TimedAttributes> setattr(const Call&, const OpenFile& file, const core::SetAttributes& set) override {
    const std::lock_guard lock(mutex_);
    if (file.id == kBytes && set.size) bytes_.resize(std::min<std::size_t>(*set.size, kBytesMost));
    return TimedAttributes{.attr = attributes_locked(file.id)};
  }
  Status access(const Call&, core::FileId, std::uint32_t) override { return {}; }
  Result<Opened> open(const Call&, core::FileId id, std::uint32_t) override {
    return Opened{.handle = static_cast<Handle>(id), .direct = true};
  }
  Result<std::size_t> read(const Call& call, const OpenFile& file, std::uint64_t offset,
                           std::span<std::byte> into) override {
    std::unique_lock lock(mutex_);
    if (file.id == kStuck) {
      ++blocked_;
      while (!released_ && !call.interrupted() && !call.unmounted()) {
        changed_.wait_for(lock, std::chrono::milliseconds(20));
      }
      --blocked_;
      if (!released_) return fail(Error{Errc::kIo, EINTR, "interrupted"});
      return std::size_t{0};
    }
    if (file.id != kBytes || offset >= bytes_.size()) return std::size_t{0};
    const std::size_t length = std::min(into.size(), bytes_.size() - static_cast<std::size_t>(offset));
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), length, into.begin());
    return length;
  }
  Result<std::size_t> write(const Call&, const WriteCall& write) override {
    const std::lock_guard lock(mutex_);
    if (write.file.id == kRelease) {
      released_ = true;
      lock_is_free = true;
      changed_.notify_all();
    }
    if (write.file.id == kBytes) {
      if (write.offset + write.data.size() > kBytesMost) return fail(Errc::kTooLarge);
      bytes_.resize(std::max<std::size_t>(bytes_.size(), write.offset + write.data.size()));
      std::ranges::copy(write.data, bytes_.begin() + static_cast<std::ptrdiff_t>(write.offset));
    }
    return write.data.size();
  }

 private:
  static constexpr std::uint64_t kFirstFile = 100;
  static constexpr core::FileId kBytes{kFirstFile}, kStuck{kFirstFile + 1}, kRelease{kFirstFile + 2},
      kLock{kFirstFile + 3}, kUring{kFirstFile + 4};
  static core::FileId file_of(std::size_t index) { return core::FileId{kFirstFile + index}; }

  core::Attributes attributes(core::FileId id) {
    const std::lock_guard lock(mutex_);
    return attributes_locked(id);
  }
  core::Attributes attributes_locked(core::FileId id) const {
    core::Attributes attr{.id = id, .mode = 0777};
    if (id == kRoot) attr.type = core::FileType::kDirectory;
    if (id == kBytes) attr.size = bytes_.size();
    if (id == kStuck) attr.size = 1;
    if (id == kRelease) attr.size = blocked_;
    if (id == kLock) attr.size = static_cast<std::uint64_t>(lock_questions.load());
    const Device* const on = device.load();
    if (id == kUring && on != nullptr && on->over_ring()) attr.size = 1;
    return attr;
  }

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<std::byte> bytes_;
  std::size_t blocked_ = 0;
  bool released_ = false;
};

// The device that has the connection at the moment.
class ServingDevice {
 public:
  ServingDevice(SpecialFiles& files, std::string directory, std::unique_ptr<Device> device)
      : files_(files), directory_(std::move(directory)), device_(std::move(device)) {}
  // As ServedDevice::hand_over(). By one thread.
  char hand_over(std::chrono::milliseconds patience) {
    const std::shared_ptr<Device> old = now();
    if (!old->may_pause()) return '!';
    if (!old->pause(directory_, std::chrono::steady_clock::now() + patience)) return 't';
    std::vector<int> kept;
    const DeviceState state = old->state(kept);
    std::vector<OwnedFd> descriptors;
    for (const int fd : kept) descriptors.emplace_back(::dup(fd));
    DeviceState wrong = state;
    wrong.waits.push_back({.descriptor = descriptors.size()});
    std::vector<OwnedFd> others;
    others.emplace_back(::dup(kept[0]));
    if (Device::take_over({}, state, files_) || Device::take_over(std::move(others), wrong, files_)) return '!';
    auto fresh = Device::take_over(std::move(descriptors), state, files_);
    if (!fresh) {
      old->resume();
      return fresh.error().code == Errc::kBusy && state.over_rings ? '-' : '!';
    }
    const std::lock_guard lock(mutex_);
    device_ = std::move(*fresh);
    files_.device = device_.get();
    old->leave();
    device_->resume();
    return '+';
  }
  void wait() {
    for (;;) {
      const std::shared_ptr<Device> one = now();
      one->wait();
      if (one == now()) return;
    }
  }

 private:
  std::shared_ptr<Device> now() {
    const std::lock_guard lock(mutex_);
    return device_;
  }
  SpecialFiles& files_;
  const std::string directory_;
  std::mutex mutex_;  // guards device_
  std::shared_ptr<Device> device_;
};

}  // namespace

ServedDevice::ServedDevice() {
  std::string pattern = (std::filesystem::temp_directory_path() / "stoa-fuse-XXXXXX").string();
  directory_ = mkdtemp(pattern.data());
  std::array<int, 2> ends{}, talk{};
  if (::pipe(ends.data()) != 0 || ::socketpair(AF_UNIX, SOCK_STREAM, 0, talk.data()) != 0) return;
  control_ = talk[0];
  server_ = ::fork();
  if (server_ == 0) {
    ::close(ends[0]);
    ::close(talk[0]);
    serve(ends[1], talk[1]);
  }
  ::close(ends[1]);
  ::close(talk[1]);
  char part[512];
  ssize_t got = 0;
  while ((got = ::read(ends[0], part, sizeof(part))) > 0) why_not_.append(part, static_cast<std::size_t>(got));
  ::close(ends[0]);
  watchdog_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::seconds(60), [this] { return over_; })) return;
    ADD_FAILURE() << "something hung; the server of the mount is killed";
    kill_server();
  });
}

ServedDevice::~ServedDevice() {
  ::umount2(directory_.c_str(), MNT_DETACH);
  if (server_ > 0) {
    kill_server();
    wait_for_server();
  }
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  watchdog_.join();
  ::close(control_);
  std::filesystem::remove_all(directory_);
}

void ServedDevice::SetUp() {
  if (why_not_ != "ready") GTEST_SKIP() << "no such mount here: " << why_not_;
}

void ServedDevice::write_to(const std::string& name) {
  const OwnedFd fd(::open(path(name).c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(fd);
  ASSERT_EQ(::write(fd.get(), "x", 1), 1);
}

void ServedDevice::wait_for_size(const std::string& name, std::int64_t size) const {
  struct stat status{};
  do {
    ASSERT_EQ(::stat(path(name).c_str(), &status), 0) << errno;
  } while (status.st_size < size);
}

void ServedDevice::unmount(bool force) const {
  if (force) (void)::umount2(directory_.c_str(), MNT_FORCE);  // busy, but its requests end
  EXPECT_EQ(::umount2(directory_.c_str(), MNT_DETACH), 0);
}

void ServedDevice::kill_server() const {
  if (server_ > 0) ::kill(server_, SIGKILL);
}

int ServedDevice::wait_for_server() {
  int status = 0;
  ::waitpid(server_, &status, 0);
  server_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

char ServedDevice::hand_over(std::chrono::milliseconds patience) const {
  char answer = 0;
  EXPECT_EQ(::write(control_, &patience, sizeof(patience)), static_cast<ssize_t>(sizeof(patience)));
  EXPECT_EQ(::read(control_, &answer, 1), 1);
  return answer;
}

// Says "ready", or the reason why not. It dies with the test.
void ServedDevice::serve(int ready, int control) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool over_ring = GetParam() == Transport::kIoUring;
  SpecialFiles files;
  std::unique_ptr<Device> device;
  std::string word = "ready";
  {
    const UringParameter parameter(over_ring);
    auto fd = mount_fuse({.directory = directory_, .source = "stoa-test", .for_all_users = true});
    if (over_ring && !parameter.is_set()) {
      word = "FUSE over io_uring cannot be turned on";
    } else if (!fd) {
      word = describe(fd.error());
    } else if (auto started = Device::start(std::move(*fd), files)) {
      device = std::move(*started);
      files.device = device.get();
    } else {
      word = describe(started.error());
    }
  }
  if (::write(ready, word.data(), word.size()) < 0) ::_exit(1);
  ::close(ready);
  if (!device) ::_exit(0);
  ServingDevice serving(files, directory_, std::move(device));
  std::thread([&serving, control] {
    for (std::chrono::milliseconds patience{}; ::read(control, &patience, sizeof(patience)) == sizeof(patience);) {
      const char answer = serving.hand_over(patience);
      if (::write(control, &answer, 1) != 1) return;
    }
  }).detach();
  serving.wait();
  ::_exit(0);
}

}  // namespace stoa::native::fuse
