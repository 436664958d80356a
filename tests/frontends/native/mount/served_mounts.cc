#include "tests/frontends/native/mount/served_mounts.h"

#include <grp.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "frontends/native/fuse/device.h"
#include "frontends/native/fuse/mount_point.h"
#include "frontends/native/mount/mounted_file_system.h"
#include "tests/frontends/native/mount/volume_storage.h"

namespace stoa::native::mount {
namespace {

struct OneMount {
  explicit OneMount(core::Volume& volume) : storage(volume), fs(storage) {}
  VolumeStorage storage;
  MountedFileSystem fs;
  std::unique_ptr<fuse::Device> device;
};

// Why a mount failed; empty: it is there.
std::string mount_one(OneMount& mount, const std::string& directory) {
  auto fd = fuse::mount_fuse({.directory = directory, .source = "stoa-test", .for_all_users = true});
  if (!fd) return describe(fd.error());
  auto device = fuse::Device::start(std::move(*fd), mount.fs);
  if (!device) return describe(device.error());
  mount.device = std::move(*device);
  return {};
}

}  // namespace

ServedMounts::ServedMounts() {
  std::string pattern = (std::filesystem::temp_directory_path() / "stoa-mount-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  for (std::size_t i = 0; i < directories_.size(); ++i) {
    directories_[i] = folder_ + (i == 0 ? "/a" : "/b");
    std::filesystem::create_directory(directories_[i]);
  }
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return;
  server_ = ::fork();
  if (server_ == 0) {
    ::close(ends[0]);
    serve(ends[1]);
  }
  ::close(ends[1]);
  char part[512];
  ssize_t got = 0;
  while ((got = ::read(ends[0], part, sizeof(part))) > 0) why_not_.append(part, static_cast<std::size_t>(got));
  ::close(ends[0]);
  watchdog_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::seconds(60), [this] { return over_; })) return;
    ADD_FAILURE() << "something hung; the server of the mounts is killed";
    ::kill(server_, SIGKILL);
  });
}

ServedMounts::~ServedMounts() {
  for (const std::string& directory : directories_) ::umount2(directory.c_str(), MNT_DETACH);
  ::kill(server_, SIGKILL);
  ::waitpid(server_, nullptr, 0);
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  watchdog_.join();
  std::filesystem::remove_all(folder_);
}

void ServedMounts::SetUp() {
  if (why_not_ != "ready") GTEST_SKIP() << "no FUSE mount here: " << why_not_;
}

// Says "ready", or the reason why not. It dies with the test.
void ServedMounts::serve(int ready) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  kv::MemoryKv kv;
  blob::MemoryBlobs blobs;
  MetricRegistry metrics;
  std::string failed;
  if (!core::Volume::format(kv, "test")) failed = "the volume cannot be made";
  auto volume = core::Volume::open(kv, blobs, metrics, {.background = false});
  if (!volume) failed = describe(volume.error());
  std::array<std::unique_ptr<OneMount>, 2> mounts;
  for (std::size_t i = 0; failed.empty() && i < mounts.size(); ++i) {
    mounts[i] = std::make_unique<OneMount>(**volume);
    failed = mount_one(*mounts[i], directories_[i]);
  }
  const std::string word = failed.empty() ? "ready" : failed;
  if (::write(ready, word.data(), word.size()) < 0) ::_exit(1);
  ::close(ready);
  for (const auto& mount : mounts) {
    if (mount && mount->device) mount->device->wait();
  }
  ::_exit(0);
}

int ServedMounts::as_user(std::uint32_t uid, std::uint32_t gid, const std::vector<std::uint32_t>& groups,
                          const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    const std::vector<gid_t> list(groups.begin(), groups.end());
    if (::setgroups(list.size(), list.data()) != 0 || ::setresgid(gid, gid, gid) != 0 ||
        ::setresuid(uid, uid, uid) != 0) {
      ::_exit(254);
    }
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

}  // namespace stoa::native::mount
