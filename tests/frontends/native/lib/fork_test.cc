// Handles in the child of a fork.
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "tests/frontends/native/lib/library_fixture.h"

namespace stoa::test {
namespace {

// The number of the first thing that is wrong in the child; 0: all is right. A child that hangs is killed.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

class LibraryFork : public LibraryTest {};

TEST_F(LibraryFork, TheChildGoesOnWithASessionOfItsOwn) {
  put("f", "0123456789");
  stoa_file* const file = open("f", O_RDWR);
  stoa_dir* dir = nullptr;
  ASSERT_EQ(stoa_opendir(fs, nullptr, "/", &dir), 0);
  char back[8] = "";
  ASSERT_EQ(stoa_read(file, back, 4), 4);
  ASSERT_EQ(stoa_flock(file, LOCK_EX), 0);
  EXPECT_EQ(in_child([&] {
              char here[8] = "";
              if (stoa_read(file, here, 3) != 3 || std::string(here) != "456") return 1;
              if (stoa_pwrite(file, "child", 5, 0) != 5 || stoa_fsync(file) != 0) return 2;
              // The lock is the parent's.
              if (stoa_flock(file, LOCK_EX | LOCK_NB) != -EAGAIN) return 3;
              if (stoa_mkdir(fs, dir, "by_child", 0755) != 0) return 4;
              stoa_entry entry;
              if (stoa_readdir(dir, &entry) != 1) return 5;
              if (stoa_close(file) != 0 || stoa_closedir(dir) != 0 || stoa_disconnect(fs) != 0) return 6;
              return 0;
            }),
            0);
  // The parent's session, position and lock are as before; the content is new.
  ASSERT_EQ(stoa_read(file, back, 4), 4);
  EXPECT_EQ(std::string(back, 4), "d567");
  EXPECT_EQ(stat_error("by_child"), 0);
  stoa_fs* const other = connect();
  stoa_file* const theirs = open("f", O_RDWR, other);
  EXPECT_EQ(stoa_flock(theirs, LOCK_EX | LOCK_NB), -EAGAIN);
  EXPECT_EQ(stoa_close(theirs), 0);
  EXPECT_EQ(stoa_disconnect(other), 0);
  EXPECT_EQ(stoa_close(file), 0);
  EXPECT_EQ(stoa_closedir(dir), 0);
  EXPECT_EQ(get("f").substr(0, 5), "child");
}

TEST_F(LibraryFork, AChildThatUsesNothingClosesAll) {
  stoa_file* const file = open("f");
  EXPECT_EQ(in_child([&] { return stoa_close(file) != 0 || stoa_disconnect(fs) != 0 ? 1 : 0; }), 0);
  EXPECT_EQ(stoa_pwrite(file, "x", 1, 0), 1);
  EXPECT_EQ(stoa_close(file), 0);
}

TEST_F(LibraryFork, ARingIsTheParents) {
  put("f", "x");
  stoa_ring* ring = nullptr;
  ASSERT_EQ(stoa_ring_create(fs, 4, &ring), 0);
  stoa_attributes found;
  ASSERT_EQ(stoa_ring_prepare_stat(ring, nullptr, "f", &found, 1), 0);
  EXPECT_EQ(in_child([&] {
              stoa_completion done;
              if (stoa_ring_submit(ring) != -EBADF) return 1;
              if (stoa_ring_wait(ring, &done, 1, 1, -1) != -EBADF) return 2;
              if (stoa_ring_prepare_stat(ring, nullptr, "f", &found, 1) != -EBADF) return 3;
              if (stoa_ring_fd(ring) != -EBADF || stoa_ring_register(ring, nullptr, 0) != -EBADF) return 4;
              return stoa_ring_destroy(ring) == 0 ? 0 : 5;
            }),
            0);
  EXPECT_EQ(stoa_ring_submit(ring), 1);
  stoa_completion done{};
  EXPECT_EQ(stoa_ring_wait(ring, &done, 1, 1, -1), 1);
  EXPECT_EQ(done.result, 0);
  EXPECT_EQ(stoa_ring_destroy(ring), 0);
}

TEST_F(LibraryFork, WhileOtherThreadsUseTheSameHandles) {
  stoa_file* const file = open("f");
  stoa_dir* dir = nullptr;
  ASSERT_EQ(stoa_opendir(fs, nullptr, "/", &dir), 0);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    char byte = 0;
    stoa_entry entry;
    while (!stop) {
      stoa_lseek(file, 0, SEEK_SET);
      stoa_write(file, "x", 1);
      stoa_read(file, &byte, 1);
      stoa_seekdir(dir, 0);
      stoa_readdir(dir, &entry);
      stoa_close(open("g"));
    }
  });
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(in_child([&] {
                stoa_entry entry;
                if (stoa_lseek(file, 0, SEEK_SET) != 0) return 1;
                if (stoa_write(file, "y", 1) != 1) return 2;
                if (stoa_seekdir(dir, 0) != 0) return 3;
                return stoa_readdir(dir, &entry) == 1 ? 0 : 4;
              }),
              0);
  }
  stop = true;
  busy.join();
  EXPECT_EQ(stoa_close(file), 0);
  EXPECT_EQ(stoa_closedir(dir), 0);
}

}  // namespace
}  // namespace stoa::test
