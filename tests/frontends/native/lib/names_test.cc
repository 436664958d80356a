// Names, paths, attributes.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/frontends/native/lib/library_fixture.h"

namespace stoa::test {
namespace {

class LibraryNames : public LibraryTest {
 protected:
  int rename(const std::string& from, const std::string& to, std::uint32_t flags = 0) {
    return stoa_rename(fs, nullptr, from.c_str(), nullptr, to.c_str(), flags);
  }
  int unlink(const std::string& path) { return stoa_unlink(fs, nullptr, path.c_str()); }
  int rmdir(const std::string& path) { return stoa_rmdir(fs, nullptr, path.c_str()); }
};

TEST_F(LibraryNames, PathsAreResolvedAsInPosix) {
  ASSERT_EQ(mkdir("d"), 0);
  ASSERT_EQ(mkdir("/d/e/"), 0);
  put("d/e/f", "content");
  EXPECT_EQ(get("//d/./e/..//e/f"), "content");
  EXPECT_EQ(stat_error(""), -ENOENT);
  EXPECT_EQ(stat_error("d/none/f"), -ENOENT);
  EXPECT_EQ(stat_error("d/e/f/g"), -ENOTDIR);
  EXPECT_EQ(stat_error("d/e/f/"), -ENOTDIR);
  EXPECT_EQ(stat_error("d/e/f/."), -ENOTDIR);
  EXPECT_EQ(stat_error("d/e/"), 0);
  EXPECT_EQ(stat_error("/"), 0);
  EXPECT_EQ(stat_error("../../.."), 0);
  EXPECT_EQ(stoa_stat(fs, nullptr, nullptr, 0, nullptr), -EFAULT);
  EXPECT_EQ(mkdir(std::string(255, 'n')), 0);
  EXPECT_EQ(mkdir(std::string(256, 'n')), -ENAMETOOLONG);
  EXPECT_EQ(stat_error(std::string(4096, '/')), -ENAMETOOLONG);
  EXPECT_EQ(stat_error(std::string(4095, '/')), 0);
}

TEST_F(LibraryNames, SymbolicLinksLeadOn) {
  ASSERT_EQ(mkdir("d"), 0);
  put("d/f", "behind");
  ASSERT_EQ(symlink("f", "d/to_f"), 0);
  ASSERT_EQ(symlink("d", "to_d"), 0);
  ASSERT_EQ(symlink("/to_d/to_f", "absolute"), 0);
  ASSERT_EQ(symlink("loop", "loop"), 0);
  ASSERT_EQ(symlink("nowhere", "dangling"), 0);
  EXPECT_EQ(get("to_d/to_f"), "behind");
  EXPECT_EQ(get("absolute"), "behind");
  EXPECT_EQ(stat_error("loop"), -ELOOP);
  EXPECT_EQ(stat_error("loop/x"), -ELOOP);
  EXPECT_EQ(stat_error("dangling"), -ENOENT);
  EXPECT_EQ(stat_error("dangling", STOA_NOFOLLOW), 0);
  EXPECT_EQ(open_error("to_d/to_f", O_RDONLY | O_NOFOLLOW), -ELOOP);
  EXPECT_EQ(open_error("loop", O_RDONLY), -ELOOP);
  // open(2): O_CREAT makes what a link that leads nowhere names; with O_EXCL the link itself is in the way.
  EXPECT_EQ(open_error("dangling", O_WRONLY | O_CREAT | O_EXCL), -EEXIST);
  put("dangling", "made");
  EXPECT_EQ(get("nowhere"), "made");
  stoa_attributes found;
  ASSERT_EQ(stat("to_d", &found, STOA_NOFOLLOW), 0);
  EXPECT_TRUE(S_ISLNK(found.mode));
  ASSERT_EQ(stat("to_d/", &found, STOA_NOFOLLOW), 0);
  EXPECT_TRUE(S_ISDIR(found.mode));
  char target[4] = "###";
  EXPECT_EQ(stoa_readlink(fs, nullptr, "absolute", target, 3), 3);
  EXPECT_STREQ(target, "/to");
  EXPECT_EQ(stoa_readlink(fs, nullptr, "d/f", target, 3), -EINVAL);
}

TEST_F(LibraryNames, ManyLinksInARowAreFollowedUpToForty) {
  put("0", "end");
  for (int i = 1; i <= 41; ++i) ASSERT_EQ(symlink(std::to_string(i - 1), std::to_string(i)), 0);
  EXPECT_EQ(stat_error("40"), 0);
  EXPECT_EQ(stat_error("41"), -ELOOP);
}

TEST_F(LibraryNames, PathsBeginAtADirectory) {
  ASSERT_EQ(mkdir("d"), 0);
  put("d/f", "in d");
  stoa_dir* dir = nullptr;
  ASSERT_EQ(stoa_opendir(fs, nullptr, "d", &dir), 0);
  ASSERT_EQ(rename("d", "moved"), 0);
  stoa_attributes found;
  EXPECT_EQ(stoa_stat(fs, dir, "f", 0, &found), 0);
  EXPECT_EQ(found.size, 4u);
  EXPECT_EQ(stoa_stat(fs, dir, "/f", 0, &found), -ENOENT);
  EXPECT_EQ(stoa_stat(fs, dir, "../moved/f", 0, &found), 0);
  EXPECT_EQ(stoa_mkdir(fs, dir, "e", 0755), 0);
  EXPECT_EQ(stat_error("moved/e"), 0);
  EXPECT_EQ(stoa_closedir(dir), 0);
  EXPECT_EQ(stoa_opendir(fs, nullptr, "moved/f", &dir), -ENOTDIR);
}

TEST_F(LibraryNames, NamesAreMadeAndRemoved) {
  EXPECT_EQ(mkdir("d"), 0);
  EXPECT_EQ(mkdir("d"), -EEXIST);
  EXPECT_EQ(mkdir("/"), -EEXIST);
  EXPECT_EQ(mkdir("d/."), -EEXIST);
  put("d/f", "");
  EXPECT_EQ(rmdir("d"), -ENOTEMPTY);
  EXPECT_EQ(rmdir("d/f"), -ENOTDIR);
  EXPECT_EQ(unlink("d"), -EISDIR);
  EXPECT_EQ(unlink("d/f/"), -ENOTDIR);
  EXPECT_EQ(unlink("/"), -EISDIR);
  EXPECT_EQ(stoa_link(fs, nullptr, "d/f", nullptr, "g", 0), 0);
  EXPECT_EQ(stoa_link(fs, nullptr, "d/f", nullptr, "g", 0), -EEXIST);
  stoa_attributes found;
  ASSERT_EQ(stat("g", &found), 0);
  EXPECT_EQ(found.links, 2u);
  EXPECT_EQ(unlink("d/f"), 0);
  EXPECT_EQ(unlink("d/f"), -ENOENT);
  EXPECT_EQ(rmdir("d/"), 0);
  EXPECT_EQ(stoa_mknod(fs, nullptr, "pipe", S_IFIFO | 0600, 0, 0), 0);
  EXPECT_EQ(stoa_mknod(fs, nullptr, "pipe", S_IFREG | 0600, 0, 0), -EEXIST);
  EXPECT_EQ(stoa_mknod(fs, nullptr, "dir", S_IFDIR | 0600, 0, 0), -EINVAL);
  ASSERT_EQ(stat("pipe", &found), 0);
  EXPECT_EQ(found.mode, static_cast<std::uint32_t>(S_IFIFO | 0600));
  EXPECT_EQ(open_error("pipe", O_RDONLY), -ENXIO);
}

TEST_F(LibraryNames, ALinkOfALinkIsOfTheLinkUnlessItIsFollowed) {
  put("f", "x");
  ASSERT_EQ(symlink("f", "s"), 0);
  ASSERT_EQ(stoa_link(fs, nullptr, "s", nullptr, "same", 0), 0);
  ASSERT_EQ(stoa_link(fs, nullptr, "s", nullptr, "followed", STOA_FOLLOW), 0);
  stoa_attributes found;
  ASSERT_EQ(stat("same", &found, STOA_NOFOLLOW), 0);
  EXPECT_TRUE(S_ISLNK(found.mode));
  ASSERT_EQ(stat("followed", &found, STOA_NOFOLLOW), 0);
  EXPECT_TRUE(S_ISREG(found.mode));
}

TEST_F(LibraryNames, RenameReplacesRefusesOrExchanges) {
  put("a", "of a");
  put("b", "of b");
  EXPECT_EQ(rename("a", "b", STOA_NOREPLACE), -EEXIST);
  EXPECT_EQ(rename("a", "b", STOA_EXCHANGE), 0);
  EXPECT_EQ(get("a"), "of b");
  EXPECT_EQ(rename("a", "none", STOA_EXCHANGE), -ENOENT);
  EXPECT_EQ(rename("a", "b", STOA_EXCHANGE | STOA_NOREPLACE), -EINVAL);
  EXPECT_EQ(rename("a", "b", STOA_NOFOLLOW), -EINVAL);
  EXPECT_EQ(rename("a", "b"), 0);
  EXPECT_EQ(get("b"), "of b");
  EXPECT_EQ(stat_error("a"), -ENOENT);
  EXPECT_EQ(rename("b", "c/"), -ENOTDIR);
  EXPECT_EQ(rename("/", "c"), -EBUSY);
  ASSERT_EQ(mkdir("d"), 0);
  EXPECT_EQ(rename("d", "d/e"), -EINVAL);
  EXPECT_EQ(rename("d/", "e/"), 0);
}

TEST_F(LibraryNames, AttributesAreSet) {
  put("f", "12345");
  EXPECT_EQ(stoa_chmod(fs, nullptr, "f", 0640), 0);
  EXPECT_EQ(stoa_chmod(fs, nullptr, "f", 010640), -EINVAL);
  EXPECT_EQ(stoa_utimens(fs, nullptr, "f", 1'000'000'001, STOA_TIME_KEEP, 0), 0);
  stoa_attributes found;
  ASSERT_EQ(stat("f", &found), 0);
  EXPECT_EQ(found.mode, static_cast<std::uint32_t>(S_IFREG | 0640));
  EXPECT_EQ(found.atime_ns, 1'000'000'001);
  const std::int64_t mtime = found.mtime_ns;
  EXPECT_EQ(stoa_utimens(fs, nullptr, "f", STOA_TIME_KEEP, -5, 0), 0);
  ASSERT_EQ(stat("f", &found), 0);
  EXPECT_EQ(found.atime_ns, 1'000'000'001);
  EXPECT_EQ(found.mtime_ns, -5);
  EXPECT_EQ(stoa_utimens(fs, nullptr, "f", STOA_TIME_KEEP, STOA_TIME_NOW, 0), 0);
  ASSERT_EQ(stat("f", &found), 0);
  EXPECT_GE(found.mtime_ns, mtime);
  if (::geteuid() == 0) {
    EXPECT_EQ(stoa_chown(fs, nullptr, "f", 5, 0xffffffff, 0), 0);
    ASSERT_EQ(stat("f", &found), 0);
    EXPECT_EQ(found.uid, 5u);
  }
  EXPECT_EQ(stoa_truncate(fs, nullptr, "f", 2), 0);
  EXPECT_EQ(get("f"), "12");
  EXPECT_EQ(stoa_truncate(fs, nullptr, "f", ~std::uint64_t{0}), -EINVAL);
  EXPECT_EQ(stoa_access(fs, nullptr, "f", R_OK | W_OK, 0), 0);
  EXPECT_EQ(stoa_access(fs, nullptr, "f", F_OK, 0), 0);
  EXPECT_EQ(stoa_access(fs, nullptr, "f", 8, 0), -EINVAL);
  EXPECT_EQ(stoa_access(fs, nullptr, "/", X_OK, 0), 0);
  stoa_space space;
  ASSERT_EQ(stoa_statvfs(fs, nullptr, "f", &space), 0);
  EXPECT_GE(space.bytes_total, space.bytes_available);
}

TEST_F(LibraryNames, AUserIsRefusedWhatIsOfOthers) {
  put("mine", "x");
  ASSERT_EQ(stoa_chmod(fs, nullptr, "mine", 0600), 0);
  const std::string anns_key = key_file("user " + ann_key.access_key + " " + ann_key.secret_key + "\n");
  const std::string address = url("test");
  stoa_options wanted{};
  wanted.size = sizeof wanted;
  wanted.url = address.c_str();
  wanted.key_file = anns_key.c_str();
  stoa_fs* ann = nullptr;
  ASSERT_EQ(stoa_connect(&wanted, &ann), 0);
  stoa_file* file = nullptr;
  EXPECT_EQ(stoa_open(ann, nullptr, "mine", O_RDONLY, 0, &file), -EACCES);
  EXPECT_EQ(stoa_access(ann, nullptr, "mine", R_OK, 0), -EACCES);
  EXPECT_EQ(stoa_chmod(ann, nullptr, "mine", 0666), -EPERM);
  // To be run, not to be read.
  ASSERT_EQ(stoa_chmod(fs, nullptr, "mine", 0711), 0);
  EXPECT_EQ(stoa_open(ann, nullptr, "mine", O_RDONLY, 0, &file), -EACCES);
  char buffer[4];
  stoa_small_read read{"mine", buffer, sizeof buffer, 0};
  EXPECT_EQ(stoa_read_files(ann, nullptr, &read, 1), 0);
  EXPECT_EQ(read.result, -EACCES);
  EXPECT_EQ(stoa_disconnect(ann), 0);
}

TEST_F(LibraryNames, ExtendedAttributes) {
  put("f", "");
  char value[8] = "";
  EXPECT_EQ(stoa_getxattr(fs, nullptr, "f", "user.a", value, sizeof value, 0), -ENODATA);
  EXPECT_EQ(stoa_setxattr(fs, nullptr, "f", "user.a", "12345", 5, STOA_XATTR_REPLACE), -ENODATA);
  EXPECT_EQ(stoa_setxattr(fs, nullptr, "f", "user.a", "12345", 5, STOA_XATTR_CREATE), 0);
  EXPECT_EQ(stoa_setxattr(fs, nullptr, "f", "user.a", "1", 1, STOA_XATTR_CREATE), -EEXIST);
  EXPECT_EQ(stoa_setxattr(fs, nullptr, "f", "user.a", "", 0, STOA_XATTR_CREATE | STOA_XATTR_REPLACE), -EINVAL);
  EXPECT_EQ(stoa_setxattr(fs, nullptr, "f", "system.nfs4_acl", "", 0, 0), -EOPNOTSUPP);
  EXPECT_EQ(stoa_getxattr(fs, nullptr, "f", "user.a", nullptr, 0, 0), 5);
  EXPECT_EQ(stoa_getxattr(fs, nullptr, "f", "user.a", value, 4, 0), -ERANGE);
  EXPECT_EQ(stoa_getxattr(fs, nullptr, "f", "user.a", value, 5, 0), 5);
  EXPECT_STREQ(value, "12345");
  EXPECT_EQ(stoa_listxattr(fs, nullptr, "f", nullptr, 0, 0), 7);
  EXPECT_EQ(stoa_listxattr(fs, nullptr, "f", value, 6, 0), -ERANGE);
  EXPECT_EQ(stoa_listxattr(fs, nullptr, "f", value, 7, 0), 7);
  EXPECT_EQ(std::string(value, 7), std::string("user.a\0", 7));
  EXPECT_EQ(stoa_removexattr(fs, nullptr, "f", "user.a", 0), 0);
  EXPECT_EQ(stoa_removexattr(fs, nullptr, "f", "user.a", 0), -ENODATA);
}

TEST_F(LibraryNames, PosixAcls) {
  put("f", "");
  static constexpr char kName[] = "system.posix_acl_access";
  // user::rw-, user:1000:rw-, group::r--, mask::rw-, other::---
  static constexpr unsigned char kAcl[] = {2, 0,    0,    0,    1,    0,    6,  0, 0xff, 0xff, 0xff, 0xff, 2,    0,   6,
                                           0, 0xe8, 3,    0,    0,    4,    0,  4, 0,    0xff, 0xff, 0xff, 0xff, 16,  0,
                                           6, 0,    0xff, 0xff, 0xff, 0xff, 32, 0, 0,    0,    0xff, 0xff, 0xff, 0xff};
  unsigned char value[sizeof kAcl] = {};
  EXPECT_EQ(stoa_getxattr(fs, nullptr, "f", kName, value, sizeof value, 0), -ENODATA);
  EXPECT_EQ(stoa_setxattr(fs, nullptr, "f", kName, kAcl, sizeof kAcl, 0), 0);
  EXPECT_EQ(stoa_getxattr(fs, nullptr, "f", kName, value, 4, 0), -ERANGE);
  EXPECT_EQ(stoa_getxattr(fs, nullptr, "f", kName, value, sizeof value, 0), static_cast<int64_t>(sizeof kAcl));
  EXPECT_EQ(std::memcmp(value, kAcl, sizeof kAcl), 0);
  stoa_attributes attr{};
  EXPECT_EQ(stoa_stat(fs, nullptr, "f", 0, &attr), 0);
  EXPECT_EQ(attr.mode & 0777u, 0660u) << "the mask";
  EXPECT_EQ(stoa_setxattr(fs, nullptr, "f", kName, kAcl, sizeof kAcl - 1, 0), -EINVAL);
  EXPECT_EQ(stoa_setxattr(fs, nullptr, "f", "system.posix_acl_default", kAcl, sizeof kAcl, 0), -EACCES);
  EXPECT_EQ(stoa_removexattr(fs, nullptr, "f", kName, 0), 0);
  EXPECT_EQ(stoa_removexattr(fs, nullptr, "f", kName, 0), 0);
}

TEST_F(LibraryNames, DirectoriesAreReadWhole) {
  ASSERT_EQ(mkdir("d"), 0);
  stoa_dir* dir = nullptr;
  ASSERT_EQ(stoa_opendir(fs, nullptr, "d", &dir), 0);
  stoa_entry entry;
  EXPECT_EQ(stoa_readdir(dir, &entry), 0);
  EXPECT_EQ(stoa_readdir(dir, &entry), 0);
  // More than are fetched at once, and the longest name.
  constexpr std::size_t kFiles = 1300;
  std::vector<std::string> names;
  std::vector<stoa_small_write> files;
  for (std::size_t i = 0; i + 1 < kFiles; ++i) names.push_back("f" + std::to_string(i));
  names.push_back(std::string(255, 'n'));
  for (const std::string& name : names) files.push_back({name.c_str(), name.data(), name.size(), 0644, 0, 1});
  ASSERT_EQ(stoa_write_files(fs, dir, files.data(), files.size()), 0);
  ASSERT_EQ(stoa_seekdir(dir, 0), 0);
  std::map<std::string, std::uint64_t> sizes;
  std::uint64_t middle = 0;
  while (stoa_readdir(dir, &entry) == 1) {
    EXPECT_TRUE(sizes.emplace(entry.name, entry.attributes.size).second) << entry.name;
    if (sizes.size() == 1200) middle = entry.cookie;
  }
  ASSERT_EQ(sizes.size(), kFiles);
  for (const std::string& name : names) EXPECT_EQ(sizes[name], name.size());
  ASSERT_EQ(stoa_seekdir(dir, middle), 0);
  std::size_t behind = 0;
  while (stoa_readdir(dir, &entry) == 1) ++behind;
  EXPECT_EQ(behind, kFiles - 1200);
  EXPECT_EQ(stoa_closedir(dir), 0);
}

}  // namespace
}  // namespace stoa::test
