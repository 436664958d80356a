// Multipart uploads while others are at the same upload, and in quotas.
#include <thread>

#include "tests/frontends/s3/protocol_fixture.h"

namespace stoa::s3::test {
namespace {

template <class Engine>
class MultipartTest : public ProtocolTest<Engine> {
 protected:
  std::unique_ptr<clients::S3Client> another() {
    return std::make_unique<clients::S3Client>(clients::S3Target{
        .url = this->server_->url(), .access_key = kAccess, .secret_key = kSecret, .bucket = "bucket"});
  }
  std::string begin(const std::string& key) { return this->client_->create_multipart(key).element("UploadId"); }
  clients::S3Reply put_part(const std::string& key, const std::string& upload, int number, std::size_t bytes) {
    return this->client_->put_part(key, upload, number, std::string(bytes, 'p'));
  }
  clients::S3Reply abort(const std::string& key, const std::string& upload) {
    return this->client_->request("DELETE", key, {{"uploadId", upload}}, "");
  }
  void limit(const core::QuotaLimits& limits) {
    ASSERT_TRUE(this->ns().set_quota({}, {.dir = this->root_, .limits = limits}));
  }
  core::UsageReply known(core::FileId dir) { return this->ns().usage({}, {dir}).value(); }
};
TYPED_TEST_SUITE(MultipartTest, core::test::Engines);

// Only checked parts are joined. A part that is stored anew meanwhile makes the completion fail or wait for its
// turn, but never gets into an object with an ETag of another content.
TYPED_TEST(MultipartTest, APartThatIsReplacedMeanwhileIsNotJoinedUnchecked) {
  const std::string contents[] = {std::string(60'000, 'a'), std::string(90'000, 'b')};
  int joined = 0;
  int refused = 0;
  for (int round = 0; round < 30; ++round) {
    const auto upload = this->client_->create_multipart("big").element("UploadId");
    const auto etag = this->client_->put_part("big", upload, 1, contents[0]).headers.at("etag");
    std::atomic<bool> stop{false};
    std::thread writer([&] {
      const auto other = this->another();
      for (int i = 1; !stop.load(); ++i) {
        const auto stored = other->put_part("big", upload, 1, contents[i % 2]);
        if (!stored.ok()) {
          EXPECT_EQ(stored.element("Code"), "NoSuchUpload");
          break;
        }
      }
    });
    const auto done = this->client_->complete("big", upload, {etag});
    stop.store(true);
    writer.join();
    if (done.ok()) {
      ++joined;
      EXPECT_TRUE(this->client_->get("big").body == contents[0]);
      ASSERT_TRUE(this->client_->remove("big").ok());
    } else {
      ++refused;
      EXPECT_TRUE(done.element("Code") == "InvalidPart" || done.element("Code") == "OperationAborted") << done.text();
      EXPECT_EQ(this->client_->get("big").status, 404);
    }
  }
  EXPECT_EQ(joined + refused, 30);
}

// One of them makes the object; the others get the result of their upload.
TYPED_TEST(MultipartTest, ManyCompletionsOfOneUploadAgree) {
  for (int round = 0; round < 10; ++round) {
    const std::string key = "big" + std::to_string(round);
    const auto upload = this->client_->create_multipart(key).element("UploadId");
    const auto etag = this->client_->put_part(key, upload, 1, "content").headers.at("etag");
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const auto reply = this->another()->complete(key, upload, {etag});
        EXPECT_TRUE(reply.ok()) << reply.text();
        EXPECT_TRUE(reply.element("ETag").ends_with("-1\"")) << reply.text();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(this->client_->get(key).body, "content");
    ASSERT_TRUE(this->client_->put(key, "other").ok());
    EXPECT_EQ(this->another()->complete(key, upload, {etag}).element("Code"), "NoSuchUpload");
  }
  EXPECT_TRUE(this->names(core::kMultipartId).empty());
}

TYPED_TEST(MultipartTest, PartsAreRefusedAtTheQuotaAndJoinedWhenItIsFull) {
  constexpr std::size_t kPart = 5u << 20;  // the smallest that is not the last
  this->limit({.bytes = 2 * kPart});
  const auto upload = this->begin("big");
  const auto one = this->put_part("big", upload, 1, kPart);
  ASSERT_TRUE(one.ok()) << one.text();
  const auto over = this->put_part("big", upload, 2, kPart + 1);
  EXPECT_EQ(over.status, 403);
  EXPECT_EQ(over.element("Code"), "QuotaExceeded");
  EXPECT_EQ(this->known(this->root_).by_class[core::UsageClass::kMultipart], (core::Usage{kPart, 2, 1}));
  const auto copied = this->client_->request("PUT", "big", {{"partNumber", "2"}, {"uploadId", upload}}, "",
                                             {{"x-amz-copy-source", "/bucket/none"}});
  EXPECT_EQ(copied.status, 404);
  const auto two = this->put_part("big", upload, 2, kPart);
  ASSERT_TRUE(two.ok()) << two.text();
  EXPECT_EQ(this->client_->put("small", "x").element("Code"), "QuotaExceeded");
  EXPECT_EQ(this->known(core::kRootId).by_class[core::UsageClass::kMultipart], (core::Usage{2 * kPart, 3, 1}));
  this->restart();
  const auto done = this->client_->complete("big", upload, {one.headers.at("etag"), two.headers.at("etag")});
  ASSERT_TRUE(done.ok()) << done.text();
  EXPECT_EQ(this->known(this->root_).usage, (core::Usage{2 * kPart, 1, 0}));
  EXPECT_EQ(this->known(this->root_).by_class, core::UsageByClass{});
  // A copy of a part counts in full, and aborting gives all back.
  this->limit({.bytes = 5 * kPart});
  const auto copy = this->begin("copy");
  const auto copy_part = [&](const char* number) {
    return this->client_->request("PUT", "copy", {{"partNumber", number}, {"uploadId", copy}}, "",
                                  {{"x-amz-copy-source", "/bucket/big"}});
  };
  ASSERT_TRUE(copy_part("1").ok());
  EXPECT_EQ(copy_part("2").element("Code"), "QuotaExceeded");
  EXPECT_EQ(this->known(this->root_).usage.bytes, static_cast<std::int64_t>(4 * kPart));
  ASSERT_TRUE(this->abort("copy", copy).ok());
  EXPECT_EQ(this->known(this->root_).usage, (core::Usage{2 * kPart, 1, 0}));
  // Nor does an upload begin where there is no room for a file and a directory.
  this->limit({.files = 2});
  EXPECT_EQ(this->client_->create_multipart("more").element("Code"), "QuotaExceeded");
  EXPECT_EQ(this->known(this->root_).usage, (core::Usage{2 * kPart, 1, 0}));
}

TYPED_TEST(MultipartTest, WhereTheyAreNotCountedTheCompletionNeedsRoom) {
  this->limit({.bytes = 1000, .excluded = {core::UsageClass::kMultipart}});
  const auto upload = this->begin("a/big");
  const auto one = this->put_part("a/big", upload, 1, 1001);
  ASSERT_TRUE(one.ok()) << one.text();
  for (int round = 0; round < 2; ++round) {
    const auto refused = this->client_->complete("a/big", upload, {one.headers.at("etag")});
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.element("Code"), "QuotaExceeded");
    EXPECT_EQ(this->known(this->root_).usage, (core::Usage{1001, 2, 1}));
    EXPECT_TRUE(this->names(this->root_).empty());
  }
  this->limit({.bytes = 1001, .excluded = {core::UsageClass::kMultipart}});
  ASSERT_TRUE(this->client_->complete("a/big", upload, {one.headers.at("etag")}).ok());
  EXPECT_EQ(this->known(this->root_).usage, (core::Usage{1001, 1, 1}));
  EXPECT_EQ(this->client_->get("a/big").body.size(), 1001u);
}

TYPED_TEST(MultipartTest, TheBucketGoesWithItsUploads) {
  const auto upload = this->begin("big");
  ASSERT_TRUE(this->put_part("big", upload, 1, 60'000).ok());
  ASSERT_EQ(this->client_->request("DELETE", "", {}, "").status, 204);
  EXPECT_EQ(this->known(core::kRootId).usage.bytes, 0);
  EXPECT_EQ(this->known(core::kRootId).by_class, core::UsageByClass{});
  EXPECT_TRUE(this->names(core::kMultipartId).empty());
  this->restart();
  EXPECT_EQ(this->known(core::kRootId).by_class, core::UsageByClass{});
}

}  // namespace
}  // namespace stoa::s3::test
