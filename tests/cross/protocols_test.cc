// Changes through one protocol are visible through the others: by table, on a server of its own. NFS by
// libnfs, S3 and native by our clients.
#include "tests/cross/protocols_fixture.h"

namespace stoa::clients {
namespace {

TEST_F(ProtocolsTest, AFileWrittenOverNfsIsReadOverS3) {
  for (const std::size_t size : {0u, 1u, 16384u, 16385u, 300'000u, 900'000u}) {
    const std::string bytes(size, static_cast<char>('a' + size % 26));
    put_nfs("f", bytes);
    EXPECT_EQ(get_s3("f"), bytes) << size;
  }
}

TEST_F(ProtocolsTest, AnObjectPutOverS3IsReadOverNfs) {
  for (const std::size_t size : {0u, 1u, 16384u, 16385u, 300'000u, 5'000'000u}) {
    const std::string bytes(size, static_cast<char>('A' + size % 26));
    ASSERT_TRUE(s3_->put(key("o"), bytes).ok());
    EXPECT_EQ(get_nfs("o"), bytes) << size;
  }
}

TEST_F(ProtocolsTest, OverwriteOverS3IsSeenThroughAnOldNfsHandle) {
  const NfsHandle file = put_nfs("f", "old content over NFS");
  ASSERT_TRUE(s3_->put(key("f"), "new").ok());
  const NfsReply read = nfs_->read_all(file);
  EXPECT_TRUE(read.ok()) << read.text();
  EXPECT_EQ(read.data, "new");
}

TEST_F(ProtocolsTest, OverwriteInPlaceOverNfsChangesBytesAndEtagOverS3) {
  ASSERT_TRUE(s3_->put(key("o"), "0123456789").ok());
  const std::string before = etag("o");
  EXPECT_EQ(before, "\"781e5e245d69b566979b86e28d23f2c7\"");  // MD5 of the content
  ASSERT_TRUE(nfs_->write(nfs_->lookup(dir_, "o").handle, 3, "abc", FILE_SYNC).ok());
  EXPECT_EQ(get_s3("o"), "012abc6789");
  const std::string after = etag("o");
  EXPECT_NE(after, before);
  EXPECT_GT(after.size(), 2u) << "never empty";
  EXPECT_EQ(etag("o"), after) << "stable while nothing changes";
}

TEST_F(ProtocolsTest, ConditionalGetFailsAfterAWriteOverNfs) {
  ASSERT_TRUE(s3_->put(key("o"), "content").ok());
  const std::string before = etag("o");
  EXPECT_EQ(s3_->get(key("o"), {{"If-None-Match", before}}).status, 304);
  ASSERT_TRUE(nfs_->write(nfs_->lookup(dir_, "o").handle, 0, "C", FILE_SYNC).ok());
  EXPECT_EQ(s3_->get(key("o"), {{"If-None-Match", before}}).status, 200);
  EXPECT_EQ(s3_->get(key("o"), {{"If-Match", before}}).status, 412);
}

TEST_F(ProtocolsTest, RenameOverNfsMovesTheObject) {
  ASSERT_TRUE(s3_->put(key("a"), "content").ok());
  ASSERT_TRUE(nfs_->rename(dir_, "a", dir_, "b").ok());
  EXPECT_EQ(s3_->get(key("a")).status, 404);
  EXPECT_EQ(get_s3("b"), "content");
  EXPECT_EQ(keys(), Names({"b"}));
}

TEST_F(ProtocolsTest, RenameOfADirectoryOverNfsMovesAllKeysBelow) {
  ASSERT_TRUE(s3_->put(key("d/x/1"), "1").ok());
  ASSERT_TRUE(s3_->put(key("d/2"), "2").ok());
  ASSERT_TRUE(nfs_->rename(dir_, "d", dir_, "e").ok());
  EXPECT_EQ(keys(), Names({"e/2", "e/x/1"}));
  EXPECT_EQ(get_s3("e/x/1"), "1");
}

TEST_F(ProtocolsTest, RemoveOverNfsRemovesTheObject) {
  ASSERT_TRUE(s3_->put(key("o"), "x").ok());
  ASSERT_TRUE(nfs_->remove(dir_, "o").ok());
  EXPECT_EQ(s3_->head(key("o")).status, 404);
  EXPECT_EQ(keys(), Names());
}

TEST_F(ProtocolsTest, DeleteOverS3MakesTheNfsHandleStale) {
  const NfsHandle file = put_nfs("f", "x");
  ASSERT_TRUE(s3_->remove(key("f")).ok());
  EXPECT_EQ(nfs_->getattr(file).status, NFS3ERR_STALE);
  EXPECT_EQ(nfs_->lookup(dir_, "f").status, NFS3ERR_NOENT);
}

TEST_F(ProtocolsTest, TruncateOverNfsIsSeenOverS3) {
  ASSERT_TRUE(s3_->put(key("o"), std::string(100'000, 'x')).ok());
  const NfsHandle file = nfs_->lookup(dir_, "o").handle;
  ASSERT_TRUE(nfs_->setattr(file, {.size = 20'000}).ok());
  EXPECT_EQ(get_s3("o"), std::string(20'000, 'x'));
  ASSERT_TRUE(nfs_->setattr(file, {.size = 20'010}).ok());
  EXPECT_EQ(get_s3("o"), std::string(20'000, 'x') + std::string(10, '\0'));
}

TEST_F(ProtocolsTest, AppendOverNfsIsSeenOverS3) {
  ASSERT_TRUE(s3_->put(key("o"), "begin").ok());
  const NfsHandle file = nfs_->lookup(dir_, "o").handle;
  ASSERT_TRUE(nfs_->write(file, 5, " and end", UNSTABLE).ok());
  EXPECT_EQ(get_s3("o"), "begin and end") << "unstable writes are visible at once, too";
}

TEST_F(ProtocolsTest, ModeAndOwnerSetOverNfsSurviveAPutOverS3) {
  const NfsHandle file = put_nfs("f", "x");
  ASSERT_TRUE(nfs_->setattr(file, {.mode = 0600, .uid = 1234, .gid = 99}).ok());
  ASSERT_TRUE(s3_->put(key("f"), "replaced").ok());
  const NfsReply attr = nfs_->getattr(file);
  ASSERT_TRUE(attr.ok()) << attr.text();
  EXPECT_EQ(attr.attr->mode & 07777, 0600u);
  EXPECT_EQ(attr.attr->uid, 1234u);
}

TEST_F(ProtocolsTest, MtimeSetOverNfsIsLastModifiedOverS3) {
  const NfsHandle file = put_nfs("f", "x");
  ASSERT_TRUE(nfs_->setattr(file, {.mtime = std::pair<std::int64_t, std::uint32_t>{1'000'000'000, 0}}).ok());
  const S3Reply head = s3_->head(key("f"));
  ASSERT_TRUE(head.headers.contains("last-modified"));
  EXPECT_EQ(head.headers.at("last-modified"), "Sun, 09 Sep 2001 01:46:40 GMT");
}

TEST_F(ProtocolsTest, AnObjectBesideAPrefixOfItsNameIsReachableAtBothProtocols) {
  ASSERT_TRUE(s3_->put(key("a"), "the object a").ok());
  ASSERT_TRUE(s3_->put(key("a/b"), "below a").ok());
  EXPECT_EQ(get_s3("a"), "the object a");
  EXPECT_EQ(get_s3("a/b"), "below a");
  EXPECT_EQ(names(dir_), Names({"a", "a%S3-OBJECT"}));
  EXPECT_EQ(get_nfs("a%S3-OBJECT"), "the object a");
  ASSERT_TRUE(s3_->remove(key("a/b")).ok());
  EXPECT_EQ(names(dir_), Names({"a"}));
  EXPECT_EQ(get_nfs("a"), "the object a");
}

TEST_F(ProtocolsTest, OddKeysAreKeptAndShownUnderAnAlias) {
  const std::string long_key(600, 'k');
  const Names odd{"x//y", "./z", "../w", long_key, "end/"};
  for (const std::string& k : odd) ASSERT_TRUE(s3_->put(key(k), "content of " + k).ok()) << k;
  for (const std::string& k : odd) EXPECT_EQ(get_s3(k), "content of " + k);
  EXPECT_EQ(keys().size(), odd.size());
  const NfsReply dots = nfs_->lookup(dir_, "%S3-DOTDOT");
  EXPECT_TRUE(dots.ok()) << dots.text();
}

TEST_F(ProtocolsTest, AnEmptyDirectoryIsAPrefixAndNoKey) {
  ASSERT_TRUE(nfs_->mkdir(dir_, "empty").ok());
  EXPECT_EQ(keys(), Names());
  const S3Listing listing = s3_->list(folder_ + "/", "/");
  EXPECT_EQ(listing.prefixes, Names({folder_ + "/empty/"}));
}

TEST_F(ProtocolsTest, DirectoriesMadeByAKeyGoWithItsLastKey) {
  ASSERT_TRUE(s3_->put(key("p/q/r"), "x").ok());
  EXPECT_TRUE(nfs_->lookup(dir_, "p").ok());
  ASSERT_TRUE(s3_->remove(key("p/q/r")).ok());
  EXPECT_EQ(nfs_->lookup(dir_, "p").status, NFS3ERR_NOENT);
}

TEST_F(ProtocolsTest, HardLinksAreTwoKeysWithOneContent) {
  const NfsHandle file = put_nfs("one", "shared");
  ASSERT_TRUE(nfs_->link(file, dir_, "two").ok());
  EXPECT_EQ(keys(), Names({"one", "two"}));
  ASSERT_TRUE(nfs_->write(file, 0, "SHARED", FILE_SYNC).ok());
  EXPECT_EQ(get_s3("two"), "SHARED");
  ASSERT_TRUE(s3_->remove(key("one")).ok());
  EXPECT_EQ(get_s3("two"), "SHARED");
  EXPECT_EQ(nfs_->getattr(file).attr->links, 1u);
}

TEST_F(ProtocolsTest, SymlinksAreNoKeysAndAreNotFollowed) {
  put_nfs("target", "x");
  ASSERT_TRUE(nfs_->symlink(dir_, "link", "target").ok());
  ASSERT_TRUE(nfs_->mkdir(dir_, "d").ok());
  ASSERT_TRUE(nfs_->symlink(dir_, "dlink", "d").ok());
  EXPECT_EQ(keys(), Names({"target"}));
  EXPECT_EQ(s3_->get(key("link")).status, 404);
  EXPECT_EQ(s3_->head(key("dlink/x")).status, 404);
}

TEST_F(ProtocolsTest, KeysAreListedInByteOrderWhicheverProtocolMadeThem) {
  for (const char* name : {"b", "a-", "a0", "B", "\xc3\xa4"}) put_nfs(name, "x");
  ASSERT_TRUE(s3_->put(key("a/1"), "x").ok());
  ASSERT_TRUE(s3_->put(key("a"), "x").ok());
  EXPECT_EQ(keys(), Names({"B", "a", "a-", "a/1", "a0", "b", "\xc3\xa4"}));
}

TEST_F(ProtocolsTest, AQuotaOfBytesHoldsAtBothProtocols) {
  ASSERT_EQ(stoa({"quota", "set", "/test/" + folder_, "--bytes", "100000"}), 0);
  ASSERT_TRUE(s3_->put(key("o"), std::string(60'000, 'x')).ok());
  const NfsReply made = nfs_->create(dir_, "f");
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(nfs_->write(made.handle, 0, std::string(60'000, 'y'), FILE_SYNC).status, NFS3ERR_DQUOT);
  EXPECT_EQ(nfs_->getattr(made.handle).attr->size, 0u);
  ASSERT_TRUE(nfs_->write(made.handle, 0, std::string(40'000, 'y'), FILE_SYNC).ok()) << "to the byte";
  EXPECT_EQ(nfs_->write(made.handle, 40'000, "z", FILE_SYNC).status, NFS3ERR_DQUOT);
  EXPECT_EQ(nfs_->setattr(made.handle, {.size = 40'001}).status, NFS3ERR_DQUOT);
  const S3Reply refused = s3_->put(key("p"), "z");
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(refused.element("Code"), "QuotaExceeded") << refused.status << refused.body;
  EXPECT_EQ(keys(), Names({"f", "o"})) << "a refused put leaves no trace";
  ASSERT_TRUE(s3_->put(key("o"), "small").ok()) << "shrinking is always allowed";
  EXPECT_TRUE(nfs_->write(made.handle, 40'000, "z", FILE_SYNC).ok());
}

TEST_F(ProtocolsTest, AQuotaOfFilesHoldsAtBothProtocols) {
  ASSERT_EQ(stoa({"quota", "set", "/test/" + folder_, "--files", "3"}), 0);
  ASSERT_TRUE(s3_->put(key("d/o"), "x").ok());  // two: the directory counts
  put_nfs("f", "x");
  EXPECT_EQ(nfs_->create(dir_, "g").status, NFS3ERR_DQUOT);
  EXPECT_EQ(nfs_->mkdir(dir_, "h").status, NFS3ERR_DQUOT);
  EXPECT_EQ(s3_->put(key("i"), "x").element("Code"), "QuotaExceeded");
  EXPECT_EQ(s3_->put(key("j/k/l"), "x").element("Code"), "QuotaExceeded");
  EXPECT_EQ(names(dir_), Names({"d", "f"}));
}

TEST_F(ProtocolsTest, AMultipartUploadIsOneFileAndItsPartsAreNowhere) {
  const S3Reply begun = s3_->create_multipart(key("m"));
  ASSERT_TRUE(begun.ok()) << begun.text();
  const std::string upload = begun.element("UploadId"), part(5u << 20, 'p');
  const S3Reply first = s3_->put_part(key("m"), upload, 1, part);
  ASSERT_TRUE(first.ok()) << first.text();
  EXPECT_EQ(names(dir_), Names()) << "nothing shows before it is complete";
  const S3Reply last = s3_->put_part(key("m"), upload, 2, "end");
  ASSERT_TRUE(s3_->complete(key("m"), upload, {first.headers.at("etag"), last.headers.at("etag")}).ok());
  EXPECT_EQ(get_nfs("m"), part + "end");
  // In-place writes into the joined file must not be seen anywhere else.
  ASSERT_TRUE(nfs_->write(nfs_->lookup(dir_, "m").handle, (5u << 20) - 1, "XY", FILE_SYNC).ok());
  EXPECT_EQ(get_s3("m").substr((5u << 20) - 2), "pXYnd");
}

TEST_F(ProtocolsTest, FilesAreNotServedAsDirectoriesNorDirectoriesAsObjects) {
  ASSERT_TRUE(nfs_->mkdir(dir_, "d").ok());
  EXPECT_EQ(s3_->get(key("d")).status, 404);
  put_nfs("f", "x");
  EXPECT_EQ(s3_->get(key("f/g")).status, 404);
  EXPECT_EQ(nfs_->lookup(nfs_->lookup(dir_, "f").handle, "g").status, NFS3ERR_NOTDIR);
}

}  // namespace
}  // namespace stoa::clients
