// Attributes of setattr beside mode, owner and size, which acl_test and permissions_test cover: DOS attributes and the
// time of birth.
#include "tests/core/namespace/user.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class SetattrTest : public VolumeTest<Engine> {
 protected:
  Attributes of(FileId id) {
    const auto reply = this->ns().getattr(this->root_, {.id = id});
    EXPECT_TRUE(reply);
    return reply ? reply->attr : Attributes{};
  }
  Errc set(FileId id, const SetAttributes& what, const OpContext& ctx = {}) {
    const auto reply = this->ns().setattr(ctx, {.id = id, .set = what});
    return reply ? Errc{} : reply.error().code;
  }
};
TYPED_TEST_SUITE(SetattrTest, Engines);

TYPED_TEST(SetattrTest, DosAttributesAreKeptBitByBit) {
  const FileId file = *this->create(kRootId, "f"), dir = *this->mkdir(kRootId, "d");
  EXPECT_EQ(this->of(file).dos, kDosArchive) << "a new file has no backup";
  EXPECT_EQ(this->of(dir).dos, 0);
  EXPECT_EQ(this->set(file, {.dos = DosAttributes{kDosHidden | kDosNotIndexed}}), Errc{});
  EXPECT_EQ(this->of(file).dos, kDosHidden | kDosNotIndexed);
  EXPECT_EQ(this->set(file, {.dos = kDosSystem, .dos_mask = kDosSystem | kDosHidden}), Errc{});
  EXPECT_EQ(this->of(file).dos, kDosSystem | kDosNotIndexed);
  EXPECT_EQ(this->set(dir, {.dos = kDosHidden}), Errc{});
  for (const DosAttributes unknown : {0x0010, 0x4000}) {
    EXPECT_EQ(this->set(file, {.dos = unknown, .dos_mask = 0xffff}), Errc::kInvalid);
    const auto made = this->ns().create(
        {},
        {.parent = kRootId, .name = "no", .mode = CreateMode::kGuarded, .set = {.dos = unknown, .dos_mask = 0xffff}});
    EXPECT_EQ(made.error().code, Errc::kInvalid);
  }
  this->reopen();
  EXPECT_EQ(this->of(file).dos, kDosSystem | kDosNotIndexed);
  EXPECT_EQ(this->of(dir).dos, kDosHidden);
  this->expect_consistent();
}

TYPED_TEST(SetattrTest, AChangeOfContentMakesAFileNeedABackup) {
  const FileId file = *this->create(kRootId, "f");
  ASSERT_TRUE(this->write(file, 0, std::string(100'000, 'x')));
  const auto backed_up = [&] { return this->set(file, {.dos = DosAttributes{}}) == Errc{} && this->of(file).dos == 0; };
  const auto needs_backup = [&] { return this->of(file).dos == kDosArchive; };
  ASSERT_TRUE(backed_up());
  EXPECT_EQ(this->set(file, {.mode = 0600}), Errc{});
  EXPECT_FALSE(needs_backup()) << "attributes are no content";
  ASSERT_TRUE(this->write(file, 5, "yy"));
  EXPECT_TRUE(needs_backup());
  ASSERT_TRUE(this->volume_->flush());
  EXPECT_TRUE(needs_backup());
  ASSERT_TRUE(backed_up());
  EXPECT_EQ(this->set(file, {.size = 7}), Errc{});
  EXPECT_TRUE(needs_backup());
  ASSERT_TRUE(backed_up());
  ASSERT_TRUE(this->ns().punch({}, {.id = file, .offset = 0, .length = 3}));
  EXPECT_TRUE(needs_backup());
  ASSERT_TRUE(backed_up());
  ASSERT_TRUE(this->put(kRootId, "f", "replaced"));
  EXPECT_TRUE(needs_backup());
  EXPECT_EQ(this->set(file, {.size = 3, .dos = DosAttributes{}}), Errc{});
  EXPECT_EQ(this->of(file).dos, 0) << "what the request says comes last";
}

TYPED_TEST(SetattrTest, TheTimeOfBirthCanBeSet) {
  const Timestamp then = Timestamp::from(-5, 7);
  const auto made =
      this->ns().create({}, {.parent = kRootId, .name = "f", .mode = CreateMode::kGuarded, .set = {.btime = then}});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->attr.btime, then);
  const FileId file = made->attr.id, dir = *this->mkdir(kRootId, "d");
  const std::uint64_t change = this->of(dir).change;
  EXPECT_EQ(this->set(dir, {.btime = then}), Errc{});
  EXPECT_EQ(this->of(dir).btime, then);
  EXPECT_GT(this->of(dir).change, change);
  this->reopen();
  EXPECT_EQ(this->of(file).btime, then);
  EXPECT_EQ(this->of(dir).btime, then);
}

TYPED_TEST(SetattrTest, OnlyTheOwnerSetsThem) {
  const FileId file = *this->create(kRootId, "f");
  ASSERT_EQ(this->set(file, {.mode = 0666, .uid = 1000}), Errc{});
  for (const SetAttributes& what : {SetAttributes{.btime = Timestamp{5}}, SetAttributes{.dos = kDosHidden}}) {
    EXPECT_EQ(this->set(file, what, user(1001)), Errc::kNotOwner);
    EXPECT_EQ(this->set(file, what, user(1000)), Errc{});
  }
}

}  // namespace
}  // namespace stoa::core::test
