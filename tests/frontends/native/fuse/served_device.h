// A FUSE mount of a few special files, served by a process of its own, over the transport that a test wants.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace stoa::native::fuse {

enum class Transport { kDevFuse, kIoUring };

// The files of the mount, of which each test uses those that it needs:
//   bytes    what was written, in memory; no times are given, and no page is kept
//   stuck    reads block until something is written to "release", the mount ends, or they are interrupted
//   release  lets those reads go on, and makes the lock free. Its size: how many reads block
//   lock     its one lock is held by somebody until something is written to "release". Its size: how often it was asked
//            for
//   impossible  is in the list of the directory only, with a size that is none
//   uring    its size is 1 when requests come over io_uring, else 0
// Whatever hangs ends when the server is killed, which a watchdog does after a minute.
class ServedDevice : public ::testing::TestWithParam<Transport> {
 protected:
  ServedDevice();
  ~ServedDevice() override;
  void SetUp() override;

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  void write_to(const std::string& name);
  // Blocks until the size of a file is that, or more.
  void wait_for_size(const std::string& name, std::int64_t size) const;
  // `force`: requests that block are given up.
  void unmount(bool force = false) const;
  void kill_server() const;
  // Another device goes on with the connection, in the server. '+': it does; 't': a request does not end within the
  // patience, and the first one went on. Over io_uring only another process can: all is stopped, and then goes on: '-'.
  char hand_over(std::chrono::milliseconds patience = std::chrono::seconds(30)) const;
  char handed() const { return GetParam() == Transport::kDevFuse ? '+' : '-'; }
  // Its exit code, 255 when it was killed. Once.
  int wait_for_server();

 private:
  [[noreturn]] void serve(int ready, int control);

  std::string directory_;
  int server_ = -1;
  int control_ = -1;
  std::string why_not_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread watchdog_;
};

}  // namespace stoa::native::fuse
