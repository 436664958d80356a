// A foreign client: libnfs, by its blocking and by its asynchronous calls.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <set>

#include "tests/frontends/nfs/protocol_fixture.h"

// After the system's headers, which it needs and does not include.
#include <nfsc/libnfs.h>

namespace stoa::test {
namespace {

class LibnfsTest : public ExportedTest {
 protected:
  LibnfsTest() : context_(nfs_init_context()) {
    const std::string url = "nfs://127.0.0.1/test?version=3&uid=0&gid=0&nfsport=" + std::to_string(port) +
                            "&mountport=" + std::to_string(port);
    nfs_url* parsed = nfs_parse_url_dir(context_, url.c_str());
    EXPECT_NE(parsed, nullptr) << nfs_get_error(context_);
    EXPECT_EQ(nfs_mount(context_, parsed->server, parsed->path), 0) << nfs_get_error(context_);
    nfs_destroy_url(parsed);
  }
  ~LibnfsTest() override { nfs_destroy_context(context_); }

  void write_file(const std::string& path, const std::string& text) {
    nfsfh* file = nullptr;
    ASSERT_EQ(nfs_creat(context_, path.c_str(), 0644, &file), 0) << nfs_get_error(context_);
    std::size_t at = 0;
    while (at < text.size()) {
      const int n = nfs_pwrite(context_, file, at, std::min<std::size_t>(text.size() - at, 1 << 20), text.data() + at);
      ASSERT_GT(n, 0) << nfs_get_error(context_);
      at += static_cast<std::size_t>(n);
    }
    ASSERT_EQ(nfs_fsync(context_, file), 0);
    ASSERT_EQ(nfs_close(context_, file), 0);
  }
  std::string read_file(const std::string& path) {
    nfsfh* file = nullptr;
    EXPECT_EQ(nfs_open(context_, path.c_str(), O_RDONLY, &file), 0) << nfs_get_error(context_);
    std::string text;
    std::string buffer(1 << 20, '\0');
    int n = 0;
    while ((n = nfs_pread(context_, file, text.size(), buffer.size(), buffer.data())) > 0) {
      text.append(buffer, 0, static_cast<std::size_t>(n));
    }
    EXPECT_EQ(n, 0) << nfs_get_error(context_);
    nfs_close(context_, file);
    return text;
  }

  nfs_context* context_;
};

TEST_F(LibnfsTest, WritesReadsListsAndRemoves) {
  std::string large(3'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 131 >> 5);
  ASSERT_EQ(nfs_mkdir(context_, "/dir"), 0);
  write_file("/dir/small", "hello");
  write_file("/dir/large", large);
  ASSERT_EQ(nfs_symlink(context_, "small", "/dir/link"), 0);
  ASSERT_EQ(nfs_link(context_, "/dir/small", "/dir/hard"), 0);
  ASSERT_EQ(nfs_rename(context_, "/dir/hard", "/dir/renamed"), 0);
  EXPECT_EQ(read_file("/dir/small"), "hello");
  EXPECT_EQ(read_file("/dir/renamed"), "hello");
  EXPECT_TRUE(read_file("/dir/large") == large);
  nfs_stat_64 st{};
  ASSERT_EQ(nfs_stat64(context_, "/dir/small", &st), 0);
  EXPECT_EQ(st.nfs_size, 5u);
  EXPECT_EQ(st.nfs_nlink, 2u);
  ASSERT_EQ(nfs_truncate(context_, "/dir/large", 10), 0);
  EXPECT_EQ(read_file("/dir/large"), large.substr(0, 10));
  ASSERT_EQ(nfs_chmod(context_, "/dir/small", 0600), 0);

  nfsdir* dir = nullptr;
  ASSERT_EQ(nfs_opendir(context_, "/dir", &dir), 0) << nfs_get_error(context_);
  std::set<std::string> names;
  while (const nfsdirent* entry = nfs_readdir(context_, dir)) names.insert(entry->name);
  nfs_closedir(context_, dir);
  EXPECT_EQ(names, (std::set<std::string>{".", "..", "small", "large", "link", "renamed"}));

  for (const char* name : {"/dir/small", "/dir/large", "/dir/link", "/dir/renamed"}) {
    EXPECT_EQ(nfs_unlink(context_, name), 0) << nfs_get_error(context_);
  }
  EXPECT_EQ(nfs_rmdir(context_, "/dir"), 0);
  EXPECT_LT(nfs_stat64(context_, "/dir", &st), 0);
}

TEST_F(LibnfsTest, KeepsManyRequestsInFlight) {
  constexpr int kCalls = 500;
  struct Progress {
    int done = 0;
    int failed = 0;
  } progress;
  const auto count = [](int status, nfs_context*, void*, void* mine) {
    auto* p = static_cast<Progress*>(mine);
    ++p->done;
    p->failed += status < 0 ? 1 : 0;
  };
  for (int i = 0; i < kCalls; ++i) {
    ASSERT_EQ(nfs_mkdir_async(context_, ("/d" + std::to_string(i)).c_str(), count, &progress), 0);
  }
  while (progress.done < kCalls) {
    pollfd waiting{nfs_get_fd(context_), static_cast<short>(nfs_which_events(context_)), 0};
    ASSERT_GT(poll(&waiting, 1, 60'000), 0);
    ASSERT_EQ(nfs_service(context_, waiting.revents), 0) << nfs_get_error(context_);
  }
  EXPECT_EQ(progress.failed, 0);
  EXPECT_EQ(nfs->attributes(root).links, 2u + kCalls);
}

}  // namespace
}  // namespace stoa::test
