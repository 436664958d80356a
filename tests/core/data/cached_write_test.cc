// Writes that a client cached under a lease (OpContext::cached_under), while the lease goes.
#include <chrono>
#include <future>

#include "tests/core/data/data_fixture.h"
#include "tests/core/data/watched_blobs.h"
#include "tests/core/state/lease_requests.h"

namespace stoa::core::test {
namespace {

struct SlowTwin {
  static std::unique_ptr<BlobStore> open(const std::string& folder, MetricRegistry& metrics) {
    return std::make_unique<WatchedBlobs>(TwinBlobs::open(folder, metrics));
  }
  static constexpr bool kOnDisk = false;
};

class CachedWriteTest : public DataTest<SlowTwin> {
 protected:
  static constexpr std::size_t kBytes = 100'000;  // not inline

  Errc write(const OpContext& ctx, FileId file, char value) {
    const std::string content(kBytes, value);
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(content))};
    const auto written = ns().write(ctx, {file, 0, pieces});
    return written ? Errc{} : written.error().code;
  }
};

TEST_F(CachedWriteTest, NobodyPassesOneThatIsBeingWrittenWhenItsLeaseIsLost) {
  const FileId file = create("file");
  ASSERT_EQ(write({}, file, 'a'), Errc{});
  StateTable& state = volume_->state();
  OpContext cached;
  cached.holder = state.add_holder(Protocol::kNative, nullptr);
  cached.cached_under =
      grant(state, file, cached.holder, {.bits = kReadCaching | kWriteCaching, .kind = LeaseKind::kCache});
  ASSERT_TRUE(cached.cached_under);

  std::future<Errc> later;
  static_cast<WatchedBlobs&>(*blobs_).before_write = [&](BlobId) {
    state.remove_holder(cached.holder);
    later = std::async(std::launch::async, [&] { return write({}, file, 'c'); });
    EXPECT_EQ(later.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  };
  // It asked while it had the lease, and again when it made its bytes durable, unless the later one has done that for
  // it.
  const Errc earlier = write(cached, file, 'b');
  EXPECT_TRUE(earlier == Errc::kLeaseLost || earlier == Errc{}) << static_cast<int>(earlier);
  ASSERT_TRUE(later.valid());
  EXPECT_EQ(later.get(), Errc{});
  EXPECT_EQ(read(file), std::string(kBytes, 'c'));
  EXPECT_EQ(write(cached, file, 'd'), Errc::kLeaseLost);
  EXPECT_EQ(read(file), std::string(kBytes, 'c'));
}

}  // namespace
}  // namespace stoa::core::test
