// Names, attributes and permissions through a mount.
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/frontends/native/mount/served_mounts.h"

namespace stoa::native::mount {
namespace {

class MountNames : public ServedMounts {};

// 0, or the errno of a call that gives -1.
int failure(long result) {
  return result < 0 ? errno : 0;
}

int rename_flags(const std::string& from, const std::string& to, unsigned flags) {
  return failure(::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags));
}

void put(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}
std::string get(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(MountNames, AreMadeMovedAndRemovedWithTheErrnoOfPosix) {
  const std::string dir = a() + "/dir", file = dir + "/file";
  ASSERT_EQ(failure(::mkdir(dir.c_str(), 0755)), 0);
  EXPECT_EQ(failure(::mkdir(dir.c_str(), 0755)), EEXIST);
  put(file, "text");
  EXPECT_EQ(get(b() + "/dir/file"), "text");
  EXPECT_EQ(failure(::rmdir(dir.c_str())), ENOTEMPTY);
  EXPECT_EQ(failure(::rmdir(file.c_str())), ENOTDIR);
  EXPECT_EQ(failure(::unlink(dir.c_str())), EISDIR);
  EXPECT_EQ(failure(::unlink((dir + "/none").c_str())), ENOENT);
  EXPECT_EQ(failure(::unlink((file + "/none").c_str())), ENOTDIR);
  EXPECT_EQ(failure(::mkdir((a() + "/" + std::string(256, 'n')).c_str(), 0755)), ENAMETOOLONG);
  EXPECT_EQ(failure(::mkdir((a() + "/" + std::string(255, 'n')).c_str(), 0755)), 0);
  put(dir + "/other", "other");
  EXPECT_EQ(rename_flags(file, dir + "/other", RENAME_NOREPLACE), EEXIST);
  EXPECT_EQ(rename_flags(file, dir + "/none", RENAME_EXCHANGE), ENOENT);
  EXPECT_EQ(rename_flags(file, dir + "/other", RENAME_EXCHANGE), 0);
  EXPECT_EQ(get(file) + " " + get(b() + "/dir/other"), "other text");
  EXPECT_EQ(rename_flags(file, dir + "/other", RENAME_EXCHANGE), 0);
  EXPECT_EQ(rename_flags(file, dir, RENAME_EXCHANGE), EINVAL);
  EXPECT_EQ(rename_flags(file, dir + "/other", 0), 0);
  EXPECT_EQ(get(dir + "/other"), "text");
  EXPECT_EQ(rename_flags(dir, dir + "/below", 0), EINVAL);
  EXPECT_EQ(rename_flags(file, dir + "/x", 0), ENOENT);
}

TEST_F(MountNames, LinksAndSymlinksAndSpecialFilesAreWhatTheyWereMade) {
  put(a() + "/one", "1");
  ASSERT_EQ(failure(::link((a() + "/one").c_str(), (a() + "/two").c_str())), 0);
  struct stat one{}, two{};
  ASSERT_EQ(::stat((a() + "/one").c_str(), &one), 0);
  ASSERT_EQ(::stat((b() + "/two").c_str(), &two), 0);
  EXPECT_EQ(one.st_ino, two.st_ino);
  EXPECT_EQ(two.st_nlink, 2u);
  ASSERT_EQ(failure(::symlink("one", (a() + "/soft").c_str())), 0);
  EXPECT_EQ(std::filesystem::read_symlink(b() + "/soft"), "one");
  EXPECT_EQ(get(b() + "/soft"), "1");
  ASSERT_EQ(failure(::mknod((a() + "/device").c_str(), S_IFBLK | 0640, makedev(259, 70000))), 0);
  struct stat device{};
  ASSERT_EQ(::stat((b() + "/device").c_str(), &device), 0);
  EXPECT_TRUE(S_ISBLK(device.st_mode));
  EXPECT_EQ(major(device.st_rdev), 259u);
  EXPECT_EQ(minor(device.st_rdev), 70000u);
  EXPECT_EQ(failure(::mkfifo((a() + "/fifo").c_str(), 0600)), 0);
  EXPECT_EQ(failure(::mknod((a() + "/plain").c_str(), S_IFREG | 0600, 0)), 0);
  EXPECT_EQ(failure(::mknod((a() + "/plain").c_str(), S_IFREG | 0600, 0)), EEXIST);
}

TEST_F(MountNames, AttributesChangeAtOnceOnTheOtherMount) {
  put(a() + "/file", "0123456789");
  const std::string there = b() + "/file";
  struct stat seen{};
  ASSERT_EQ(::stat(there.c_str(), &seen), 0);
  EXPECT_EQ(seen.st_size, 10);
  ASSERT_EQ(failure(::truncate((a() + "/file").c_str(), 3)), 0);
  ASSERT_EQ(failure(::chmod((a() + "/file").c_str(), 04711)), 0);
  ASSERT_EQ(failure(::chown((a() + "/file").c_str(), 12, 34)), 0);
  ASSERT_EQ(failure(::chmod((a() + "/file").c_str(), 02751)), 0);
  const timespec times[] = {{1, 5}, {-2, 7}};
  ASSERT_EQ(failure(::utimensat(AT_FDCWD, (a() + "/file").c_str(), times, 0)), 0);
  ASSERT_EQ(::stat(there.c_str(), &seen), 0);
  EXPECT_EQ(seen.st_size, 3);
  EXPECT_EQ(seen.st_mode, static_cast<mode_t>(S_IFREG | 02751));
  EXPECT_EQ(seen.st_uid, 12u);
  EXPECT_EQ(seen.st_gid, 34u);
  EXPECT_EQ(seen.st_atim.tv_sec, 1);
  EXPECT_EQ(seen.st_atim.tv_nsec, 5);
  EXPECT_EQ(seen.st_mtim.tv_sec, -2);
  EXPECT_EQ(seen.st_mtim.tv_nsec, 7);
  struct statx birth{};
  ASSERT_EQ(::statx(AT_FDCWD, there.c_str(), 0, STATX_BTIME, &birth), 0);
  if ((birth.stx_mask & STATX_BTIME) != 0) {
    EXPECT_GT(birth.stx_btime.tv_sec, 1'700'000'000);
  }
  struct statvfs space{};
  ASSERT_EQ(::statvfs(a().c_str(), &space), 0);
  EXPECT_EQ(space.f_namemax, 255u);
  EXPECT_GT(space.f_blocks, 0u);
}

TEST_F(MountNames, PermissionsCountTheGroupsOfTheProcess) {
  ASSERT_EQ(failure(::mkdir((a() + "/team").c_str(), 0770)), 0);
  ASSERT_EQ(failure(::chown((a() + "/team").c_str(), 1, 5000)), 0);
  ASSERT_EQ(failure(::chmod((a() + "/team").c_str(), 0770)), 0);
  const auto makes = [&] { return failure(::open((a() + "/team/file").c_str(), O_CREAT | O_WRONLY, 0600)); };
  EXPECT_EQ(as_user(1000, 1000, {}, makes), EACCES);
  std::vector<std::uint32_t> many;
  for (std::uint32_t group = 4000; group < 4990; ++group) many.push_back(group);
  EXPECT_EQ(as_user(1000, 1000, many, makes), EACCES);
  many.push_back(5000);
  EXPECT_EQ(as_user(1000, 1000, many, makes), 0);
  EXPECT_EQ(as_user(1001, 1001, {5000}, makes), EACCES);  // the file is user 1000's
  EXPECT_EQ(as_user(1001, 1001, {5000}, [&] { return failure(::access((a() + "/team").c_str(), W_OK)); }), 0);
  EXPECT_EQ(as_user(1001, 1001, {}, [&] { return failure(::access((a() + "/team").c_str(), R_OK)); }), EACCES);
  EXPECT_EQ(as_user(1001, 1001, {}, [&] { return failure(::chdir((a() + "/team").c_str())); }), EACCES);
  EXPECT_EQ(as_user(1001, 1001, {}, [&] { return failure(::chmod((a() + "/team").c_str(), 0)); }), EPERM);
  struct stat made{};
  ASSERT_EQ(::stat((b() + "/team/file").c_str(), &made), 0);
  EXPECT_EQ(made.st_uid, 1000u);
  EXPECT_EQ(made.st_gid, 1000u);
}

TEST_F(MountNames, TheUmaskOfTheProcessIsTakenOff) {
  const mode_t before = ::umask(027);
  put(a() + "/masked", "");
  ::mkdir((a() + "/masked-dir").c_str(), 0777);
  ::umask(before);
  struct stat seen{};
  ASSERT_EQ(::stat((b() + "/masked").c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 07777u, 0640u);
  ASSERT_EQ(::stat((b() + "/masked-dir").c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 07777u, 0750u);
}

TEST_F(MountNames, ALargeDirectoryIsListedOnceEachWhileItChanges) {
  const std::string dir = a() + "/many";
  ASSERT_EQ(failure(::mkdir(dir.c_str(), 0755)), 0);
  constexpr int kFiles = 1500;  // more than one piece
  for (int i = 0; i < kFiles; ++i) put(dir + "/" + std::to_string(i), "");
  std::set<std::string> seen;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(b() + "/many")) {
    seen.insert(entry.path().filename());
    if (++count == 100) {
      EXPECT_EQ(failure(::unlink((dir + "/0").c_str())), 0);
    }
  }
  EXPECT_EQ(static_cast<int>(seen.size()), count);  // none twice
  EXPECT_GE(count, kFiles - 1);
  std::size_t later = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(b() + "/many")) ++later;
  EXPECT_EQ(later, static_cast<std::size_t>(kFiles - 1));
}

TEST_F(MountNames, ExtendedAttributesAreKeptAndRefusedAsXattrSays) {
  const std::string file = a() + "/file", there = b() + "/file";
  put(file, "");
  char value[100];
  EXPECT_EQ(failure(::getxattr(file.c_str(), "user.none", value, sizeof(value))), ENODATA);
  EXPECT_EQ(failure(::setxattr(file.c_str(), "user.a", "123", 3, XATTR_REPLACE)), ENODATA);
  EXPECT_EQ(failure(::setxattr(file.c_str(), "user.a", "123", 3, XATTR_CREATE)), 0);
  EXPECT_EQ(failure(::setxattr(file.c_str(), "user.a", "1", 1, XATTR_CREATE)), EEXIST);
  EXPECT_EQ(failure(::setxattr(file.c_str(), "user.empty", "", 0, 0)), 0);
  EXPECT_EQ(::getxattr(there.c_str(), "user.a", value, sizeof(value)), 3);
  EXPECT_EQ(::getxattr(there.c_str(), "user.a", nullptr, 0), 3);
  EXPECT_EQ(failure(::getxattr(there.c_str(), "user.a", value, 2)), ERANGE);
  EXPECT_EQ(::getxattr(there.c_str(), "user.empty", value, sizeof(value)), 0);
  const ssize_t length = ::listxattr(there.c_str(), value, sizeof(value));
  ASSERT_GT(length, 0);
  EXPECT_NE(std::string(value, static_cast<std::size_t>(length)).find("user.a"), std::string::npos);
  EXPECT_EQ(failure(::listxattr(there.c_str(), value, 3)), ERANGE);
  EXPECT_EQ(failure(::removexattr(file.c_str(), "user.a")), 0);
  EXPECT_EQ(failure(::removexattr(file.c_str(), "user.a")), ENODATA);
  EXPECT_EQ(failure(::getxattr(file.c_str(), "system.nfs4_acl", value, sizeof(value))), EOPNOTSUPP);
}

}  // namespace
}  // namespace stoa::native::mount
