// Usage of directories after a crash between any two groups of commits (core/usage/usage_log.h).
#include "core/usage/usage_log.h"

#include <random>

#include "core/kv/keys.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

constexpr std::string_view kUsageLogV1 =
    "010159000000020700000000000000000100000002000000fbffffffffffffff3f000000000000000308080000000000000002000000000000"
    "0000ffffffff"
    "ffffffffffffffffffffffff0000010900000000000000070000000000000003";

TEST(UsageLog, ARecordSaysWhatWasAdded) {
  UsageLog log;
  log.add({FileId{7}, UsageClass::kLive, {1, 2}}, {.bytes = ByteCount{1} << 70, .files = -3, .directories = 4});
  log.add({FileId{7}, UsageClass::kLive, {1, 2}}, {.bytes = -5, .files = 1});
  log.add({FileId{8}, UsageClass::kOrphans, {}}, {.bytes = -1});
  log.add_gone(FileId{9}, {FileId{7}, UsageClass::kMultipart});
  std::string hex;
  for (const char c : UsageLog(log).encode()) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  EXPECT_EQ(hex, kUsageLogV1);
  UsageLog read;
  ASSERT_TRUE(read.add(log.encode()));
  EXPECT_EQ(read.charges().size(), 2u);
  EXPECT_EQ(read.charges().at({FileId{8}, UsageClass::kOrphans, {}}), (Usage{.bytes = -1}));
  EXPECT_EQ(read.charges().at({FileId{7}, UsageClass::kLive, {1, 2}}), (Usage{(ByteCount{1} << 70) - 5, -2, 4}));
  EXPECT_EQ(read.gone().at(FileId{9}).parent, FileId{7});
  const std::string record = log.encode();
  for (std::size_t cut = 0; cut < record.size(); ++cut)
    EXPECT_FALSE(UsageLog().add(std::string_view(record).substr(0, cut))) << cut;
}

// Records each group, so that the store can be rebuilt as of any of them.
class GroupsKv final : public kv::MemoryKv {
 public:
  Status apply(std::span<const WriteBatch* const> batches) override {
    groups.emplace_back();
    for (const WriteBatch* const batch : batches) groups.back().push_back(*batch);
    return MemoryKv::apply(batches);
  }
  std::vector<std::vector<WriteBatch>> groups;
};

void apply_group(KvStore& to, const std::vector<WriteBatch>& group) {
  std::vector<const WriteBatch*> batches;
  for (const WriteBatch& batch : group) batches.push_back(&batch);
  ASSERT_TRUE(to.apply(batches));
}

class UsageLogTest : public ::testing::TestWithParam<unsigned> {
 protected:
  static std::unique_ptr<Volume> open(KvStore& kv, MetricRegistry& metrics, BlobStore& blobs) {
    auto volume = Volume::open(kv, blobs, metrics, {.background = false});
    EXPECT_TRUE(volume) << describe(volume.error());
    return volume ? std::move(*volume) : nullptr;
  }
  static void expect_consistent(Volume& volume, std::size_t groups) {
    const auto report = volume.check({});
    ASSERT_TRUE(report);
    for (const auto& problem : report->problems)
      ADD_FAILURE() << "behind group " << groups << ": " << describe(problem);
  }
  std::string name() { return std::string(1, static_cast<char>('a' + pick(4))); }
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  FileId directory() { return directories_[pick(directories_.size())]; }

  // Successful changes are recorded; failed ones have changed nothing.
  void step(Volume& volume) {
    Namespace& ns = volume.ns();
    const OpContext ctx{
        .cred = {.uid = static_cast<std::uint32_t>(pick(3)), .gid = static_cast<std::uint32_t>(pick(2))}};
    switch (pick(24)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: {
        const auto made = ns.mkdir({}, {.parent = directory(), .name = name(), .set = {.mode = 0777}});
        if (made) directories_.push_back(made->attr.id);
        break;
      }
      case 5:
      case 6:
      case 7:
      case 8:
      case 9:
      case 10: {
        const auto made = ns.create(ctx, {.parent = directory(), .name = name(), .mode = CreateMode::kGuarded});
        if (made) files_.push_back(made->attr.id);
        break;
      }
      case 11:
      case 12:
        if (!files_.empty()) (void)ns.setattr({}, {.id = files_[pick(files_.size())], .set = {.size = pick(100'000)}});
        break;
      case 13:
      case 14:
      case 15:
        (void)ns.unlink({}, {.parent = directory(), .name = name()});
        break;
      case 16:
      case 17:
      case 18:
        (void)ns.rmdir({}, {.parent = directory(), .name = name()});
        break;
      case 19:
        (void)ns.rename({},
                        {.from_parent = directory(), .from_name = name(), .to_parent = directory(), .to_name = name()});
        break;
      case 20:
        if (!files_.empty())
          (void)ns.setattr({},
                           {.id = files_[pick(files_.size())], .set = {.uid = static_cast<std::uint32_t>(pick(3))}});
        break;
      case 21:
        if (!files_.empty())
          (void)ns.link({}, {.id = files_[pick(files_.size())], .parent = directory(), .name = name()});
        break;
      case 22:
        rarely(volume);
        break;
      case 23:
        (void)volume.run_purge(wall_now());
        break;
    }
  }
  void rarely(Volume& volume) {
    Namespace& ns = volume.ns();
    switch (pick(4)) {
      case 0:
        (void)ns.set_quota({}, {directory(), {.files = 40, .soft_bytes = pick(50'000)}});
        break;
      case 1:
        (void)ns.count_owners({}, {directory(), pick(2) == 0});
        break;
      case 2:
        (void)volume.registry().set_recycle({.dir = directory(), .enabled = pick(3) != 0, .counted = pick(2) == 0});
        break;
      case 3:
        (void)volume.run_owner_count(10);
        break;
    }
  }

  std::mt19937 random_{GetParam()};
  std::vector<FileId> directories_{kRootId}, files_;
};

TEST_P(UsageLogTest, IsExactBehindEachGroup) {
  constexpr int kSteps = 350;
  GroupsKv kv;
  MetricRegistry metrics;
  blob::MemoryBlobs blobs;
  ASSERT_TRUE(Volume::format(kv, "test"));
  {
    const auto volume = open(kv, metrics, blobs);
    for (int i = 0; i < kSteps; ++i) step(*volume);
    expect_consistent(*volume, kv.groups.size());
  }
  kv::MemoryKv past;
  std::size_t with_log = 0;
  for (std::size_t groups = 0; groups < kv.groups.size(); ++groups) {
    apply_group(past, kv.groups[groups]);
    if (groups == 0) continue;  // the volume is made
    kv::MemoryKv copy;
    WriteBatch all;
    for (std::size_t family = 0; family < kFamilies; ++family) {
      const auto it = past.scan(Family{static_cast<std::uint8_t>(family)}, {}, {});
      for (; it->valid(); it->next()) all.put(Family{static_cast<std::uint8_t>(family)}, it->key(), it->value());
    }
    apply_group(copy, {all});
    const std::string prefix(keys::kUsageLogPrefix);
    with_log += copy.scan(Family::kState, prefix, keys::behind_prefix(prefix))->valid() ? 1U : 0U;
    MetricRegistry own_metrics;
    blob::MemoryBlobs own_blobs;
    const auto volume = open(copy, own_metrics, own_blobs);
    ASSERT_NE(volume, nullptr);
    EXPECT_FALSE(copy.scan(Family::kState, prefix, keys::behind_prefix(prefix))->valid()) << "settled by the start";
    expect_consistent(*volume, groups);
    if (HasFailure()) return;
  }
  EXPECT_GT(with_log, static_cast<std::size_t>(kSteps / 4));
}
INSTANTIATE_TEST_SUITE_P(Seeds, UsageLogTest, ::testing::Range(1U, 9U));

}  // namespace
}  // namespace stoa::core::test
