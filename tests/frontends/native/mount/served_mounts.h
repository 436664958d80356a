// Two mounts of one volume in memory, served by a process of their own.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace stoa::native::mount {

// The tests work on the mounts from another process than the one that serves them. So whatever hangs ends when the
// server is killed, which a watchdog does after a minute: the kernel then fails all requests.
class ServedMounts : public ::testing::Test {
 protected:
  ServedMounts();
  ~ServedMounts() override;
  void SetUp() override;

  // The directory of the first and the second mount, both of the root of the volume.
  const std::string& a() const { return directories_[0]; }
  const std::string& b() const { return directories_[1]; }
  // Runs `work` as another user in a process of its own. Its result: an exit code; 255: killed.
  static int as_user(std::uint32_t uid, std::uint32_t gid, const std::vector<std::uint32_t>& groups,
                     const std::function<int()>& work);

 private:
  [[noreturn]] void serve(int ready);

  std::string folder_;
  std::array<std::string, 2> directories_;
  int server_ = -1;
  std::string why_not_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread watchdog_;
};

}  // namespace stoa::native::mount
