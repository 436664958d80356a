// NFSv3: each operation that has an offset, a count or a size, with values at which arithmetic goes wrong. The answer
// is RFC 1813's; a refused call has changed nothing, and the server goes on.
#include "tests/frontends/nfs/awkward_values.h"
#include "tests/frontends/nfs/protocol_fixture.h"

namespace stoa::test {
namespace {

constexpr std::uint32_t kReadMax = 1u << 20;

class AwkwardTest : public ExportedTest, public testing::WithParamInterface<Store> {
 protected:
  AwkwardTest() : ExportedTest(GetParam()) {
    for (std::size_t i = 0; i < 10'007; ++i) content_ += static_cast<char>('a' + i * 7 % 26);
    file_ = nfs->create(root, "file");
    EXPECT_EQ(nfs->write(file_, 0, content_), NfsStatus::kOk);
    before_ = nfs->attributes(file_);
  }
  void expect_untouched(std::uint64_t a, std::uint64_t b) {
    const WireAttributes now = nfs->attributes(file_);
    EXPECT_EQ(now.size, before_.size) << a << ' ' << b;
    EXPECT_EQ(now.mtime, before_.mtime) << a << ' ' << b;
    EXPECT_EQ(now.ctime, before_.ctime) << a << ' ' << b;
    EXPECT_TRUE(nfs->read(file_) == content_) << a << ' ' << b;
  }

  std::string content_;
  Handle file_;
  WireAttributes before_;
};

TEST_P(AwkwardTest, ReadGivesWhatIsThereAndNoMore) {
  for (const std::uint64_t offset : kAwkward) {
    for (const std::uint32_t count : kAwkwardCounts) {
      NfsResult result = nfs->read_call(file_, offset, count);
      ASSERT_TRUE(result.ok()) << offset << ' ' << count;
      ASSERT_TRUE(read_post_op(result.in));
      const std::string expected =
          offset >= content_.size() ? std::string() : content_.substr(offset, std::min(count, kReadMax));
      EXPECT_EQ(result.in.u32(), expected.size());
      EXPECT_EQ(result.in.boolean(), offset >= content_.size() || offset + expected.size() == content_.size())
          << offset << ' ' << count;
      EXPECT_TRUE(result.in.string(kReadMax) == expected) << offset << ' ' << count;
      EXPECT_EQ(result.in.left(), 0u);
    }
  }
  expect_untouched(0, 0);
}

TEST_P(AwkwardTest, WriteTakesWhatEndsWithinTheLargestFileAndNothingElse) {
  for (const std::uint64_t offset : kAwkward) {
    for (const std::size_t count : {0u, 1u, 3u, 4097u}) {
      const std::string data(count, 'Z');
      const NfsStatus status = nfs->write(file_, offset, data);
      if (offset > kTwo63 - 1 || count > kTwo63 - 1 - offset) {
        EXPECT_EQ(status, NfsStatus::kFBig) << offset << ' ' << count;
      } else if (offset < (1ull << 40)) {
        EXPECT_EQ(status, NfsStatus::kOk) << offset << ' ' << count;
      } else {
        // The answer of the host's file system.
        EXPECT_TRUE(status == NfsStatus::kOk || status == NfsStatus::kFBig || status == NfsStatus::kNoSpc)
            << static_cast<int>(status);
      }
      if (status != NfsStatus::kOk || count == 0) {
        expect_untouched(offset, count);
        continue;
      }
      EXPECT_EQ(nfs->attributes(file_).size, std::max<std::uint64_t>(content_.size(), offset + count));
      EXPECT_EQ(nfs->read(file_, offset, static_cast<std::uint32_t>(count)), data);
      // Unchanged.
      ASSERT_TRUE(nfs->setattr(file_, {.size = content_.size()}).ok());
      if (offset < content_.size()) {
        ASSERT_EQ(nfs->write(file_, offset, content_.substr(offset, count)), NfsStatus::kOk);
      }
      ASSERT_TRUE(nfs->read(file_) == content_) << offset << ' ' << count;
      before_ = nfs->attributes(file_);
    }
  }
}

TEST_P(AwkwardTest, CommitTakesAnyRange) {
  for (const std::uint64_t offset : kAwkward) {
    for (const std::uint32_t count : kAwkwardCounts) {
      ASSERT_TRUE(nfs->call(kCommit, Xdr().opaque(file_).u64(offset).u32(count)).ok()) << offset << ' ' << count;
    }
  }
  expect_untouched(0, 0);
}

TEST_P(AwkwardTest, ASizeIsSetWithinTheLargestFileAndWhatItUncoversIsZeros) {
  for (const std::uint64_t size : kAwkward) {
    const Handle file = nfs->create(root, "s" + std::to_string(size));
    ASSERT_EQ(nfs->write(file, 0, content_), NfsStatus::kOk);
    const WireAttributes was = nfs->attributes(file);
    const NfsStatus status = nfs->setattr(file, {.size = size}).status;
    if (size > kTwo63 - 1) {
      EXPECT_EQ(status, NfsStatus::kInval) << size;
      EXPECT_EQ(nfs->attributes(file).ctime, was.ctime);
      EXPECT_TRUE(nfs->read(file) == content_);
      continue;
    }
    ASSERT_EQ(status, NfsStatus::kOk) << size;
    EXPECT_EQ(nfs->attributes(file).size, size);
    ASSERT_TRUE(nfs->setattr(file, {.size = content_.size()}).ok());
    std::string expected = content_.substr(0, size);
    expected.resize(content_.size());
    EXPECT_TRUE(nfs->read(file) == expected) << size;
  }
}

TEST_P(AwkwardTest, AListingIsNeverLongerThanWasAskedFor) {
  for (int i = 0; i < 20; ++i) nfs->create(root, "entry" + std::to_string(i));
  const std::uint64_t verifier = nfs->readdir(root, 0, 0, 65'536).verifier;
  for (const std::uint64_t cookie : kAwkward) {
    const bool known = cookie < 20 || cookie == 1ull << 62;  // the last is that of the bin; others were never given out
    const auto right = [&](const WireListing& list, std::uint32_t count, bool may_be_small) {
      if (list.status == NfsStatus::kOk) return known && list.resok_bytes <= count;
      return (list.status == NfsStatus::kBadCookie && !known) || (list.status == NfsStatus::kTooSmall && may_be_small);
    };
    for (const std::uint32_t count : {0u, 1u, 3u, 99u, 127u, 128u, 129u, 300u, 1u << 20, 1u << 31, ~0u}) {
      EXPECT_TRUE(right(nfs->readdir(root, cookie, verifier, count), count, count < 400)) << cookie << ' ' << count;
      for (const std::uint32_t names : {0u, 1u, 100u, ~0u}) {
        EXPECT_TRUE(right(nfs->readdirplus(root, cookie, verifier, names, count), count, count < 400 || names < 100))
            << cookie << ' ' << count << ' ' << names;
      }
    }
    if (cookie != 0) {
      EXPECT_EQ(nfs->readdir(root, cookie, verifier + 1, 4096).status, NfsStatus::kBadCookie);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, AwkwardTest, testing::Values(Store::kMemory, Store::kDisk),
                         [](const auto& info) { return info.param == Store::kMemory ? "Memory" : "Disk"; });

}  // namespace
}  // namespace stoa::test
