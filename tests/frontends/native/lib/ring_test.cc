// Operations under way.
#include <poll.h>

#include <cerrno>

#include "tests/frontends/native/lib/library_fixture.h"

namespace stoa::test {
namespace {

class LibraryRing : public LibraryTest {
 protected:
  void make(std::uint32_t entries) { ASSERT_EQ(stoa_ring_create(fs, entries, &ring_), 0); }
  ~LibraryRing() override {
    if (ring_ != nullptr) {
      EXPECT_EQ(stoa_ring_destroy(ring_), 0);
    }
  }
  bool readable() const {
    pollfd asked{stoa_ring_fd(ring_), POLLIN, 0};
    return ::poll(&asked, 1, 0) == 1;
  }
  // The completion of the one operation that is prepared.
  stoa_completion run() {
    EXPECT_EQ(stoa_ring_submit(ring_), 1);
    stoa_completion done{};
    EXPECT_EQ(stoa_ring_wait(ring_, &done, 1, 1, -1), 1);
    return done;
  }

  stoa_ring* ring_ = nullptr;
};

TEST_F(LibraryRing, SizesAreChecked) {
  stoa_ring* none = nullptr;
  EXPECT_EQ(stoa_ring_create(fs, 0, &none), -EINVAL);
  EXPECT_EQ(stoa_ring_create(fs, 4097, &none), -EINVAL);
  make(1);
  stoa_completion done{};
  EXPECT_EQ(stoa_ring_submit(ring_), 0);
  EXPECT_EQ(stoa_ring_wait(ring_, &done, 1, 1, -1), 0) << "nothing is under way, so nothing is waited for";
}

TEST_F(LibraryRing, EachKindOfOperationIsDone) {
  make(8);
  ASSERT_EQ(stoa_ring_prepare_open(ring_, nullptr, "f", O_RDWR | O_CREAT, 0600, 5), 0);
  const stoa_completion opened = run();
  EXPECT_EQ(opened.tag, 5u);
  ASSERT_EQ(opened.result, 0);
  stoa_file* const file = opened.file;
  ASSERT_NE(file, nullptr);
  const std::string content = pattern(1u << 20);
  ASSERT_EQ(stoa_ring_prepare_write(ring_, file, content.data(), content.size(), 3, 6), 0);
  EXPECT_EQ(run().result, static_cast<std::int64_t>(content.size()));
  ASSERT_EQ(stoa_ring_prepare_fsync(ring_, file, 7), 0);
  EXPECT_EQ(run().result, 0);
  std::string back(content.size(), '\0');
  ASSERT_EQ(stoa_ring_prepare_read(ring_, file, back.data(), back.size(), 3, 8), 0);
  EXPECT_EQ(run().result, static_cast<std::int64_t>(back.size()));
  EXPECT_EQ(back, content);
  stoa_attributes found;
  ASSERT_EQ(stoa_ring_prepare_stat(ring_, nullptr, "f", &found, 9), 0);
  EXPECT_EQ(run().result, 0);
  EXPECT_EQ(found.size, content.size() + 3);
  EXPECT_EQ(stoa_close(file), 0);
}

TEST_F(LibraryRing, SmallFilesAreReadByName) {
  make(8);
  put("small", "content");
  ASSERT_EQ(symlink("small", "link"), 0);
  ASSERT_EQ(mkdir("d"), 0);
  char buffer[16] = "";
  const auto read = [&](const char* name, std::size_t bytes) {
    EXPECT_EQ(stoa_ring_prepare_read_file(ring_, nullptr, name, buffer, bytes, 1), 0);
    return run().result;
  };
  EXPECT_EQ(read("small", 16), 7);
  EXPECT_STREQ(buffer, "content");
  EXPECT_EQ(read("small", 7), 7);
  EXPECT_EQ(read("small", 6), -EOVERFLOW);
  EXPECT_EQ(read("none", 6), -ENOENT);
  EXPECT_EQ(read("link", 6), -ELOOP);
  EXPECT_EQ(read("d", 6), -EISDIR);
  EXPECT_EQ(stoa_ring_prepare_read_file(ring_, nullptr, "d/x", buffer, 6, 1), -EINVAL);
  EXPECT_EQ(stoa_ring_prepare_read_file(ring_, nullptr, "..", buffer, 6, 1), -EINVAL);
  EXPECT_EQ(stoa_ring_prepare_read_file(ring_, nullptr, "", buffer, 6, 1), -ENOENT);
  EXPECT_EQ(stoa_ring_prepare_read_file(ring_, nullptr, nullptr, buffer, 6, 1), -EFAULT);
  EXPECT_EQ(stoa_ring_prepare_read_file(ring_, nullptr, "small", buffer, (1u << 20) + 1, 1), -E2BIG);
}

TEST_F(LibraryRing, FailuresAreResults) {
  make(4);
  put("f", "x");
  ASSERT_EQ(symlink("f", "link"), 0);
  ASSERT_EQ(stoa_ring_prepare_open(ring_, nullptr, "none", O_RDONLY, 0, 1), 0);
  EXPECT_EQ(run().result, -ENOENT);
  ASSERT_EQ(stoa_ring_prepare_open(ring_, nullptr, "f", O_RDWR | O_CREAT | O_EXCL, 0600, 1), 0);
  EXPECT_EQ(run().result, -EEXIST);
  ASSERT_EQ(stoa_ring_prepare_open(ring_, nullptr, "link", O_RDONLY, 0, 1), 0);
  EXPECT_EQ(run().result, -ELOOP);
  ASSERT_EQ(stoa_ring_prepare_open(ring_, nullptr, "link", O_RDWR | O_CREAT, 0600, 1), 0);
  EXPECT_EQ(run().result, -ELOOP);
  EXPECT_EQ(stoa_ring_prepare_open(ring_, nullptr, "f", O_RDONLY | O_TRUNC, 0, 1), -EINVAL);
  stoa_file* const file = open("f", O_RDONLY);
  char buffer[4];
  EXPECT_EQ(stoa_ring_prepare_write(ring_, file, "x", 1, 0, 1), -EBADF);
  EXPECT_EQ(stoa_ring_prepare_read(ring_, file, buffer, 4, ~std::uint64_t{0}, 1), -EINVAL);
  EXPECT_EQ(stoa_close(file), 0);
}

TEST_F(LibraryRing, AFullRingTakesNoMore) {
  make(3);
  put("f", "0123");
  stoa_file* const file = open("f", O_RDONLY);
  char buffers[3][4];
  EXPECT_FALSE(readable());
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(stoa_ring_prepare_read(ring_, file, buffers[i], 4, 0, i), 0);
  EXPECT_EQ(stoa_ring_prepare_read(ring_, file, buffers[0], 4, 0, 9), -EAGAIN);
  EXPECT_EQ(stoa_ring_submit(ring_), 3);
  EXPECT_EQ(stoa_ring_prepare_read(ring_, file, buffers[0], 4, 0, 9), -EAGAIN);
  stoa_completion done[3];
  EXPECT_EQ(stoa_ring_wait(ring_, done, 1, 1, -1), 1);
  std::uint64_t tags = 1u << done[0].tag;
  EXPECT_EQ(stoa_ring_wait(ring_, done, 3, 2, -1), 2);
  for (int i = 0; i < 2; ++i) tags |= 1u << done[i].tag;
  EXPECT_EQ(tags, 7u);
  EXPECT_FALSE(readable()) << "all were taken";
  EXPECT_EQ(stoa_ring_wait(ring_, done, 3, 1, 0), 0);
  EXPECT_EQ(stoa_close(file), 0);
}

TEST_F(LibraryRing, TheEventIsReadableWhileThereAreCompletions) {
  make(2);
  put("f", "x");
  stoa_attributes found[2];
  ASSERT_EQ(stoa_ring_prepare_stat(ring_, nullptr, "f", &found[0], 0), 0);
  ASSERT_EQ(stoa_ring_prepare_stat(ring_, nullptr, "f", &found[1], 1), 0);
  ASSERT_EQ(stoa_ring_submit(ring_), 2);
  pollfd asked{stoa_ring_fd(ring_), POLLIN, 0};
  EXPECT_EQ(::poll(&asked, 1, -1), 1);
  stoa_completion done{};
  EXPECT_EQ(stoa_ring_wait(ring_, &done, 1, 1, -1), 1);
  EXPECT_EQ(::poll(&asked, 1, -1), 1);
  EXPECT_EQ(stoa_ring_wait(ring_, &done, 1, 1, -1), 1);
  EXPECT_FALSE(readable());
}

TEST_F(LibraryRing, RegisteredMemoryIsNamedByIndex) {
  make(4);
  put("f", "0123456789");
  stoa_file* const file = open("f", O_RDWR);
  std::string memory(8, '#');
  EXPECT_EQ(stoa_ring_prepare_read_registered(ring_, file, 0, 0, 1, 0, 1), -EINVAL);
  const iovec pieces[] = {{memory.data(), memory.size()}};
  ASSERT_EQ(stoa_ring_register(ring_, pieces, 1), 0);
  ASSERT_EQ(stoa_ring_prepare_read_registered(ring_, file, 0, 2, 4, 5, 1), 0);
  EXPECT_EQ(stoa_ring_register(ring_, pieces, 1), -EBUSY);
  EXPECT_EQ(run().result, 4);
  EXPECT_EQ(memory, "##5678##");
  ASSERT_EQ(stoa_ring_prepare_write_registered(ring_, file, 0, 0, 8, 0, 1), 0);
  EXPECT_EQ(run().result, 8);
  EXPECT_EQ(stoa_ring_prepare_read_registered(ring_, file, 0, 5, 4, 0, 1), -EINVAL);
  EXPECT_EQ(stoa_ring_prepare_read_registered(ring_, file, 0, 9, 0, 0, 1), -EINVAL);
  EXPECT_EQ(stoa_ring_prepare_read_registered(ring_, file, 1, 0, 1, 0, 1), -EINVAL);
  EXPECT_EQ(stoa_ring_register(ring_, pieces, 1025), -EINVAL);
  EXPECT_EQ(stoa_close(file), 0);
  EXPECT_EQ(get("f"), "##5678##89");
}

TEST_F(LibraryRing, AnOpenThatNobodyTakesIsClosed) {
  make(2);
  put("f", "x");
  ASSERT_EQ(stoa_ring_prepare_open(ring_, nullptr, "f", O_RDWR, 0, 1), 0);
  ASSERT_EQ(stoa_ring_submit(ring_), 1);
  EXPECT_EQ(stoa_ring_destroy(ring_), 0);
  ring_ = nullptr;
}

}  // namespace
}  // namespace stoa::test
