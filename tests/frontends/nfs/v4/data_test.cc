// READ, WRITE, COMMIT, and the additions of 4.2: READ_PLUS, SEEK, ALLOCATE, DEALLOCATE, COPY, CLONE, IO_ADVISE,
// OFFLOAD_*.
#include "tests/frontends/nfs/v4/operation_fixture.h"

namespace stoa::test {
namespace {

constexpr std::uint64_t kFar = 1u << 20;

class Nfs4Data : public OperationTest {
 protected:
  void at(std::string_view name) {
    ASSERT_EQ(put_root(), Nfs4Status::kOk);
    ASSERT_EQ(lookup(name), Nfs4Status::kOk);
  }
  static Xdr io(std::uint64_t offset, const Bytes& stateid = good_stateid()) { return Xdr().raw(stateid).u64(offset); }
  Nfs4Status write(std::uint64_t offset, std::string_view text, std::uint32_t stable = 2) {
    return run(nfs4::op_write, io(offset).u32(stable).string(text));
  }
  // A file of 2 MiB and 3 bytes, with data at its begin and its end only.
  core::FileId make_sparse(std::string_view name) {
    const core::FileId id = make_file(name, "head");
    const std::string_view tail = "end";
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(tail))};
    EXPECT_TRUE(volume->ns().write({}, {id, 2 * kFar, pieces}));
    return id;
  }
  Xdr copy(std::uint64_t from, std::uint64_t to, std::uint64_t count, std::uint32_t locations = 0) {
    return Xdr().raw(good_stateid()).raw(good_stateid()).u64(from).u64(to).u64(count).u32(1).u32(1).u32(locations);
  }
  Xdr clone(std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    return Xdr().raw(good_stateid()).raw(good_stateid()).u64(from).u64(to).u64(count);
  }
};

TEST_F(Nfs4Data, BytesComeBackAsTheyWereWritten) {
  make_file("a");
  at("a");
  ASSERT_EQ(write(0, "hello world", 0), Nfs4Status::kOk);
  EXPECT_EQ(in.u32(), 11u);
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_EQ(in.u64(), volume->ns().boot_verifier());
  ASSERT_EQ(write(6, "there", 1), Nfs4Status::kOk);
  EXPECT_EQ(in.u32(), 5u);
  EXPECT_EQ(in.u32(), 2u);
  ASSERT_EQ(run(nfs4::op_read, io(0).u32(100)), Nfs4Status::kOk);
  EXPECT_TRUE(in.boolean());
  EXPECT_EQ(in.string(100), "hello there");
  EXPECT_EQ(in.left(), 0u);
  ASSERT_EQ(run(nfs4::op_read, io(1).u32(3)), Nfs4Status::kOk);
  EXPECT_FALSE(in.boolean());
  EXPECT_EQ(in.string(100), "ell");
  ASSERT_EQ(run(nfs4::op_read, io(500).u32(3)), Nfs4Status::kOk);
  EXPECT_TRUE(in.boolean());
  EXPECT_EQ(in.string(100), "");
  ASSERT_EQ(run(nfs4::op_commit, Xdr().u64(0).u32(0)), Nfs4Status::kOk);
  EXPECT_EQ(in.u64(), volume->ns().boot_verifier());
}

TEST_F(Nfs4Data, ALargeReadThatComesLastLeavesWithoutACopy) {
  const std::string text(200'000, 'x');
  make_file("a", text);
  at("a");
  ASSERT_EQ(run(nfs4::op_read, io(0).u32(1 << 20)), Nfs4Status::kOk);
  EXPECT_TRUE(reply->slices.empty());
  EXPECT_TRUE(in.boolean());
  EXPECT_EQ(in.string(1 << 20), text);
  c->last = true;
  reply->takes_slices = true;
  ASSERT_EQ(run(nfs4::op_read, io(0).u32(1 << 20)), Nfs4Status::kOk);
  EXPECT_EQ(reply->slice_bytes, 200'000u);
  EXPECT_TRUE(in.boolean());
  EXPECT_EQ(in.u32(), 200'000u);
  EXPECT_EQ(in.left(), 0u);
}

TEST_F(Nfs4Data, WhatIsNoRegularFileIsRefusedByItsType) {
  make_directory("d");
  ASSERT_TRUE(volume->ns().symlink({}, {root, "link", "a"}));
  ASSERT_TRUE(volume->ns().mknod({}, {root, "fifo", core::FileType::kFifo}));
  const std::pair<const char*, Nfs4Status> cases[] = {
      {"d", Nfs4Status::kIsDir}, {"link", Nfs4Status::kSymlink}, {"fifo", Nfs4Status::kWrongType}};
  for (const auto& [name, status] : cases) {
    at(name);
    EXPECT_EQ(run(nfs4::op_read, io(0).u32(1)), status) << name;
    EXPECT_EQ(write(0, "x"), status) << name;
    EXPECT_EQ(run(nfs4::op_commit, Xdr().u64(0).u32(0)), status) << name;
    EXPECT_EQ(run(nfs4::op_read_plus, io(0).u32(1)), status) << name;
    EXPECT_EQ(run(nfs4::op_seek, io(0).u32(0)), status) << name;
    EXPECT_EQ(run(nfs4::op_allocate, io(0).u64(1)), status) << name;
    EXPECT_EQ(run(nfs4::op_deallocate, io(0).u64(1)), status) << name;
  }
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_read, io(0).u32(1)), Nfs4Status::kIsDir);
}

TEST_F(Nfs4Data, EveryIoAsksForItsStateid) {
  make_file("a", "x");
  at("a");
  save();
  const Bytes bad = bad_stateid();
  EXPECT_EQ(run(nfs4::op_read, io(0, bad).u32(1)), Nfs4Status::kBadStateId);
  EXPECT_EQ(run(nfs4::op_write, io(0, bad).u32(0).string("x")), Nfs4Status::kBadStateId);
  EXPECT_EQ(run(nfs4::op_read_plus, io(0, bad).u32(1)), Nfs4Status::kBadStateId);
  EXPECT_EQ(run(nfs4::op_seek, io(0, bad).u32(0)), Nfs4Status::kBadStateId);
  EXPECT_EQ(run(nfs4::op_allocate, io(0, bad).u64(1)), Nfs4Status::kBadStateId);
  EXPECT_EQ(run(nfs4::op_deallocate, io(0, bad).u64(1)), Nfs4Status::kBadStateId);
  EXPECT_EQ(run(nfs4::op_clone, Xdr().raw(good_stateid()).raw(bad).u64(0).u64(0).u64(0)), Nfs4Status::kBadStateId);
  EXPECT_EQ(run(nfs4::op_copy, Xdr().raw(bad).raw(good_stateid()).u64(0).u64(0).u64(0).u32(1).u32(1).u32(0)),
            Nfs4Status::kBadStateId);
}

TEST_F(Nfs4Data, WritesBehindTheLargestFileAndStrangeStabilityAreRefused) {
  make_file("a");
  at("a");
  EXPECT_EQ(write(core::kFileBytesMax, "x"), Nfs4Status::kFBig);
  EXPECT_EQ(write(~std::uint64_t{0}, "x"), Nfs4Status::kFBig);
  EXPECT_EQ(write(0, "x", 3), Nfs4Status::kBadXdr);
  EXPECT_EQ(run(nfs4::op_commit, Xdr().u64(~std::uint64_t{0}).u32(1)), Nfs4Status::kInval);
}

TEST_F(Nfs4Data, ReadPlusShowsHoles) {
  make_sparse("a");
  at("a");
  ASSERT_EQ(run(nfs4::op_read_plus, io(0).u32(1 << 20)), Nfs4Status::kOk);
  EXPECT_FALSE(in.boolean());
  const std::uint32_t pieces = in.u32();
  ASSERT_EQ(pieces, 2u);
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_EQ(in.u64(), 0u);
  const auto data = in.string(1 << 20);
  EXPECT_EQ(data.substr(0, 4), "head");
  EXPECT_EQ(in.u32(), 1u);
  EXPECT_EQ(in.u64(), data.size());
  EXPECT_EQ(in.u64(), kFar - data.size());
  EXPECT_EQ(in.left(), 0u);

  ASSERT_EQ(run(nfs4::op_read_plus, io(2 * kFar).u32(100)), Nfs4Status::kOk);
  EXPECT_TRUE(in.boolean());
  EXPECT_EQ(in.u32(), 1u);
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_EQ(in.u64(), 2 * kFar);
  EXPECT_EQ(in.string(100), "end");
  EXPECT_EQ(in.left(), 0u);

  ASSERT_EQ(run(nfs4::op_read_plus, io(3 * kFar).u32(100)), Nfs4Status::kOk);
  EXPECT_TRUE(in.boolean());
  EXPECT_EQ(in.u32(), 0u);
  ASSERT_EQ(run(nfs4::op_read_plus, io(0).u32(0)), Nfs4Status::kOk);
  EXPECT_FALSE(in.boolean());
  EXPECT_EQ(in.u32(), 0u);
}

TEST_F(Nfs4Data, ReadPlusNeedsPermission) {
  make_file("a", "secret", 0600);
  begin(2, 1000);
  at("a");
  EXPECT_EQ(run(nfs4::op_read_plus, io(0).u32(10)), Nfs4Status::kAccess);
  EXPECT_EQ(run(nfs4::op_read_plus, io(100).u32(10)), Nfs4Status::kAccess);
}

TEST_F(Nfs4Data, SeekFindsDataAndHoles) {
  make_sparse("a");
  at("a");
  ASSERT_EQ(run(nfs4::op_seek, io(0).u32(0)), Nfs4Status::kOk);
  EXPECT_FALSE(in.boolean());
  EXPECT_EQ(in.u64(), 0u);
  ASSERT_EQ(run(nfs4::op_seek, io(kFar).u32(1)), Nfs4Status::kOk);
  EXPECT_FALSE(in.boolean());
  EXPECT_EQ(in.u64(), kFar);
  ASSERT_EQ(run(nfs4::op_seek, io(kFar).u32(0)), Nfs4Status::kOk);
  EXPECT_FALSE(in.boolean());
  EXPECT_EQ(in.u64(), 2 * kFar);
  ASSERT_EQ(run(nfs4::op_seek, io(2 * kFar + 3).u32(0)), Nfs4Status::kNxIo);
  EXPECT_EQ(run(nfs4::op_seek, io(0).u32(2)), Nfs4Status::kUnionNotSupp);
}

TEST_F(Nfs4Data, SeekForDataInATailOfNothingSaysEnd) {
  const core::FileId id = make_sparse("a");
  ASSERT_TRUE(volume->ns().setattr({}, {.id = id, .set = {.size = 9 * kFar}}));
  at("a");
  ASSERT_EQ(run(nfs4::op_seek, io(9 * kFar - 1).u32(0)), Nfs4Status::kOk);
  EXPECT_TRUE(in.boolean());
  EXPECT_EQ(in.u64(), 9 * kFar);
  ASSERT_EQ(run(nfs4::op_seek, io(9 * kFar - 1).u32(1)), Nfs4Status::kOk);
  in.boolean();
  EXPECT_EQ(in.u64(), 9 * kFar - 1);
  EXPECT_EQ(run(nfs4::op_seek, io(9 * kFar).u32(1)), Nfs4Status::kNxIo);
}

TEST_F(Nfs4Data, AllocateGrowsAndDeallocateDoesNot) {
  const core::FileId id = make_file("a", "hello");
  at("a");
  ASSERT_EQ(run(nfs4::op_allocate, io(0).u64(100)), Nfs4Status::kOk);
  EXPECT_EQ(attributes(id).size, 100u);
  ASSERT_EQ(run(nfs4::op_deallocate, io(1).u64(~std::uint64_t{0} - 1)), Nfs4Status::kOk);
  EXPECT_EQ(attributes(id).size, 100u);
  EXPECT_EQ(content(id), "h" + std::string(99, '\0'));
  EXPECT_EQ(run(nfs4::op_allocate, io(2).u64(~std::uint64_t{0})), Nfs4Status::kInval);
  EXPECT_EQ(run(nfs4::op_deallocate, io(2).u64(~std::uint64_t{0})), Nfs4Status::kInval);
  EXPECT_EQ(run(nfs4::op_allocate, io(core::kFileBytesMax).u64(1)), Nfs4Status::kFBig);
  EXPECT_EQ(run(nfs4::op_allocate, io(0).u64(0)), Nfs4Status::kInval);
}

TEST_F(Nfs4Data, CopyIsDoneWhenItIsAnswered) {
  make_file("a", "hello world");
  const core::FileId to = make_file("b");
  at("a");
  save();
  at("b");
  ASSERT_EQ(run(nfs4::op_copy, copy(6, 0, 0)), Nfs4Status::kOk);
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_EQ(in.u64(), 5u);
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_EQ(in.u64(), volume->ns().boot_verifier());
  EXPECT_TRUE(in.boolean());
  EXPECT_TRUE(in.boolean());
  EXPECT_EQ(in.left(), 0u);
  EXPECT_EQ(content(to), "world");
}

TEST_F(Nfs4Data, ALongCopyIsCutShort) {
  const core::FileId from = make_file("a", "head");
  ASSERT_TRUE(volume->ns().setattr({}, {.id = from, .set = {.size = 17 * kFar}}));
  const core::FileId to = make_file("b");
  at("a");
  save();
  at("b");
  ASSERT_EQ(run(nfs4::op_copy, copy(0, 0, 17 * kFar)), Nfs4Status::kOk);
  in.u32();
  EXPECT_EQ(in.u64(), 16u << 20);
  EXPECT_EQ(attributes(to).size, 16u << 20);
}

TEST_F(Nfs4Data, HolesAreCopiedAsHoles) {
  const core::FileId from = make_sparse("a");
  const core::FileId fresh = make_file("b");
  const core::FileId full = make_file("c", std::string(4 * kFar, 'x'));
  ASSERT_TRUE(volume->flush());
  const std::string expected = content(from);
  for (const auto& [name, to] : {std::pair("b", fresh), std::pair("c", full)}) {
    at("a");
    save();
    at(name);
    ASSERT_EQ(run(nfs4::op_copy, copy(0, 0, 0)), Nfs4Status::kOk);
    in.u32();
    EXPECT_EQ(in.u64(), expected.size());
    EXPECT_EQ(content(to).substr(0, expected.size()), expected) << name;
    const auto hole = volume->ns().seek({}, {to, 0, core::SeekWhat::kHole});
    ASSERT_TRUE(hole);
    EXPECT_LT(hole->offset, kFar) << name;
    const auto data = volume->ns().seek({}, {to, hole->offset, core::SeekWhat::kData});
    ASSERT_TRUE(data);
    EXPECT_GT(data->offset, kFar) << name;
  }
  EXPECT_EQ(content(full).substr(expected.size()), std::string(4 * kFar - expected.size(), 'x'));
  // A hole at the end, too; a quota counts its size, as with any file.
  ASSERT_TRUE(volume->ns().setattr({}, {.id = from, .set = {.size = 12 * kFar}}));
  const core::FileId tail = make_file("d");
  at("a");
  save();
  at("d");
  const std::int64_t before = volume->ns().usage({}, {core::kRootId})->usage.bytes;
  ASSERT_EQ(run(nfs4::op_copy, copy(0, 0, 0)), Nfs4Status::kOk);
  EXPECT_EQ(attributes(tail).size, 12 * kFar);
  EXPECT_EQ(volume->ns().usage({}, {core::kRootId})->usage.bytes, before + static_cast<std::int64_t>(12 * kFar));
  EXPECT_EQ(volume->ns().seek({}, {tail, 4 * kFar, core::SeekWhat::kData}).error().code, Errc::kNoMoreData);
}

TEST_F(Nfs4Data, CopiesThatMakeNoSenseAreRefused) {
  make_file("a", "hello world");
  make_directory("d");
  publish("other", {anyone()});
  begin();
  at("a");
  EXPECT_EQ(run(nfs4::op_copy, copy(0, 0, 1)), Nfs4Status::kNoFileHandle);
  save();
  EXPECT_EQ(run(nfs4::op_copy, copy(0, 3, 5)), Nfs4Status::kInval);    // overlap
  EXPECT_EQ(run(nfs4::op_copy, copy(8, 100, 5)), Nfs4Status::kInval);  // behind the end
  EXPECT_EQ(run(nfs4::op_copy, copy(12, 100, 0)), Nfs4Status::kInval);
  EXPECT_EQ(run(nfs4::op_copy, copy(0, core::kFileBytesMax, 5)), Nfs4Status::kFBig);
  EXPECT_EQ(run(nfs4::op_copy, copy(0, 100, 5, 1).u32(1).string("server")), Nfs4Status::kNotSupp);
  EXPECT_EQ(run(nfs4::op_copy, copy(0, 100, 5, 1).u32(3).string("tcp").string("127.0.0.1.8.1")), Nfs4Status::kNotSupp);
  EXPECT_EQ(run(nfs4::op_copy, copy(0, 100, 5, 1).u32(4)), Nfs4Status::kBadXdr);
  at("d");
  EXPECT_EQ(run(nfs4::op_copy, copy(0, 0, 1)), Nfs4Status::kIsDir);
  ASSERT_EQ(put_root("other"), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_copy, copy(0, 0, 1)), Nfs4Status::kXDev);
  EXPECT_EQ(run(nfs4::op_clone, clone(0, 0, 1)), Nfs4Status::kXDev);
  at("d");
  save();
  at("a");
  EXPECT_EQ(run(nfs4::op_copy, copy(0, 0, 1)), Nfs4Status::kIsDir);
  EXPECT_EQ(run(nfs4::op_clone, clone(0, 0, 1)), Nfs4Status::kIsDir);
}

TEST_F(Nfs4Data, ACloneIsTheSameAndStaysApart) {
  const std::string text(100'000, 'x');
  const core::FileId from = make_file("a", text);
  const core::FileId to = make_file("b");
  at("a");
  save();
  at("b");
  ASSERT_EQ(run(nfs4::op_clone, clone(0, 0, 0)), Nfs4Status::kOk);
  EXPECT_EQ(content(to), text);
  ASSERT_EQ(write(0, "y"), Nfs4Status::kOk);
  EXPECT_EQ(content(from), text);
  EXPECT_EQ(run(nfs4::op_clone, clone(99'999, 0, 2)), Nfs4Status::kInval);
}

TEST_F(Nfs4Data, AdviceIsHeardAndNoOffloadIsKnown) {
  make_file("a", "x");
  at("a");
  ASSERT_EQ(run(nfs4::op_io_advise, io(0).u64(0).u32(1).u32(4)), Nfs4Status::kOk);
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_EQ(run(nfs4::op_io_advise, io(0, bad_stateid()).u64(0).u32(0)), Nfs4Status::kBadStateId);
  EXPECT_EQ(run(nfs4::op_offload_status, good_stateid()), Nfs4Status::kBadStateId);
  EXPECT_EQ(run(nfs4::op_offload_cancel, good_stateid()), Nfs4Status::kBadStateId);
}

}  // namespace
}  // namespace stoa::test
