// Appends over kills of the server: each is in its file once and whole.
#include <algorithm>
#include <memory>

#include "tests/core/data/data_fixture.h"
#include "tests/core/data/killable_kv.h"
#include "tests/core/data/sizes.h"

namespace stoa::core::test {
namespace {

// From an empty file to one with a host file of its own; at the border of inline content; nothing written yet.
constexpr std::array<std::size_t, 6> kSizesBefore{0, 1, 16'384, 20'000, 300'001, 9 * kM + 7};

class AppendAgainTest : public DataTest<LocalBlobs> {
 protected:
  AppendAgainTest() { start(); }
  ~AppendAgainTest() override { volume_.reset(); }
  void start() {
    stop();
    killable_.dead = false;
    killable_.keeps.reset();
    metrics_ = std::make_unique<MetricRegistry>();
    blobs_ = LocalBlobs::open(folder_ + "/blobs", *metrics_);
    auto volume = Volume::open(killable_, *blobs_, *metrics_, options_);
    ASSERT_TRUE(volume) << describe(volume.error());
    volume_ = std::move(*volume);
  }
  void kill() {
    killable_.dead = true;
    start();
  }
  // As request `number` of client `client`.
  static OpContext asked(std::uint64_t client, std::uint64_t number, bool durable = false) {
    return {.request = {client, number << 8}, .durability = durable ? Durability::kDurable : Durability::kApplied};
  }
  Result<WriteReply> append(FileId id, std::string_view bytes, const OpContext& ctx, bool only_again = false) {
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
    return ns().write(ctx, {.id = id, .offset = 0, .data = pieces, .append = true, .only_again = only_again});
  }
  FileId file_of(std::size_t size) {
    const FileId id = create("f" + std::to_string(size));
    EXPECT_TRUE(write(id, 0, text(size, 7), true));
    return id;
  }

  KillableKv killable_{kv_};
};

TEST_F(AppendAgainTest, WhatWasAnsweredOutlivesAKillAndIsKnownAgain) {
  for (const std::size_t size : kSizesBefore) {
    for (const bool durable : {false, true}) {
      SCOPED_TRACE(std::to_string(size) + (durable ? " durable" : ""));
      const FileId id = file_of(size);
      for (const std::size_t more : {std::size_t{1}, std::size_t{4096}, std::size_t{70'001}}) {
        const std::string bytes = text(more, 3);
        const std::uint64_t at = attr(id).size;
        ASSERT_EQ(append(id, bytes, asked(1, more, durable))->offset, at);
        kill();
        EXPECT_EQ(attr(id).size, at + more);
        EXPECT_TRUE(read(id, at) == bytes);
        for (int times = 0; times < 2; ++times) {
          const auto again = append(id, bytes, asked(1, more, durable));
          ASSERT_TRUE(again) << describe(again.error());
          EXPECT_EQ(again->offset, at);
          EXPECT_EQ(again->length, more);
          EXPECT_EQ(again->attr.size, at + more);
          EXPECT_EQ(again->verifier, ns().boot_verifier());
        }
        EXPECT_EQ(attr(id).size, at + more);
        EXPECT_TRUE(read(id, at) == bytes);
      }
      EXPECT_TRUE(read(id, 0, size) == text(size, 7));
      ASSERT_TRUE(ns().unlink(durable_, {kRootId, "f" + std::to_string(size)}));
    }
  }
  expect_no_garbage();
}

TEST_F(AppendAgainTest, WhatWasNotDoneIsAppendedOnce) {
  for (const std::size_t size : kSizesBefore) {
    SCOPED_TRACE(size);
    const FileId id = file_of(size);
    killable_.dead = true;
    ASSERT_TRUE(append(id, text(5000, 3), asked(1, size)));
    kill();
    EXPECT_EQ(attr(id).size, size);
    EXPECT_EQ(append(id, text(5000, 3), asked(1, size), true).error().code, Errc::kBusy);
    EXPECT_EQ(attr(id).size, size);
    EXPECT_EQ(append(id, text(5000, 3), asked(1, size))->offset, size);
    EXPECT_TRUE(read(id, 0, size + 5001) == text(size, 7) + text(5000, 3));
  }
  expect_no_garbage();
}

// Killed at each change of the store in turn, while two clients append.
TEST_F(AppendAgainTest, AfterAnyKillEachIsThereOnceWholeAndInOrder) {
  constexpr std::array<std::size_t, 10> kSizes{1, 700, 9000, 6000, 3, 70'001, 5000, 1, 300'000, 12};
  struct Done {
    std::uint64_t client, number, offset;
    std::string bytes;
  };
  int kills = 0;
  for (bool killed = true; killed; ++kills) {
    const FileId id = create("f" + std::to_string(kills));
    SCOPED_TRACE(kills);
    std::vector<Done> answered, open;  // `open`: the last of each client, which gets no answer
    const auto one = [&](std::uint64_t i) {
      return Done{1 + i % 2, static_cast<std::uint64_t>(kills) * 1000 + i, 0,
                  text(kSizes[i % kSizes.size()], static_cast<unsigned>(i))};
    };
    const auto run = [&](Done& what) {
      const auto reply = append(id, what.bytes, asked(what.client, what.number, what.number % 3 == 0));
      ASSERT_TRUE(reply) << describe(reply.error());
      what.offset = reply->offset;
    };
    killable_.keeps = kills;
    std::uint64_t next = 0;
    for (; next < kSizes.size() && !killable_.dead; ++next) {
      Done what = one(next);
      run(what);
      if (next % 4 == 3) (void)volume_->flush();
      answered.push_back(what);
    }
    killed = killable_.dead;
    // The one that was under way, and that of the other client, whose answer was lost.
    for (int i = 0; i < 2 && !answered.empty(); ++i) {
      open.insert(open.begin(), answered.back());
      answered.pop_back();
    }
    kill();
    // In grace clients write again what was answered and not committed.
    for (const Done& what : answered) ASSERT_TRUE(write(id, what.offset, what.bytes));
    // The clients come back in any order.
    if (kills % 2 == 1) std::ranges::reverse(open);
    for (Done& what : open) {
      run(what);
      answered.push_back(what);
    }
    for (std::uint64_t i = 0; i < 2; ++i) {
      Done what = one(next++);
      run(what);
      answered.push_back(what);
    }
    std::ranges::sort(answered, {}, &Done::offset);
    std::uint64_t end = 0;
    std::array<std::uint64_t, 3> last{};
    for (const Done& what : answered) {
      EXPECT_EQ(what.offset, end);
      EXPECT_TRUE(read(id, what.offset, what.bytes.size()) == what.bytes);
      EXPECT_GE(what.number, last[what.client]) << "the order of a client";
      last[what.client] = what.number;
      end = what.offset + what.bytes.size();
    }
    EXPECT_EQ(attr(id).size, end);
    ASSERT_TRUE(ns().unlink(durable_, {kRootId, "f" + std::to_string(kills)}));
  }
  EXPECT_GT(kills, 10);
  expect_no_garbage();
}

TEST_F(AppendAgainTest, WhatAPowerCutTookIsWrittenWhereItWas) {
  const FileId id = file_of(20'000);
  const std::string bytes = text(10'000, 3);
  ASSERT_TRUE(append(id, bytes, asked(1, 1)));
  ASSERT_TRUE(append(id, "behind", asked(2, 1)));
  kill();
  ASSERT_TRUE(write(id, 20'000, std::string(4096, '\0')));
  ASSERT_TRUE(write(id, 28'192, std::string(1808, '\0')));
  EXPECT_EQ(append(id, bytes, asked(1, 1), true)->offset, 20'000u);
  EXPECT_TRUE(read(id) == text(20'000, 7) + bytes + "behind");
}

TEST_F(AppendAgainTest, WhatOthersHaveDoneSinceStays) {
  const FileId id = file_of(20'000);
  const std::string bytes = text(10'000, 3);
  ASSERT_TRUE(append(id, bytes, asked(1, 1)));
  ASSERT_TRUE(write(id, 25'000, "theirs", true));
  kill();
  const std::string now = read(id);
  const auto again = append(id, bytes, asked(1, 1));
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_EQ(again->offset, 20'000u);
  EXPECT_EQ(again->length, 10'000u);
  EXPECT_EQ(again->attr.size, 30'000u);
  EXPECT_TRUE(read(id) == now);
  for (const std::uint64_t cut : {29'999u, 100u, 0u}) {
    ASSERT_TRUE(truncate(id, cut));
    const auto answer = append(id, bytes, asked(1, 1));
    ASSERT_TRUE(answer) << describe(answer.error());
    EXPECT_EQ(answer->offset, 20'000u);
    EXPECT_EQ(answer->attr.size, cut);
    EXPECT_EQ(attr(id).size, cut);
  }
}

TEST_F(AppendAgainTest, AnotherRequestIsNotTakenForIt) {
  const FileId id = file_of(20'000), other = create("other");
  ASSERT_TRUE(append(id, "bytes", asked(1, 1)));
  ASSERT_TRUE(write(id, 0, "x", true));
  kill();
  EXPECT_EQ(append(other, "bytes", asked(1, 1))->offset, 0u) << "another file";
  EXPECT_EQ(append(id, "byte", asked(1, 1))->offset, 20'005u) << "another length";
  EXPECT_EQ(append(id, "bytes", asked(2, 1))->offset, 20'009u) << "another client";
  EXPECT_EQ(append(id, "bytes", {})->offset, 20'014u) << "no request";
  ASSERT_TRUE(write(id, 0, "y"));  // no append: it goes where it says
  EXPECT_EQ(attr(id).size, 20'019u);
}

TEST_F(AppendAgainTest, WhoMayNotAppendAnyMoreIsRefused) {
  const FileId id = file_of(20'000);
  OpContext user = asked(1, 1);
  user.cred = {.uid = 1001, .gid = 1001};
  ASSERT_TRUE(ns().setattr(durable_, {.id = id, .set = {.mode = 0666}}));
  ASSERT_TRUE(append(id, "bytes", user));
  ASSERT_TRUE(ns().setattr(durable_, {.id = id, .set = {.mode = 0644}}));
  kill();
  EXPECT_EQ(append(id, "bytes", user).error().code, Errc::kAccess);
  ASSERT_TRUE(ns().unlink(durable_, {kRootId, "f20000"}));
  EXPECT_EQ(append(id, "bytes", user).error().code, Errc::kStale);
}

TEST_F(AppendAgainTest, OneThatCannotBeWrittenLeavesNothing) {
  const FileId id = file_of(20'000);
  ASSERT_TRUE(ns().set_quota(durable_, {.dir = kRootId, .limits = {.bytes = 20'004}}));
  EXPECT_EQ(append(id, "bytes", asked(1, 1)).error().code, Errc::kQuota);
  EXPECT_TRUE(append(id, "byte", asked(1, 1)));
  EXPECT_EQ(usage().bytes, 20'004);
  kill();
  EXPECT_EQ(append(id, "byte", asked(1, 1))->offset, 20'000u);
  EXPECT_EQ(usage().bytes, 20'004);
  EXPECT_EQ(append(id, "x", asked(1, 2)).error().code, Errc::kQuota);
  expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test
