// READ, WRITE, COMMIT, on both stores.
#include <random>

#include "tests/frontends/nfs/protocol_fixture.h"

namespace stoa::test {
namespace {

class DataTest : public ExportedTest, public testing::WithParamInterface<Store> {
 protected:
  DataTest() : ExportedTest(GetParam()) {}
  static std::string noise(std::size_t size, unsigned seed) {
    std::mt19937_64 random(seed);
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
  }
  static std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
  }
};

TEST_P(DataTest, WhatWasWrittenIsReadForAnySize) {
  for (const std::size_t size : {0u, 1u, 3u, 4096u, 16'384u, 16'385u, 65'536u, 65'537u, 300'001u, 1'048'576u}) {
    const Handle file = nfs->create(root, "f" + std::to_string(size));
    const std::string text = noise(size, static_cast<unsigned>(size));
    ASSERT_EQ(nfs->write(file, 0, text), NfsStatus::kOk);
    EXPECT_EQ(nfs->attributes(file).size, size);
    const auto back = nfs->read(file);
    ASSERT_TRUE(back) << size;
    EXPECT_TRUE(*back == text) << size;
    if (size > 10) {
      EXPECT_EQ(nfs->read(file, size - 10, 10), text.substr(size - 10));
      EXPECT_EQ(nfs->read(file, size / 2, 70'000), text.substr(size / 2, 70'000));
    }
  }
}

// Memory not used by a worker yet must be allocated for the reply: on its first call, and after a reply so large that
// its memory was given back.
TEST_P(DataTest, TheFirstReadOfAFreshServerIsWholeForAnyLength) {
  options.workers = 1;
  for (const std::size_t size : {1u, 4093u, 4095u, 13'497u, 16'383u, 16'815u, 21'915u, 65'533u, 65'535u}) {
    const Handle file = nfs->create(root, "f" + std::to_string(size));
    const std::string text = noise(size, static_cast<unsigned>(size));
    ASSERT_EQ(nfs->write(file, 0, text), NfsStatus::kOk);
    server.reset();
    start_protocol();
    nfs = std::make_unique<NfsCaller>(port);
    const auto back = nfs->read(file, 0, static_cast<std::uint32_t>(size));
    ASSERT_TRUE(back) << size;
    EXPECT_TRUE(*back == text) << size;
  }
}

TEST_P(DataTest, ReadTellsTheEndOfTheFile) {
  const Handle file = nfs->create(root, "f");
  ASSERT_EQ(nfs->write(file, 0, "0123456789"), NfsStatus::kOk);
  const auto read = [&](std::uint64_t offset, std::uint32_t count) {
    NfsResult result = nfs->read_call(file, offset, count);
    EXPECT_TRUE(result.ok());
    EXPECT_TRUE(read_post_op(result.in));
    const std::uint32_t got = result.in.u32();
    return std::pair(got, result.in.boolean());
  };
  EXPECT_EQ(read(0, 5), std::pair(5u, false));
  EXPECT_EQ(read(0, 10), std::pair(10u, true));
  EXPECT_EQ(read(5, 100), std::pair(5u, true));
  EXPECT_EQ(read(10, 1), std::pair(0u, true));
  EXPECT_EQ(read(1'000'000, 100'000), std::pair(0u, true));
  EXPECT_EQ(read(~std::uint64_t{0}, 100), std::pair(0u, true));
  EXPECT_EQ(read(3, 0), std::pair(0u, false));
}

TEST_P(DataTest, AReadBeyondTheLargestSizeIsShortAndNotTheEnd) {
  const Handle file = nfs->create(root, "f");
  const std::string text = noise(1 << 20, 1);
  ASSERT_EQ(nfs->write(file, 0, text), NfsStatus::kOk);
  ASSERT_EQ(nfs->write(file, 1 << 20, "more"), NfsStatus::kOk);
  NfsResult result = nfs->read_call(file, 0, 3 << 20);
  ASSERT_TRUE(result.ok());
  read_post_op(result.in);
  EXPECT_EQ(result.in.u32(), 1u << 20);
  EXPECT_FALSE(result.in.boolean());
  EXPECT_TRUE(result.in.string(2 << 20) == text);
}

TEST_P(DataTest, HolesReadAsZeros) {
  const Handle file = nfs->create(root, "f");
  ASSERT_EQ(nfs->write(file, 500'000, "end"), NfsStatus::kOk);
  const auto back = nfs->read(file);
  ASSERT_TRUE(back);
  std::string expected(500'000, '\0');
  expected.append("end");
  EXPECT_TRUE(*back == expected);
}

TEST_P(DataTest, WriteTellsHowStableItIs) {
  const Handle file = nfs->create(root, "f");
  std::uint64_t verifier = 0;
  for (const std::uint32_t stable : {0u, 1u, 2u}) {
    const WireAttributes before = nfs->attributes(file);
    NfsResult result = nfs->write_call(file, 0, bytes("0123456789"), stable);
    ASSERT_TRUE(result.ok());
    const WireWcc wcc = read_wcc(result.in);
    ASSERT_TRUE(wcc.before && wcc.after);
    EXPECT_EQ(wcc.before->size, before.size);
    EXPECT_EQ(wcc.before->ctime, before.ctime);
    EXPECT_EQ(wcc.after->size, 10u);
    EXPECT_EQ(result.in.u32(), 10u);
    EXPECT_GE(result.in.u32(), stable) << "never less than was asked for";
    verifier = result.in.u64();
    EXPECT_EQ(verifier, volume->ns().boot_verifier());
  }
  NfsResult commit = nfs->call(kCommit, Xdr().opaque(file).u64(0).u32(0));
  ASSERT_TRUE(commit.ok());
  EXPECT_TRUE(read_wcc(commit.in).after);
  EXPECT_EQ(commit.in.u64(), verifier);
  EXPECT_EQ(commit.in.left(), 0u);
}

TEST_P(DataTest, WriteFailsInTheRightWords) {
  const Handle file = nfs->create(root, "f", {.mode = 0644});
  const auto with = [&](std::uint32_t count, std::uint32_t stable) {
    return nfs->call(kWrite, Xdr().opaque(file).u64(0).u32(count).u32(stable).string("abcd"));
  };
  EXPECT_EQ(with(5, 0).status, NfsStatus::kInval) << "count is not the length of the data";
  EXPECT_EQ(with(4, 3).reply.accept_status, 4u);
  EXPECT_EQ(nfs->write(file, std::uint64_t{1} << 63, "x"), NfsStatus::kFBig);
  EXPECT_EQ(nfs->write(file, (std::uint64_t{1} << 63) - 1, "x"), NfsStatus::kFBig);
  EXPECT_EQ(nfs->write(root, 0, "x"), NfsStatus::kInval);
  EXPECT_EQ(nfs->read_call(root, 0, 10).status, NfsStatus::kInval);
  EXPECT_EQ(nfs->read_call(root, 0, 100'000).status, NfsStatus::kInval);
  NfsCaller other(port, 5, 5);
  NfsResult refused = other.write_call(file, 0, bytes("x"), 2);
  EXPECT_EQ(refused.status, NfsStatus::kAccess);
  EXPECT_TRUE(read_wcc(refused.in).after);
  EXPECT_EQ(nfs->attributes(file).size, 0u);
}

TEST_P(DataTest, AnEmptyWriteChangesNothing) {
  const Handle file = nfs->create(root, "f");
  NfsResult result = nfs->write_call(file, 100, {}, 2);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(nfs->attributes(file).size, 0u);
}

TEST_P(DataTest, ManyReadsInFlightComeBackEachWithItsOwnBytes) {
  const Handle file = nfs->create(root, "f");
  constexpr std::uint32_t kPart = 128 << 10;
  constexpr std::uint32_t kParts = 24;
  std::string text;
  for (std::uint32_t i = 0; i < kParts; ++i) {
    const std::string part = noise(kPart, i);
    ASSERT_EQ(nfs->write(file, std::uint64_t{i} * kPart, part, 0), NfsStatus::kOk);
    text += part;
  }
  std::map<std::uint32_t, std::uint32_t> parts;
  for (std::uint32_t i = 0; i < kParts; ++i) {
    const CallSpec spec = nfs->spec(kRead);
    parts[spec.xid] = i;
    nfs->wire.send_record(encode(spec, Xdr().opaque(file).u64(std::uint64_t{i} * kPart).u32(kPart)));
  }
  for (std::uint32_t i = 0; i < kParts; ++i) {
    NfsResult result(nfs->wire.receive());
    ASSERT_TRUE(result.ok());
    ASSERT_TRUE(parts.contains(result.reply.xid));
    read_post_op(result.in);
    result.in.u64();
    EXPECT_TRUE(result.in.string(kPart) == text.substr(std::size_t{parts[result.reply.xid]} * kPart, kPart));
    parts.erase(result.reply.xid);
  }
}

TEST_P(DataTest, ManyWritesInFlightAllArrive) {
  const Handle file = nfs->create(root, "f");
  constexpr std::uint32_t kPart = 256 << 10;
  constexpr std::uint32_t kParts = 16;
  std::string text;
  for (std::uint32_t i = 0; i < kParts; ++i) {
    const std::string part = noise(kPart, 100 + i);
    text += part;
    nfs->wire.send_record(
        encode(nfs->spec(kWrite), Xdr().opaque(file).u64(std::uint64_t{i} * kPart).u32(kPart).u32(i % 3).string(part)));
  }
  for (std::uint32_t i = 0; i < kParts; ++i) ASSERT_TRUE(NfsResult(nfs->wire.receive()).ok());
  std::string back;
  while (back.size() < text.size()) {
    const auto part = nfs->read(file, back.size());
    ASSERT_TRUE(part && !part->empty());
    back += *part;
  }
  EXPECT_TRUE(back == text);
}

TEST_P(DataTest, AWriteInFragmentsIsAsGoodAsOneInOnePiece) {
  const Handle file = nfs->create(root, "f");
  const std::string text = noise(200'000, 3);
  const Bytes record = encode(nfs->spec(kWrite), Xdr().opaque(file).u64(0).u32(200'000).u32(2).string(text));
  nfs->wire.send_fragments(record, 777);
  ASSERT_TRUE(NfsResult(nfs->wire.receive()).ok());
  EXPECT_TRUE(nfs->read(file) == text);
}

INSTANTIATE_TEST_SUITE_P(Stores, DataTest, testing::Values(Store::kMemory, Store::kDisk),
                         [](const auto& info) { return info.param == Store::kMemory ? "Memory" : "Disk"; });

}  // namespace
}  // namespace stoa::test
