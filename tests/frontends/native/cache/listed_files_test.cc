// Files of a directory in the order of its listing, as they are told for reading ahead.
#include "tests/frontends/native/cache/leased_fixture.h"

namespace stoa::native {
namespace {

class ListedFiles : public LeasedFixture {
 protected:
  void fill(core::FileId file, std::size_t size) {
    const std::vector<std::byte> data(size, std::byte{1});
    EXPECT_TRUE(other().write(root, file, 0, 0, data, {}));
  }
  core::FileId make_filled(const std::string& name, std::size_t size, std::uint32_t mode = 0644) {
    const core::FileId file = make_file(name, mode, dir);
    if (size != 0) fill(file, size);
    return file;
  }
  void list(std::uint32_t most = 1000) {
    (void)leased().readdir(root, {.dir = dir, .entries_max = most, .want_attributes = true});
  }
  std::vector<core::FileId> told(const Asker& asker, ListedWish wish = {}) {
    wish.entries_most = wish.files_most = 1000;
    wish.size_most = 100;
    wish.bytes_most = 1'000'000;
    std::vector<core::FileId> ids;
    for (const ListedFile& one : leased().listed(asker.cred, dir, wish).files) ids.push_back(one.id);
    return ids;
  }
  const core::FileId dir = make_dir("d");
};

TEST_F(ListedFiles, AreThoseWithContentThatAreNotTooLarge) {
  make_filled("empty", 0);
  const core::FileId one = make_filled("one", 1), most = make_filled("most", 100);
  make_filled("large", 101);
  const auto link = make_filled("linked", 10);
  ASSERT_TRUE(other().link(root, {.id = link, .parent = dir, .name = "link"}));
  ASSERT_TRUE(other().mkdir(root, {.parent = dir, .name = "directory"}));
  EXPECT_TRUE(told(root).empty()) << "nothing is known yet";
  list();
  EXPECT_EQ(told(root), (std::vector{one, most}));
  recall(dir);
  EXPECT_TRUE(told(root).empty());
}

TEST_F(ListedFiles, AreToldInPieces) {
  std::vector<core::FileId> files;
  for (int i = 0; i < 10; ++i) files.push_back(make_filled("f" + std::to_string(i), 10));
  list();
  ListedWish wish{.entries_most = 100, .files_most = 4, .size_most = 10, .bytes_most = 30};
  Listed found = leased().listed(root.cred, dir, wish);
  EXPECT_EQ(found.files.size(), 3u) << "no more bytes are wanted";
  EXPECT_EQ(found.entries, 12u);
  EXPECT_FALSE(found.end);
  wish.bytes_most = 1000;
  wish.after = found.next;
  found = leased().listed(root.cred, dir, wish);
  ASSERT_EQ(found.files.size(), 4u);
  EXPECT_EQ(found.files[0].id, files[3]);
  EXPECT_EQ(leased().place_in_listing(dir, files[6]), found.next);
  wish.after = found.next;
  found = leased().listed(root.cred, dir, wish);
  EXPECT_EQ(found.files.size(), 3u);
  EXPECT_TRUE(found.end);
  EXPECT_EQ(leased().place_in_listing(dir, core::FileId{99'999}), 0u);
}

TEST_F(ListedFiles, APieceOfAListingHasNoEnd) {
  for (int i = 0; i < 10; ++i) make_filled("f" + std::to_string(i), 10);
  list(5);
  const Listed found =
      leased().listed(root.cred, dir, {.entries_most = 100, .files_most = 100, .size_most = 10, .bytes_most = 1000});
  EXPECT_FALSE(found.files.empty());
  EXPECT_FALSE(found.end);
}

TEST_F(ListedFiles, WhatWasOpenedIsToldWhenItIsWanted) {
  const core::FileId one = make_filled("one", 1), two = make_filled("two", 1);
  list();
  const auto opened = leased().open(root, {.id = one, .access = core::kShareRead});
  ASSERT_TRUE(opened);
  leased().close(root, opened->open);
  EXPECT_EQ(told(root), (std::vector{two}));
  EXPECT_EQ(told(root, {.opened = true}), (std::vector{one, two}));
}

TEST_F(ListedFiles, WhatTheUserMayNotReadIsNotTold) {
  const core::FileId secret = make_filled("secret", 1, 0600), open = make_filled("open", 1);
  list();
  EXPECT_EQ(told(ann), (std::vector{open})) << "nothing is known of the other one";
  EXPECT_EQ(told(root), (std::vector{open})) << "who root is to the server is not known either";
  ASSERT_EQ(*leased().access(ann, secret, core::kAccessRead), 0u);
  ASSERT_EQ(*leased().access(root, secret, core::kAccessRead), core::kAccessRead);
  EXPECT_EQ(told(ann), (std::vector{open}));
  EXPECT_EQ(told(root), (std::vector{secret, open}));
}

TEST_F(ListedFiles, WhatIsLikeAFileThatTheUserReadsIsTold) {
  const core::FileId one = make_filled("one", 1, 0640), two = make_filled("two", 1, 0640);
  make_filled("other mode", 1, 0600);
  const core::FileId owned = make_filled("other owner", 1, 0640);
  ASSERT_TRUE(other().setattr(root, owned, 0, {.uid = 1234}));
  const core::FileId grouped = make_filled("other group", 1, 0640);
  ASSERT_TRUE(other().setattr(root, grouped, 0, {.gid = 1234}));
  list();
  EXPECT_EQ(told(root, {.like = one}), (std::vector{one, two}));
  EXPECT_TRUE(told(root, {.like = core::FileId{99'999}}).empty());
  ASSERT_EQ(*leased().access(ann, two, core::kAccessRead), 0u);
  EXPECT_EQ(told(ann, {.like = one}), (std::vector{one})) << "what the server said of a file counts more";
}

TEST_F(ListedFiles, AChangeOfThisClientEndsTheListing) {
  make_filled("one", 1);
  list();
  EXPECT_EQ(told(root).size(), 1u);
  ASSERT_TRUE(leased().unlink(root, {.parent = dir, .name = "one"}));
  EXPECT_TRUE(told(root).empty());
}

}  // namespace
}  // namespace stoa::native
