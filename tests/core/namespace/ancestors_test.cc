// The directories that a file counts in, as QoS classes and usage use them.
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class AncestorsTest : public VolumeTest<Engine> {
 protected:
  std::vector<FileId> above(FileId id, std::string_view key = {}) {
    const auto reply = this->ns().ancestors({}, {.id = id, .key = key});
    EXPECT_TRUE(reply) << describe(reply.error());
    return reply ? reply->directories : std::vector<FileId>{};
  }
};
TYPED_TEST_SUITE(AncestorsTest, Engines);

TYPED_TEST(AncestorsTest, OfAFileADirectoryAndAKey) {
  using Ids = std::vector<FileId>;
  const FileId a = *this->mkdir(kRootId, "a");
  const FileId b = *this->mkdir(a, "b");
  const FileId file = *this->create(b, "f");
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_EQ(this->above(kRootId), Ids({kRootId}));
    EXPECT_EQ(this->above(b), Ids({kRootId, a, b}));
    EXPECT_EQ(this->above(file), Ids({kRootId, a, b}));
    EXPECT_EQ(this->above(a, "b/f"), Ids({kRootId, a, b}));
    EXPECT_EQ(this->above(a, "b/"), Ids({kRootId, a, b}));
    EXPECT_EQ(this->above(a, "b"), Ids({kRootId, a})) << "an object, not the directory";
    EXPECT_EQ(this->above(a, "b/none/at/all"), Ids({kRootId, a, b}));
    EXPECT_EQ(this->above(a, "b/f/x"), Ids({kRootId, a, b})) << "f is no directory";
    this->reopen();
  }
  const FileId c = *this->mkdir(kRootId, "c");
  ASSERT_TRUE(this->ns().rename({}, {.from_parent = a, .from_name = "b", .to_parent = c, .to_name = "b"}));
  EXPECT_EQ(this->above(file), Ids({kRootId, c, b}));
  ASSERT_TRUE(this->ns().unlink({}, {.parent = b, .name = "f"}));
  EXPECT_EQ(this->ns().ancestors({}, {.id = file}).error().code, Errc::kStale);
  EXPECT_EQ(this->ns().ancestors({}, {.id = a, .key = std::string(5000, 'k')}).error().code, Errc::kNameTooLong);
}

TYPED_TEST(AncestorsTest, OfWhatIsInABinThatCountsElsewhere) {
  using Ids = std::vector<FileId>;
  const FileId team = *this->mkdir(kRootId, "team");
  ASSERT_TRUE(this->volume_->registry().set_recycle({.dir = team, .counted = false}));
  const FileId file = *this->create(team, "f");
  ASSERT_TRUE(this->ns().unlink({}, {.parent = team, .name = "f"}));
  const FileId bin = this->ns().lookup({}, {.parent = team, .name = kRecycleName})->attr.id;
  const FileId of_user = this->ns().lookup({}, {.parent = bin, .name = "0"})->attr.id;
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_EQ(this->above(file), Ids({kRootId, team, bin, of_user}));
    this->reopen();
  }
}

TYPED_TEST(AncestorsTest, OfAMultipartUpload) {
  using Ids = std::vector<FileId>;
  const FileId bucket = *this->mkdir(kRootId, "bucket");
  const auto part = this->ns().put_key(
      {}, {.root = kMultipartId, .key = "id/part", .multipart = MultipartOf{.dir = bucket, .uid = 0, .gid = 0}});
  ASSERT_TRUE(part) << describe(part.error());
  for (int pass = 0; pass < 2; ++pass) {
    const Ids above = this->above(part->attr.id);
    ASSERT_EQ(above.size(), 2u);
    EXPECT_EQ(above[0], kMultipartId);
    this->reopen();
  }
}

}  // namespace
}  // namespace stoa::core::test
