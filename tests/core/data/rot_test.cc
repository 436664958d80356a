// Stored bytes that change by themselves are never served, regardless of writes before, beside or behind them.
#include <fcntl.h>
#include <unistd.h>

#include "tests/core/data/data_fixture.h"
#include "tests/core/data/killable_kv.h"
#include "tests/core/data/sizes.h"

namespace stoa::core::test {
namespace {

constexpr std::size_t kBlock = 64u << 10;

class RotTest : public DataTest<LocalBlobs> {
 protected:
  RotTest() { restart(); }
  ~RotTest() override { volume_.reset(); }
  void restart() {
    stop();
    killable_.dead = false;
    metrics_ = std::make_unique<MetricRegistry>();
    blobs_ = LocalBlobs::open(folder_ + "/blobs", *metrics_);
    auto volume = Volume::open(killable_, *blobs_, *metrics_, options_);
    ASSERT_TRUE(volume) << describe(volume.error());
    volume_ = std::move(*volume);
  }
  void kill() {
    killable_.dead = true;
    restart();
  }
  // Flips a bit of the byte at `at` of each host file that `pick` selects; returns their number.
  template <class Pick>
  int flip(Pick pick) {
    int flipped = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ + "/blobs")) {
      if (!entry.is_regular_file()) continue;
      const int fd = ::open(entry.path().c_str(), O_RDWR);
      std::string bytes(static_cast<std::size_t>(entry.file_size()), '\0');
      EXPECT_EQ(::pread(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
      const std::size_t at = pick(bytes);
      if (at != std::string::npos) {
        const char changed = static_cast<char>(bytes[at] ^ 4);
        EXPECT_EQ(::pwrite(fd, &changed, 1, static_cast<off_t>(at)), 1);
        ++flipped;
      }
      ::close(fd);
    }
    return flipped;
  }
  void rot(std::string_view needle) {
    EXPECT_EQ(flip([&](const std::string& bytes) { return bytes.find(needle); }), 1);
  }
  bool is_damaged(FileId id, std::uint64_t offset, std::size_t length = 100) {
    const bool read_says = read(id, offset, length).starts_with("error: corrupt");
    const bool slices_say = read_by_slices(id, offset, length).starts_with("error: corrupt");
    EXPECT_EQ(read_says, slices_say);
    if (read_says) {
      EXPECT_FALSE(volume_->damage().empty());
    }
    return read_says;
  }
  KillableKv killable_{kv_};
};

TEST_F(RotTest, RightAfterAStableWrite) {
  const std::string bytes = text(300'000);
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, bytes, true));
  rot(bytes.substr(100'000, 64));
  EXPECT_TRUE(is_damaged(id, 100'000));
  EXPECT_TRUE(is_damaged(id, 65'536));  // the block
  EXPECT_TRUE(read(id, 0, 1000) == bytes.substr(0, 1000));
}

TEST_F(RotTest, InTheLastBlockOfAFileWhenThereWasAStart) {
  const std::string bytes = text(kBlock + 37'000, 9);
  const auto made = put("f", bytes);
  ASSERT_TRUE(made);
  rot(std::string_view(bytes).substr(kBlock + 30'000, 64));
  restart();
  EXPECT_TRUE(is_damaged(made->attr.id, kBlock + 30'000));
}

TEST_F(RotTest, AfterAnUnstableWriteBeforeAndAfterItsCommit) {
  const std::string bytes = text(5 * kM);
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, bytes));
  rot(bytes.substr(kM, 64));
  EXPECT_TRUE(is_damaged(id, kM));
  ASSERT_TRUE(ns().commit(durable_, {id}));
  EXPECT_TRUE(is_damaged(id, kM));
  rot(bytes.substr(2 * kM, 64));
  EXPECT_TRUE(is_damaged(id, 2 * kM));
  rot(bytes.substr(3 * kM, 64));
  kill();
  EXPECT_TRUE(is_damaged(id, kM));
  EXPECT_TRUE(is_damaged(id, 3 * kM));
  EXPECT_TRUE(read(id, 4 * kM, kM) == bytes.substr(4 * kM));
}

TEST_F(RotTest, OneByteWrittenElsewhereKeepsAllOtherSums) {
  const std::string bytes = text(9 * kM);
  ASSERT_TRUE(put("f", bytes, bytes.size()));
  const FileId id = ns().lookup_key(durable_, {kRootId, "f"})->attr.id;
  ASSERT_TRUE(write(id, 5 * kM, "x", true));
  rot(bytes.substr(kM, 64));
  EXPECT_TRUE(is_damaged(id, kM));
  rot(bytes.substr(5 * kM + 100, 64));  // beside the byte
  EXPECT_TRUE(is_damaged(id, 5 * kM));
  ASSERT_TRUE(volume_->run_scrub());  // does not seal it
  EXPECT_TRUE(is_damaged(id, kM));
  EXPECT_TRUE(is_damaged(id, 5 * kM));
  kill();
  EXPECT_TRUE(is_damaged(id, kM));
  EXPECT_TRUE(is_damaged(id, 5 * kM));
  restart();
  EXPECT_TRUE(is_damaged(id, 5 * kM));
}

TEST_F(RotTest, InAFileThatIsWrittenAllTheTime) {
  std::string bytes = text(3 * kM);
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, bytes, true));
  for (unsigned i = 0; i < 50; ++i) {
    const std::string some = text(3000, i + 10);
    const std::size_t at = (i * 37'123) % (2 * kM);
    ASSERT_TRUE(write(id, at, some, i % 2 == 0));
    bytes.replace(at, some.size(), some);
  }
  EXPECT_TRUE(read(id, 0, 3 * kM) == bytes);
  ASSERT_TRUE(write(id, 100'000, "now", false));
  bytes.replace(100'000, 3, "now");
  rot(bytes.substr(100'100, 64));
  EXPECT_TRUE(is_damaged(id, 100'000));
  ASSERT_TRUE(volume_->flush());
  EXPECT_TRUE(is_damaged(id, 100'000));
  rot(bytes.substr(2'500'000, 64));  // of the same row, and read before
  restart();
  EXPECT_TRUE(is_damaged(id, 100'000));
  EXPECT_TRUE(is_damaged(id, 2'500'000));
  EXPECT_TRUE(read(id, 200'000, 100'000) == bytes.substr(200'000, 100'000));
}

TEST_F(RotTest, InTailsThatWereAppended) {
  const FileId id = create("log");
  std::string bytes;
  for (unsigned i = 0; i < 400; ++i) {
    const std::string line = text(i % 7 == 0 ? 5000 : 111, i + 1);
    ASSERT_TRUE(write(id, bytes.size(), line, i % 3 == 0));
    bytes += line;
  }
  ASSERT_TRUE(ns().commit(durable_, {id}));
  rot(bytes.substr(bytes.size() - 80, 64));
  EXPECT_TRUE(is_damaged(id, bytes.size() - 80, 80));
  rot(bytes.substr(20'000, 64));
  EXPECT_TRUE(is_damaged(id, 20'000));
  ASSERT_TRUE(write(id, bytes.size(), "more", true));  // behind damaged bytes; does not seal them
  EXPECT_TRUE(is_damaged(id, bytes.size(), 4));
  kill();
  EXPECT_TRUE(is_damaged(id, bytes.size() - 80, 80));
}

TEST_F(RotTest, ABlockThatIsOverwrittenInPartIsComparedFirst) {
  const std::string bytes = text(2 * kM);
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, bytes, true));
  restart();
  rot(bytes.substr(kM + 10'000, 64));
  EXPECT_EQ(write(id, kM, "partly").error().code, Errc::kCorrupt);
  EXPECT_EQ(volume_->damage().size(), 1u);
  EXPECT_TRUE(is_damaged(id, kM));
  EXPECT_FALSE(ns().punch(durable_, {id, kM, 1000}));
  EXPECT_TRUE(is_damaged(id, kM));
  restart();
  EXPECT_TRUE(is_damaged(id, kM));
  // Overwriting all of it heals it.
  const std::string whole = text(kBlock, 9);
  ASSERT_TRUE(write(id, kM, whole, true));
  EXPECT_TRUE(read(id, kM, kBlock) == whole);
  restart();
  EXPECT_TRUE(read(id, kM, kBlock) == whole);
  ASSERT_TRUE(volume_->run_scrub());
  EXPECT_TRUE(volume_->damage().empty());
}

TEST_F(RotTest, BesideBytesThatAreOverwrittenAgainAndAgain) {
  const std::string bytes = text(2 * kM);
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, bytes, true));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(write(id, kM, text(500, static_cast<unsigned>(i)), true));
  rot(bytes.substr(kM + 10'000, 64));
  ASSERT_TRUE(write(id, kM, text(500, 77), true));  // from memory: the block was compared before
  EXPECT_TRUE(is_damaged(id, kM));
  EXPECT_TRUE(is_damaged(id, kM + 10'000));
  restart();
  EXPECT_TRUE(is_damaged(id, kM + 10'000));
}

TEST_F(RotTest, AroundTheEndOfAFileThatWasCutAndGrewAgain) {
  const std::string bytes = text(12 * kM);
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, bytes, true));
  for (const std::size_t size : {10 * kM + 77, 9 * kM - 5, 3 * kM + 1000, kM + 3}) {
    ASSERT_TRUE(truncate(id, size));
    EXPECT_TRUE(read(id, size - 100, 200) == bytes.substr(size - 100, 100)) << size;
    ASSERT_TRUE(write(id, size + 50, "behind", true));
    EXPECT_TRUE(read(id, size - 100, 300) == bytes.substr(size - 100, 100) + std::string(50, '\0') + "behind") << size;
    restart();
    EXPECT_TRUE(read(id, size - 100, 300) == bytes.substr(size - 100, 100) + std::string(50, '\0') + "behind") << size;
    kill();
    EXPECT_TRUE(read(id, size - 100, 300) == bytes.substr(size - 100, 100) + std::string(50, '\0') + "behind") << size;
  }
  rot(bytes.substr(kM - 90, 64));
  restart();
  EXPECT_TRUE(is_damaged(id, kM - 90));
}

TEST_F(RotTest, WhatRottedIsNotCopiedAway) {
  const std::string bytes = text(3 * kM);
  const FileId id = create("f"), copy = create("copy");
  ASSERT_TRUE(write(id, 0, bytes, true));
  ASSERT_TRUE(ns().copy_range(durable_, {id, 0, copy, 0, 3 * kM, true}));
  restart();
  rot(bytes.substr(kM + 5000, 64));
  EXPECT_EQ(write(copy, kM, "x").error().code, Errc::kCorrupt);  // would copy the bytes around it
  EXPECT_EQ(ns().copy_range(durable_, {id, 0, copy, 5 * kM, 3 * kM, false}).error().code, Errc::kCorrupt);
  ASSERT_TRUE(write(copy, 2 * kM + 10, "own", true));
  rot("own" + bytes.substr(2 * kM + 13, 50));
  EXPECT_TRUE(is_damaged(copy, 2 * kM + 10));
  EXPECT_TRUE(read(id, 2 * kM, 1000) == bytes.substr(2 * kM, 1000));
}

TEST_F(RotTest, AfterHolesArePunchedAndSpaceIsAllocated) {
  std::string bytes = text(9 * kM);
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, bytes, true));
  ASSERT_TRUE(ns().punch(durable_, {id, kM + 1000, 5 * kM}));
  std::fill_n(bytes.begin() + kM + 1000, 5 * kM, '\0');
  EXPECT_TRUE(read(id, 0, 9 * kM) == bytes);
  ASSERT_TRUE(ns().allocate(durable_, {id, 9 * kM, 3 * kM}));
  bytes.resize(12 * kM);
  ASSERT_TRUE(write(id, 10 * kM, "there", true));
  bytes.replace(10 * kM, 5, "there");
  kill();
  EXPECT_TRUE(read(id, 0, 8 * kM) == bytes.substr(0, 8 * kM));
  EXPECT_TRUE(read(id, 8 * kM, 8 * kM) == bytes.substr(8 * kM));
  rot("there" + std::string(40, 0));
  rot(bytes.substr(kM + 900, 64));
  rot(bytes.substr(6 * kM + 1000, 64));
  restart();
  EXPECT_TRUE(is_damaged(id, 10 * kM));
  EXPECT_TRUE(is_damaged(id, kM + 900));
  EXPECT_TRUE(is_damaged(id, 6 * kM + 1000));
}

TEST_F(RotTest, InTheLastBlockOfAFileThatWasMadeLonger) {
  const std::string bytes = text(100'000);
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, bytes, true));
  ASSERT_TRUE(truncate(id, 300'000));
  restart();
  rot(bytes.substr(90'000, 64));
  ASSERT_TRUE(volume_->run_scrub());  // sums blocks without a sum, and not that one
  EXPECT_TRUE(is_damaged(id, 90'000));
  EXPECT_EQ(write(id, 110'000, "in its block").error().code, Errc::kCorrupt);
  restart();
  EXPECT_TRUE(is_damaged(id, 90'000));
}

// Random changes, flips, stops and kills: a read returns the written bytes, or an error where a bit was flipped.
TEST_F(RotTest, RandomFlipsBesideATwin) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto offset_in = [&](std::size_t size) {
    switch (random() % 4) {
      case 0:
        return size;
      case 1:
        return std::size_t{random()} % (size + 1) / 4096 * 4096;
      case 2:
        return std::size_t{random()} % (size + 1) / kBlock * kBlock;
      default:
        return std::size_t{random()} % (size + 1);
    }
  };
  for (int round = 0; round < 6; ++round) {
    const std::string name = "f" + std::to_string(round);
    const FileId id = create(name);
    std::string twin;
    bool told = false;
    for (int step = 0; step < 120; ++step) {
      const unsigned what = random() % 100;
      SCOPED_TRACE("round " + std::to_string(round) + " step " + std::to_string(step) + " operation " +
                   std::to_string(what));
      const std::size_t at = offset_in(twin.size());
      if (what < 60) {
        const std::string bytes = text(random() % (random() % 8 == 0 ? 700'000 : 9000) + 1, random());
        ASSERT_TRUE(write(id, at, bytes, random() % 2 == 0));
        if (twin.size() < at + bytes.size()) twin.resize(at + bytes.size());
        twin.replace(at, bytes.size(), bytes);
      } else if (what < 68) {
        const std::size_t size = random() % 3 == 0 ? twin.size() + random() % 200'000 : at;
        ASSERT_TRUE(truncate(id, size));
        twin.resize(size);
      } else if (what < 74) {
        const std::size_t length = random() % 300'000 + 1;
        ASSERT_TRUE(ns().punch(durable_, {id, at, length}));
        if (at < twin.size())
          std::fill_n(twin.begin() + static_cast<std::ptrdiff_t>(at), std::min(length, twin.size() - at), '\0');
      } else if (what < 78) {
        ASSERT_TRUE(ns().commit(durable_, {id}));
      } else if (what < 82) {
        ASSERT_TRUE(ns().commit(durable_, {id}));
        kill();
      } else if (what < 85) {
        restart();
      } else if (what < 88) {
        ASSERT_TRUE(volume_->run_scrub());
      }
      if (this->HasFailure()) return;
      const std::size_t from = offset_in(twin.size());
      const std::string expected = from < twin.size() ? twin.substr(from, 50'000) : "";
      ASSERT_TRUE(read(id, from, 50'000) == expected) << read(id, from, 50'000).substr(0, 100);
    }
    EXPECT_TRUE(volume_->damage().empty()) << volume_->damage().front().offset;
    ASSERT_TRUE(volume_->run_scrub());  // sums blocks whose sums the kills took
    ASSERT_TRUE(write(id, 0, text(30'000, random()), random() % 2 == 0));
    twin.replace(0, std::min<std::size_t>(30'000, twin.size()), read(id, 0, 30'000));
    twin = read(id, 0, 32 * kM);
    ASSERT_FALSE(twin.starts_with("error"));
    restart();
    // Wherever a byte of the file lies.
    const std::string needle = twin.substr(twin.size() / 2, 48);
    if (needle.find_first_not_of('\0') == std::string::npos || needle.size() < 48) continue;
    if (flip([&](const std::string& bytes) { return bytes.find(needle); }) == 0) continue;
    for (std::size_t from = 0; from < twin.size(); from += 10'000) {
      const std::string got = read(id, from, 10'000);
      if (got.starts_with("error: corrupt")) {
        told = true;
      } else {
        ASSERT_TRUE(got == twin.substr(from, 10'000)) << from;
      }
    }
    EXPECT_TRUE(told);
    ASSERT_TRUE(ns().unlink(durable_, {kRootId, name}));
    ASSERT_TRUE(volume_->run_gc());
    restart();
  }
}

}  // namespace
}  // namespace stoa::core::test
