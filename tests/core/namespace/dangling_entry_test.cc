// A name with a missing file, which only damage of the store can make: every operation that meets it reports it, and
// none loops for ever.
#include "core/kv/keys.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class DanglingEntryTest : public VolumeTest<Engine> {
 protected:
  void SetUp() override {
    const auto file = this->create(kRootId, "file"), sound = this->create(kRootId, "sound"),
               dir = this->mkdir(kRootId, "dir");
    ASSERT_TRUE(file && sound && dir);
    sound_ = *sound;
    ASSERT_TRUE(this->volume_->flush());
    this->volume_.reset();
    WriteBatch batch;
    for (const FileId id : {*file, *dir}) batch.remove(Family::kInode, keys::id_key(id));
    const WriteBatch* const batches[] = {&batch};
    ASSERT_TRUE(this->kv_->apply(batches));
    ASSERT_TRUE(this->kv_->sync());
    this->open();
  }

  FileId sound_{};
};
TYPED_TEST_SUITE(DanglingEntryTest, Engines);

TYPED_TEST(DanglingEntryTest, PosixOperationsSayThatItIsDamage) {
  Namespace& ns = this->ns();
  EXPECT_EQ(ns.lookup({}, {.parent = kRootId, .name = "file"}).error().code, Errc::kCorrupt);
  EXPECT_EQ(ns.lookup({}, {.parent = kRootId, .name = "dir"}).error().code, Errc::kCorrupt);
  EXPECT_EQ(ns.unlink({}, {kRootId, "file"}).error().code, Errc::kCorrupt);
  EXPECT_EQ(ns.rmdir({}, {kRootId, "dir"}).error().code, Errc::kCorrupt);
  EXPECT_EQ(
      ns.rename({}, {.from_parent = kRootId, .from_name = "file", .to_parent = kRootId, .to_name = "to"}).error().code,
      Errc::kCorrupt);
  EXPECT_EQ(
      ns.rename({}, {.from_parent = kRootId, .from_name = "dir", .to_parent = kRootId, .to_name = "to"}).error().code,
      Errc::kCorrupt);
  EXPECT_EQ(ns.rename({}, {.from_parent = kRootId, .from_name = "sound", .to_parent = kRootId, .to_name = "file"})
                .error()
                .code,
            Errc::kCorrupt);
  EXPECT_EQ(ns.remove_tree({}, {kRootId, "dir"}).error().code, Errc::kCorrupt);
  EXPECT_EQ(ns.link({}, {.id = this->sound_, .parent = kRootId, .name = "file"}).error().code, Errc::kExists);
}

TYPED_TEST(DanglingEntryTest, ObjectOperationsSayThatItIsDamage) {
  Namespace& ns = this->ns();
  for (const std::string_view key : {"file", "dir/key"}) {
    EXPECT_EQ(ns.lookup_key({}, {.root = kRootId, .key = key}).error().code, Errc::kCorrupt) << key;
    EXPECT_EQ(this->put(kRootId, key, "text").error().code, Errc::kCorrupt) << key;
    EXPECT_EQ(ns.remove_key({}, {.root = kRootId, .key = key}).error().code, Errc::kCorrupt) << key;
  }
}

TYPED_TEST(DanglingEntryTest, WhatLiesBesideIsNotTouched) {
  Namespace& ns = this->ns();
  const auto listing = ns.readdir({}, {.dir = kRootId, .want_attributes = true});
  ASSERT_TRUE(listing);
  EXPECT_EQ(listing->entries.size(), 5u);
  EXPECT_TRUE(ns.rename({}, {.from_parent = kRootId, .from_name = "sound", .to_parent = kRootId, .to_name = "moved"}));
  EXPECT_TRUE(ns.unlink({}, {kRootId, "moved"}));
}

TYPED_TEST(DanglingEntryTest, CheckNamesIt) {
  const auto report = this->volume_->check({});
  ASSERT_TRUE(report);
  const auto tells_of = [&](std::string_view name) {
    return std::ranges::any_of(report->problems, [&](const Finding& found) {
      return found.kind == FindingKind::kEntryDangling && found.facts[1].starts_with(name);
    });
  };
  EXPECT_TRUE(tells_of("file"));
  EXPECT_TRUE(tells_of("dir"));
}

}  // namespace
}  // namespace stoa::core::test
