// Operations under way.
#include <poll.h>

#include <cerrno>
#include <map>

#include "frontends/native/lib/handles.h"
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

  // The results of all that is prepared, by tag; each has one.
  std::map<std::uint64_t, std::int64_t> run_all(std::size_t count) {
    EXPECT_EQ(stoa_ring_submit(ring_), static_cast<int>(count));
    std::vector<stoa_completion> done(count + 1);
    EXPECT_EQ(stoa_ring_wait(ring_, done.data(), static_cast<std::uint32_t>(count + 1),
                             static_cast<std::uint32_t>(count), -1),
              static_cast<int>(count));
    std::map<std::uint64_t, std::int64_t> results;
    for (std::size_t i = 0; i < count; ++i) results[done[i].tag] = done[i].result;
    EXPECT_EQ(results.size(), count);
    return results;
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

TEST_F(LibraryRing, WhatIsSubmittedTogetherSharesMessages) {
  constexpr std::size_t kFiles = 64, kBytes = 100;
  make(kFiles);
  const std::string content = pattern(kBytes);
  for (std::size_t i = 0; i < kFiles; ++i) put("f" + std::to_string(i), content + std::to_string(i));
  native::Client& client = (*fs->session())->client();
  (*fs->session())->storage().send_unsent();
  std::vector<stoa_attributes> found(kFiles);
  std::uint64_t before = client.counts().calls;
  for (std::size_t i = 0; i < kFiles; ++i)
    ASSERT_EQ(stoa_ring_prepare_stat(ring_, nullptr, ("f" + std::to_string(i)).c_str(), &found[i], i), 0);
  for (const auto& [tag, result] : run_all(kFiles)) {
    EXPECT_EQ(result, 0);
    EXPECT_EQ(found[tag].size, kBytes + std::to_string(tag).size());
  }
  EXPECT_EQ(client.counts().calls, before + 1);

  std::vector<std::string> buffers(kFiles, std::string(kBytes + 10, '#'));
  before = client.counts().calls;
  for (std::size_t i = 0; i < kFiles; ++i) {
    ASSERT_EQ(stoa_ring_prepare_read_file(ring_, nullptr, ("f" + std::to_string(i)).c_str(), buffers[i].data(),
                                          buffers[i].size(), i),
              0);
  }
  for (const auto& [tag, result] : run_all(kFiles)) {
    const std::string expected = content + std::to_string(tag);
    EXPECT_EQ(result, static_cast<std::int64_t>(expected.size()));
    EXPECT_EQ(buffers[tag].substr(0, expected.size()), expected);
  }
  EXPECT_EQ(client.counts().calls, before + 4);
}

TEST_F(LibraryRing, OnesFailureIsNotThatOfOthers) {
  constexpr std::size_t kNames = 300;
  make(kNames);
  put("there", "12345");
  put("empty", "");
  ASSERT_EQ(mkdir("d"), 0);
  ASSERT_EQ(symlink("there", "link"), 0);
  std::vector<stoa_attributes> found(kNames);
  std::vector<std::string> buffers(kNames, std::string(5, '#'));
  const auto is_stat = [](std::size_t i) { return i % 2 == 0; };
  const char* const names[] = {"there", "none", "empty", "link", "d", "none either", "there"};
  for (std::size_t i = 0; i < kNames; ++i) {
    const char* const name = names[i % std::size(names)];
    if (is_stat(i)) {
      ASSERT_EQ(stoa_ring_prepare_stat(ring_, nullptr, name, &found[i], i), 0);
    } else {
      ASSERT_EQ(stoa_ring_prepare_read_file(ring_, nullptr, name, buffers[i].data(), 5, i), 0);
    }
  }
  const auto done = run_all(kNames);
  for (std::size_t i = 0; i < kNames; ++i) {
    const std::string name = names[i % std::size(names)];
    const bool none = name.starts_with("none");
    const std::int64_t read = name == "there" ? 5 : name == "empty" ? 0 : name == "link" ? -ELOOP : -EISDIR;
    EXPECT_EQ(done.at(i), none ? -ENOENT : is_stat(i) ? 0 : read) << i << " " << name;
    if (!is_stat(i) && name == "there") {
      EXPECT_EQ(buffers[i], "12345");
    }
  }
  for (std::size_t i = 0; i < kNames; ++i) ASSERT_EQ(stoa_ring_prepare_stat(ring_, nullptr, "none", &found[i], i), 0);
  for (const auto& [tag, result] : run_all(kNames)) EXPECT_EQ(result, -ENOENT) << tag;
}

TEST_F(LibraryRing, WhatIsWrittenToAFileIsDoneInOrder) {
  constexpr std::size_t kWrites = 200;
  make(2 * kWrites + 2);
  stoa_file* const files[] = {open("f"), open("f"), open("g")};  // two handles of one file
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kWrites; ++i) texts.push_back(pattern(1000 + i) + std::to_string(i));
  for (std::size_t i = 0; i < kWrites; ++i) {
    ASSERT_EQ(stoa_ring_prepare_write(ring_, files[i % 2], texts[i].data(), texts[i].size(), 0, 2 * i), 0);
    ASSERT_EQ(stoa_ring_prepare_write(ring_, files[2], texts[i].data(), texts[i].size(), i, 2 * i + 1), 0);
  }
  std::string back(texts.back().size(), '#');
  ASSERT_EQ(stoa_ring_prepare_fsync(ring_, files[0], 2 * kWrites), 0);
  ASSERT_EQ(stoa_ring_prepare_read(ring_, files[1], back.data(), back.size(), 0, 2 * kWrites + 1), 0);
  for (const auto& [tag, result] : run_all(2 * kWrites + 2)) {
    const std::size_t bytes = tag < 2 * kWrites ? texts[tag / 2].size() : tag == 2 * kWrites ? 0 : back.size();
    EXPECT_EQ(result, static_cast<std::int64_t>(bytes)) << tag;
  }
  EXPECT_EQ(back, texts.back());
  for (stoa_file* const file : files) EXPECT_EQ(stoa_close(file), 0);
  EXPECT_EQ(get("g").substr(kWrites - 1), texts.back());
}

TEST_F(LibraryRing, MoreThanTheSessionHasSlotsIsSubmittedAtOnce) {
  constexpr std::size_t kMany = 4096;
  make(kMany);
  put("f", "x");
  std::vector<stoa_file*> opened;
  for (std::size_t i = 0; i < kMany; ++i)
    ASSERT_EQ(stoa_ring_prepare_open(ring_, nullptr, i % 8 == 0 ? "made" : "f",
                                     i % 8 == 0 ? O_RDWR | O_CREAT : O_RDONLY, 0600, i),
              0);
  EXPECT_EQ(stoa_ring_submit(ring_), static_cast<int>(kMany));
  std::vector<stoa_completion> done(kMany);
  ASSERT_EQ(stoa_ring_wait(ring_, done.data(), kMany, kMany, -1), static_cast<int>(kMany));
  for (const stoa_completion& one : done) {
    ASSERT_EQ(one.result, 0);
    EXPECT_EQ(stoa_close(one.file), 0);
  }
}

TEST_F(LibraryRing, LargeReadsGoByThemselves) {
  constexpr std::size_t kBytes = 1u << 20;
  make(8);
  const std::string content = pattern(3 * kBytes);
  put("f", content);
  stoa_file* const file = open("f", O_RDONLY);
  std::vector<std::string> buffers(8, std::string(kBytes, '#'));
  for (std::size_t i = 0; i < 8; ++i)
    ASSERT_EQ(stoa_ring_prepare_read(ring_, file, buffers[i].data(), kBytes, i * kBytes / 2, i), 0);
  for (const auto& [tag, result] : run_all(8)) {
    const std::string expected = content.substr(std::min(content.size(), tag * kBytes / 2), kBytes);
    EXPECT_EQ(result, static_cast<std::int64_t>(expected.size()));
    EXPECT_EQ(buffers[tag].substr(0, expected.size()), expected);
  }
  EXPECT_EQ(stoa_close(file), 0);
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
