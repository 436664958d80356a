// A whole server on a volume, in memory and on RocksDB: cases that a library client cannot do or does not
// show.
#include "tests/frontends/s3/protocol_fixture.h"

namespace stoa::s3::test {
namespace {

TYPED_TEST_SUITE(ProtocolTest, core::test::Engines);

TYPED_TEST(ProtocolTest, ObjectsAndMetadataSurviveARestart) {
  ASSERT_TRUE(this->client_->put("a/b", "hello", {{"x-amz-meta-x", "1"}, {"Content-Type", "text/plain"}}).ok());
  const auto upload = this->client_->create_multipart("big").element("UploadId");
  const auto part = this->client_->put_part("big", upload, 1, std::string(100'000, 'p'));
  ASSERT_TRUE(part.ok()) << part.text();
  if (TypeParam::kDurable) this->restart();
  const auto got = this->client_->get("a/b");
  EXPECT_EQ(got.body, "hello");
  EXPECT_EQ(got.headers.at("x-amz-meta-x"), "1");
  EXPECT_EQ(got.headers.at("content-type"), "text/plain");
  const auto done = this->client_->complete("big", upload, {part.headers.at("etag")});
  ASSERT_TRUE(done.ok()) << done.text();
  EXPECT_EQ(this->client_->get("big").body, std::string(100'000, 'p'));
}

TYPED_TEST(ProtocolTest, AnotherProtocolsWriteChangesTheETagAndDropsTheHeaders) {
  const auto put = this->client_->put("file", "one", {{"x-amz-meta-x", "1"}});
  const FileId id = this->ns().lookup_key({}, {this->root_, "file"})->attr.id;
  ASSERT_TRUE(this->write(id, 0, "two"));
  const auto got = this->client_->get("file");
  EXPECT_EQ(got.body, "two");
  EXPECT_NE(got.headers.at("etag"), put.headers.at("etag"));
  EXPECT_TRUE(got.headers.at("etag").ends_with("-0\""));
  EXPECT_EQ(got.headers.count("x-amz-meta-x"), 0u);
  EXPECT_EQ(this->client_->list().reply.element("ETag"), got.headers.at("etag"));
  // The tag is good for conditions, and changes with the next write.
  EXPECT_EQ(this->client_->get("file", {{"If-None-Match", got.headers.at("etag")}}).status, 304);
  EXPECT_EQ(this->client_->put("file", "x", {{"If-Match", put.headers.at("etag")}}).status, 412);
  EXPECT_EQ(this->client_->put("file", "x", {{"If-Match", got.headers.at("etag")}}).status, 200);
}

TYPED_TEST(ProtocolTest, FilesOfOtherProtocolsAreObjectsAndLinksAreNot) {
  const FileId dir = *this->mkdir(this->root_, "dir");
  ASSERT_TRUE(this->write(*this->create(dir, "file"), 0, "content"));
  ASSERT_TRUE(this->ns().symlink({}, {.parent = dir, .name = "link", .target = "file"}));
  EXPECT_EQ(this->client_->get("dir/file").body, "content");
  EXPECT_EQ(this->client_->get("dir/file").headers.at("content-type"), "binary/octet-stream");
  EXPECT_EQ(this->client_->get("dir/link").status, 404);
  EXPECT_EQ(this->client_->get("dir").status, 404);
  EXPECT_EQ(this->client_->list_all().keys, std::vector<std::string>{"dir/file"});
}

TYPED_TEST(ProtocolTest, ABucketThatGoesWhileABodyArrivesIsMissed) {
  for (const char* key : {"k", "dir/k"}) {
    for (const std::size_t size : {std::size_t{100}, std::size_t{1} << 20}) {
      RawClient raw(this->server_->port());
      ASSERT_TRUE(raw.send(this->head("PUT", std::string("/bucket/") + key,
                                      {{"content-length", std::to_string(size)}, {"expect", "100-continue"}})));
      ASSERT_TRUE(raw.read_until("\r\n\r\n").starts_with("HTTP/1.1 100"));  // the headers were looked at
      ASSERT_EQ(this->client_->request("DELETE", "", {}, "").status, 204);
      ASSERT_TRUE(raw.send(std::string(size, 'x')));
      EXPECT_NE(raw.read_until("</Error>").find("<Code>NoSuchBucket</Code>"), std::string::npos);
      ASSERT_EQ(this->client_->request("PUT", "", {}, "").status, 200);
    }
  }
}

TYPED_TEST(ProtocolTest, ATruncatedBodyLeavesNothing) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{3} << 20}) {
    RawClient raw(this->server_->port());
    ASSERT_TRUE(raw.send(this->head("PUT", "/bucket/cut", {{"content-length", std::to_string(size)}})));
    ASSERT_TRUE(raw.send(std::string(size / 2, 'x')));
    raw.close();
  }
  // A body of fewer decoded bytes than announced gets the right error.
  RawClient raw(this->server_->port());
  const std::string body = "5\r\nhello\r\n0\r\n\r\n";
  ASSERT_TRUE(raw.send(signed_head("PUT", "/bucket/cut", kAccess, kSecret, "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
                                   {{"content-length", std::to_string(body.size())},
                                    {"connection", "close"},
                                    {"x-amz-decoded-content-length", "6"}}) +
                       body));
  const std::string reply = raw.read_all();
  EXPECT_NE(reply.find("400 Bad Request"), std::string::npos) << reply;
  EXPECT_NE(reply.find("<Code>IncompleteBody</Code>"), std::string::npos) << reply;
  ASSERT_TRUE(this->server_->drain(std::chrono::seconds(20)));
  EXPECT_FALSE(this->ns().lookup_key({}, {this->root_, "cut"}));
}

TYPED_TEST(ProtocolTest, RefusesBeforeTheBodyWhenTheClientWaits) {
  RawClient raw(this->server_->port());
  ASSERT_TRUE(raw.send("PUT /bucket/k HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n"));
  const std::string reply = raw.read_all();
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 403")) << reply;
  EXPECT_EQ(reply.find("100 Continue"), std::string::npos);

  RawClient good(this->server_->port());
  ASSERT_TRUE(good.send(
      this->head("PUT", "/bucket/k", {{"content-length", "5"}, {"expect", "100-continue"}, {"connection", "close"}})));
  EXPECT_TRUE(good.read_until("\r\n\r\n").starts_with("HTTP/1.1 100"));
  ASSERT_TRUE(good.send("hello"));
  EXPECT_NE(good.read_all().find("HTTP/1.1 200"), std::string::npos);
  EXPECT_EQ(this->client_->get("k").body, "hello");
}

TYPED_TEST(ProtocolTest, AConnectionServesManyRequestsRefusedOnesToo) {
  RawClient raw(this->server_->port());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(raw.send("HEAD /bucket/k HTTP/1.1\r\nHost: h\r\n\r\n"));
    EXPECT_TRUE(raw.read_until("\r\n\r\n").starts_with("HTTP/1.1 403"));
    ASSERT_TRUE(raw.send(this->head("PUT", "/bucket/k", {{"content-length", "5"}}) + "hello"));
    EXPECT_TRUE(raw.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
    ASSERT_TRUE(raw.send(this->head("HEAD", "/bucket/k")));
    EXPECT_TRUE(raw.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
    ASSERT_TRUE(raw.send("PUT /bucket/k HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"));
    EXPECT_NE(raw.read_until("</Error>").find("AccessDenied"), std::string::npos);
  }
}

TYPED_TEST(ProtocolTest, TakesABodyInHttpChunks) {
  RawClient raw(this->server_->port());
  ASSERT_TRUE(raw.send(this->head("PUT", "/bucket/k", {{"transfer-encoding", "chunked"}, {"connection", "close"}}) +
                       "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"));
  EXPECT_NE(raw.read_all().find("HTTP/1.1 200"), std::string::npos);
  EXPECT_EQ(this->client_->get("k").body, "hello world");
}

TYPED_TEST(ProtocolTest, NeedsALengthForABody) {
  RawClient raw(this->server_->port());
  ASSERT_TRUE(raw.send(this->head("PUT", "/bucket/k", {{"connection", "close"}})));
  const std::string reply = raw.read_all();
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 411")) << reply;
  EXPECT_NE(reply.find("<Code>MissingContentLength</Code>"), std::string::npos);
}

TYPED_TEST(ProtocolTest, MalformedTargetsGetAnXmlError) {
  RawClient raw(this->server_->port());
  ASSERT_TRUE(raw.send("GET /bucket/%zz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  const std::string reply = raw.read_all();
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 400")) << reply;
  EXPECT_NE(reply.find("<Code>InvalidURI</Code>"), std::string::npos);
}

TYPED_TEST(ProtocolTest, QuotaAndReadOnlyExportsAreRefused) {
  ASSERT_TRUE(this->ns().set_quota({}, {.dir = this->root_, .limits = {.bytes = 1000}}));
  const auto over = this->client_->put("k", std::string(2000, 'x'));
  EXPECT_EQ(over.status, 403);
  EXPECT_EQ(over.element("Code"), "QuotaExceeded");
  EXPECT_TRUE(this->client_->list_all().keys.empty());
  EXPECT_TRUE(this->client_->put("k", "x").ok());

  core::Export changed = *this->volume_->registry().snapshot()->find_export("bucket");
  changed.read_only = true;
  ASSERT_TRUE(this->volume_->registry().change_export(changed));
  EXPECT_EQ(this->client_->put("k", "y").status, 403);
  EXPECT_EQ(this->client_->remove("k").status, 403);
  EXPECT_EQ(this->client_->create_multipart("k").status, 403);
  EXPECT_EQ(this->client_->get("k").body, "x");
}

TYPED_TEST(ProtocolTest, AKeyThatWasTakenAwayIsRefusedAtOnce) {
  ASSERT_TRUE(this->client_->list().reply.ok());
  core::User changed = *this->volume_->registry().snapshot()->find_user("ann");
  changed.keys[0].enabled = false;
  ASSERT_TRUE(this->volume_->registry().change_user(changed));
  EXPECT_EQ(this->client_->list().reply.element("Code"), "InvalidAccessKeyId");
}

TYPED_TEST(ProtocolTest, TheBucketOfAHostBelowTheDomain) {
  this->options_.domain = "s3.example";
  this->client_.reset();
  this->server_.reset();
  this->start();
  ASSERT_TRUE(this->client_->put("k", "v").ok());
  RawClient raw(this->server_->port());
  // The signature is over the host that is sent: 127.0.0.1 is replaced in both by the helper's own name.
  ASSERT_TRUE(raw.send("GET /k HTTP/1.1\r\nHost: bucket.s3.example\r\nConnection: close\r\n\r\n"));
  EXPECT_NE(raw.read_all().find("<Code>AccessDenied</Code>"), std::string::npos);
}

TEST(ServerTest, SaysWhatIsWrongWithItsOptions) {
  core::test::MemoryEngine engine;
  auto kv = engine.open("");
  blob::MemoryBlobs blobs;
  MetricRegistry metrics;
  ASSERT_TRUE(core::Volume::format(*kv, "t"));
  auto volume = core::Volume::open(*kv, blobs, metrics, {.background = false});
  ASSERT_TRUE(volume);
  const auto code = [&](ServerOptions options) {
    auto server = Server::start((*volume)->ns(), (*volume)->registry(), metrics, std::move(options));
    return server ? Errc::kShutdown : server.error().code;
  };
  EXPECT_EQ(code({.address = "nowhere"}), Errc::kInvalid);
  EXPECT_EQ(code({.address = "192.0.2.1"}), Errc::kIo);
  EXPECT_EQ(code({.address = "127.0.0.1", .tls_certificate_file = "/nonexistent"}), Errc::kInvalid);
  EXPECT_EQ(code({.address = "127.0.0.1", .tls_certificate_file = "/nonexistent", .tls_key_file = "/nonexistent"}),
            Errc::kInvalid);
}

}  // namespace
}  // namespace stoa::s3::test
