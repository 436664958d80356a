// Multipart uploads while others are at the same upload.
#include <thread>

#include "tests/frontends/s3/door_fixture.h"

namespace stoa::s3::test {
namespace {

template <class Engine>
class MultipartTest : public DoorTest<Engine> {
 protected:
  std::unique_ptr<clients::S3Client> another() {
    return std::make_unique<clients::S3Client>(clients::S3Target{
        .url = this->server_->url(), .access_key = kAccess, .secret_key = kSecret, .bucket = "bucket"});
  }
};
TYPED_TEST_SUITE(MultipartTest, core::test::Engines);

// What was checked is what is joined: a part that is stored anew meanwhile makes the completion fail or wait for its turn,
// but never gets into an object whose ETag is of another content.
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

// One of them makes the object; the others are told what became of their upload.
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

}  // namespace
}  // namespace stoa::s3::test
