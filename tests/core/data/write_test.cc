// Atomic append.
#include <thread>

#include "tests/core/data/data_fixture.h"
#include "tests/core/data/sizes.h"

namespace stoa::core::test {
namespace {

template <class Blobs>
class AppendTest : public DataTest<Blobs> {
 protected:
  Result<WriteReply> append(FileId id, std::string_view bytes, const OpContext& ctx) {
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
    return this->ns().write(ctx, {.id = id, .offset = 12345, .data = pieces, .append = true});
  }
};
using Stores = ::testing::Types<TwinBlobs, LocalBlobs>;
TYPED_TEST_SUITE(AppendTest, Stores);

TYPED_TEST(AppendTest, TheReplySaysWhereTheBytesAre) {
  const FileId id = this->create("f");
  std::string all;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{16382}, std::size_t{1}, std::size_t{1}, std::size_t{70'001}, kM}) {
    const std::string bytes = text(size, static_cast<unsigned>(all.size()));
    const auto reply = this->append(id, bytes, all.size() % 2 == 0 ? this->lazy_ : this->durable_);
    ASSERT_TRUE(reply) << describe(reply.error());
    EXPECT_EQ(reply->offset, all.size());
    EXPECT_EQ(reply->length, size);
    EXPECT_EQ(reply->before.size, all.size());
    all += bytes;
    EXPECT_EQ(reply->attr.size, all.size());
  }
  EXPECT_TRUE(this->read(id) == all);
  ASSERT_TRUE(this->ns().commit(this->durable_, {id}));
  this->reopen();
  EXPECT_TRUE(this->read(id) == all);
  const auto more = this->append(id, "more", this->durable_);
  ASSERT_TRUE(more);
  EXPECT_EQ(more->offset, all.size());
  EXPECT_TRUE(this->read(id) == all + "more");
}

TYPED_TEST(AppendTest, TwoNeverOverlap) {
  const FileId id = this->create("f");
  constexpr unsigned kThreads = 4, kEach = 40;
  std::vector<std::vector<std::uint64_t>> at(kThreads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < kEach; ++i) {
        const auto reply = this->append(id, text(997 * (t + 1), t), i % 8 == 0 ? this->durable_ : this->lazy_);
        ASSERT_TRUE(reply) << describe(reply.error());
        at[t].push_back(reply->offset);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t size = 0;
  for (unsigned t = 0; t < kThreads; ++t) {
    size += kEach * 997 * (t + 1);
    for (const std::uint64_t offset : at[t])
      EXPECT_TRUE(this->read(id, offset, 997 * (t + 1)) == text(997 * (t + 1), t));
  }
  EXPECT_EQ(this->attr(id).size, size);
  EXPECT_EQ(this->usage().bytes, static_cast<ByteCount>(size));
  ASSERT_TRUE(this->ns().commit(this->durable_, {id}));
  this->expect_consistent();
}

TYPED_TEST(AppendTest, LimitsRefuseIt) {
  const FileId id = this->create("f");
  ASSERT_TRUE(this->ns().set_quota(this->durable_, {.dir = kRootId, .limits = {.bytes = 100'000}}));
  ASSERT_TRUE(this->append(id, text(99'999), this->lazy_));
  EXPECT_EQ(this->append(id, "xy", this->lazy_).error().code, Errc::kQuota);
  EXPECT_TRUE(this->append(id, "x", this->lazy_));
  EXPECT_EQ(this->append(id, "x", this->lazy_).error().code, Errc::kQuota);
  EXPECT_TRUE(this->read(id) == text(99'999) + "x");
  ASSERT_TRUE(this->ns().set_quota(this->durable_, {.dir = kRootId, .limits = {}}));
  ASSERT_TRUE(this->truncate(id, kFileBytesMax - 1));
  EXPECT_EQ(this->append(id, "xy", this->lazy_).error().code, Errc::kFileTooBig);
  EXPECT_TRUE(this->append(id, "x", this->lazy_));
  EXPECT_EQ(this->append(id, "x", this->lazy_).error().code, Errc::kFileTooBig);
  EXPECT_TRUE(this->append(id, "", this->lazy_));
  EXPECT_EQ(this->attr(id).size, kFileBytesMax);
  OpContext read_only = this->lazy_;
  read_only.read_only = true;
  EXPECT_EQ(this->append(id, "", read_only).error().code, Errc::kReadOnly);
}

}  // namespace
}  // namespace stoa::core::test
