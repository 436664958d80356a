// Copies share bytes with their source, and yet are objects of their own.
#include <thread>

#include "tests/frontends/s3/protocol_fixture.h"

namespace stoa::s3::test {
namespace {

constexpr std::size_t kMiB = 1 << 20;

std::string bytes(std::size_t size, unsigned seed = 1) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>((seed = seed * 1'103'515'245u + 12'345u) >> 16);
  return text;
}

template <class Engine>
class CopyTest : public ProtocolTest<Engine> {
 protected:
  clients::S3Reply copy(const std::string& from, const std::string& to, clients::S3Headers headers = {}) {
    headers.emplace_back("x-amz-copy-source", "/bucket/" + from);
    return this->client_->request("PUT", to, {}, "", headers);
  }
  clients::S3Reply copy_part(const std::string& from, const std::string& range, const std::string& to,
                             const std::string& upload, int number) {
    clients::S3Headers headers{{"x-amz-copy-source", "/bucket/" + from}};
    if (!range.empty()) headers.emplace_back("x-amz-copy-source-range", range);
    return this->client_->request("PUT", to, {{"partNumber", std::to_string(number)}, {"uploadId", upload}}, "",
                                  headers);
  }
  FileId id(const std::string& key) { return this->ns().lookup_key({}, {this->root_, key})->attr.id; }
  std::size_t blobs() {
    std::size_t count = 0;
    this->blobs_.for_each([&](core::BlobId) { ++count; });
    return count;
  }
  std::int64_t used() { return this->usage(this->root_).bytes; }
};
TYPED_TEST_SUITE(CopyTest, core::test::Engines);

TYPED_TEST(CopyTest, ACopyTakesNoSpaceIsChargedInFullAndLivesOnItsOwn) {
  const std::string data = bytes(6 * kMiB + 11);
  const auto put = this->client_->put("src", data, {{"x-amz-meta-m", "1"}});
  ASSERT_TRUE(put.ok());
  const std::size_t before = this->blobs();
  const auto copied = this->copy("src", "a/copy");
  ASSERT_TRUE(copied.ok()) << copied.text();
  EXPECT_EQ(copied.element("ETag"), put.headers.at("etag"));
  EXPECT_EQ(this->blobs(), before);
  EXPECT_EQ(this->used(), 2 * static_cast<std::int64_t>(data.size()));
  this->expect_consistent();
  auto got = this->client_->get("a/copy");
  EXPECT_TRUE(got.body == data);
  EXPECT_EQ(got.headers.at("x-amz-meta-m"), "1");

  // Overwritten in place over another protocol, replaced over this one, removed: the other does not notice.
  ASSERT_TRUE(this->write(this->id("src"), 1000, "changed"));
  EXPECT_EQ(this->client_->get("src", {{"Range", "bytes=1000-1006"}}).body, "changed");
  EXPECT_TRUE(this->client_->get("a/copy").body == data);
  ASSERT_TRUE(this->copy("a/copy", "b").ok());
  ASSERT_TRUE(this->write(this->id("a/copy"), data.size() - 3, "end and more"));
  EXPECT_TRUE(this->client_->get("b").body == data);
  ASSERT_TRUE(this->client_->put("a/copy", "other").ok());
  ASSERT_TRUE(this->client_->remove("src").ok());
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_TRUE(this->client_->get("b").body == data);
  this->expect_consistent();
  if (TypeParam::kDurable) {
    this->restart();
    EXPECT_TRUE(this->client_->get("b").body == data);
  }
  ASSERT_TRUE(this->client_->remove("b").ok());
  ASSERT_TRUE(this->client_->remove("a/copy").ok());
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_EQ(this->blobs(), 0u);
  EXPECT_EQ(this->used(), 0);
}

TYPED_TEST(CopyTest, ACopyBeyondTheQuotaIsRefused) {
  ASSERT_TRUE(this->client_->put("src", bytes(2 * kMiB)).ok());
  ASSERT_TRUE(this->ns().set_quota({}, {.dir = this->root_, .limits = {.bytes = 3 * kMiB}}));
  const auto refused = this->copy("src", "copy");
  EXPECT_EQ(refused.element("Code"), "QuotaExceeded");
  EXPECT_EQ(this->client_->list_all().keys, std::vector<std::string>{"src"});
  EXPECT_EQ(this->used(), static_cast<std::int64_t>(2 * kMiB));
}

TYPED_TEST(CopyTest, SmallAndEmptyObjectsAndFilesOfOtherProtocols) {
  ASSERT_TRUE(this->client_->put("small", "hello").ok());
  ASSERT_TRUE(this->client_->put("empty", "").ok());
  const FileId file = *this->create(this->root_, "file");
  ASSERT_TRUE(this->write(file, 2 * kMiB, "behind a hole"));
  for (const std::string name : {"small", "empty", "file"}) {
    const auto copied = this->copy(name, "of-" + name);
    ASSERT_TRUE(copied.ok()) << copied.text();
    EXPECT_TRUE(this->client_->get("of-" + name).body == this->client_->get(name).body);
    // For a source written over any protocol: the copy is this server's, with a true MD5.
    EXPECT_EQ(copied.element("ETag"), this->client_->put("check", this->client_->get(name).body).headers.at("etag"));
  }
  // Onto itself: the bytes stay, and get a hash.
  ASSERT_TRUE(this->ns().setattr({}, {.id = file, .set = {.uid = 1000, .gid = 1000}}));
  ASSERT_TRUE(this->copy("file", "file", {{"x-amz-metadata-directive", "REPLACE"}, {"x-amz-meta-n", "2"}}).ok());
  EXPECT_EQ(this->id("file"), file);
  EXPECT_EQ(this->client_->head("file").headers.at("x-amz-meta-n"), "2");
  EXPECT_EQ(this->client_->head("file").headers.at("etag"), this->client_->head("of-file").headers.at("etag"));
}

TYPED_TEST(CopyTest, HolesStayHoles) {
  constexpr std::uint64_t kHole = 64 * kMiB;
  const FileId file = *this->create(this->root_, "sparse");
  ASSERT_TRUE(this->write(file, 0, "begin"));
  ASSERT_TRUE(this->write(file, kHole, bytes(kMiB)));
  ASSERT_TRUE(this->ns().commit({}, {file}));
  const auto data_behind_the_hole = [&](const std::string& key) {
    return this->ns().seek({}, {.id = this->id(key), .offset = 16 * kMiB, .what = core::SeekWhat::kData})->offset;
  };
  ASSERT_GE(data_behind_the_hole("sparse"), kHole - kMiB);
  const std::size_t before = this->blobs();
  ASSERT_TRUE(this->copy("sparse", "copy").ok());
  const auto upload = this->client_->create_multipart("joined").element("UploadId");
  std::vector<std::string> tags;
  for (const std::string range :
       {"bytes=0-33554431", "bytes=33554432-68157439"}) {  // half of the hole with the data on each side
    const auto part = this->copy_part("sparse", range, "joined", upload, static_cast<int>(tags.size()) + 1);
    ASSERT_TRUE(part.ok()) << part.text();
    tags.push_back(part.element("ETag"));
  }
  ASSERT_TRUE(this->client_->complete("joined", upload, tags).ok());
  EXPECT_EQ(this->blobs(), before);  // not a byte was written
  const std::string whole = this->client_->get("sparse").body;
  ASSERT_EQ(whole.size(), kHole + kMiB);
  for (const std::string key : {"copy", "joined"}) {
    EXPECT_EQ(data_behind_the_hole(key), data_behind_the_hole("sparse")) << key;
    EXPECT_TRUE(this->client_->get(key).body == whole) << key;
  }
}

TYPED_TEST(CopyTest, ACopyOfAMultipartObjectKeepsItsPartsAndItsETag) {
  const std::string first = bytes(5 * kMiB), last = bytes(100, 2);
  const auto upload = this->client_->create_multipart("src").element("UploadId");
  const auto one = this->client_->put_part("src", upload, 1, first).headers.at("etag");
  const auto two = this->client_->put_part("src", upload, 2, last).headers.at("etag");
  const auto done = this->client_->complete("src", upload, {one, two});
  ASSERT_TRUE(done.ok()) << done.text();
  const auto copied = this->copy("src", "copy");
  EXPECT_EQ(copied.element("ETag"), done.element("ETag"));
  EXPECT_TRUE(this->client_->get("copy").body == first + last);
  EXPECT_EQ(this->client_->request("GET", "copy", {{"partNumber", "2"}}, "").body, last);
  // Another checksum means reading it all, and then the ETag is that of one piece.
  const auto summed = this->copy("src", "summed", {{"x-amz-checksum-algorithm", "CRC32C"}});
  ASSERT_TRUE(summed.ok()) << summed.text();
  EXPECT_NE(summed.element("ChecksumCRC32C"), "");
  EXPECT_EQ(summed.element("ETag"), this->client_->put("check", first + last).headers.at("etag"));
}

TYPED_TEST(CopyTest, CopiedPartsShareAnyRange) {
  const std::string data = bytes(12 * kMiB + 77);
  ASSERT_TRUE(this->client_->put("src", data).ok());
  const std::size_t before = this->blobs();
  const auto upload = this->client_->create_multipart("joined").element("UploadId");
  std::vector<std::string> etags;
  const std::size_t cut = 5 * kMiB + 12'345;  // aligned to nothing
  for (const auto& [begin, end] : {std::pair{std::size_t{1}, cut}, {cut, data.size()}}) {
    const std::string range = "bytes=" + std::to_string(begin) + "-" + std::to_string(end - 1);
    const auto part = this->copy_part("src", range, "joined", upload, static_cast<int>(etags.size()) + 1);
    ASSERT_TRUE(part.ok()) << part.text();
    etags.push_back(part.element("ETag"));
    EXPECT_EQ(etags.back(), this->client_->put("check", data.substr(begin, end - begin)).headers.at("etag"));
  }
  etags.push_back(this->copy_part("src", "", "joined", upload, 3).element("ETag"));
  EXPECT_EQ(etags.back(), this->client_->head("src").headers.at("etag"));
  ASSERT_TRUE(this->client_->remove("check").ok());
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_EQ(this->blobs(), before);
  this->expect_consistent();
  // The source changes before the parts are joined.
  ASSERT_TRUE(this->write(this->id("src"), 0, "changed"));
  const auto done = this->client_->complete("joined", upload, etags);
  ASSERT_TRUE(done.ok()) << done.text();
  EXPECT_TRUE(this->client_->get("joined").body == data.substr(1) + data);
  this->expect_consistent();
  ASSERT_TRUE(this->client_->remove("src").ok());
  EXPECT_TRUE(this->client_->get("joined").body == data.substr(1) + data);
  ASSERT_TRUE(this->client_->remove("joined").ok());
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_EQ(this->blobs(), 0u);
}

TYPED_TEST(CopyTest, WhoMayNotReadTheSourceCopiesNothing) {
  ASSERT_TRUE(this->client_->put("src", bytes(kMiB)).ok());
  // Another's file, in a bucket that "ann" may list and write.
  ASSERT_TRUE(this->ns().setattr({}, {.id = this->id("src"), .set = {.mode = 0600, .uid = 2000, .gid = 2000}}));
  EXPECT_EQ(this->copy("src", "copy").element("Code"), "AccessDenied");
  const auto upload = this->client_->create_multipart("joined").element("UploadId");
  EXPECT_EQ(this->copy_part("src", "", "joined", upload, 1).element("Code"), "AccessDenied");
  EXPECT_EQ(this->copy_part("src", "bytes=5-9", "joined", upload, 1).element("Code"), "AccessDenied");
  EXPECT_EQ(this->client_->list_all().keys, std::vector<std::string>{"src"});
}

// A source that is replaced all the time: each copy is one of its contents, whole, with the ETag of that content.
TYPED_TEST(CopyTest, ACopyIsOfOneVersionOfItsSource) {
  const std::string contents[] = {bytes(200'000, 3), bytes(300'000, 4)};
  std::map<std::string, std::string> by_etag;
  for (const std::string& content : contents) by_etag[this->client_->put("src", content).headers.at("etag")] = content;
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    clients::S3Client other(
        {.url = this->server_->url(), .access_key = kAccess, .secret_key = kSecret, .bucket = "bucket"});
    for (int i = 0; !stop.load(); ++i) ASSERT_TRUE(other.put("src", contents[i % 2]).ok());
  });
  int copied = 0;
  for (int i = 0; i < 40; ++i) {
    const auto reply = this->copy("src", "copy");
    EXPECT_TRUE(reply.ok() || reply.element("Code") == "OperationAborted") << reply.text();
    if (!reply.ok()) continue;
    ++copied;
    const auto known = by_etag.find(reply.element("ETag"));
    ASSERT_NE(known, by_etag.end());
    EXPECT_TRUE(this->client_->get("copy").body == known->second);
  }
  stop.store(true);
  writer.join();
  EXPECT_GT(copied, 0);
}

}  // namespace
}  // namespace stoa::s3::test
