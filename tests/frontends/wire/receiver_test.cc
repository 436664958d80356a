#include "frontends/wire/receiver.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>

#include "tests/frontends/wire/toy_client.h"

namespace stoa::wire {
namespace {

using test::be32;
using test::Bytes;

Bytes pattern(std::size_t size, std::uint8_t seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + seed);
  return bytes;
}

// Record marking of ONC RPC: the first bit of a length marks the last piece.
constexpr Framer kPieces{.header_bytes = 4, .read = [](const std::byte* header) -> Framer::Piece {
                           const std::uint32_t mark = test::be32_at(header);
                           return {.bytes = mark & 0x7fff'ffff, .last = mark >> 31 != 0};
                         }};
constexpr Framer kPayloadAt100{.header_bytes = kPieces.header_bytes,
                               .read = kPieces.read,
                               .payload_offset = [](std::span<const std::byte>) { return std::size_t{100}; }};

class ReceiverTest : public testing::Test {
 protected:
  ReceiverTest() {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds_), 0);
    fcntl(fds_[1], F_SETFL, O_NONBLOCK);
    const int size = 4 << 20;
    setsockopt(fds_[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  }
  ~ReceiverTest() override {
    if (fds_[0] >= 0) close(fds_[0]);
    close(fds_[1]);
  }
  void feed(std::span<const std::byte> bytes) {
    ASSERT_EQ(write(fds_[0], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  static Bytes framed(std::span<const std::byte> record, bool last = true) {
    Bytes bytes = be32((last ? 0x8000'0000u : 0u) | static_cast<std::uint32_t>(record.size()));
    bytes.insert(bytes.end(), record.begin(), record.end());
    return bytes;
  }
  // Receives until dry and copies the records.
  Receiver::Outcome drain(Receiver& receiver, std::vector<Bytes>& got) {
    while (true) {
      std::vector<Record> records;
      const auto outcome = receiver.receive(fds_[1], scratch_, records);
      for (const Record& record : records) got.emplace_back(record.bytes.begin(), record.bytes.end());
      if (outcome != Receiver::Outcome::kMore) return outcome;
    }
  }

  int fds_[2];
  std::vector<std::byte> scratch_ = std::vector<std::byte>(Receiver::kScratchBytes);
  RecordPool pool_{{64 << 20, 64 << 20}, {64 << 20, 64 << 20}, 4 << 20};
  std::shared_ptr<AddressBudget> budget_ = std::make_shared<AddressBudget>();
  Receiver receiver_{pool_, budget_, {}, kPayloadAt100};
};

TEST_F(ReceiverTest, TakesManyRecordsFromOneReceive) {
  Bytes stream;
  for (std::uint8_t i = 0; i < 20; ++i) {
    const Bytes one = framed(pattern(40 + i, i));
    stream.insert(stream.end(), one.begin(), one.end());
  }
  feed(stream);
  std::vector<Bytes> got;
  EXPECT_EQ(drain(receiver_, got), Receiver::Outcome::kDry);
  ASSERT_EQ(got.size(), 20u);
  for (std::uint8_t i = 0; i < 20; ++i) EXPECT_EQ(got[i], pattern(40 + i, i));
  EXPECT_FALSE(receiver_.partial());
}

TEST_F(ReceiverTest, PutsBytewiseInputTogether) {
  const Bytes stream = framed(pattern(60, 3));
  std::vector<Bytes> got;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    feed(std::span(stream).subspan(i, 1));
    drain(receiver_, got);
    EXPECT_EQ(receiver_.partial(), i + 1 < stream.size());
  }
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0], pattern(60, 3));
}

TEST_F(ReceiverTest, PutsFragmentsTogetherWhateverTheirSizes) {
  const Bytes whole = pattern(1000, 9);
  Bytes stream;
  const auto add = [&](std::size_t from, std::size_t size, bool last) {
    const Bytes one = framed(std::span(whole).subspan(from, size), last);
    stream.insert(stream.end(), one.begin(), one.end());
  };
  add(0, 1, false);
  add(1, 0, false);
  add(1, 998, false);
  add(999, 1, false);
  add(1000, 0, true);
  const Bytes after = framed(pattern(28, 1));
  stream.insert(stream.end(), after.begin(), after.end());
  feed(stream);
  std::vector<Bytes> got;
  drain(receiver_, got);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0], whole);
  EXPECT_EQ(got[1], pattern(28, 1));
}

TEST_F(ReceiverTest, PutsALargeFragmentedRecordTogether) {
  const Bytes whole = pattern(300'000, 5);
  Bytes stream;
  for (std::size_t at = 0; at < whole.size(); at += 10'000) {
    const Bytes one = framed(std::span(whole).subspan(at, 10'000), at + 10'000 == whole.size());
    stream.insert(stream.end(), one.begin(), one.end());
  }
  std::thread writer([&] { feed(stream); });
  std::vector<Bytes> got;
  while (got.empty()) drain(receiver_, got);
  writer.join();
  EXPECT_EQ(got[0], whole);
}

TEST_F(ReceiverTest, AlignsThePayloadOfALargeRecord) {
  const Bytes whole = pattern(1 << 20, 2);
  std::thread writer([&] { feed(framed(whole)); });
  std::vector<Record> records;
  while (records.empty()) receiver_.receive(fds_[1], scratch_, records);
  writer.join();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_TRUE(std::ranges::equal(records[0].bytes, whole));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(records[0].bytes.data() + 100) % 4096, 0u);
  EXPECT_GT(pool_.bytes_in_use(), 0u);
  records.clear();
  EXPECT_EQ(pool_.bytes_in_use(), 0u);
}

TEST_F(ReceiverTest, TakesAnyMixOfSizesInAnyPieces) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::vector<Bytes> sent;
  Bytes stream;
  for (int i = 0; i < 60; ++i) {
    const std::size_t sizes[] = {28, 200, 3000, 16'000, 16'384, 17'000, 70'000, 140'000};
    sent.push_back(pattern(sizes[random() % 8] + random() % 100, static_cast<std::uint8_t>(random())));
    const Bytes one = framed(sent.back());
    stream.insert(stream.end(), one.begin(), one.end());
  }
  std::thread writer([&] {
    std::mt19937 pieces(seed + 1);
    std::span<const std::byte> rest(stream);
    while (!rest.empty()) {
      const std::size_t n = std::min<std::size_t>(rest.size(), 1 + pieces() % 50'000);
      feed(rest.first(n));
      rest = rest.subspan(n);
    }
  });
  std::vector<Bytes> got;
  while (got.size() < sent.size()) ASSERT_EQ(drain(receiver_, got), Receiver::Outcome::kDry);
  writer.join();
  EXPECT_EQ(got, sent);
}

TEST_F(ReceiverTest, RefusesARecordBeyondTheLimit) {
  feed(be32(0x8000'0000u | (RecordPool::kRecordBytesMax + 1)));
  std::vector<Bytes> got;
  EXPECT_EQ(drain(receiver_, got), Receiver::Outcome::kOversized);
}

TEST_F(ReceiverTest, RefusesFragmentsThatAddUpBeyondTheLimit) {
  Receiver small(pool_, budget_, {.record_bytes_max = 100, .fragments_max = 10}, kPieces);
  feed(framed(pattern(60, 0), false));
  feed(framed(pattern(60, 0), true));
  std::vector<Bytes> got;
  EXPECT_EQ(drain(small, got), Receiver::Outcome::kOversized);
}

TEST_F(ReceiverTest, RefusesTooManyFragments) {
  Receiver small(pool_, budget_, {.record_bytes_max = 100, .fragments_max = 10}, kPieces);
  for (int i = 0; i < 11; ++i) feed(framed({}, false));
  std::vector<Bytes> got;
  EXPECT_EQ(drain(small, got), Receiver::Outcome::kOversized);
}

TEST_F(ReceiverTest, WaitsForMemoryAndGoesOnWhereItWas) {
  constexpr std::uint64_t kOne = RecordPool::memory_of(0);
  RecordPool tiny{{kOne, kOne}, {kOne, kOne}, 0};
  Receiver receiver(tiny, budget_, {}, kPieces);
  RecordMemory taken = tiny.take(20'000, budget_);
  ASSERT_TRUE(taken);
  const Bytes first = framed(pattern(40, 1));
  const Bytes large = framed(pattern(20'000, 2));
  feed(first);
  feed(std::span(large).first(5000));
  std::vector<Bytes> got;
  EXPECT_EQ(drain(receiver, got), Receiver::Outcome::kNoMemory);
  EXPECT_EQ(got.size(), 1u);
  EXPECT_EQ(drain(receiver, got), Receiver::Outcome::kNoMemory);
  taken = {};
  feed(std::span(large).subspan(5000));
  drain(receiver, got);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[1], pattern(20'000, 2));
}

TEST_F(ReceiverTest, OneAddressCannotTakeTheMemoryOfAll) {
  constexpr std::uint64_t kOne = RecordPool::memory_of(3);
  RecordPool pool{{10 * kOne, 2 * kOne}, {10 * kOne, 10 * kOne}, 0};
  auto greedy = std::make_shared<AddressBudget>();
  const RecordMemory one = pool.take(1 << 20, greedy);
  const RecordMemory two = pool.take(1 << 20, greedy);
  EXPECT_TRUE(two);
  EXPECT_FALSE(pool.take(1 << 20, greedy));
  EXPECT_TRUE(pool.take(1 << 20, std::make_shared<AddressBudget>()));
}

TEST_F(ReceiverTest, MemoryThatIsLentStaysAsItIsAndCountsForNobodyWhenItsRecordIsGone) {
  constexpr std::uint64_t kOne = RecordPool::memory_of(3);
  core::LentMemory lent;
  std::byte* place = nullptr;
  {
    RecordPool pool{{2 * kOne, 2 * kOne}, {2 * kOne, 2 * kOne}, 2 * kOne};
    {
      RecordMemory record = pool.take(1 << 20, budget_);
      record.complete();
      place = record.data();
      const std::span<std::byte> all(place, record.size());
      std::ranges::fill(all, std::byte{7});
      EXPECT_EQ(record.lend(all.first(all.size() / 2 - 1)).owner, nullptr) << "not worth it";
      const std::vector<std::byte> elsewhere(1 << 20);
      EXPECT_EQ(record.lend(elsewhere).owner, nullptr);
      lent = record.lend(all.subspan(4096, 1 << 20));
      EXPECT_EQ(lent.bytes, kOne);
      EXPECT_EQ(record.lend(all).owner, lent.owner);
      EXPECT_EQ(pool.bytes_in_use(), kOne);
      RecordMemory moved = std::move(record);
    }
    EXPECT_EQ(pool.bytes_in_use(), 0u);
    EXPECT_EQ(budget_->record_bytes, 0u);
    {
      const RecordMemory next = pool.take(1 << 20, budget_);
      EXPECT_NE(next.data(), place);
      std::memset(next.data(), 1, next.size());
    }
    EXPECT_EQ(place[4096], std::byte{7});
    const auto other = pool.take(1 << 20, budget_);
    lent = {};
    const auto again = pool.take(1 << 20, budget_);
    EXPECT_EQ(again.data(), place) << "it came back";
  }
  {
    auto short_lived = std::make_unique<RecordPool>(RecordPool::Limit{kOne, kOne}, RecordPool::Limit{kOne, kOne}, kOne);
    RecordMemory record = short_lived->take(1 << 20, budget_);
    lent = record.lend({record.data(), record.size()});
    record = {};
    short_lived.reset();
  }
  std::memset(const_cast<void*>(lent.owner.get()), 2, 1 << 20);  // still there, when the pool is not
}

TEST_F(ReceiverTest, WhatIsHalfSentHasABudgetOfItsOwn) {
  constexpr std::uint64_t kOne = RecordPool::memory_of(3);
  RecordPool pool{{10 * kOne, 10 * kOne}, {2 * kOne, kOne}, 0};
  auto other = std::make_shared<AddressBudget>();
  RecordMemory one = pool.take(1 << 20, budget_);
  EXPECT_FALSE(pool.take(1 << 20, budget_)) << "the address has its share";
  const RecordMemory two = pool.take(1 << 20, other);
  EXPECT_FALSE(pool.take(1 << 20, std::make_shared<AddressBudget>()));
  EXPECT_EQ(pool.bytes_half_sent(), 2 * kOne);
  EXPECT_TRUE(pool.tight());
  one.complete();
  one.complete();
  EXPECT_EQ(pool.bytes_half_sent(), kOne);
  EXPECT_EQ(pool.bytes_in_use(), 2 * kOne);
  const RecordMemory three = pool.take(1 << 20, budget_);
  EXPECT_TRUE(three);
  one = {};
  EXPECT_EQ(pool.bytes_half_sent(), 2 * kOne);
  EXPECT_EQ(pool.bytes_in_use(), 2 * kOne);

  // A record that is whole counts no more, however it came.
  Receiver receiver(pool_, budget_, {}, kPieces);
  const Bytes large = framed(pattern(20'000, 2));
  feed(std::span(large).first(5000));
  std::vector<Record> records;
  receiver.receive(fds_[1], scratch_, records);
  EXPECT_TRUE(receiver.holds_memory());
  EXPECT_GT(pool_.bytes_half_sent(), 0u);
  feed(std::span(large).subspan(5000));
  receiver.receive(fds_[1], scratch_, records);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_FALSE(receiver.holds_memory());
  EXPECT_EQ(pool_.bytes_half_sent(), 0u);
  EXPECT_GT(pool_.bytes_in_use(), 0u);
}

TEST_F(ReceiverTest, TellsTheEndOfTheStream) {
  feed(framed(pattern(40, 1)));
  close(fds_[0]);
  fds_[0] = -1;
  std::vector<Bytes> got;
  Receiver::Outcome outcome = drain(receiver_, got);
  if (outcome == Receiver::Outcome::kDry) outcome = drain(receiver_, got);
  EXPECT_EQ(outcome, Receiver::Outcome::kClosed);
  EXPECT_EQ(got.size(), 1u);
}

}  // namespace
}  // namespace stoa::wire
