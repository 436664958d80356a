// Operations under way: prepared, sent, done and not yet taken.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "frontends/native/lib/paths.h"
#include "frontends/native/lib/ring_order.h"

namespace stoa::native::lib {

// What is done. Shared with the callbacks of the client, which may come from its threads. Thread-safe.
class RingCompletions {
 public:
  static Result<std::shared_ptr<RingCompletions>> make();
  ~RingCompletions();
  RingCompletions(const RingCompletions&) = delete;
  RingCompletions& operator=(const RingCompletions&) = delete;

  int fd() const { return event_; }
  // So many more are under way, to be ended by add().
  void expect(std::size_t count);
  void add(std::span<const stoa_completion> done);
  void add(const stoa_completion& done) { add({&done, 1}); }
  std::size_t in_use() const;  // under way, or not yet taken
  bool under_way() const;
  std::size_t take(std::span<stoa_completion> into, std::size_t least, int timeout_ms);
  void wait_for_all();
  // An open that the program does not get: the next call that may block closes it.
  void give_up(OpenNumber open);
  std::vector<OpenNumber> take_given_up();

 private:
  explicit RingCompletions(int event) : event_(event) {}

  const int event_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<stoa_completion> done_;
  std::size_t under_way_ = 0;
  std::vector<OpenNumber> given_up_;
};

}  // namespace stoa::native::lib

struct stoa_ring final : stoa::native::lib::ForkChild {
  stoa_ring(stoa_fs& of, std::uint32_t entries_most, std::shared_ptr<stoa::native::lib::RingCompletions> done)
      : fs(of), entries(entries_most), completions(std::move(done)) {}
  // What is under way is the parent's.
  void in_child() override { is_parents = true; }

  stoa_fs& fs;
  const std::uint32_t entries;
  const std::shared_ptr<stoa::native::lib::RingCompletions> completions;
  const std::shared_ptr<stoa::native::lib::RingOrder> order = std::make_shared<stoa::native::lib::RingOrder>();
  std::vector<stoa::native::lib::RingOperation> prepared;
  std::vector<iovec> registered;
  bool is_parents = false;
};

namespace stoa::native::lib {

// Starts all that is prepared; each ends with one RingCompletions::add. Does not block: what may is left to threads.
void start_prepared(stoa_ring& ring);

}  // namespace stoa::native::lib
