// Open files: content, positions, ranges, locks.
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <thread>

#include "tests/frontends/native/lib/library_fixture.h"

namespace stoa::test {
namespace {

class LibraryFiles : public LibraryTest {};

constexpr std::uint64_t kMiB = 1u << 20;

TEST_F(LibraryFiles, FlagsOfOpen) {
  EXPECT_EQ(open_error("f", O_RDONLY), -ENOENT);
  EXPECT_EQ(open_error("f", O_RDWR | O_CREAT | O_EXCL), 0);
  EXPECT_EQ(open_error("f", O_RDWR | O_CREAT | O_EXCL), -EEXIST);
  EXPECT_EQ(open_error("f", O_RDONLY | O_EXCL), -EINVAL);
  EXPECT_EQ(open_error("f", O_RDONLY | O_TRUNC), -EINVAL);
  EXPECT_EQ(open_error("f", O_RDWR | O_DIRECTORY), -EINVAL);
  EXPECT_EQ(open_error("f", O_RDWR | O_DIRECT), -EINVAL);
  EXPECT_EQ(open_error("f", O_ACCMODE), -EINVAL);
  EXPECT_EQ(open_error("f/", O_RDONLY), -ENOTDIR);
  EXPECT_EQ(open_error("new/", O_RDWR | O_CREAT), -EISDIR);
  EXPECT_EQ(open_error("/", O_RDONLY), -EISDIR);
  ASSERT_EQ(mkdir("d"), 0);
  EXPECT_EQ(open_error("d", O_RDONLY), -EISDIR);
  put("f", "content");
  EXPECT_EQ(open_error("f", O_RDWR | O_TRUNC), 0);
  EXPECT_EQ(get("f"), "");
}

TEST_F(LibraryFiles, ContentOfAwkwardSizesComesBack) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{kMiB - 1},
                                  std::size_t{kMiB}, std::size_t{kMiB + 1}, std::size_t{2 * kMiB + 4097}}) {
    const std::string content = pattern(bytes);
    put("f", content);
    EXPECT_EQ(get("f"), content) << bytes;
  }
}

TEST_F(LibraryFiles, ReadsEndWithTheFile) {
  put("f", "0123456789");
  stoa_file* const file = open("f", O_RDONLY);
  char back[20] = "";
  EXPECT_EQ(stoa_pread(file, back, 20, 4), 6);
  EXPECT_EQ(std::string(back, 6), "456789");
  EXPECT_EQ(stoa_pread(file, back, 20, 10), 0);
  EXPECT_EQ(stoa_pread(file, back, 20, 1u << 30), 0);
  EXPECT_EQ(stoa_pread(file, back, 0, 0), 0);
  EXPECT_EQ(stoa_pread(file, back, 20, std::numeric_limits<std::int64_t>::max()), -EINVAL);
  EXPECT_EQ(stoa_pread(file, back, 20, ~std::uint64_t{0}), -EINVAL);
  EXPECT_EQ(stoa_pwrite(file, back, 1, 0), -EBADF);
  EXPECT_EQ(stoa_ftruncate(file, 0), -EINVAL);
  EXPECT_EQ(stoa_allocate(file, 0, 1, 0), -EBADF);
  EXPECT_EQ(stoa_close(file), 0);
  stoa_file* const writer = open("f", O_WRONLY);
  EXPECT_EQ(stoa_pread(writer, back, 1, 0), -EBADF);
  EXPECT_EQ(stoa_close(writer), 0);
}

TEST_F(LibraryFiles, PositionsMove) {
  stoa_file* const file = open("f");
  EXPECT_EQ(stoa_write(file, "hello", 5), 5);
  EXPECT_EQ(stoa_write(file, " world", 6), 6);
  EXPECT_EQ(stoa_lseek(file, 0, SEEK_CUR), 11);
  EXPECT_EQ(stoa_lseek(file, -5, SEEK_END), 6);
  char back[8] = "";
  EXPECT_EQ(stoa_read(file, back, 8), 5);
  EXPECT_STREQ(back, "world");
  EXPECT_EQ(stoa_read(file, back, 8), 0);
  EXPECT_EQ(stoa_lseek(file, -12, SEEK_CUR), -EINVAL);
  EXPECT_EQ(stoa_lseek(file, 0, 77), -EINVAL);
  EXPECT_EQ(stoa_lseek(file, std::numeric_limits<std::int64_t>::max(), SEEK_CUR), -EOVERFLOW);
  EXPECT_EQ(stoa_lseek(file, 0, SEEK_DATA), 0);
  EXPECT_EQ(stoa_lseek(file, 0, SEEK_HOLE), 11);
  EXPECT_EQ(stoa_lseek(file, 11, SEEK_DATA), -ENXIO);
  EXPECT_EQ(stoa_lseek(file, 0, SEEK_CUR), 11) << "a seek that failed does not move";
  EXPECT_EQ(stoa_close(file), 0);
}

TEST_F(LibraryFiles, VectorsAreOneTransfer) {
  stoa_file* const file = open("f");
  std::string first = "ab", empty, last = "cde";
  const iovec out[] = {{first.data(), 2}, {empty.data(), 0}, {last.data(), 3}};
  EXPECT_EQ(stoa_pwritev(file, out, 3, 1), 5);
  char a[4] = "", b[8] = "";
  const iovec in[] = {{a, 3}, {b, 8}};
  EXPECT_EQ(stoa_preadv(file, in, 2, 0), 6);
  EXPECT_EQ(std::string(a, 3), std::string("\0ab", 3));
  EXPECT_STREQ(b, "cde");
  EXPECT_EQ(stoa_preadv(file, in, 0, 0), 0);
  EXPECT_EQ(stoa_preadv(file, in, -1, 0), -EINVAL);
  // More than one message takes.
  std::string large = pattern(kMiB), more = pattern(kMiB / 2 + 3);
  const iovec many[] = {{large.data(), large.size()}, {more.data(), more.size()}};
  EXPECT_EQ(stoa_pwritev(file, many, 2, 0), static_cast<std::int64_t>(large.size() + more.size()));
  std::string back(large.size(), '\0'), rest(more.size() + 10, '\0');
  const iovec again[] = {{back.data(), back.size()}, {rest.data(), rest.size()}};
  EXPECT_EQ(stoa_preadv(file, again, 2, 0), static_cast<std::int64_t>(large.size() + more.size()));
  EXPECT_EQ(back, large);
  EXPECT_EQ(rest.substr(0, more.size()), more);
  EXPECT_EQ(stoa_close(file), 0);
}

TEST_F(LibraryFiles, AppendsGoToTheEnd) {
  put("f", "12");
  stoa_file* const file = open("f", O_RDWR | O_APPEND);
  EXPECT_EQ(stoa_pwrite(file, "34", 2, 0), 2);
  EXPECT_EQ(stoa_write(file, "5", 1), 1);
  EXPECT_EQ(stoa_lseek(file, 0, SEEK_CUR), 5);
  EXPECT_EQ(stoa_close(file), 0);
  EXPECT_EQ(get("f"), "12345");
}

TEST_F(LibraryFiles, RangesAreAllocatedZeroedAndPunched) {
  stoa_file* const file = open("f");
  ASSERT_EQ(stoa_pwrite(file, pattern(16384).data(), 16384, 0), 16384);
  EXPECT_EQ(stoa_punch(file, 4096, 4096), 0);
  EXPECT_EQ(stoa_zero(file, 0, 1, 0), 0);
  EXPECT_EQ(stoa_allocate(file, 16384, 10, STOA_KEEP_SIZE), 0);
  stoa_attributes found;
  ASSERT_EQ(stoa_fstat(file, &found), 0);
  EXPECT_EQ(found.size, 16384u);
  EXPECT_EQ(stoa_allocate(file, 16384, 10, 0), 0);
  EXPECT_EQ(stoa_zero(file, 16390, 10, STOA_KEEP_SIZE), 0);
  ASSERT_EQ(stoa_fstat(file, &found), 0);
  EXPECT_EQ(found.size, 16394u);
  EXPECT_EQ(stoa_allocate(file, 0, 0, 0), -EINVAL);
  EXPECT_EQ(stoa_punch(file, std::numeric_limits<std::int64_t>::max(), 1), -EINVAL);
  EXPECT_EQ(stoa_zero(file, 0, 1, STOA_NOFOLLOW), -EINVAL);
  EXPECT_EQ(stoa_fsync(file), 0);
  EXPECT_EQ(stoa_close(file), 0);
  std::string expected = pattern(16384) + std::string(10, '\0');
  expected.replace(4096, 4096, std::string(4096, '\0'));
  expected[0] = '\0';
  EXPECT_EQ(get("f"), expected);
}

TEST_F(LibraryFiles, RangesAreCopiedAtTheServer) {
  put("from", "0123456789");
  stoa_file* const from = open("from", O_RDONLY);
  stoa_file* const to = open("to");
  EXPECT_EQ(stoa_copy_range(from, 2, to, 1, 3), 3);
  EXPECT_EQ(stoa_copy_range(from, 8, to, 4, 100), 2);
  EXPECT_EQ(stoa_copy_range(from, 10, to, 0, 1), 0);
  EXPECT_EQ(stoa_copy_range(from, 0, to, 0, 0), 0);
  EXPECT_EQ(stoa_copy_range(to, 0, from, 0, 1), -EBADF);
  EXPECT_EQ(stoa_copy_range(to, 0, to, 1, 3), -EINVAL);
  EXPECT_EQ(stoa_close(from), 0);
  EXPECT_EQ(stoa_close(to), 0);
  EXPECT_EQ(get("to"), std::string("\0"
                                   "23489",
                                   6));
}

TEST_F(LibraryFiles, ANamelessFileGetsAName) {
  stoa_file* const file = open(".", O_RDWR | O_TMPFILE);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(stoa_pwrite(file, "x", 1, 0), 1);
  EXPECT_EQ(stoa_flink(file, nullptr, "named"), 0);
  EXPECT_EQ(stoa_close(file), 0);
  EXPECT_EQ(get("named"), "x");
  EXPECT_EQ(open_error(".", O_RDONLY | O_TMPFILE), -EINVAL);
  EXPECT_EQ(open_error("named", O_RDWR | O_TMPFILE), -ENOTDIR);
}

TEST_F(LibraryFiles, AnUnlinkedFileIsUsedOn) {
  put("f", "still");
  stoa_file* const file = open("f", O_RDWR);
  ASSERT_EQ(stoa_unlink(fs, nullptr, "f"), 0);
  char back[6] = "";
  EXPECT_EQ(stoa_pread(file, back, 5, 0), 5);
  EXPECT_STREQ(back, "still");
  EXPECT_EQ(stoa_close(file), 0);
}

TEST_F(LibraryFiles, LocksHoldAgainstOtherOpens) {
  put("f", "x");
  stoa_fs* const other = connect();
  stoa_file* const mine = open("f", O_RDWR);
  stoa_file* const theirs = open("f", O_RDWR, other);
  const stoa_lock whole{0, 0, 1, 0}, tail{100, 0, 1, 0}, head{0, 100, 0, 0};
  EXPECT_EQ(stoa_lock_set(mine, &tail, 0), 0);
  EXPECT_EQ(stoa_lock_set(theirs, &head, 0), 0);
  EXPECT_EQ(stoa_lock_set(theirs, &whole, 0), -EAGAIN);
  EXPECT_EQ(stoa_lock_set(theirs, &whole, 20), -EAGAIN);
  stoa_lock found{};
  EXPECT_EQ(stoa_lock_test(theirs, &tail, &found), 1);
  EXPECT_EQ(found.offset, 100u);
  EXPECT_EQ(found.bytes, 0u);
  EXPECT_EQ(found.exclusive, 1u);
  EXPECT_EQ(stoa_lock_test(mine, &tail, &found), 0);
  std::thread waits([&] { EXPECT_EQ(stoa_lock_set(theirs, &whole, -1), 0); });
  EXPECT_EQ(stoa_lock_clear(mine, 100, 0), 0);
  waits.join();
  EXPECT_EQ(stoa_lock_test(mine, &head, &found), 1);
  EXPECT_EQ(stoa_flock(mine, LOCK_EX | LOCK_NB), -EAGAIN);
  // The close gives them up.
  EXPECT_EQ(stoa_close(theirs), 0);
  EXPECT_EQ(stoa_flock(mine, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(stoa_flock(mine, LOCK_UN), 0);
  EXPECT_EQ(stoa_flock(mine, 77), -EINVAL);
  stoa_file* const reader = open("f", O_RDONLY);
  EXPECT_EQ(stoa_lock_set(reader, &whole, 0), -EBADF);
  EXPECT_EQ(stoa_close(reader), 0);
  EXPECT_EQ(stoa_close(mine), 0);
  EXPECT_EQ(stoa_disconnect(other), 0);
}

}  // namespace
}  // namespace stoa::test
