// READDIR and READDIRPLUS: cookies, verifiers, and sizes to the byte.
#include <set>

#include "tests/frontends/nfs/protocol_fixture.h"

namespace stoa::test {
namespace {

class ListingTest : public ExportedTest {
 protected:
  void fill(int files) {
    for (int i = 0; i < files; ++i) {
      const std::string name = "file" + std::to_string(i) + std::string(static_cast<std::size_t>(i % 40), 'x');
      ASSERT_FALSE(nfs->create(root, name).empty());
      expected_.insert(name);
    }
    expected_.insert({".", ".."});
  }
  std::set<std::string> expected_;
};

TEST_F(ListingTest, AnEmptyDirectoryHasDotAndDotDot) {
  const WireListing listing = nfs->readdir(root, 0, 0, 4096);
  ASSERT_EQ(listing.status, NfsStatus::kOk);
  ASSERT_EQ(listing.entries.size(), 2u);
  EXPECT_EQ(listing.entries[0].name, ".");
  EXPECT_EQ(listing.entries[1].name, "..");
  const std::uint64_t id = nfs->attributes(root).fileid;
  EXPECT_EQ(listing.entries[0].fileid, id);
  EXPECT_EQ(listing.entries[1].fileid, id) << "the export's root is its own parent";
  EXPECT_TRUE(listing.end);
  EXPECT_TRUE(listing.dir);
}

TEST_F(ListingTest, GivesEveryNameOnceWhateverThePageSize) {
  fill(200);
  for (const std::uint32_t count : {180u, 512u, 1000u, 4096u, 65'536u, 4u << 20}) {
    std::set<std::string> seen;
    std::uint64_t cookie = 0;
    std::uint64_t verifier = 0;
    while (true) {
      const WireListing page = nfs->readdir(root, cookie, verifier, count);
      ASSERT_EQ(page.status, NfsStatus::kOk);
      EXPECT_LE(page.resok_bytes, count);
      for (const WireEntry& entry : page.entries) {
        EXPECT_TRUE(seen.insert(entry.name).second) << entry.name;
        cookie = entry.cookie;
      }
      verifier = page.verifier;
      if (page.end) break;
      ASSERT_FALSE(page.entries.empty());
    }
    EXPECT_EQ(seen, expected_) << count;
  }
}

TEST_F(ListingTest, PlusGivesAttributesAndHandlesThatWork) {
  fill(100);
  std::set<std::string> seen;
  std::uint64_t cookie = 0;
  std::uint64_t verifier = 0;
  while (true) {
    const WireListing page = nfs->readdirplus(root, cookie, verifier, 1000, 3000);
    ASSERT_EQ(page.status, NfsStatus::kOk);
    EXPECT_LE(page.resok_bytes, 3000u);
    std::size_t names = 0;
    for (const WireEntry& entry : page.entries) {
      EXPECT_TRUE(seen.insert(entry.name).second);
      names += 20 + rpc::padded(entry.name.size());
      cookie = entry.cookie;
      ASSERT_TRUE(entry.attr && entry.handle);
      EXPECT_EQ(entry.attr->fileid, entry.fileid);
      EXPECT_EQ(nfs->attributes(*entry.handle).fileid, entry.fileid);
    }
    EXPECT_LE(names, 1000u);
    verifier = page.verifier;
    if (page.end) break;
  }
  EXPECT_EQ(seen, expected_);
}

TEST_F(ListingTest, FillsThePageToTheLastByte) {
  fill(50);
  const WireListing all = nfs->readdir(root, 0, 0, 65'536);
  ASSERT_TRUE(all.end);
  const auto whole = static_cast<std::uint32_t>(all.resok_bytes);
  const WireListing exact = nfs->readdir(root, 0, 0, whole);
  EXPECT_TRUE(exact.end);
  EXPECT_EQ(exact.resok_bytes, whole);
  const WireListing less = nfs->readdir(root, 0, 0, whole - 1);
  EXPECT_FALSE(less.end);
  EXPECT_EQ(less.entries.size(), all.entries.size() - 1);

  const WireListing plus = nfs->readdirplus(root, 0, 0, 1 << 20, 1 << 20);
  ASSERT_TRUE(plus.end);
  const auto plus_whole = static_cast<std::uint32_t>(plus.resok_bytes);
  EXPECT_TRUE(nfs->readdirplus(root, 0, 0, 1 << 20, plus_whole).end);
  EXPECT_FALSE(nfs->readdirplus(root, 0, 0, 1 << 20, plus_whole - 1).end);
}

TEST_F(ListingTest, IsTooSmallWhenNotOneEntryFits) {
  nfs->create(root, std::string(200, 'n'));
  // 4+84 attributes, 8 verifier, 4+4 end; "." takes 4+8+4+4+8.
  EXPECT_EQ(nfs->readdir(root, 0, 0, 104 + 28).status, NfsStatus::kOk);
  const WireListing small = nfs->readdir(root, 0, 0, 104 + 27);
  EXPECT_EQ(small.status, NfsStatus::kTooSmall);
  EXPECT_TRUE(small.dir);
  EXPECT_EQ(nfs->readdir(root, 0, 0, 0).status, NfsStatus::kTooSmall);
  const WireListing dots = nfs->readdir(root, 0, 0, 104 + 56);
  ASSERT_EQ(dots.entries.size(), 2u);
  EXPECT_EQ(nfs->readdir(root, dots.entries[1].cookie, dots.verifier, 300).status, NfsStatus::kTooSmall);
  EXPECT_EQ(nfs->readdirplus(root, 0, 0, 24, 104 + 28 + 132).status, NfsStatus::kOk);
  EXPECT_EQ(nfs->readdirplus(root, 0, 0, 24, 104 + 28 + 131).status, NfsStatus::kTooSmall);
  EXPECT_EQ(nfs->readdirplus(root, 0, 0, 23, 4096).status, NfsStatus::kTooSmall);
}

TEST_F(ListingTest, AWrongVerifierOrCookieIsABadCookie) {
  fill(5);
  const WireListing page = nfs->readdir(root, 0, 0, 4096);
  const std::uint64_t cookie = page.entries[3].cookie;
  EXPECT_EQ(nfs->readdir(root, cookie, page.verifier, 4096).status, NfsStatus::kOk);
  EXPECT_EQ(nfs->readdir(root, cookie, page.verifier + 1, 4096).status, NfsStatus::kBadCookie);
  EXPECT_EQ(nfs->readdir(root, cookie, 0, 4096).status, NfsStatus::kBadCookie);
  EXPECT_EQ(nfs->readdirplus(root, cookie, 0, 4096, 4096).status, NfsStatus::kBadCookie);
}

TEST_F(ListingTest, GoesOnBehindARemovedEntry) {
  fill(20);
  const WireListing page = nfs->readdir(root, 0, 0, 400);
  ASSERT_FALSE(page.end);
  const WireEntry& last = page.entries.back();
  ASSERT_EQ(nfs->status_of(kRemove, root, last.name), NfsStatus::kOk);
  std::set<std::string> seen;
  for (const WireEntry& entry : page.entries) seen.insert(entry.name);
  const WireListing rest = nfs->readdir(root, last.cookie, page.verifier, 65'536);
  ASSERT_EQ(rest.status, NfsStatus::kOk);
  for (const WireEntry& entry : rest.entries) EXPECT_TRUE(seen.insert(entry.name).second);
  EXPECT_EQ(seen, expected_);
}

TEST_F(ListingTest, OfAFileIsNotDir) {
  const Handle file = nfs->create(root, "f");
  EXPECT_EQ(nfs->readdir(file, 0, 0, 4096).status, NfsStatus::kNotDir);
  EXPECT_EQ(nfs->readdirplus(file, 0, 0, 4096, 4096).status, NfsStatus::kNotDir);
}

TEST_F(ListingTest, NeedsThePermissionToRead) {
  const Handle dir = nfs->mkdir(root, "d", {.mode = 0711});
  NfsCaller other(port, 5, 5);
  EXPECT_EQ(other.readdir(dir, 0, 0, 4096).status, NfsStatus::kAccess);
}

}  // namespace
}  // namespace stoa::test
