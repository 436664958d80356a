// Many small files in few messages.
#include <cerrno>

#include "tests/frontends/native/lib/library_fixture.h"

namespace stoa::test {
namespace {

class LibraryBatches : public LibraryTest {
 protected:
  // Each with a buffer of its own.
  std::vector<stoa_small_read> reads(const std::vector<std::string>& names, std::size_t bytes) {
    buffers_.assign(names.size(), std::string(bytes, '#'));
    std::vector<stoa_small_read> files;
    for (std::size_t i = 0; i < names.size(); ++i) files.push_back({names[i].c_str(), buffers_[i].data(), bytes, 77});
    return files;
  }
  std::string content(std::size_t i, std::int64_t bytes) const {
    return buffers_[i].substr(0, static_cast<std::size_t>(bytes));
  }
  int write(const std::vector<std::pair<std::string, std::string>>& wanted, std::vector<std::int64_t>* results) {
    std::vector<stoa_small_write> files;
    for (const auto& [name, data] : wanted) files.push_back({name.c_str(), data.data(), data.size(), 0640, 0, 77});
    const int result = stoa_write_files(fs, nullptr, files.data(), files.size());
    results->clear();
    for (const stoa_small_write& file : files) results->push_back(file.result);
    return result;
  }

  std::vector<std::string> buffers_;
};

TEST_F(LibraryBatches, NoFilesAreNoError) {
  EXPECT_EQ(stoa_read_files(fs, nullptr, nullptr, 0), 0);
  EXPECT_EQ(stoa_write_files(fs, nullptr, nullptr, 0), 0);
  EXPECT_EQ(stoa_stat_many(fs, nullptr, nullptr, 0, 0), 0);
}

TEST_F(LibraryBatches, FilesAreMadeWithTheirContent) {
  std::vector<std::int64_t> results;
  ASSERT_EQ(mkdir("d"), 0);
  put("taken", "before");
  EXPECT_EQ(write({{"a", "of a"},
                   {"taken", "after"},
                   {"d/b", ""},
                   {"none/c", "x"},
                   {"d", "x"},
                   {"slash/", "x"},
                   {"..", "x"},
                   {"", "x"},
                   {"large", std::string((1u << 20) + 1, 'x')},
                   {"last", "of last"}},
                  &results),
            0);
  EXPECT_EQ(results,
            (std::vector<std::int64_t>{0, -EEXIST, 0, -ENOENT, -EEXIST, -EISDIR, -EEXIST, -ENOENT, -E2BIG, 0}));
  EXPECT_EQ(get("a"), "of a");
  EXPECT_EQ(get("taken"), "before");
  EXPECT_EQ(get("d/b"), "");
  EXPECT_EQ(get("last"), "of last");
  stoa_attributes found;
  ASSERT_EQ(stat("a", &found), 0);
  EXPECT_EQ(found.mode & 07777, 0640u);
}

TEST_F(LibraryBatches, MoreDataThanAMessageTakes) {
  std::vector<std::pair<std::string, std::string>> wanted;
  for (int i = 0; i < 7; ++i)
    wanted.emplace_back("f" + std::to_string(i), pattern(300'001 + static_cast<std::size_t>(i)));
  wanted.emplace_back("whole", pattern(1u << 20));
  std::vector<std::int64_t> results;
  ASSERT_EQ(write(wanted, &results), 0);
  EXPECT_EQ(results, std::vector<std::int64_t>(8, 0));
  std::vector<std::string> names;
  for (const auto& [name, data] : wanted) names.push_back(name);
  auto files = reads(names, 1u << 20);
  ASSERT_EQ(stoa_read_files(fs, nullptr, files.data(), files.size()), 0);
  for (std::size_t i = 0; i < files.size(); ++i) {
    ASSERT_EQ(files[i].result, static_cast<std::int64_t>(wanted[i].second.size())) << names[i];
    EXPECT_EQ(content(i, files[i].result), wanted[i].second) << names[i];
  }
}

TEST_F(LibraryBatches, EachFileHasItsOwnResult) {
  ASSERT_EQ(mkdir("d"), 0);
  put("a", "of a");
  put("d/b", "of b");
  put("empty", "");
  put("larger", "0123456789");
  ASSERT_EQ(symlink("d/b", "link"), 0);
  ASSERT_EQ(symlink("nowhere", "dangling"), 0);
  const std::vector<std::string> names = {"a",        "none", "d/b",    "d", "empty", "larger", "link",
                                          "dangling", "a/",   "none/x", "",  ".",     "d/b"};
  auto files = reads(names, 8);
  files.push_back({nullptr, nullptr, 0, 0});
  files.push_back({"a", nullptr, (1u << 20) + 1, 0});
  ASSERT_EQ(stoa_read_files(fs, nullptr, files.data(), files.size()), 0);
  const std::vector<std::int64_t> expected = {4,        -ENOENT, 4,       -EISDIR, 0, -EOVERFLOW, 4,     -ENOENT,
                                              -ENOTDIR, -ENOENT, -ENOENT, -EISDIR, 4, -EFAULT,    -E2BIG};
  ASSERT_EQ(files.size(), expected.size());
  for (std::size_t i = 0; i < files.size(); ++i) EXPECT_EQ(files[i].result, expected[i]) << i;
  EXPECT_EQ(buffers_[0], "of a####") << "nothing is written behind the file";
  EXPECT_EQ(content(2, 4), "of b");
  EXPECT_EQ(content(6, 4), "of b");
  // As large as the buffer, and a buffer of nothing.
  put("eight", "01234567");
  char buffer[8];
  stoa_small_read exact[] = {{"eight", buffer, 8, 0}, {"eight", nullptr, 0, 0}, {"empty", nullptr, 0, 7}};
  ASSERT_EQ(stoa_read_files(fs, nullptr, exact, 3), 0);
  EXPECT_EQ(exact[0].result, 8);
  EXPECT_EQ(exact[1].result, -EOVERFLOW);
  EXPECT_EQ(exact[2].result, 0);
}

TEST_F(LibraryBatches, SixtyFourSmallFilesAreOneMessage) {
  std::vector<std::pair<std::string, std::string>> wanted;
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) wanted.emplace_back("f" + std::to_string(i), pattern(4096));
  for (const auto& [name, data] : wanted) names.push_back(name);
  std::vector<std::int64_t> results;
  ASSERT_EQ(write(wanted, &results), 0);
  auto files = reads(names, 64 * 1024);
  ASSERT_EQ(stoa_read_files(fs, nullptr, files.data(), files.size()), 0);
  for (std::size_t i = 0; i < files.size(); ++i) EXPECT_EQ(content(i, files[i].result), wanted[i].second);
}

TEST_F(LibraryBatches, ManyFailuresInARowAreAnswered) {
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back(i % 3 == 0 ? "there" : "none" + std::to_string(i));
  put("there", "x");
  auto files = reads(names, 4);
  ASSERT_EQ(stoa_read_files(fs, nullptr, files.data(), files.size()), 0);
  for (std::size_t i = 0; i < files.size(); ++i) EXPECT_EQ(files[i].result, i % 3 == 0 ? 1 : -ENOENT) << i;
}

TEST_F(LibraryBatches, AttributesOfMany) {
  ASSERT_EQ(mkdir("d"), 0);
  put("d/a", "12345");
  ASSERT_EQ(symlink("d/a", "link"), 0);
  std::vector<std::string> names = {"d/a", "none", "link", "d/", "/", "d/a/"};
  for (int i = 0; i < 300; ++i) names.push_back("d/a");
  std::vector<stoa_small_stat> files;
  for (const std::string& name : names) files.push_back({name.c_str(), 7, {}});
  ASSERT_EQ(stoa_stat_many(fs, nullptr, files.data(), files.size(), 0), 0);
  const std::vector<std::int64_t> expected = {0, -ENOENT, 0, 0, 0, -ENOTDIR};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(files[i].result, expected[i]) << i;
  for (std::size_t i = expected.size(); i < files.size(); ++i) EXPECT_EQ(files[i].attributes.size, 5u) << i;
  EXPECT_EQ(files[2].attributes.id, files[0].attributes.id);
  ASSERT_EQ(stoa_stat_many(fs, nullptr, files.data(), 3, STOA_NOFOLLOW), 0);
  EXPECT_NE(files[2].attributes.id, files[0].attributes.id);
  EXPECT_EQ(stoa_stat_many(fs, nullptr, files.data(), 3, STOA_EXCHANGE), -EINVAL);
}

}  // namespace
}  // namespace stoa::test
