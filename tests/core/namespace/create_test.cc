// A file that is made with its content.
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class CreateWithContentTest : public VolumeTest<Engine> {
 protected:
  ~CreateWithContentTest() override {
    EXPECT_TRUE(this->volume_->flush());
    this->expect_consistent();
  }
  Result<CreateReply> make(std::string_view name, std::string_view text, CreateMode mode = CreateMode::kGuarded,
                           const OpContext& ctx = {}) {
    return this->ns().create(ctx, {.parent = kRootId,
                                   .name = name,
                                   .mode = mode,
                                   .set = {.mode = 0640},
                                   .verifier = 5,
                                   .bytes = std::as_bytes(std::span(text))});
  }
  std::size_t blobs() {
    EXPECT_TRUE(this->volume_->run_gc());
    std::size_t count = 0;
    this->blobs_.for_each([&](BlobId) { ++count; });
    return count;
  }
};
TYPED_TEST_SUITE(CreateWithContentTest, Engines);

TYPED_TEST(CreateWithContentTest, OneCommitMakesTheFileWhole) {
  for (const std::size_t size : {1u, 16384u, 16385u, 1u << 20}) {
    SCOPED_TRACE(size);
    const std::string text(size, 'c'), name = "f" + std::to_string(size);
    const auto made = this->make(name, text);
    ASSERT_TRUE(made) << describe(made.error());
    EXPECT_TRUE(made->created);
    EXPECT_EQ(made->attr.size, size);
    EXPECT_EQ(made->attr.mode, 0640u);
    EXPECT_TRUE(this->read(made->attr.id) == text);
    this->reopen();
    EXPECT_TRUE(this->read(made->attr.id) == text);
    EXPECT_EQ(this->ns().getattr(this->root_, {made->attr.id})->attr.version(), made->attr.version());
    ASSERT_TRUE(this->write(made->attr.id, size, "more"));
    EXPECT_TRUE(this->read(made->attr.id, 0, size + 10) == text + "more");
  }
}

TYPED_TEST(CreateWithContentTest, RefusalsLeaveNothing) {
  const std::string big(100'000, 'b');
  ASSERT_TRUE(this->create(kRootId, "there"));
  EXPECT_EQ(this->make("there", big).error().code, Errc::kExists);
  EXPECT_EQ(this->make("there", big, CreateMode::kExclusive).error().code, Errc::kExists);
  EXPECT_EQ(this->make("new", big, CreateMode::kUnchecked).error().code, Errc::kInvalid);
  OpContext other;
  other.cred = {.uid = 7, .gid = 7};
  EXPECT_EQ(this->make("new", big, CreateMode::kGuarded, other).error().code, Errc::kAccess);
  OpContext read_only;
  read_only.read_only = true;
  EXPECT_EQ(this->make("new", big, CreateMode::kGuarded, read_only).error().code, Errc::kReadOnly);
  ASSERT_TRUE(this->ns().set_quota(this->root_, {.dir = kRootId, .limits = {.bytes = 99'999}}));
  EXPECT_EQ(this->make("new", big).error().code, Errc::kQuota);
  EXPECT_EQ(this->names(kRootId), std::vector<std::string>{"there"});
  EXPECT_EQ(this->usage(kRootId), (Usage{.files = 1}));
  EXPECT_EQ(this->blobs(), 0u);
  EXPECT_EQ(this->make("new", std::string(kIoBytesMax + 1, 'x')).error().code, Errc::kTooLarge);
}

TYPED_TEST(CreateWithContentTest, AnExclusiveOneThatIsSentAgainIsAnsweredAsTheFirst) {
  const std::string big(100'000, 'b');
  const auto first = this->make("f", big, CreateMode::kExclusive);
  const auto second = this->make("f", big, CreateMode::kExclusive);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->attr.id, second->attr.id);
  EXPECT_FALSE(second->created);
  EXPECT_TRUE(this->read(first->attr.id) == big);
  EXPECT_EQ(this->blobs(), 1u);
}

}  // namespace
}  // namespace stoa::core::test
