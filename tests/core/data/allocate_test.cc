// Space that is taken ahead, and ranges that are cleared.
#include "tests/core/data/data_fixture.h"
#include "tests/core/data/sizes.h"

namespace stoa::core::test {
namespace {

template <class Blobs>
class AllocateTest : public DataTest<Blobs> {};
using Stores = ::testing::Types<TwinBlobs, LocalBlobs>;
TYPED_TEST_SUITE(AllocateTest, Stores);

TYPED_TEST(AllocateTest, SpaceBehindTheEndLeavesTheSize) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{16384}, std::size_t{100'001}}) {
    SCOPED_TRACE(size);
    const std::string name = "f" + std::to_string(size);
    const FileId id = this->create(name);
    ASSERT_TRUE(this->write(id, 0, text(size)));
    const Attributes before = this->attr(id);
    const auto reply =
        this->ns().allocate(this->durable_, {.id = id, .offset = 5, .length = 2 * kM, .keep_size = true});
    ASSERT_TRUE(reply) << describe(reply.error());
    EXPECT_EQ(reply->attr.size, size);
    EXPECT_EQ(reply->attr.mtime, before.mtime);
    EXPECT_EQ(reply->attr.data_version, before.data_version) << "nobody reads other bytes";
    EXPECT_GE(reply->attr.allocated, 2 * kM);
    EXPECT_TRUE(this->read(id) == text(size));
    this->reopen();
    this->expect_consistent();
    ASSERT_TRUE(this->truncate(id, size + 1000));
    EXPECT_TRUE(this->read(id) == text(size) + std::string(1000, '\0'));
    ASSERT_TRUE(this->write(id, kM, "far", true));
    EXPECT_TRUE(this->read(id) == text(size) + std::string(kM - size, '\0') + "far");
    ASSERT_TRUE(this->ns().unlink(this->durable_, {kRootId, name}));
  }
  this->expect_no_garbage();
  EXPECT_EQ(this->blob_count(), 0u);
}

TYPED_TEST(AllocateTest, ZeroedBytesReadAsZeros) {
  struct Case {
    std::size_t size, offset, length;
    bool keep_size;
  };
  const Case cases[] = {
      {0, 0, 1, false},
      {0, 5, kM, false},
      {100, 10, 20, false},
      {100, 99, 1, true},
      {100, 99, 2, true},
      {100, 99, 2, false},
      {100, 100, 1, true},
      {70'000, 65'535, 2, false},
      {70'000, 0, 70'000, false},
      {70'000, 1, 69'999, true},
      {3 * kM, kM - 1, kM + 2, false},
      {3 * kM, 2 * kM + 1, 2 * kM, false},
      {3 * kM, 2 * kM + 1, 2 * kM, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::to_string(c.size) + ", " + std::to_string(c.offset) + " + " + std::to_string(c.length) +
                 (c.keep_size ? " in its size" : ""));
    const FileId id = this->create("f");
    ASSERT_TRUE(this->write(id, 0, text(c.size)));
    std::string expected = text(c.size);
    if (!c.keep_size && c.offset + c.length > c.size) expected.resize(c.offset + c.length);
    for (std::size_t at = c.offset; at < std::min(c.offset + c.length, expected.size()); ++at) expected[at] = '\0';
    const auto reply =
        this->ns().zero(this->durable_, {.id = id, .offset = c.offset, .length = c.length, .keep_size = c.keep_size});
    ASSERT_TRUE(reply) << describe(reply.error());
    EXPECT_EQ(reply->before.size, c.size);
    EXPECT_EQ(reply->attr.size, expected.size());
    EXPECT_TRUE(this->read(id) == expected);
    EXPECT_EQ(this->usage().bytes, static_cast<ByteCount>(expected.size()));
    this->reopen();
    EXPECT_TRUE(this->read(id) == expected);
    ASSERT_TRUE(this->write(id, c.offset, "again", true));
    expected.resize(std::max(expected.size(), c.offset + 5));
    expected.replace(c.offset, 5, "again");
    EXPECT_TRUE(this->read(id) == expected);
    this->expect_consistent();
    ASSERT_TRUE(this->ns().unlink(this->durable_, {kRootId, "f"}));
  }
  this->expect_no_garbage();
  EXPECT_EQ(this->blob_count(), 0u);
}

TYPED_TEST(AllocateTest, SharedBytesStayForTheOthers) {
  const FileId from = this->create("from"), to = this->create("to");
  ASSERT_TRUE(this->write(from, 0, text(2 * kM), true));
  ASSERT_TRUE(this->ns().copy_range(this->durable_, {from, 0, to, 0, 2 * kM, true}));
  ASSERT_TRUE(this->ns().zero(this->durable_, {to, 1000, kM}));
  EXPECT_TRUE(this->read(from) == text(2 * kM));
  std::string expected = text(2 * kM);
  expected.replace(1000, kM, std::string(kM, '\0'));
  EXPECT_TRUE(this->read(to) == expected);
  this->expect_no_garbage();
}

TYPED_TEST(AllocateTest, WhatAQuotaRefusesLeavesEveryByte) {
  const FileId id = this->create("f");
  ASSERT_TRUE(this->write(id, 0, text(90'000)));
  ASSERT_TRUE(this->ns().set_quota(this->durable_, {.dir = kRootId, .limits = {.bytes = 100'000}}));
  const Attributes before = this->attr(id);
  for (const bool keep_size : {false, true}) {
    const RangeRequest beyond{.id = id, .offset = 0, .length = 100'001, .keep_size = keep_size};
    EXPECT_EQ(this->ns().zero(this->durable_, beyond).error().code, Errc::kQuota);
    EXPECT_EQ(this->ns().allocate(this->durable_, beyond).error().code, Errc::kQuota);
  }
  EXPECT_TRUE(this->read(id) == text(90'000));
  EXPECT_EQ(this->attr(id).data_version, before.data_version);
  EXPECT_EQ(this->usage().bytes, 90'000);
  ASSERT_TRUE(this->ns().zero(this->durable_, {id, 89'999, 10'001}));
  EXPECT_EQ(this->usage().bytes, 100'000);
  EXPECT_TRUE(this->read(id) == text(90'000).substr(0, 89'999) + std::string(10'001, '\0'));
  EXPECT_EQ(this->ns().zero(this->durable_, {id, 0, 0}).error().code, Errc::kInvalid);
  EXPECT_EQ(this->ns().zero(this->durable_, {id, kFileBytesMax, 1}).error().code, Errc::kFileTooBig);
  EXPECT_EQ(this->ns().zero(this->durable_, {kRootId, 0, 1}).error().code, Errc::kIsDirectory);
}

}  // namespace
}  // namespace stoa::core::test
