// A foreign client of NFSv4.0: libnfs.
#include <fcntl.h>
#include <sys/time.h>

#include <set>

#include "tests/frontends/nfs/protocol_fixture.h"

// After the system's headers, which it needs and does not include.
#include <nfsc/libnfs.h>

namespace stoa::test {
namespace {

constexpr std::size_t kPieceBytes = 2048;  // libnfs 4.0.0 has no room for much more in a COMPOUND

class Libnfs40Test : public ProtocolTest {
 protected:
  Libnfs40Test() : context_(nfs_init_context()) {
    publish("test", {anyone()});
    start_protocol();
    const std::string url = "nfs://127.0.0.1/test?version=4&uid=0&gid=0&nfsport=" + std::to_string(port);
    nfs_url* parsed = nfs_parse_url_dir(context_, url.c_str());
    EXPECT_NE(parsed, nullptr) << nfs_get_error(context_);
    EXPECT_EQ(nfs_mount(context_, parsed->server, parsed->path), 0) << nfs_get_error(context_);
    nfs_destroy_url(parsed);
  }
  ~Libnfs40Test() override { nfs_destroy_context(context_); }

  void write_file(const char* path, const std::string& text) {
    nfsfh* file = nullptr;
    ASSERT_EQ(nfs_open2(context_, path, O_CREAT | O_WRONLY, 0644, &file), 0) << nfs_get_error(context_);
    std::size_t at = 0;
    while (at < text.size()) {
      const int n = nfs_pwrite(context_, file, at, std::min(text.size() - at, kPieceBytes), text.data() + at);
      ASSERT_GT(n, 0) << nfs_get_error(context_);
      at += static_cast<std::size_t>(n);
    }
    ASSERT_EQ(nfs_close(context_, file), 0) << nfs_get_error(context_);
  }
  std::string read_file(const char* path) {
    nfsfh* file = nullptr;
    EXPECT_EQ(nfs_open(context_, path, O_RDONLY, &file), 0) << nfs_get_error(context_);
    if (file == nullptr) return {};
    std::string text, buffer(kPieceBytes, '\0');
    int n = 0;
    while ((n = nfs_pread(context_, file, text.size(), buffer.size(), buffer.data())) > 0) {
      text.append(buffer, 0, static_cast<std::size_t>(n));
    }
    EXPECT_EQ(n, 0) << nfs_get_error(context_);
    EXPECT_EQ(nfs_close(context_, file), 0);
    return text;
  }

  nfs_context* context_;
};

TEST_F(Libnfs40Test, WritesReadsRenamesListsAndRemoves) {
  std::string large(300'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 131 >> 5);
  ASSERT_EQ(nfs_mkdir(context_, "/dir"), 0) << nfs_get_error(context_);
  write_file("/dir/small", "hello");
  write_file("/dir/large", large);
  ASSERT_EQ(nfs_symlink(context_, "small", "/dir/link"), 0) << nfs_get_error(context_);
  ASSERT_EQ(nfs_link(context_, "/dir/small", "/dir/hard"), 0) << nfs_get_error(context_);
  ASSERT_EQ(nfs_rename(context_, "/dir/hard", "/dir/renamed"), 0) << nfs_get_error(context_);
  EXPECT_EQ(read_file("/dir/small"), "hello");
  EXPECT_EQ(read_file("/dir/renamed"), "hello");
  EXPECT_TRUE(read_file("/dir/large") == large);
  nfs_stat_64 st{};
  ASSERT_EQ(nfs_stat64(context_, "/dir/small", &st), 0);
  EXPECT_EQ(st.nfs_size, 5u);
  EXPECT_EQ(st.nfs_nlink, 2u);
  ASSERT_EQ(nfs_truncate(context_, "/dir/large", 10), 0) << nfs_get_error(context_);
  EXPECT_EQ(read_file("/dir/large"), large.substr(0, 10));
  ASSERT_EQ(nfs_chmod(context_, "/dir/small", 0600), 0) << nfs_get_error(context_);

  nfsdir* dir = nullptr;
  ASSERT_EQ(nfs_opendir(context_, "/dir", &dir), 0) << nfs_get_error(context_);
  std::set<std::string> names;
  while (const nfsdirent* entry = nfs_readdir(context_, dir)) names.insert(entry->name);
  nfs_closedir(context_, dir);
  for (const char* name : {"small", "large", "link", "renamed"}) EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_FALSE(names.contains("hard"));

  for (const char* name : {"/dir/small", "/dir/large", "/dir/link", "/dir/renamed"}) {
    EXPECT_EQ(nfs_unlink(context_, name), 0) << nfs_get_error(context_);
  }
  EXPECT_EQ(nfs_rmdir(context_, "/dir"), 0) << nfs_get_error(context_);
  EXPECT_LT(nfs_stat64(context_, "/dir", &st), 0);
}

}  // namespace
}  // namespace stoa::test
