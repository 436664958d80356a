// The native protocol in the table of small facts: what it changes is seen over NFS and S3, and the other way round.
#include "tests/cross/protocols_fixture.h"

namespace stoa::clients {
namespace {

using cross::NativeCaller;
using cross::NativeReply;
using native::WireStatus;

TEST_F(ProtocolsTest, AFileWrittenNativelyIsReadOverNfsAndS3) {
  for (const std::size_t size : {0u, 1u, 16384u, 16385u, 300'000u, 1'500'001u}) {
    const std::string bytes(size, static_cast<char>('a' + size % 26));
    const NativeReply put = native_->put(native_dir_, "f", bytes);
    ASSERT_TRUE(put.ok()) << put.text();
    EXPECT_TRUE(get_s3("f") == bytes) << size;
    EXPECT_TRUE(get_nfs("f") == bytes) << size;
  }
}

TEST_F(ProtocolsTest, WhatNfsAndS3WriteIsReadNatively) {
  for (const std::size_t size : {0u, 1u, 16384u, 16385u, 900'000u}) {
    const std::string bytes(size, static_cast<char>('A' + size % 26));
    put_nfs("f", bytes);
    EXPECT_TRUE(get_native("f") == bytes) << size;
    ASSERT_TRUE(s3_->put(key("o"), bytes + "o").ok());
    EXPECT_TRUE(get_native("o") == bytes + "o") << size;
  }
}

TEST_F(ProtocolsTest, AFileMadeWithItsContentIsAnObject) {
  native::Batch batch;
  batch.add_with<native::operations::create_filled>(
      {.parent = native_dir_, .mode = native::kCreateGuarded, .name = "whole"}, NativeCaller::bytes("0123456789"));
  ASSERT_TRUE(native_->call(batch).ok());
  EXPECT_EQ(get_s3("whole"), "0123456789");
  EXPECT_EQ(get_nfs("whole"), "0123456789");
  EXPECT_EQ(native_->call(batch).status, WireStatus::exists);
}

TEST_F(ProtocolsTest, AnOpenFileHasTheNewContentOfItsObject) {
  const std::uint64_t open = native_->new_open();
  native_->put(native_dir_, "f", "old native content");
  const native::File file = native_->lookup(native_dir_, "f").file;
  ASSERT_TRUE(native_->run<native::operations::open>({.file = file, .open = open, .access = native::kOpenRead}).ok());
  ASSERT_TRUE(s3_->put(key("f"), "new").ok());
  const auto read = [&] {
    return native_->run<native::operations::read>({.file = file, .open = open, .length = 100}).data;
  };
  EXPECT_EQ(read(), "new");
  ASSERT_TRUE(nfs_->write(nfs_->lookup(dir_, "f").handle, 1, "o", FILE_SYNC).ok());
  EXPECT_EQ(read(), "now");
  ASSERT_TRUE(s3_->remove(key("f")).ok());
  EXPECT_EQ(read(), "now") << "until its close";
  ASSERT_TRUE(native_->run<native::operations::close>({open}).ok());
  EXPECT_EQ(native_->getattr(file).status, WireStatus::stale);
}

TEST_F(ProtocolsTest, ANativeWriteChangesBytesEtagAndConditions) {
  ASSERT_TRUE(s3_->put(key("o"), "0123456789").ok());
  const std::string before = etag("o");
  ASSERT_TRUE(native_->write(native_->lookup(native_dir_, "o").file, 3, "abc").ok());
  EXPECT_EQ(get_s3("o"), "012abc6789");
  EXPECT_EQ(get_nfs("o"), "012abc6789");
  const std::string after = etag("o");
  EXPECT_NE(after, before);
  EXPECT_EQ(s3_->get(key("o"), {{"If-None-Match", before}}).status, 200);
  EXPECT_EQ(s3_->get(key("o"), {{"If-Match", before}}).status, 412);
  EXPECT_EQ(s3_->get(key("o"), {{"If-Match", after}}).status, 200);
}

TEST_F(ProtocolsTest, NativeWritesAreSeenBeforeTheirCommit) {
  native_->put(native_dir_, "f", "begin");
  const native::File file = native_->lookup(native_dir_, "f").file;
  ASSERT_TRUE(native_->write(file, 5, " and", false).ok());
  native::Batch append;
  append.add_with<native::operations::append>({.file = file}, NativeCaller::bytes(" end"));
  ASSERT_TRUE(native_->call(append).ok());
  EXPECT_EQ(get_s3("f"), "begin and end");
  EXPECT_EQ(get_nfs("f"), "begin and end");
}

TEST_F(ProtocolsTest, AnAppendIsBehindWhatOthersWrote) {
  native_->put(native_dir_, "f", "one ");
  const native::File file = native_->lookup(native_dir_, "f").file;
  ASSERT_TRUE(nfs_->write(nfs_->lookup(dir_, "f").handle, 4, "two ", FILE_SYNC).ok());
  native::Batch append;
  append.add_with<native::operations::append>({.file = file, .stable = 1}, NativeCaller::bytes("three"));
  ASSERT_TRUE(native_->call(append).ok());
  EXPECT_EQ(get_s3("f"), "one two three");
  ASSERT_TRUE(s3_->put(key("f"), "").ok());
  ASSERT_TRUE(native_->call(append).ok());
  EXPECT_EQ(get_nfs("f"), "three");
}

TEST_F(ProtocolsTest, NativeSizesAndHolesAreSeenOverBoth) {
  ASSERT_TRUE(s3_->put(key("o"), std::string(100'000, 'x')).ok());
  const native::File file = native_->lookup(native_dir_, "o").file;
  ASSERT_TRUE(native_->resize(file, 20'000).ok());
  EXPECT_TRUE(get_s3("o") == std::string(20'000, 'x'));
  ASSERT_TRUE(native_->resize(file, 20'010).ok());
  std::string want = std::string(20'000, 'x') + std::string(10, '\0');
  EXPECT_TRUE(get_nfs("o") == want);
  ASSERT_TRUE(native_->run<native::operations::punch>({.file = file, .offset = 4095, .length = 5000}).ok());
  want.replace(4095, 5000, std::string(5000, '\0'));
  EXPECT_TRUE(get_s3("o") == want);
  EXPECT_TRUE(get_nfs("o") == want);
  ASSERT_TRUE(nfs_->setattr(nfs_->lookup(dir_, "o").handle, {.size = 7}).ok());
  EXPECT_EQ(native_->getattr(file).attr.size, 7u);
}

TEST_F(ProtocolsTest, NativeRenamesMoveObjectsAndPrefixes) {
  ASSERT_TRUE(s3_->put(key("a"), "content").ok());
  ASSERT_TRUE(s3_->put(key("d/x/1"), "1").ok());
  const NfsHandle held = nfs_->lookup(dir_, "a").handle;
  ASSERT_TRUE(native_->rename(native_dir_, "a", native_dir_, "b").ok());
  ASSERT_TRUE(native_->rename(native_dir_, "d", native_dir_, "e").ok());
  EXPECT_EQ(s3_->get(key("a")).status, 404);
  EXPECT_EQ(get_s3("e/x/1"), "1");
  EXPECT_EQ(keys(), Names({"b", "e/x/1"}));
  EXPECT_EQ(nfs_->read_all(held).data, "content") << "the handle follows";
  ASSERT_TRUE(nfs_->rename(dir_, "b", dir_, "c").ok());
  EXPECT_EQ(native_->list(native_dir_), Names({"c", "e"}));
}

TEST_F(ProtocolsTest, ExchangedNamesAreExchangedObjects) {
  ASSERT_TRUE(s3_->put(key("a"), "of a").ok());
  put_nfs("b", "of b");
  ASSERT_TRUE(native_
                  ->run<native::operations::exchange>(
                      {.from_parent = native_dir_, .to_parent = native_dir_, .from_name = "a", .to_name = "b"})
                  .ok());
  EXPECT_EQ(get_s3("a"), "of b");
  EXPECT_EQ(get_s3("b"), "of a");
  EXPECT_EQ(get_nfs("a"), "of b");
}

TEST_F(ProtocolsTest, WhatIsRemovedNativelyIsGoneForAll) {
  ASSERT_TRUE(s3_->put(key("o"), "x").ok());
  const NfsHandle file = nfs_->lookup(dir_, "o").handle;
  ASSERT_TRUE(native_->unlink(native_dir_, "o").ok());
  EXPECT_EQ(s3_->head(key("o")).status, 404);
  EXPECT_EQ(nfs_->getattr(file).status, NFS3ERR_STALE);
  EXPECT_EQ(native_->unlink(native_dir_, "o").status, WireStatus::not_found);
}

TEST_F(ProtocolsTest, ModeOwnerAndTimeSetNativelyAreThoseOfAll) {
  native_->put(native_dir_, "f", "x");
  const native::File file = native_->lookup(native_dir_, "f").file;
  ASSERT_TRUE(native_
                  ->set(file, {.which = native::kSetMode | native::kSetUid | native::kSetGid | native::kSetMtime,
                               .mode = 0600,
                               .uid = 1234,
                               .gid = 99,
                               .mtime_ns = 1'000'000'000'000'000'000})
                  .ok());
  const S3Reply head = s3_->head(key("f"));
  ASSERT_TRUE(head.headers.contains("last-modified"));
  EXPECT_EQ(head.headers.at("last-modified"), "Sun, 09 Sep 2001 01:46:40 GMT");
  ASSERT_TRUE(s3_->put(key("f"), "replaced").ok());
  const NfsReply attr = nfs_->lookup(dir_, "f");
  const NfsReply known = nfs_->getattr(attr.handle);
  ASSERT_TRUE(known.ok()) << known.text();
  EXPECT_EQ(known.attr->mode & 07777, 0600u);
  EXPECT_EQ(known.attr->uid, 1234u);
  ASSERT_TRUE(nfs_->setattr(attr.handle, {.mode = 0640}).ok());
  EXPECT_EQ(native_->getattr(file).attr.mode & 07777, 0640u);
}

TEST_F(ProtocolsTest, OddKeysHaveTheirAliasNatively) {
  for (const char* odd : {"x//y", "../w", "a", "a/b"}) ASSERT_TRUE(s3_->put(key(odd), odd).ok()) << odd;
  EXPECT_TRUE(native_->lookup(native_dir_, "%S3-DOTDOT").ok());
  EXPECT_EQ(get_native("a%S3-OBJECT"), "a");
  EXPECT_EQ(native_->list(native_dir_), names(dir_));
}

TEST_F(ProtocolsTest, NativeLinksAreKeysAndSymlinksAreNone) {
  native_->put(native_dir_, "one", "shared");
  const native::File file = native_->lookup(native_dir_, "one").file;
  ASSERT_TRUE(native_->run<native::operations::link>({.file = file, .parent = native_dir_, .name = "two"}).ok());
  ASSERT_TRUE(native_->run<native::operations::symlink>({.parent = native_dir_, .name = "soft", .target = "one"}).ok());
  ASSERT_TRUE(native_->mkdir(native_dir_, "empty").ok());
  EXPECT_EQ(keys(), Names({"one", "two"}));
  EXPECT_EQ(s3_->get(key("soft")).status, 404);
  EXPECT_EQ(nfs_->readlink(nfs_->lookup(dir_, "soft").handle).data, "one");
  ASSERT_TRUE(s3_->remove(key("one")).ok());
  EXPECT_EQ(native_->getattr(file).attr.links, 1u);
  EXPECT_EQ(get_native("two"), "shared");
}

TEST_F(ProtocolsTest, AFileWithoutANameIsNoKeyUntilItIsLinked) {
  const std::uint64_t open = native_->new_open();
  native::Batch batch;
  batch.add<native::operations::open>({.parent = native_dir_,
                                       .open = open,
                                       .disposition = native::kOpenNameless,
                                       .access = native::kOpenWrite,
                                       .set = {.which = native::kSetMode, .mode = 0644}});
  batch.add_write({.file = native::result_of(0), .open = open, .stable = 1}, NativeCaller::bytes("ready"));
  const NativeReply made = native_->call(batch);
  ASSERT_TRUE(made.ok()) << made.text();
  EXPECT_EQ(keys(), Names());
  EXPECT_EQ(names(dir_), Names());
  const native::File file{made.attr.id};
  ASSERT_TRUE(native_->run<native::operations::link>({.file = file, .parent = native_dir_, .name = "named"}).ok());
  EXPECT_EQ(get_s3("named"), "ready");
  EXPECT_EQ(get_nfs("named"), "ready");
  EXPECT_TRUE(native_->run<native::operations::close>({open}).ok());
}

TEST_F(ProtocolsTest, AQuotaOfBytesHoldsNatively) {
  ASSERT_EQ(stoa({"quota", "set", "/test/" + folder_, "--bytes", "100000"}), 0);
  ASSERT_TRUE(s3_->put(key("o"), std::string(60'000, 'x')).ok());
  EXPECT_EQ(native_->put(native_dir_, "f", std::string(40'001, 'y')).status, WireStatus::quota);
  const native::File file = native_->lookup(native_dir_, "f").file;
  EXPECT_EQ(native_->getattr(file).attr.size, 0u);
  ASSERT_TRUE(native_->write(file, 0, std::string(40'000, 'y')).ok()) << "to the byte";
  EXPECT_EQ(native_->write(file, 40'000, "z", false).status, WireStatus::quota);
  EXPECT_EQ(native_->resize(file, 40'001).status, WireStatus::quota);
  native::Batch append;
  append.add_with<native::operations::append>({.file = file}, NativeCaller::bytes("z"));
  EXPECT_EQ(native_->call(append).status, WireStatus::quota);
  native::Batch filled;
  filled.add_with<native::operations::create_filled>(
      {.parent = native_dir_, .mode = native::kCreateGuarded, .name = "g"}, NativeCaller::bytes("z"));
  EXPECT_EQ(native_->call(filled).status, WireStatus::quota);
  EXPECT_EQ(keys(), Names({"f", "o"})) << "a refused file leaves no trace";
  EXPECT_EQ(native_->bytes_available(native_dir_), 0u);
  EXPECT_EQ(s3_->put(key("p"), "z").element("Code"), "QuotaExceeded");
  ASSERT_TRUE(s3_->put(key("o"), "small").ok());
  EXPECT_TRUE(native_->call(append).ok());
}

TEST_F(ProtocolsTest, AQuotaOfFilesHoldsNatively) {
  ASSERT_EQ(stoa({"quota", "set", "/test/" + folder_, "--files", "2"}), 0);
  ASSERT_TRUE(s3_->put(key("o"), "x").ok());
  ASSERT_TRUE(native_->put(native_dir_, "f", "x").ok());
  EXPECT_EQ(native_->put(native_dir_, "g", "").status, WireStatus::quota);
  EXPECT_EQ(native_->mkdir(native_dir_, "h").status, WireStatus::quota);
  EXPECT_EQ(native_->list(native_dir_), Names({"f", "o"}));
  ASSERT_TRUE(native_->unlink(native_dir_, "f").ok());
  EXPECT_TRUE(s3_->put(key("i"), "x").ok());
}

TEST_F(ProtocolsTest, AMultipartUploadIsSeenNativelyWhenItIsComplete) {
  const std::string upload = s3_->create_multipart(key("m")).element("UploadId"), part(5u << 20, 'p');
  const S3Reply first = s3_->put_part(key("m"), upload, 1, part);
  const S3Reply last = s3_->put_part(key("m"), upload, 2, "end");
  ASSERT_TRUE(first.ok() && last.ok());
  EXPECT_EQ(native_->list(native_dir_), Names());
  ASSERT_TRUE(s3_->complete(key("m"), upload, {first.headers.at("etag"), last.headers.at("etag")}).ok());
  EXPECT_TRUE(get_native("m") == part + "end");
  ASSERT_TRUE(native_->write(native_->lookup(native_dir_, "m").file, (5u << 20) - 1, "XY").ok());
  EXPECT_EQ(get_s3("m").substr((5u << 20) - 2), "pXYnd");
}

}  // namespace
}  // namespace stoa::clients
