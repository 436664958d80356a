#include <fcntl.h>
#include <unistd.h>

#include "tests/core/data/data_fixture.h"
#include "tests/core/data/sizes.h"

namespace stoa::core::test {
namespace {

template <class Blobs>
class ContentTest : public DataTest<Blobs> {};
using Stores = ::testing::Types<TwinBlobs, LocalBlobs>;
TYPED_TEST_SUITE(ContentTest, Stores);

TYPED_TEST(ContentTest, SmallFilesUseNoBlob) {
  const FileId id = this->create("f");
  ASSERT_TRUE(this->write(id, 0, text(16384)));
  EXPECT_EQ(this->blob_count(), 0u);
  ASSERT_TRUE(this->write(id, 16384, "x"));
  EXPECT_EQ(this->blob_count(), 1u);
  EXPECT_TRUE(this->read(id) == text(16384) + "x");
  this->reopen();
  EXPECT_TRUE(this->read(id) == text(16384) + "x");
}

TYPED_TEST(ContentTest, ASmallFileThatWasMadeLongIsReadInPieces) {
  const FileId id = this->create("f");
  ASSERT_TRUE(this->write(id, 0, "begin"));
  constexpr std::uint64_t kLong = std::uint64_t{1} << 40;
  ASSERT_TRUE(this->truncate(id, kLong));
  const auto got = this->ns().read_slices(this->lazy_, {id, 0, kLong});
  ASSERT_TRUE(got);
  EXPECT_GT(got->length, 0u);
  EXPECT_LE(got->length, kIoBytesMax);
  EXPECT_FALSE(got->end_of_file);
  EXPECT_TRUE(this->read_by_slices(id, 0, 100) == "begin" + std::string(95, '\0'));
  EXPECT_TRUE(this->read_by_slices(id, 3, 100) == "in" + std::string(98, '\0'));
  EXPECT_TRUE(this->read_by_slices(id, kLong - 7, 100) == std::string(7, '\0'));
}

TYPED_TEST(ContentTest, SequentialGrowthKeepsFewExtents) {
  const FileId id = this->create("f");
  for (unsigned i = 0; i < 20; ++i) ASSERT_TRUE(this->write(id, i * kM, text(kM, i)));
  EXPECT_EQ(this->blob_count(), 5u);  // 1 + 1 + 2 + 4 MiB slots and an own file
  for (unsigned i = 0; i < 20; ++i) EXPECT_TRUE(this->read(id, i * kM, kM) == text(kM, i));
  EXPECT_TRUE(this->ns().commit(this->durable_, {id}));
  this->reopen();
  for (unsigned i = 0; i < 20; ++i) EXPECT_TRUE(this->read_by_slices(id, i * kM, kM) == text(kM, i));
}

TYPED_TEST(ContentTest, WhatLiesInTheFirstOfSeveralBlobsIsOverwrittenAfterAStart) {
  const FileId id = this->create("f");
  std::string content = text(20'000, 1) + std::string(280'000, '\0') + text(100'000, 2);
  ASSERT_TRUE(this->write(id, 0, content.substr(0, 20'000), true));
  ASSERT_TRUE(this->write(id, 300'000, content.substr(300'000), true));
  EXPECT_GT(this->blob_count(), 1u);
  this->reopen();
  ASSERT_TRUE(this->write(id, 3, text(8530, 3), true));
  content.replace(3, 8530, text(8530, 3));
  EXPECT_TRUE(this->read(id) == content);
  this->reopen();
  EXPECT_TRUE(this->read(id) == content);
}

TYPED_TEST(ContentTest, HugeOffsetTakesLittleSpace) {
  const FileId id = this->create("f");
  const std::uint64_t far = (std::uint64_t{1} << 62) + 12345;
  ASSERT_TRUE(this->write(id, far, "end", true));
  EXPECT_EQ(this->attr(id).size, far + 3);
  EXPECT_LT(this->attr(id).allocated, kM);
  EXPECT_EQ(this->read(id, far, 10), "end");
  EXPECT_EQ(this->read(id, far - 3, 3), std::string(3, '\0'));
  const auto data = this->ns().seek(this->durable_, {id, 0, SeekWhat::kData});
  ASSERT_TRUE(data);
  EXPECT_LE(data->offset, far);
  EXPECT_GT(data->offset, far - 65536 * 2);
  EXPECT_EQ(this->write(id, kFileBytesMax, "x").error().code, Errc::kFileTooBig);
}

TYPED_TEST(ContentTest, TruncatedBytesNeverComeBack) {
  const FileId id = this->create("f");
  for (const std::uint64_t size : {std::uint64_t{10'000}, std::uint64_t{100'000}, 20 * kM}) {
    ASSERT_TRUE(this->write(id, size / 2, text(size / 2 < 8 * kM ? size / 2 : 8 * kM), true));
    ASSERT_TRUE(this->truncate(id, size / 2 + 10));
    ASSERT_TRUE(this->truncate(id, size));
    EXPECT_TRUE(this->read(id, size / 2 + 10, 50'000) ==
                std::string(std::min<std::uint64_t>(50'000, size - size / 2 - 10), '\0'))
        << size;
    ASSERT_TRUE(this->truncate(id, size / 2 + 10));
    ASSERT_TRUE(this->write(id, size, "x"));
    EXPECT_TRUE(this->read(id, size / 2 + 10, 4000) ==
                std::string(std::min<std::uint64_t>(4000, size - size / 2 - 10), '\0') +
                    (size - size / 2 - 10 < 4000 ? "x" : ""))
        << size;
  }
  this->expect_no_garbage();
}

TYPED_TEST(ContentTest, QuotaRefusesAWriteWithoutTrace) {
  ASSERT_TRUE(this->ns().set_quota(this->durable_, {kRootId, {.bytes = 100'000}}));
  const FileId id = this->create("f");
  ASSERT_TRUE(this->write(id, 0, text(90'000)));
  EXPECT_EQ(this->write(id, 90'000, text(10'001)).error().code, Errc::kQuota);
  EXPECT_EQ(this->attr(id).size, 90'000u);
  EXPECT_EQ(this->usage().bytes, 90'000);
  ASSERT_TRUE(this->write(id, 90'000, text(10'000)));
  ASSERT_TRUE(this->write(id, 0, text(100'000, 3)));  // overwriting needs no room
  EXPECT_EQ(this->usage().bytes, 100'000);
  ASSERT_TRUE(this->ns().unlink(this->durable_, {kRootId, "f"}));
  EXPECT_EQ(this->usage().bytes, 0);
  this->expect_no_garbage();
  EXPECT_EQ(this->blob_count(), 0u);
}

TYPED_TEST(ContentTest, RemovedWithUncommittedWritesLeavesNothing) {
  const FileId id = this->create("f");
  ASSERT_TRUE(this->write(id, 0, text(5 * kM)));
  ASSERT_TRUE(this->ns().unlink(this->durable_, {kRootId, "f"}));
  EXPECT_EQ(this->write(id, 0, "x").error().code, Errc::kStale);
  this->expect_no_garbage();
  EXPECT_EQ(this->blob_count(), 0u);
  EXPECT_EQ(this->usage(), Usage{});
}

TYPED_TEST(ContentTest, SlicesOfARemovedFileStayWhole) {
  ASSERT_TRUE(this->put("f", text(100'000)));
  const FileId id = this->ns().lookup_key(this->durable_, {kRootId, "f"})->attr.id;
  auto slices = this->ns().read_slices(this->durable_, {id, 0, 100'000});
  ASSERT_TRUE(slices);
  ASSERT_TRUE(this->ns().unlink(this->durable_, {kRootId, "f"}));
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_EQ(this->blob_count(), 1u);
  ASSERT_TRUE(this->put("other", text(100'000, 2)));
  std::string bytes(100'000, '?');
  const DataSlice& slice = slices->slices.at(0);
  if (slice.fd >= 0) {
    ASSERT_EQ(::pread(slice.fd, bytes.data(), bytes.size(), static_cast<off_t>(slice.file_offset)), 100'000);
    EXPECT_TRUE(bytes == text(100'000));
  }
  slices->slices.clear();
  this->expect_no_garbage();
  EXPECT_EQ(this->blob_count(), 1u);
}

TYPED_TEST(ContentTest, ChmodBetweenWritesKeepsEverything) {
  const FileId id = this->create("f");
  ASSERT_TRUE(this->write(id, 0, text(3 * kM)));
  ASSERT_TRUE(this->ns().setattr(this->durable_, {.id = id, .set = {.mode = 0600}}));
  ASSERT_TRUE(this->write(id, 3 * kM, text(kM, 2)));
  ASSERT_TRUE(this->ns().rename(this->durable_,
                                {.from_parent = kRootId, .from_name = "f", .to_parent = kRootId, .to_name = "g"}));
  ASSERT_TRUE(this->ns().commit(this->durable_, {id}));
  this->reopen();
  EXPECT_TRUE(this->read(id) == text(3 * kM) + text(kM, 2));
  this->expect_consistent();
}

TYPED_TEST(ContentTest, VersionChangesWithEveryChangeAndNotElse) {
  const FileId id = this->create("f");
  std::set<std::uint64_t> versions{this->attr(id).data_version};
  ASSERT_TRUE(this->write(id, 0, "a"));
  EXPECT_TRUE(versions.insert(this->attr(id).data_version).second);
  ASSERT_TRUE(this->write(id, 0, text(kM)));
  EXPECT_TRUE(versions.insert(this->attr(id).data_version).second);
  ASSERT_TRUE(this->truncate(id, 5));
  EXPECT_TRUE(versions.insert(this->attr(id).data_version).second);
  ASSERT_TRUE(this->ns().setattr(this->durable_, {.id = id, .set = {.mode = 0600}}));
  EXPECT_FALSE(versions.insert(this->attr(id).data_version).second);
  ASSERT_TRUE(this->volume_->run_scrub());
  EXPECT_FALSE(versions.insert(this->attr(id).data_version).second);
}

TYPED_TEST(ContentTest, SharedRangesAreIndependent) {
  const FileId a = this->create("a");
  const FileId b = this->create("b");
  ASSERT_TRUE(this->write(a, 0, text(10 * kM)));
  ASSERT_TRUE(this->ns().copy_range(this->durable_, {a, 0, b, 0, 0, true}));
  const std::size_t before = this->blob_count();
  EXPECT_TRUE(this->read(b, 0, 10 * kM) == text(10 * kM));
  ASSERT_TRUE(this->write(a, 5 * kM, "changed"));
  ASSERT_TRUE(this->write(b, 0, "other"));
  EXPECT_TRUE(this->read(b, 5 * kM, 7) == text(10 * kM).substr(5 * kM, 7));
  EXPECT_EQ(this->read(a, 5 * kM, 7), "changed");
  EXPECT_TRUE(this->read(a, 0, 5) == text(10 * kM).substr(0, 5));
  EXPECT_EQ(this->blob_count(), before + 2);
  this->reopen();
  EXPECT_EQ(this->read(a, 5 * kM, 7), "changed");
  EXPECT_EQ(this->read(b, 0, 5), "other");
  ASSERT_TRUE(this->ns().unlink(this->durable_, {kRootId, "a"}));
  this->expect_no_garbage();
  EXPECT_TRUE(this->read(b, 5, kM) == text(10 * kM).substr(5, kM));
  ASSERT_TRUE(this->ns().unlink(this->durable_, {kRootId, "b"}));
  this->expect_no_garbage();
  EXPECT_EQ(this->blob_count(), 0u);
}

// Data, a hole and data: there is room for the first two.
TYPED_TEST(ContentTest, ACopyThatTheQuotaRefusesCopiesNothing) {
  const FileId from = this->create("from");
  ASSERT_TRUE(this->write(from, 0, text(5000)));
  ASSERT_TRUE(this->write(from, 200'000, text(5000, 2)));
  const FileId to = this->create("to");
  ASSERT_TRUE(this->write(to, 0, text(6000, 3)));
  ASSERT_TRUE(this->ns().set_quota(this->durable_, {kRootId, {.bytes = 205'000 + 203'000}}));
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{5999}}) {
    EXPECT_EQ(this->ns().copy_range(this->durable_, {from, 0, to, at, 0}).error().code, Errc::kQuota);
    EXPECT_EQ(this->attr(to).size, 6000u);
    EXPECT_TRUE(this->read(to, 0, 6000) == text(6000, 3));
  }
  // A copy that needs no more room succeeds.
  const auto copied = this->ns().copy_range(this->durable_, {from, 0, to, 0, 203'000});
  ASSERT_TRUE(copied);
  EXPECT_EQ(copied->length, 203'000u);
  EXPECT_TRUE(this->read(to, 0, 5000) == text(5000));
  EXPECT_TRUE(this->read(to, 200'000, 3000) == text(5000, 2).substr(0, 3000));
}

TYPED_TEST(ContentTest, RangesOfNoBytesChangeNothing) {
  const FileId big = this->create("big"), to = this->create("to");
  ASSERT_TRUE(this->write(big, 0, text(3 * kM)));
  ASSERT_TRUE(this->write(to, 0, "there"));
  const Attributes before = this->attr(big), to_before = this->attr(to);
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{3 * kM}, kFileBytesMax}) {
    SCOPED_TRACE(at);
    const auto punched = this->ns().punch(this->durable_, {big, at, 0});
    ASSERT_TRUE(punched) << describe(punched.error());
    EXPECT_EQ(punched->attr.change, before.change);
    EXPECT_EQ(punched->before.change, before.change);
    EXPECT_EQ(this->ns().allocate(this->durable_, {big, at, 0}).error().code, Errc::kInvalid);
  }
  EXPECT_EQ(this->ns().punch(this->durable_, {kRootId, 0, 0}).error().code, Errc::kIsDirectory);
  EXPECT_EQ(this->ns().punch(this->durable_, {big, kFileBytesMax + 1, 0}).error().code, Errc::kFileTooBig);
  // The rest of the source is no byte.
  for (const bool share : {false, true}) {
    const auto copied = this->ns().copy_range(this->durable_, {big, 3 * kM, to, 2, 0, share});
    ASSERT_TRUE(copied) << describe(copied.error());
    EXPECT_EQ(copied->length, 0u);
    EXPECT_EQ(copied->attr.change, to_before.change);
  }
  const auto empty = this->ns().concatenate(
      this->durable_, {.root = kRootId, .key = "empty", .parts = {{.id = big, .offset = 5, .length = 0}}});
  ASSERT_TRUE(empty) << describe(empty.error());
  EXPECT_EQ(empty->attr.size, 0u);
  EXPECT_EQ(this->attr(big).change, before.change);
  EXPECT_TRUE(this->read(big, 0, 3 * kM) == text(3 * kM));
  EXPECT_EQ(this->read(to, 0, 10), "there");
  this->expect_no_garbage();
}

TYPED_TEST(ContentTest, ConcatenationSharesPartsOfAllKinds) {
  std::vector<ConcatenatePart> parts;
  std::string all;
  for (const std::size_t size : {std::size_t{5} << 20, std::size_t{100'000}, std::size_t{9} << 20, std::size_t{77}}) {
    const std::string bytes = text(size, static_cast<unsigned>(size));
    const auto made = this->put("part" + std::to_string(size), bytes, size);
    ASSERT_TRUE(made);
    parts.push_back({made->attr.id});
    all += bytes;
  }
  const auto joined = this->ns().concatenate(this->durable_, {.root = kRootId, .key = "whole", .parts = parts});
  ASSERT_TRUE(joined) << describe(joined.error());
  EXPECT_TRUE(this->read(joined->attr.id, 0, 32u << 20) == all);
  EXPECT_TRUE(this->read_by_slices(joined->attr.id, 0, 32u << 20) == all);
  // In-place writes to one of the files do not show in the other.
  ASSERT_TRUE(this->write(joined->attr.id, 1000, "changed"));
  EXPECT_TRUE(this->read(parts[0].id, 0, 5 << 20) == text(5 << 20, 5 << 20));
  this->expect_no_garbage();
}

TYPED_TEST(ContentTest, ConcatenationTakesRangesOfFilesThatStay) {
  const std::string big = text(9u << 20), small = text(1000, 7);
  const FileId large = this->put("large", big, big.size())->attr.id;
  const FileId inlined = this->put("small", small)->attr.id;
  const FileId grown = this->create("grown");
  ASSERT_TRUE(this->write(grown, 0, "x"));
  ASSERT_TRUE(this->truncate(grown, std::uint64_t{1} << 40));  // inline still: one byte, and zeros
  const std::size_t blobs = this->blob_count();

  // Reads of one file: aligned, odd and empty ranges, in any order, also twice. No blob is new.
  const auto joined = this->ns().concatenate(this->durable_, {.root = kRootId,
                                                              .key = "a",
                                                              .parts = {{large, {}, 12'345, 1u << 20},
                                                                        {large, {}, 0, 65'536},
                                                                        {large, {}, 777, 0},
                                                                        {large, {}, 9u << 20},
                                                                        {large, {}, 12'345, 3}}});
  ASSERT_TRUE(joined) << describe(joined.error());
  EXPECT_TRUE(this->read(joined->attr.id, 0, 4u << 20) ==
              big.substr(12'345, 1u << 20) + big.substr(0, 65'536) + big.substr(12'345, 3));
  EXPECT_EQ(this->blob_count(), blobs);
  // Joined parts of one extent are one extent again.
  const auto again = this->ns().concatenate(
      this->durable_, {.root = kRootId, .key = "b", .parts = {{large, {}, 0, 1'000'001}, {large, {}, 1'000'001}}});
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_TRUE(this->read(again->attr.id, 0, 9u << 20) == big);
  // Few bytes stay inline; zeros behind inline bytes take no memory and no space.
  const auto little = this->ns().concatenate(
      this->durable_, {.root = kRootId, .key = "c", .parts = {{inlined, {}, 10, 20}, {grown, {}, 0, 3}, {inlined}}});
  ASSERT_TRUE(little) << describe(little.error());
  EXPECT_EQ(this->read(little->attr.id, 0, 2000), small.substr(10, 20) + std::string("x\0\0", 3) + small);
  EXPECT_EQ(this->blob_count(), blobs);
  const auto sparse =
      this->ns().concatenate(this->durable_, {.root = kRootId, .key = "d", .parts = {{grown}, {inlined, {}, 999}}});
  ASSERT_TRUE(sparse) << describe(sparse.error());
  EXPECT_EQ(sparse->attr.size, (std::uint64_t{1} << 40) + 1);
  EXPECT_EQ(this->read(sparse->attr.id, (std::uint64_t{1} << 40) - 1, 9), std::string(1, '\0') + small.back());

  for (const ConcatenatePart& wrong : {ConcatenatePart{large, {}, 0, (9u << 20) + 1},
                                       {large, {}, (9u << 20) + 1},
                                       {large, {}, 1, ~std::uint64_t{0}}}) {
    const auto refused = this->ns().concatenate(this->durable_, {.root = kRootId, .key = "e", .parts = {wrong}});
    EXPECT_EQ(refused.error().code, Errc::kInvalid);
  }
  EXPECT_FALSE(this->ns().lookup_key(this->durable_, {kRootId, "e"}));

  // Each lives on its own, and the last one that goes takes the bytes along.
  ASSERT_TRUE(this->write(large, 12'345, "changed"));
  EXPECT_TRUE(this->read(joined->attr.id, 0, 1u << 20) == big.substr(12'345, 1u << 20));
  ASSERT_TRUE(this->write(again->attr.id, 0, "other"));
  EXPECT_TRUE(this->read(large, 0, 5) == big.substr(0, 5));
  this->reopen();
  for (const char* name : {"large", "small", "grown", "a", "b", "c", "d"}) {
    ASSERT_TRUE(this->ns().unlink(this->durable_, {kRootId, name}));
    this->expect_no_garbage();
  }
  EXPECT_EQ(this->blob_count(), 0u);
  EXPECT_EQ(this->usage(), Usage{});
}

TYPED_TEST(ContentTest, WhatGrowsAgainLeavesAloneWhatAnotherFileHasOfItsBlob) {
  const std::string bytes = text(300'000), other = text(100'000, 7);
  const FileId source = this->create("source"), middle = this->create("middle"), target = this->create("target");
  ASSERT_TRUE(this->write(source, 0, bytes));
  ASSERT_TRUE(this->write(middle, 0, other));
  ASSERT_TRUE(this->write(target, 0, text(200'000, 9)));
  // The source's blob is on both sides of the new middle; the target gets the right part.
  ASSERT_TRUE(this->ns().copy_range(this->durable_, {middle, 0, source, 65'536, 65'536, true}));
  ASSERT_TRUE(this->ns().copy_range(this->durable_, {source, 196'608, target, 0, 65'536, true}));
  ASSERT_TRUE(this->truncate(source, 4096));
  ASSERT_TRUE(this->write(source, 4096, "more"));
  EXPECT_TRUE(this->read(target, 0, 65'536) == bytes.substr(196'608, 65'536));
}

TYPED_TEST(ContentTest, ConcatenationWantsPermissionForFilesThatStay) {
  const auto secret = this->put("secret", text(100'000));
  ASSERT_TRUE(secret);
  ASSERT_TRUE(this->ns().setattr(this->durable_, {.id = secret->attr.id, .set = {.mode = 0600}}));
  ASSERT_TRUE(this->ns().setattr(this->durable_, {.id = kRootId, .set = {.mode = 0777}}));
  OpContext stranger = this->durable_;
  stranger.cred = {.uid = 1000, .gid = 1000, .groups = {}};
  const ConcatenateRequest request{.root = kRootId, .key = "copy", .parts = {{secret->attr.id}}};
  EXPECT_EQ(this->ns().concatenate(stranger, request).error().code, Errc::kAccess);
  ASSERT_TRUE(this->ns().setattr(this->durable_, {.id = secret->attr.id, .set = {.mode = 0644}}));
  EXPECT_TRUE(this->ns().concatenate(stranger, request));
  this->expect_no_garbage();
}

TYPED_TEST(ContentTest, ConcatenationIsOfTheVersionsThatTheCallerSaw) {
  const auto part = this->put("part", text(100'000));
  ASSERT_TRUE(part);
  const std::uint64_t seen = part->attr.version().data_version;
  ASSERT_TRUE(this->put("part", text(100'000, 2)));
  const auto joined =
      this->ns().concatenate(this->durable_, {.root = kRootId, .key = "whole", .parts = {{part->attr.id, seen}}});
  EXPECT_EQ(joined.error().code, Errc::kStale);
  EXPECT_FALSE(this->ns().lookup_key(this->durable_, {kRootId, "whole"}));
  this->expect_no_garbage();
}

TYPED_TEST(ContentTest, FailedPutReleasesItsBlobs) {
  ASSERT_TRUE(this->ns().set_quota(this->durable_, {kRootId, {.bytes = 100'000}}));
  EXPECT_EQ(this->put("f", text(200'000)).error().code, Errc::kQuota);
  // The upload is still there, and may be discarded.
  EXPECT_TRUE(this->ns().upload_discard({}, {UploadId{1}}));
  this->expect_no_garbage();
  EXPECT_EQ(this->blob_count(), 0u);
}

TYPED_TEST(ContentTest, SeekSeesHolesAndData) {
  const FileId id = this->create("f");
  ASSERT_TRUE(this->write(id, 10 * kM, text(65536)));
  EXPECT_EQ(this->ns().seek(this->durable_, {id, 0, SeekWhat::kHole})->offset, 0u);
  EXPECT_EQ(this->ns().seek(this->durable_, {id, 0, SeekWhat::kData})->offset, 10 * kM);
  const auto end = this->ns().seek(this->durable_, {id, 10 * kM, SeekWhat::kHole});
  EXPECT_EQ(end->offset, 10 * kM + 65536);
  EXPECT_EQ(this->ns().seek(this->durable_, {id, 10 * kM + 65536, SeekWhat::kData}).error().code, Errc::kNoMoreData);
}

// --- checksums -------------------------------------------------------------------------------------------------------

class ChecksumTest : public DataTest<LocalBlobs> {
 protected:
  // Flips one byte of the only host file that holds `needle`.
  void damage(std::string_view needle) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ + "/blobs")) {
      if (!entry.is_regular_file()) continue;
      const int fd = ::open(entry.path().c_str(), O_RDWR);
      std::string bytes(static_cast<std::size_t>(entry.file_size()), '\0');
      EXPECT_EQ(::pread(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
      const auto at = bytes.find(needle);
      if (at != std::string::npos) {
        const char flipped = static_cast<char>(bytes[at] ^ 1);
        EXPECT_EQ(::pwrite(fd, &flipped, 1, static_cast<off_t>(at)), 1);
        ++damaged_;
      }
      ::close(fd);
    }
    EXPECT_EQ(damaged_, 1);
  }
  int damaged_ = 0;
};

TEST_F(ChecksumTest, DamagedObjectIsNeverServed) {
  const std::string bytes = text(9 << 20);
  const auto made = put("f", bytes, bytes.size());
  ASSERT_TRUE(made);
  damage(std::string_view(bytes).substr(1 << 20, 64));
  std::vector<std::byte> into(65536);
  EXPECT_EQ(ns().read(durable_, {made->attr.id, 1 << 20, into}).error().code, Errc::kCorrupt);
  EXPECT_EQ(ns().read_slices(durable_, {made->attr.id, 0, 9 << 20}).error().code, Errc::kCorrupt);
  EXPECT_TRUE(read(made->attr.id, 2 << 20, 1000) == bytes.substr(2 << 20, 1000));  // other blocks are fine
  ASSERT_EQ(volume_->damage().size(), 1u);
  EXPECT_EQ(volume_->damage()[0].path, "/f");
  EXPECT_EQ(volume_->damage()[0].id, made->attr.id);
  EXPECT_EQ(volume_->damage()[0].offset, 1u << 20);
  const auto report = volume_->check({.read_data = true});
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->ok());
}

TEST_F(ChecksumTest, QuietFileIsSealedAndItsDamageFoundByTheScrub) {
  const std::string bytes = text(3 << 20);
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, bytes, true));
  ASSERT_TRUE(volume_->run_scrub());
  EXPECT_TRUE(volume_->damage().empty());
  damage(std::string_view(bytes).substr(2'000'000, 64));
  ASSERT_TRUE(volume_->run_scrub());
  EXPECT_EQ(volume_->damage().size(), 1u);
  for (int round = 0; round < 2; ++round) {  // reported once
    ASSERT_TRUE(volume_->run_gc());
    ASSERT_EQ(volume_->events().after(0).size(), 1u);
    const Event event = volume_->events().after(0)[0];
    EXPECT_EQ(event.kind, EventKind::kDamage);
    EXPECT_EQ(event.severity, Severity::kCritical);
    EXPECT_EQ(event.path, "/f");
    ASSERT_EQ(event.facts.size(), 2u);
    EXPECT_EQ(event.facts[0], std::to_string(static_cast<std::uint64_t>(id)));
  }
}

TEST_F(ChecksumTest, WritingInPlaceDropsChecksumsAndTheyComeBack) {
  const std::string bytes = text(3 << 20);
  const auto made = put("f", bytes, bytes.size());
  ASSERT_TRUE(made);
  const FileId id = made->attr.id;
  ASSERT_TRUE(write(id, 1'000'000, "changed"));
  EXPECT_EQ(read(id, 1'000'000, 7), "changed");
  reopen();
  EXPECT_EQ(read(id, 1'000'000, 7), "changed");
  ASSERT_TRUE(volume_->run_scrub());
  expect_consistent();
  damage(std::string_view(bytes).substr(2'000'000, 64));
  reopen();
  EXPECT_NE(read(id, 1'900'000, 200'000).find("error: corrupt"), std::string::npos);
}

TEST_F(ChecksumTest, CrashWhileWritingGivesANewVersionAndZerosBehindTheEnd) {
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, text(100'000), true));
  const std::uint64_t version = attr(id).data_version;
  reopen();  // still marked as being written
  EXPECT_NE(attr(id).data_version, version);
  EXPECT_TRUE(read(id) == text(100'000));
  ASSERT_TRUE(volume_->run_scrub());
  const std::uint64_t recorded = attr(id).data_version;
  reopen();
  EXPECT_EQ(attr(id).data_version, recorded);
}

}  // namespace
}  // namespace stoa::core::test
