#include "frontends/native/lib/ring_order.h"

#include <condition_variable>

#include "tests/frontends/native/lib/library_fixture.h"

namespace stoa::test {
namespace {

using native::lib::RingOperation;
using native::lib::RingOrder;

class LibraryRingOrder : public LibraryTest {
 protected:
  // Writes down the tag, once `open_` says so for operations of the first file.
  RingOrder::Carry carry() {
    return [this](RingOperation& one) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return open_ || one.file != first_; });
      tags_.push_back(one.tag);
      changed_.notify_all();
    };
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return tags_.size() == count; });
  }

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  bool open_ = false;
  stoa_file* first_ = nullptr;
  std::vector<std::uint64_t> tags_;
};

TEST_F(LibraryRingOrder, AFileThatWaitsHoldsUpNeitherTheCallerNorOthers) {
  first_ = open("first");
  stoa_file* const second = open("second");
  {
    native::data::Workers workers(2, 100);
    const auto order = std::make_shared<RingOrder>();
    for (std::uint64_t tag = 1; tag <= 3; ++tag) order->add(workers, {.tag = tag, .file = first_}, carry());
    for (std::uint64_t tag = 4; tag <= 5; ++tag) order->add(workers, {.tag = tag, .file = second}, carry());
    order->add(workers, {.tag = 6}, carry());
    wait_for(3);
    EXPECT_TRUE(order->is_busy(first_->id));
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
      changed_.notify_all();
    }
    wait_for(6);
    workers.stop();
    EXPECT_FALSE(order->is_busy(first_->id));
    EXPECT_FALSE(order->is_busy(second->id));
  }
  EXPECT_EQ(tags_, (std::vector<std::uint64_t>{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(stoa_close(first_), 0);
  EXPECT_EQ(stoa_close(second), 0);
}

TEST_F(LibraryRingOrder, WithoutAThreadTheCallerDoesIt) {
  first_ = open("first");
  open_ = true;
  native::data::Workers none(1, 0);
  const auto order = std::make_shared<RingOrder>();
  for (std::uint64_t tag = 1; tag <= 3; ++tag) order->add(none, {.tag = tag, .file = first_}, carry());
  order->add(none, {.tag = 4}, carry());
  EXPECT_EQ(tags_, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(stoa_close(first_), 0);
}

}  // namespace
}  // namespace stoa::test
