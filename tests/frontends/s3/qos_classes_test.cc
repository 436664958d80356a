// Requests that wait for their QoS classes. A limit of a byte a second makes the second one wait for ever, so nothing
// here depends on time.
#include <future>
#include <thread>

#include "tests/frontends/s3/protocol_fixture.h"

namespace stoa::s3::test {
namespace {

const std::string kMuch(100'000, 'x');

class QosClassesTest : public MemoryProtocolTest {
 protected:
  void SetUp() override {
    options_.scheduler = &volume_->scheduler();
    MemoryProtocolTest::SetUp();
  }
  void limit(const core::QosTarget& target, qos::Resource resource, std::uint64_t rate = 1) {
    core::QosRule rule{.target = target};
    rule.limits.limit[resource] = rate;
    rule.limits.burst = qos::kBurstMin;
    ASSERT_TRUE(volume_->registry().set_qos_class(rule));
  }
  qos::QosUse use(const core::QosTarget& target) {
    return volume_->registry().snapshot()->qos_classes()->find(target)->qos_class->use();
  }
  void wait_until_parked(std::size_t count) {
    while (volume_->scheduler().parked() != count) std::this_thread::yield();
  }
  const core::QosTarget ann_ = core::QosTarget::user(1000);
};

TEST_F(QosClassesTest, AnUploadThatIsOverWaitsWhileOthersGoOn) {
  limit(ann_, qos::Resource::kWriteBytes);
  auto put = std::async(std::launch::async, [&] { return client_->put("k", kMuch); });
  wait_until_parked(1);  // its first piece made the debt
  S3Client other({.url = server_->url(), .access_key = kAccess, .secret_key = kSecret, .bucket = "bucket"});
  EXPECT_EQ(other.list().reply.status, 200);
  ASSERT_TRUE(volume_->registry().remove_qos_class(ann_));
  EXPECT_TRUE(put.get().ok());
  EXPECT_EQ(other.get("k").body, kMuch);
}

TEST_F(QosClassesTest, ADownloadWaitsPieceByPiece) {
  const std::string large(1'000'000, 'y');
  ASSERT_TRUE(client_->put("k", large).ok());
  limit(ann_, qos::Resource::kReadBytes);
  auto get = std::async(std::launch::async, [&] { return client_->get("k"); });
  wait_until_parked(1);
  EXPECT_LT(use(ann_).admitted[qos::Resource::kReadBytes], large.size());
  ASSERT_TRUE(volume_->registry().remove_qos_class(ann_));
  EXPECT_EQ(get.get().body, large);
}

TEST_F(QosClassesTest, AServerThatStopsLetsNobodyWait) {
  limit(ann_, qos::Resource::kWriteBytes);
  auto put = std::async(std::launch::async, [&] { return client_->put("k", kMuch); });
  wait_until_parked(1);
  EXPECT_FALSE(server_->drain(std::chrono::milliseconds(1)));
  server_.reset();
  EXPECT_FALSE(put.get().ok());
  EXPECT_EQ(volume_->scheduler().parked(), 0u);
  EXPECT_FALSE(ns().lookup_key({}, {root_, "k"}));
}

TEST_F(QosClassesTest, WithAFullQueueTheAnswerIsSlowDown) {
  qos::Scheduler full({.parked_max = 0});
  server_.reset();
  options_.scheduler = &full;
  start();
  limit(ann_, qos::Resource::kMetadataOps);
  EXPECT_EQ(client_->head("k").status, 404) << "the first one goes into debt";
  const clients::S3Reply busy = client_->list().reply;
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(busy.element("Code"), "SlowDown");
  ASSERT_TRUE(volume_->registry().remove_qos_class(ann_));
  EXPECT_EQ(client_->list().reply.status, 200);
  limit(ann_, qos::Resource::kWriteBytes);
  EXPECT_EQ(client_->put("k", kMuch).status, 503);
  ASSERT_TRUE(volume_->registry().remove_qos_class(ann_));
  EXPECT_EQ(client_->head("k").status, 404) << "nothing of it is there";
  client_.reset();
  server_.reset();  // before its scheduler
}

TEST_F(QosClassesTest, WhoIsSlowLeavesTheProtocolOpenForOthers) {
  ASSERT_TRUE(volume_->registry().add_user({.name = "bob", .uid = 0, .gid = 0, .keys = {{"BOBKEY", kSecret}}}));
  server_.reset();
  options_.limits.slow_requests_max = 4;
  start();
  limit(ann_, qos::Resource::kWriteBytes);
  const auto put_as = [&](const std::string& user, const std::string& key) {
    S3Client one({.url = server_->url(), .access_key = user, .secret_key = kSecret, .bucket = "bucket"});
    return one.put(key, kMuch);
  };
  std::vector<std::future<clients::S3Reply>> slow;
  for (int i = 0; i < 2; ++i) {
    slow.push_back(std::async(std::launch::async, put_as, kAccess, "slow" + std::to_string(i)));
    wait_until_parked(slow.size());
  }
  EXPECT_EQ(put_as(kAccess, "third").element("Code"), "SlowDown");
  EXPECT_TRUE(put_as("BOBKEY", "other").ok());
  EXPECT_EQ(client_->get("other").body, kMuch) << "reading has room of its own";
  ASSERT_TRUE(volume_->registry().remove_qos_class(ann_));
  for (auto& reply : slow) EXPECT_TRUE(reply.get().ok());
  limit(ann_, qos::Resource::kWriteBytes);
  auto again = std::async(std::launch::async, put_as, kAccess, "again");
  wait_until_parked(1);
  ASSERT_TRUE(volume_->registry().remove_qos_class(ann_));
  EXPECT_TRUE(again.get().ok());
}

TEST_F(QosClassesTest, ALimitThatComesLaterHoldsForAnUploadUnderWay) {
  limit(ann_, qos::Resource::kWriteBytes);
  auto put = std::async(std::launch::async, [&] { return client_->put("k", kMuch); });
  wait_until_parked(1);
  // The bucket gets the limit before the user loses it: released requests meet the new one with their next pieces.
  const auto bucket = core::QosTarget::directory(root_);
  limit(bucket, qos::Resource::kWriteBytes);
  ASSERT_TRUE(volume_->registry().remove_qos_class(ann_));
  wait_until_parked(1);
  while (use(bucket).waiting != 1) std::this_thread::yield();
  ASSERT_TRUE(volume_->registry().remove_qos_class(bucket));
  EXPECT_TRUE(put.get().ok());
}

TEST_F(QosClassesTest, EveryQosClassOnThePathOfARequestIsPaid) {
  ASSERT_TRUE(client_->put("dir/below/k", "0123456789").ok());
  const FileId dir = ns().lookup({}, {.parent = root_, .name = "dir"})->attr.id;
  const core::QosTarget about[] = {core::QosTarget::directory(core::kRootId),
                                   core::QosTarget::directory(dir),
                                   core::QosTarget::protocol(core::Protocol::kS3),
                                   ann_,
                                   core::QosTarget::group(1000),
                                   core::QosTarget::clients(*core::Network::parse("127.0.0.1"))};
  for (const auto& target : about) ASSERT_TRUE(volume_->registry().set_qos_class({.target = target}));
  EXPECT_EQ(client_->get("dir/below/k").body, "0123456789");
  EXPECT_TRUE(client_->put("dir/new/k", "01234").ok()) << "of a directory that is not there yet";
  EXPECT_EQ(client_->head("dir/below/k").status, 200);
  for (const auto& target : about) {
    const qos::QosUse used = use(target);
    EXPECT_EQ(used.admitted[qos::Resource::kReadBytes], 10u);
    EXPECT_EQ(used.admitted[qos::Resource::kReadOps], 1u);
    EXPECT_EQ(used.admitted[qos::Resource::kWriteBytes], 5u);
    EXPECT_EQ(used.admitted[qos::Resource::kWriteOps], 1u);
    EXPECT_EQ(used.admitted[qos::Resource::kMetadataOps], 1u);
  }
  EXPECT_TRUE(client_->put("beside", "012").ok());
  EXPECT_EQ(use(ann_).admitted[qos::Resource::kWriteBytes], 8u);
  EXPECT_EQ(use(core::QosTarget::directory(dir)).admitted[qos::Resource::kWriteBytes], 5u);
}

}  // namespace
}  // namespace stoa::s3::test
