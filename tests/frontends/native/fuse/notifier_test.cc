#include "frontends/native/fuse/notifier.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "frontends/native/fuse/kernel_abi.h"
#include "frontends/native/fuse/owned_fd.h"

namespace stoa::native::fuse {
namespace {

class FuseNotifier : public ::testing::Test {
 protected:
  FuseNotifier() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
    kernel_ = OwnedFd(ends[0]);
    ours_ = OwnedFd(ends[1]);
  }
  // What the kernel reads: the code and the body of one notification.
  std::pair<int, std::string> read_one() {
    std::array<char, 1024> bytes{};
    const ssize_t got = ::recv(kernel_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < static_cast<ssize_t>(sizeof(fuse_out_header))) return {};
    fuse_out_header header{};
    std::memcpy(&header, bytes.data(), sizeof(header));
    EXPECT_EQ(header.unique, 0u);
    EXPECT_EQ(header.len, static_cast<std::uint32_t>(got));
    return {header.error, std::string(bytes.data() + sizeof(header), static_cast<std::size_t>(got) - sizeof(header))};
  }
  template <class T>
  static T front(const std::string& bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), std::min(sizeof(T), bytes.size()));
    return value;
  }

  OwnedFd kernel_, ours_;
};

TEST_F(FuseNotifier, ToldIsTheNodeAndTheRange) {
  const Notifier notifier(ours_.get(), core::FileId{77});
  ASSERT_TRUE(notifier.inval_inode(core::FileId{80}, 4096, 10));
  const auto [code, body] = read_one();
  EXPECT_EQ(code, static_cast<int>(FUSE_NOTIFY_INVAL_INODE));
  ASSERT_EQ(body.size(), sizeof(fuse_notify_inval_inode_out));
  const auto out = front<fuse_notify_inval_inode_out>(body);
  EXPECT_EQ(out.ino, 80u);
  EXPECT_EQ(out.off, 4096);
  EXPECT_EQ(out.len, 10);
  ASSERT_TRUE(notifier.inval_inode(core::FileId{77}, -1, 0));
  EXPECT_EQ(front<fuse_notify_inval_inode_out>(read_one().second).ino, std::uint64_t{FUSE_ROOT_ID});
}

TEST_F(FuseNotifier, ToldIsTheNameWithItsEnd) {
  const Notifier notifier(ours_.get(), core::FileId{77});
  for (const std::size_t length : {std::size_t{1}, std::size_t{255}}) {
    ASSERT_TRUE(notifier.inval_entry(core::FileId{5}, std::string(length, 'n')));
    const auto [code, body] = read_one();
    EXPECT_EQ(code, static_cast<int>(FUSE_NOTIFY_INVAL_ENTRY));
    EXPECT_EQ(front<fuse_notify_inval_entry_out>(body).namelen, length);
    EXPECT_EQ(body.substr(sizeof(fuse_notify_inval_entry_out)), std::string(length, 'n') + '\0');
  }
  ASSERT_TRUE(notifier.expire_entry(core::FileId{5}, "name"));
  const auto [code, body] = read_one();
  EXPECT_EQ(code, static_cast<int>(FUSE_NOTIFY_INVAL_ENTRY));
  EXPECT_EQ(front<fuse_notify_inval_entry_out>(body).flags, 1u);
  ASSERT_TRUE(notifier.inval_all_entries());
  const auto [all, nothing] = read_one();
  EXPECT_EQ(all, 8);
  EXPECT_TRUE(nothing.empty());
  EXPECT_FALSE(notifier.inval_entry(core::FileId{5}, ""));
  EXPECT_FALSE(notifier.inval_entry(core::FileId{5}, std::string(256, 'n')));
}

}  // namespace
}  // namespace stoa::native::fuse
