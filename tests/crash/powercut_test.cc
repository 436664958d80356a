// The simulation is a measuring instrument: these tests calibrate it.
#include "tests/crash/powercut.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace stoa::crash {
namespace {

namespace fs = std::filesystem;

class PowerCutTest : public ::testing::Test {
 protected:
  PowerCutTest() {
    // Not below /tmp by force: O_DIRECT and holes need a real file system, which the build folder is on.
    std::string pattern = (fs::current_path() / "powercut.XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    data_ = folder_ / "data";
    fs::create_directory(data_);
    EXPECT_TRUE(prepare_power_cut((folder_ / "journal").string()));
  }
  ~PowerCutTest() override { fs::remove_all(folder_); }

  // Runs the victim below the preloaded library and kills it when it has done everything.
  void run(const std::vector<std::string>& arguments) {
    int out[2];
    ASSERT_EQ(::pipe(out), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::dup2(out[1], 1);
      ::close(out[0]);
      ::close(out[1]);
      if (::chdir(data_.c_str()) != 0) ::_exit(127);
      ::setenv("LD_PRELOAD", STOA_POWERCUT_PRELOAD, 1);
      ::setenv("STOA_POWERCUT_ROOTS", data_.c_str(), 1);
      ::setenv("STOA_POWERCUT_JOURNAL", (folder_ / "journal").c_str(), 1);
      std::vector<char*> argv{const_cast<char*>(STOA_POWERCUT_VICTIM)};
      for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(out[1]);
    char byte = 0;
    ASSERT_EQ(::read(out[0], &byte, 1), 1) << "the victim failed";
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    ::close(out[0]);
  }

  void cut(PowerCut how = PowerCut::kEverything, std::uint64_t seed = 1) {
    const auto report = cut_power(data_.string(), (folder_ / "journal").string(), how, seed);
    ASSERT_TRUE(report) << describe(report.error());
  }

  std::string content(const std::string& name) {
    std::ifstream in(data_ / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return in ? text.str() : "(absent)";
  }

  fs::path folder_, data_;
};

TEST_F(PowerCutTest, WhatWasNotSyncedIsLost) {
  run({"write", "f", "old", "sync", "f", "syncdir", ".", "at", "f", "0", "NEW and longer"});
  EXPECT_EQ(content("f"), "NEW and longer");
  cut();
  EXPECT_EQ(content("f"), "old");
}

TEST_F(PowerCutTest, WhatWasSyncedStays) {
  run({"write", "f", "old", "at", "f", "1", "ew", "sync", "f", "syncdir", "."});
  cut();
  EXPECT_EQ(content("f"), "oew");
}

TEST_F(PowerCutTest, NothingIsLostWhenAllReachedTheDisk) {
  run({"write", "f", "text"});
  cut(PowerCut::kNothing);
  EXPECT_EQ(content("f"), "text");
}

TEST_F(PowerCutTest, ANameIsLostUntilItsDirectoryIsSynced) {
  run({"write", "f", "text", "sync", "f"});
  cut();
  EXPECT_EQ(content("f"), "(absent)");
}

TEST_F(PowerCutTest, AppendsBehindTheLastSyncAreCutOff) {
  run({"write", "f", "one", "syncdir", ".", "append", "f", "two", "sync", "f", "append", "f", "three", "append", "f",
       "four"});
  EXPECT_EQ(content("f"), "onetwothreefour");
  cut();
  EXPECT_EQ(content("f"), "onetwo");
}

TEST_F(PowerCutTest, ACutTailComesBack) {
  run({"write", "f", "0123456789", "sync", "f", "syncdir", ".", "cut", "f", "4"});
  EXPECT_EQ(content("f"), "0123");
  cut();
  EXPECT_EQ(content("f"), "0123456789");
}

TEST_F(PowerCutTest, APunchedRangeComesBack) {
  const std::string text(20000, 'x');
  run({"write", "f", text, "sync", "f", "syncdir", ".", "punch", "f", "4000", "9000"});
  EXPECT_NE(content("f"), text);
  cut();
  EXPECT_EQ(content("f"), text);
}

TEST_F(PowerCutTest, TruncatingOpenIsTakenBack) {
  run({"write", "f", "precious", "sync", "f", "syncdir", ".", "write", "f", "new"});
  cut();
  EXPECT_EQ(content("f"), "precious");
}

TEST_F(PowerCutTest, RenameOverAFileIsTakenBackUntilTheDirectoryIsSynced) {
  run({"write", "a", "new", "sync", "a", "write", "b", "old", "sync", "b", "syncdir", ".", "rename", "a", "b"});
  EXPECT_EQ(content("b"), "new");
  cut();
  EXPECT_EQ(content("a"), "new");
  EXPECT_EQ(content("b"), "old");
}

TEST_F(PowerCutTest, RenameStaysOnceTheDirectoryIsSynced) {
  run({"write", "a", "new", "sync", "a", "write", "b", "old", "sync", "b", "rename", "a", "b", "syncdir", "."});
  cut();
  EXPECT_EQ(content("a"), "(absent)");
  EXPECT_EQ(content("b"), "new");
}

TEST_F(PowerCutTest, ARemovedFileComesBackWithItsContent) {
  run({"write", "f", "text", "sync", "f", "syncdir", ".", "at", "f", "0", "TEXT", "unlink", "f"});
  cut();
  EXPECT_EQ(content("f"), "text");
}

TEST_F(PowerCutTest, ANewDirectoryIsLostWithAllInIt) {
  run({"mkdir", "d", "write", "d/f", "text", "sync", "d/f", "syncdir", "d"});
  cut();
  EXPECT_FALSE(fs::exists(data_ / "d"));
}

TEST_F(PowerCutTest, DirectWritesAreNotSyncedByThemselves) {
  run({"write", "f", "", "sync", "f", "syncdir", ".", "big", "f", "2"});
  EXPECT_EQ(content("f").size(), 2u << 20);
  cut();
  EXPECT_EQ(content("f"), "");
}

TEST_F(PowerCutTest, SeveralWritesOfOneBlockGoBackToTheFirst) {
  run({"write", "f", "aaaa", "sync", "f", "syncdir", ".", "at", "f", "0", "bb", "at", "f", "1", "cc", "at", "f", "0",
       "dddddd"});
  cut();
  EXPECT_EQ(content("f"), "aaaa");
}

TEST_F(PowerCutTest, ARandomCutLeavesEachBlockOldOrNew) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    fs::remove(data_ / "f");
    run({"write", "f", std::string(12288, 'o'), "sync", "f", "syncdir", ".", "at", "f", "0", std::string(12288, 'n')});
    cut(PowerCut::kRandom, seed);
    const std::string text = content("f");
    ASSERT_EQ(text.size(), 12288u);
    std::string blocks;
    for (std::size_t block = 0; block < 3; ++block) {
      const std::string part = text.substr(block * 4096, 4096);
      ASSERT_TRUE(part == std::string(4096, 'o') || part == std::string(4096, 'n'));
      blocks += part[0];
    }
    seen.insert(blocks);
  }
  EXPECT_GE(seen.size(), 3u) << "the seeds give too few different outcomes";
}

}  // namespace
}  // namespace stoa::crash
