// READDIR.
#include <set>

#include "tests/frontends/nfs/v4/operation_fixture.h"

namespace stoa::test {
namespace {

struct Entry {
  std::uint64_t cookie = 0;
  std::string name;
  Bytes values;
};
struct Page {
  Nfs4Status status{};
  std::uint64_t verifier = 0;
  std::vector<Entry> entries;
  bool end = false;
  std::size_t bytes = 0;
};

class Nfs4Listing : public OperationTest {
 protected:
  Nfs4Listing() { EXPECT_EQ(put_root(), Nfs4Status::kOk); }
  Page list(std::uint64_t cookie = 0, std::uint64_t verifier = 0, std::uint32_t maxcount = 1 << 20,
            const Bitmap& wanted = {}, std::uint32_t dircount = 0) {
    Page page;
    page.status =
        run(nfs4::op_readdir, Xdr().u64(cookie).u64(verifier).u32(dircount).u32(maxcount).raw(encoded(wanted)));
    if (page.status != Nfs4Status::kOk) return page;
    page.bytes = in.left();
    page.verifier = in.u64();
    while (in.boolean()) {
      Entry entry{.cookie = in.u64(), .name = std::string(in.string(255))};
      EXPECT_EQ(Bitmap::decode(in), wanted);
      const auto values = in.opaque(1 << 20);
      entry.values.assign(values.begin(), values.end());
      page.entries.push_back(std::move(entry));
    }
    page.end = in.boolean();
    EXPECT_TRUE(in.ok() && in.left() == 0);
    return page;
  }
};

TEST_F(Nfs4Listing, DotAndDotDotAreNotListed) {
  const Page empty = list();
  EXPECT_EQ(empty.status, Nfs4Status::kOk);
  EXPECT_TRUE(empty.entries.empty());
  EXPECT_TRUE(empty.end);
  make_file("a");
  const Page one = list();
  ASSERT_EQ(one.entries.size(), 1u);
  EXPECT_EQ(one.entries[0].name, "a");
  EXPECT_GE(one.entries[0].cookie, 3u);
  EXPECT_TRUE(one.end);
}

TEST_F(Nfs4Listing, PagesAreWithinMaxcountAndMissNothing) {
  std::set<std::string> all;
  for (int i = 0; i < 200; ++i) {
    const std::string name = "file-" + std::to_string(i);
    make_file(name);
    all.insert(name);
  }
  const Bitmap wanted{Attr::kType, Attr::kFileId, Attr::kMode, Attr::kFilehandle};
  for (const std::uint32_t dircount : {0u, 100u}) {
    std::set<std::string> seen;
    Page page;
    std::size_t pages = 0;
    do {
      page = list(page.entries.empty() ? 0 : page.entries.back().cookie, page.verifier, 1000, wanted, dircount);
      ASSERT_EQ(page.status, Nfs4Status::kOk);
      ASSERT_FALSE(page.entries.empty());
      EXPECT_LE(page.bytes, 1000u);
      for (const Entry& entry : page.entries) EXPECT_TRUE(seen.insert(entry.name).second) << entry.name;
      ++pages;
    } while (!page.end);
    EXPECT_EQ(seen, all);
    EXPECT_GT(pages, 10u);
  }
}

TEST_F(Nfs4Listing, AttributesAreThoseOfTheEntries) {
  const core::FileId file = make_file("a", "hello", 0604);
  const Page page = list(0, 0, 1 << 20, {Attr::kSize, Attr::kRdattrError, Attr::kFileId, Attr::kMode});
  ASSERT_EQ(page.entries.size(), 1u);
  rpc::XdrReader v(page.entries[0].values);
  EXPECT_EQ(v.u64(), 5u);
  EXPECT_EQ(v.u32(), 0u);
  EXPECT_EQ(v.u64(), static_cast<std::uint64_t>(file));
  EXPECT_EQ(v.u32(), 0604u);
  EXPECT_EQ(v.left(), 0u);
  // Without a look at the file.
  const Page quick = list(0, 0, 1 << 20, {Attr::kType, Attr::kFileId});
  ASSERT_EQ(quick.entries.size(), 1u);
  rpc::XdrReader q(quick.entries[0].values);
  EXPECT_EQ(q.u32(), 1u);
  EXPECT_EQ(q.u64(), static_cast<std::uint64_t>(file));
}

TEST_F(Nfs4Listing, WhatMakesNoSenseIsRefused) {
  make_file("a");
  const Page page = list();
  EXPECT_EQ(list(1, page.verifier).status, Nfs4Status::kBadCookie);
  EXPECT_EQ(list(2, page.verifier).status, Nfs4Status::kBadCookie);
  EXPECT_EQ(list(1 << 30, page.verifier).status, Nfs4Status::kBadCookie);
  EXPECT_EQ(list(page.entries[0].cookie, page.verifier + 1).status, Nfs4Status::kNotSame);
  EXPECT_EQ(list(0, 0, 15).status, Nfs4Status::kTooSmall);
  EXPECT_EQ(list(0, 0, 30).status, Nfs4Status::kTooSmall);
  EXPECT_EQ(list(0, 0, 1 << 20, {Attr::kTimeModifySet}).status, Nfs4Status::kInval);
  ASSERT_EQ(lookup("a"), Nfs4Status::kOk);
  EXPECT_EQ(list().status, Nfs4Status::kNotDir);
}

TEST_F(Nfs4Listing, TheListingNeedsPermission) {
  ASSERT_TRUE(volume->ns().setattr({}, {.id = root, .set = {.mode = 0711}}));
  begin(2, 1000);
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  EXPECT_EQ(list().status, Nfs4Status::kAccess);
}

TEST_F(Nfs4Listing, ThePseudoRootListsTheRootsOfTheExports) {
  publish("hidden", {{.network = *core::Network::parse("10.0.0.0/8")}});
  const core::FileId second = publish("second", {anyone()});
  const core::FileId gone = publish("gone", {anyone()});
  EXPECT_NE(gone, second);
  ASSERT_TRUE(volume->ns().rmdir({}, {core::kRootId, "gone"}));
  begin();
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  const Bitmap wanted{Attr::kFsid, Attr::kFileId, Attr::kMountedOnFileId};
  const Page page = list(0, 0, 1 << 20, wanted);
  ASSERT_EQ(page.entries.size(), 2u);
  EXPECT_TRUE(page.end);
  EXPECT_EQ(page.entries[0].name, "test");
  EXPECT_EQ(page.entries[1].name, "second");
  rpc::XdrReader v(page.entries[1].values);
  EXPECT_EQ(v.u64(), volume->info().id);
  EXPECT_NE(v.u64(), 0u);
  EXPECT_EQ(v.u64(), static_cast<std::uint64_t>(second));
  EXPECT_NE(v.u64(), static_cast<std::uint64_t>(second));
  // The rest behind a cookie.
  const Page rest = list(page.entries[0].cookie, page.verifier, 1 << 20, wanted);
  ASSERT_EQ(rest.entries.size(), 1u);
  EXPECT_EQ(rest.entries[0].name, "second");
}

}  // namespace
}  // namespace stoa::test
