// The begin of a WRITE's data in its record: there it is received page-aligned, so that it is written unchanged.
#include <gtest/gtest.h>

#include <algorithm>

#include "frontends/nfs/v4/program.h"
#include "tests/frontends/nfs/wire_client.h"

namespace stoa::test {
namespace {

Bytes call_record(const Xdr& operations, std::uint32_t count, std::uint32_t procedure = 1) {
  Xdr arguments;
  arguments.string("tag").u32(1).u32(count);
  arguments.raw(operations.bytes());
  return encode({.xid = 7,
                 .program = 100003,
                 .version = 4,
                 .procedure = procedure,
                 .auth_flavor = 1,
                 .auth_body = auth_sys(0, 0)},
                arguments);
}

Xdr write_of(const Bytes& data) {
  Xdr ops;
  ops.u32(53).raw(Bytes(16)).u32(1).u32(0).u32(0).u32(0);
  ops.u32(22).opaque(Bytes(29, std::byte{3}));
  ops.u32(38).raw(Bytes(16)).u64(4096).u32(0).opaque(data);
  return ops;
}

TEST(WritePayload, IsFoundBehindSequenceAndPutfh) {
  const Bytes data(64, std::byte{0xab});
  const Bytes whole = call_record(write_of(data), 3);
  const std::size_t at = nfs4::write_payload_offset(whole);
  ASSERT_GT(at, 0u);
  ASSERT_LE(at + data.size(), whole.size());
  EXPECT_TRUE(std::ranges::equal(std::span(whole).subspan(at, data.size()), data));
  // For a prefix of the record it is known once the length of the data is there.
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(nfs4::write_payload_offset(std::span(whole).first(size)), size < at ? 0 : at) << size;
  }
}

TEST(WritePayload, OfWhatIsNoWriteNothingIsSaid) {
  Xdr read;
  read.u32(22).opaque(Bytes(29)).u32(25).raw(Bytes(16)).u64(0).u32(4096);
  EXPECT_EQ(nfs4::write_payload_offset(call_record(read, 2)), 0u);
  EXPECT_EQ(nfs4::write_payload_offset(call_record(write_of(Bytes(64)), 2)), 0u)
      << "a third operation is not announced";
  EXPECT_EQ(nfs4::write_payload_offset(call_record({}, ~std::uint32_t{0})), 0u);
  Xdr long_handle;
  long_handle.u32(22).opaque(Bytes(nfs4::kHandleBytesMax + 1));
  EXPECT_EQ(nfs4::write_payload_offset(call_record(long_handle, 2)), 0u);
}

}  // namespace
}  // namespace stoa::test
