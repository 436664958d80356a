// Small values read from memory equal those in the store.
#include "core/data/content_cache.h"

#include "tests/core/data/data_fixture.h"

namespace stoa::core::test {
namespace {

ContentCache::Bytes bytes_of(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

TEST(ContentCacheTest, FindsWhatWasKeptForThatChangeAlone) {
  ContentCache cache(1 << 20);
  const FileId id{7};
  EXPECT_EQ(cache.find(id, 1), nullptr);
  cache.keep(id, 1, bytes_of("one"));
  ASSERT_NE(cache.find(id, 1), nullptr);
  EXPECT_EQ(*cache.find(id, 1), "one");
  EXPECT_EQ(cache.find(FileId{8}, 1), nullptr);
  cache.keep(id, 2, bytes_of("two"));
  EXPECT_EQ(*cache.find(id, 2), "two");
  EXPECT_EQ(cache.find(id, 3), nullptr);
  EXPECT_EQ(cache.find(id, 2), nullptr);  // it went when it was found to be old
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(ContentCacheTest, IsBoundedAndKeepsWhatIsUsed) {
  constexpr std::uint64_t kMax = 1 << 20;
  ContentCache cache(kMax);
  for (std::uint64_t i = 0; i < 4096; ++i) {
    cache.keep(FileId{i}, 1, bytes_of(text(4096, static_cast<unsigned>(i))));
    EXPECT_LE(cache.bytes(), kMax);
    for (std::uint64_t used = 0; used < 16; ++used) {
      const auto found = cache.find(FileId{used}, 1);
      if (used > i) break;
      ASSERT_NE(found, nullptr) << used << " at " << i;
      EXPECT_EQ(*found, text(4096, static_cast<unsigned>(used)));
    }
  }
  EXPECT_GT(cache.bytes(), kMax / 2);
  EXPECT_EQ(cache.find(FileId{100}, 1), nullptr);
  cache.keep(FileId{9999}, 1, bytes_of(std::string(kMax, 'x')));  // larger than its place
  EXPECT_EQ(cache.find(FileId{9999}, 1), nullptr);
}

template <class Blobs>
class RecentContentTest : public DataTest<Blobs> {
 protected:
  Result<PutKeyReply> put(std::string_view key, const std::string& bytes, std::string_view meta) {
    return this->ns().put_key(this->lazy_,
                              {.root = kRootId, .key = key, .bytes = std::as_bytes(std::span(bytes)), .meta = meta});
  }
};
using Stores = ::testing::Types<TwinBlobs, LocalBlobs>;
TYPED_TEST_SUITE(RecentContentTest, Stores);

// Each way in which content of a small file or its metadata changes, with a read before and after.
TYPED_TEST(RecentContentTest, WhateverChangesItIsSeenByTheNextRead) {
  const FileId id = this->create("f");
  std::string twin;
  const auto same = [&](const char* after) {
    for (int twice = 0; twice < 2; ++twice) {
      EXPECT_TRUE(this->read(id) == twin) << after;
      EXPECT_TRUE(this->read_by_slices(id, 0, 20'000) == twin) << after;
      EXPECT_TRUE(this->read_by_slices(id, 3, 5) == (twin.size() < 3 ? std::string() : twin.substr(3, 5))) << after;
      EXPECT_TRUE(this->read_by_slices(id, twin.size(), 5).empty()) << after;
    }
  };
  ASSERT_TRUE(this->write(id, 0, text(5000)));
  twin = text(5000);
  same("a first write");
  ASSERT_TRUE(this->write(id, 100, "other"));
  twin.replace(100, 5, "other");
  same("a write of as many bytes");
  ASSERT_TRUE(this->truncate(id, 300));
  twin.resize(300);
  same("a cut");
  ASSERT_TRUE(this->truncate(id, 900));
  twin.resize(900);
  same("zeros at the end");
  ASSERT_TRUE(this->ns().punch(this->lazy_, {id, 50, 20}));
  twin.replace(50, 20, 20, '\0');
  same("a hole");
  ASSERT_TRUE(this->truncate(id, 0));
  twin.clear();
  same("a cut to nothing");
  ASSERT_TRUE(this->write(id, 0, text(40, 2)));
  twin = text(40, 2);
  same("a write into nothing");
  ASSERT_TRUE(this->put("f", text(40, 3), "m"));
  twin = text(40, 3);
  same("a replacement");
  const FileId source = this->create("s");
  ASSERT_TRUE(this->write(source, 0, text(60, 4)));
  ASSERT_TRUE(
      this->ns().copy_range(this->lazy_, {.from = source, .from_offset = 5, .to = id, .to_offset = 10, .length = 20}));
  twin.replace(10, 20, text(60, 4).substr(5, 20));
  same("a copied range");
  ASSERT_TRUE(this->write(id, 16'384, "x"));  // becomes extents
  twin.resize(16'384);
  twin += 'x';
  same("growth beyond what is kept inline");
  ASSERT_TRUE(this->put("f", text(9, 5), ""));
  twin = text(9, 5);
  same("a replacement that is small again");
  this->reopen();
  same("a start");
}

TYPED_TEST(RecentContentTest, SoIsWhatIsKeptWithAnObject) {
  const auto meta = [&] {
    const auto found = this->ns().lookup_key(this->lazy_, {kRootId, "k"});
    EXPECT_TRUE(found) << describe(found.error());
    const auto again = this->ns().lookup_key(this->lazy_, {kRootId, "k"});
    const auto text_of = [](const LookupKeyReply& reply) {
      return reply.meta ? reply.meta->bytes : std::string("none");
    };
    EXPECT_EQ(text_of(*found), text_of(*again));
    return text_of(*found);
  };
  const auto first = this->put("k", text(9), "one");
  ASSERT_TRUE(first);
  EXPECT_EQ(meta(), "one");
  const FileId id = first->attr.id;
  ASSERT_TRUE(this->ns().set_meta(this->lazy_, {.id = id, .meta = "two", .described = first->attr.version()}));
  EXPECT_EQ(meta(), "two");
  ASSERT_TRUE(this->put("k", text(9), "three"));
  EXPECT_EQ(meta(), "three");
  ASSERT_TRUE(this->put("k", text(9), ""));
  EXPECT_EQ(meta(), "none");
  ASSERT_TRUE(this->put("k", text(9), "four"));
  EXPECT_EQ(meta(), "four");
}

}  // namespace
}  // namespace stoa::core::test
