// Random calls against bytes in memory: what is read, and what arrives at the server, is what was written.
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "frontends/native/data/buffered_storage.h"
#include "tests/frontends/native/data/stored_files.h"

namespace stoa::native::data {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::uint32_t kAll = core::kReadCaching | core::kWriteCaching | core::kHandleCaching;

struct Model {
  explicit Model(std::uint32_t seed, std::uint64_t budget) : random(seed), leases(server) {
    for (auto& one : pool) one = static_cast<std::byte>(random());
    storage.emplace(server, leases, budget);
    leases.grant(kAll);
  }
  std::uint64_t up_to(std::uint64_t most) { return random() % (most + 1); }
  // Sizes that meet limits, more often than all others.
  std::uint64_t length() {
    switch (up_to(9)) {
      case 0:
        return WriteBuffer::kPieceBytes + up_to(2) - 1;
      case 1:
        return up_to(300'000);
      case 2:
        return 4096;
      default:
        return up_to(9000);
    }
  }
  std::uint64_t offset() {
    switch (up_to(5)) {
      case 0:
        return up_to(4'000'000);
      case 1:
        return std::uint64_t{WriteBuffer::kPieceBytes} - up_to(3);
      case 2:
        return bytes.size();
      default:
        return up_to(100'000);
    }
  }
  Bytes some(std::size_t size) {
    const std::size_t from = up_to(pool.size() - size);
    return {pool.begin() + static_cast<std::ptrdiff_t>(from), pool.begin() + static_cast<std::ptrdiff_t>(from + size)};
  }
  void write(std::uint64_t at, const Bytes& data) {
    if (bytes.size() < at + data.size() && !data.empty()) bytes.resize(at + data.size());
    std::copy(data.begin(), data.end(), bytes.begin() + static_cast<std::ptrdiff_t>(data.empty() ? 0 : at));
  }

  std::mt19937 random;
  Bytes pool = Bytes(1'500'000);  // random bytes, of which parts are written
  StoredFiles server;
  OneLease leases;
  std::optional<BufferedStorage> storage;
  Bytes bytes;  // what the file should have
};

void run(std::uint32_t seed, std::uint64_t budget, int steps) {
  Model model(seed, budget);
  BufferedStorage& storage = *model.storage;
  const Asker asker{};
  const core::FileId id = file_id(7);
  const core::OpenRequest both{.id = id, .access = core::kShareBoth};
  OpenNumber open = storage.open(asker, both)->open;
  Bytes into(2'500'000);
  for (int i = 0; i < steps; ++i) {
    const std::uint64_t what = model.up_to(99);
    if (what < 45) {
      const std::uint64_t at = model.offset();
      const Bytes data = model.some(model.length());
      const auto written = storage.write(asker, id, open, at, data, {.durable = model.up_to(20) == 0});
      ASSERT_TRUE(written) << describe(written.error());
      ASSERT_EQ(written->length, data.size());
      model.write(at, data);
    } else if (what < 75) {
      const std::uint64_t at = model.offset();
      const std::size_t asked = model.up_to(30) == 0 ? model.up_to(into.size()) : model.length();
      const auto read = storage.read(asker, id, open, at, std::span(into).first(asked));
      ASSERT_TRUE(read) << describe(read.error());
      const std::size_t expected =
          at >= model.bytes.size() ? 0 : std::min<std::uint64_t>(asked, model.bytes.size() - at);
      ASSERT_EQ(*read, expected) << "seed " << seed << " step " << i;
      if (expected != 0) {
        ASSERT_EQ(std::memcmp(into.data(), model.bytes.data() + at, expected), 0) << "seed " << seed << " step " << i;
      }
    } else if (what < 83) {
      ASSERT_EQ(storage.getattr(asker, id)->size, model.bytes.size()) << "seed " << seed << " step " << i;
    } else if (what < 85) {
      const std::uint64_t size = model.offset();
      const auto set = storage.setattr(asker, id, open, {.size = size});
      ASSERT_TRUE(set);
      ASSERT_EQ(set->size, size);
      model.bytes.resize(size);
    } else if (what < 87) {
      const Bytes data = model.some(model.up_to(5000) + 1);
      ASSERT_TRUE(storage.append(asker, id, open, data, false));
      model.write(model.bytes.size(), data);
    } else if (what < 89) {
      const std::uint64_t at = model.offset(), length = model.length() + 1;
      ASSERT_TRUE(storage.punch(asker, {.id = id, .offset = at, .length = length}, open));
      const std::uint64_t end = std::min<std::uint64_t>(model.bytes.size(), at + length);
      if (at < end) std::memset(model.bytes.data() + at, 0, end - at);
    } else if (what < 91) {
      ASSERT_TRUE(storage.commit(asker, id, open));
      ASSERT_FALSE(model.server.stored(id).uncommitted);
      ASSERT_TRUE(model.server.stored(id).bytes == model.bytes);
    } else if (what < 95) {
      storage.close(asker, open);
      const bool truncates = model.up_to(5) == 0;
      core::OpenRequest again{.access = core::kShareBoth};
      if (model.up_to(1) == 0) again.id = id;
      if (again.id == core::kNoFile) again.name = "7";
      again.disposition = truncates ? core::OpenDisposition::kOverwrite : core::OpenDisposition::kOpen;
      const auto opened = storage.open(asker, again);
      ASSERT_TRUE(opened);
      open = opened->open;
      if (truncates) model.bytes.clear();
      ASSERT_EQ(opened->attr.size, model.bytes.size());
    } else if (what < 98) {
      // Another client changes the file: all that was written is there by then.
      model.leases.recall(storage);
      ASSERT_TRUE(model.server.stored(id).bytes == model.bytes) << "seed " << seed << " step " << i;
      const Bytes data = model.some(model.up_to(3000) + 1);
      model.write(model.offset(), data);
      model.server.put(id, model.bytes);
      const std::uint64_t bits = model.up_to(3);
      if (bits != 0) model.leases.grant(bits == 1 ? core::kReadCaching : kAll);
    } else {
      model.leases.recall(storage);
      model.leases.grant(kAll);
    }
  }
  storage.close(asker, open);
  (void)storage.commit_everything();
  EXPECT_TRUE(model.server.stored(id).bytes == model.bytes);
  EXPECT_FALSE(model.server.stored(id).uncommitted);
  EXPECT_EQ(model.server.open_count(), 0u);
  EXPECT_FALSE(model.server.saw_too_large());
}

TEST(BufferedModel, ReadsWhatWasWritten) {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) run(seed, BufferedStorage::kBudgetBytes, 500);
}

TEST(BufferedModel, WithAlmostNoBudget) {
  for (std::uint32_t seed = 100; seed < 104; ++seed) run(seed, 64 * 1024, 200);
  for (std::uint32_t seed = 200; seed < 202; ++seed) run(seed, 4, 300);
}

// Each thread has regions of a common file, and a file of its own; leases come and go.
TEST(BufferedModel, ThreadsAndRecalls) {
  StoredFiles server;
  OneLease leases(server);
  BufferedStorage storage(server, leases, 16 * 1024 * 1024);
  leases.grant(kAll);
  constexpr std::uint64_t kRegion = 100'003, kThreads = 4;
  constexpr int kSteps = 1500;
  std::atomic<std::uint64_t> running{kThreads};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<std::uint32_t>(t));
      const Asker asker{.cred = {.uid = static_cast<std::uint32_t>(t % 2)}};
      const core::FileId common = file_id(50), own = file_id(60 + t);
      const OpenNumber in_common = storage.open(asker, {.id = common, .access = core::kShareBoth})->open;
      OpenNumber in_own = storage.open(asker, {.id = own, .access = core::kShareBoth})->open;
      Bytes region(kRegion), mine;
      ASSERT_TRUE(storage.write(asker, common, in_common, t * kRegion, region, {}));
      Bytes into(kRegion);
      for (int i = 0; i < kSteps; ++i) {
        const std::uint64_t at = random() % kRegion, length = random() % (kRegion - at) / (1 + random() % 30) + 1;
        if (random() % 2 == 0) {
          for (std::uint64_t k = at; k < at + length; ++k) region[k] = static_cast<std::byte>(random());
          const auto data = std::span(region).subspan(at, length);
          ASSERT_TRUE(storage.write(asker, common, in_common, t * kRegion + at, data, {}));
          ASSERT_TRUE(storage.write(asker, own, in_own, at, data, {}));
          if (mine.size() < at + length) mine.resize(at + length);
          std::copy(data.begin(), data.end(), mine.begin() + static_cast<std::ptrdiff_t>(at));
        } else {
          const auto read = storage.read(asker, common, in_common, t * kRegion + at, std::span(into).first(length));
          ASSERT_TRUE(read);
          ASSERT_EQ(*read, length);
          ASSERT_EQ(std::memcmp(into.data(), region.data() + at, length), 0) << "thread " << t << " step " << i;
        }
        if (random() % 64 == 0) {
          ASSERT_TRUE(storage.commit(asker, own, in_own));
          ASSERT_EQ(server.stored(own).bytes, mine);
        }
        if (random() % 64 == 0) {
          storage.close(asker, in_own);
          const auto again = storage.open(asker, {.id = own, .access = core::kShareBoth});
          ASSERT_EQ(again->attr.size, mine.size());
          in_own = again->open;
        }
      }
      storage.close(asker, in_common);
      storage.close(asker, in_own);
      --running;
    });
  }
  while (running != 0) {
    leases.recall(storage);
    std::this_thread::yield();
    leases.grant(kAll);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (auto& thread : threads) thread.join();
  (void)storage.commit_everything();
  EXPECT_EQ(server.open_count(), 0u);
  EXPECT_EQ(server.stored(file_id(50)).bytes.size(), kThreads * kRegion);
}

}  // namespace
}  // namespace stoa::native::data
