// Two volumes in one process: shared state, and state of each.
#include <gtest/gtest.h>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "core/head/head.h"
#include "core/volume/volume.h"

namespace stoa::core::test {
namespace {

class TwoVolumesTest : public ::testing::Test {
 protected:
  struct One {
    kv::MemoryKv kv;
    blob::MemoryBlobs blobs;
    std::unique_ptr<Volume> volume;
  };
  void open(One& one, const char* name) {
    ASSERT_TRUE(Volume::format(one.kv, name));
    auto volume = Volume::open(one.kv, one.blobs, metrics_,
                               {.head = &head_, .metric_labels = {{"volume", name}}, .background = true});
    ASSERT_TRUE(volume) << describe(volume.error());
    one.volume = std::move(*volume);
  }
  TwoVolumesTest() {
    open(a_, "a");
    open(b_, "b");
  }
  static FileId make(One& one, std::string_view name) {
    const auto made = one.volume->ns().create({}, {.parent = kRootId, .name = name});
    EXPECT_TRUE(made);
    return made ? made->attr.id : kNoFile;
  }
  bool renders(std::string_view line) const { return metrics_.render().find(line) != std::string::npos; }

  MetricRegistry metrics_;
  Head head_{metrics_};
  One a_, b_;
};

TEST_F(TwoVolumesTest, HaveFilesAndOpensOfTheirOwn) {
  const FileId in_a = make(a_, "f");
  const FileId in_b = make(b_, "f");
  ASSERT_TRUE(b_.volume->ns().unlink({}, {kRootId, "f"}));
  EXPECT_TRUE(a_.volume->ns().lookup({}, {.parent = kRootId, .name = "f"}));
  EXPECT_EQ(b_.volume->ns().getattr({}, {in_b}).error().code, Errc::kStale);
  const HolderId holder = a_.volume->state().add_holder(Protocol::kNfs, nullptr);
  ASSERT_TRUE(a_.volume->state().open({in_a, holder, kShareRead, kShareNone}));
  EXPECT_TRUE(renders("\nstoa_opens{volume=\"a\"} 1\n"));
  EXPECT_TRUE(renders("\nstoa_opens{volume=\"b\"} 0\n"));
}

TEST_F(TwoVolumesTest, ShareTheSchedulerAndTheLogOfEvents) {
  EXPECT_EQ(&a_.volume->scheduler(), &b_.volume->scheduler());
  EXPECT_EQ(&a_.volume->events(), &b_.volume->events());
  EXPECT_TRUE(renders("\nstoa_qos_parked_requests 0\n"));
}

TEST_F(TwoVolumesTest, OneGoesAndTheOtherGoesOn) {
  make(b_, "f");
  a_.volume.reset();
  EXPECT_FALSE(renders("stoa_opens{volume=\"a\"}"));
  EXPECT_TRUE(renders("\nstoa_opens{volume=\"b\"} 0\n"));
  EXPECT_TRUE(renders("\nstoa_cached_inodes{volume=\"b\"}"));
  EXPECT_TRUE(renders("\nstoa_qos_parked_requests 0\n"));
  const FileId file = make(b_, "g");
  EXPECT_TRUE(b_.volume->ns().getattr({}, {file}));
  EXPECT_TRUE(b_.volume->flush());
}

}  // namespace
}  // namespace stoa::core::test
