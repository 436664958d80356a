// Ranges of LOCK, LOCKT and LOCKU at which arithmetic goes wrong (RFC 8881 18.10.3, 18.11, 18.12).
#include "tests/frontends/nfs/awkward_values.h"
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

class LockRange : public ProtocolTest {
 protected:
  LockRange() {
    publish("test", {anyone()});
    start_protocol();
    a = std::make_unique<CompoundCaller>(port, "a");
    b = std::make_unique<CompoundCaller>(port, "b");
    for (CompoundCaller* caller : {a.get(), b.get()}) caller->connect();
    mine = a->open(a->handle_of({"test"}), "f", 3);
    theirs = b->open(b->handle_of({"test"}), "f", 3);
  }
  // A test of the whole range by the other client: whether anything is locked.
  Nfs4Status test_all() { return test(0, ~std::uint64_t{0}); }
  Nfs4Status test(std::uint64_t offset, std::uint64_t length) {
    return b->call(Ops().putfh(theirs.handle).op(13).u32(2).u64(offset).u64(length).u64(b->client).string("t")).status;
  }
  std::unique_ptr<CompoundCaller> a, b;
  CompoundCaller::Open mine, theirs;
};

TEST_F(LockRange, WhatIsNoRangeIsRefusedAndLocksNothing) {
  auto whole = a->lock(mine.handle, mine.stateid, "owner", 0, 1);
  ASSERT_EQ(whole.status, Nfs4Status::kOk);
  ASSERT_EQ(a->unlock(mine.handle, whole.stateid, 0, ~std::uint64_t{0}), Nfs4Status::kOk);
  for (const std::uint64_t offset : kAwkward) {
    for (const std::uint64_t length : kAwkward) {
      const bool good = length == ~std::uint64_t{0} || (length != 0 && length <= ~std::uint64_t{0} - offset);
      const auto locked = a->lock_again(mine.handle, whole.stateid, offset, length);
      ASSERT_EQ(locked.status, good ? Nfs4Status::kOk : Nfs4Status::kInval) << offset << ' ' << length;
      EXPECT_EQ(test_all(), good ? Nfs4Status::kDenied : Nfs4Status::kOk) << offset << ' ' << length;
      EXPECT_EQ(test(offset, length), good ? Nfs4Status::kDenied : Nfs4Status::kInval) << offset << ' ' << length;
      if (good) {
        whole.stateid = locked.stateid;
        // The byte before it is free; the one behind it, too.
        if (offset > 0) {
          EXPECT_EQ(test(offset - 1, 1), Nfs4Status::kOk) << offset << ' ' << length;
        }
        const bool to_end = length == ~std::uint64_t{0} || length == ~std::uint64_t{0} - offset;
        if (!to_end) {
          EXPECT_EQ(test(offset + length, 1), Nfs4Status::kOk) << offset << ' ' << length;
        }
      }
      WireStateid locks = whole.stateid;
      EXPECT_EQ(a->unlock(mine.handle, locks, offset, length), good ? Nfs4Status::kOk : Nfs4Status::kInval);
      whole.stateid = locks;
      EXPECT_EQ(test_all(), Nfs4Status::kOk) << offset << ' ' << length;
    }
  }
}

}  // namespace
}  // namespace stoa::test
