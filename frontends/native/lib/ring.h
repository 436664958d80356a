// Operations under way: prepared, sent, done and not yet taken.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "frontends/native/lib/paths.h"

namespace stoa::native::lib {

enum class RingWork : std::uint8_t { kRead, kWrite, kSync, kOpen, kStat, kReadFile };

struct RingOperation {
  RingWork work{};
  std::uint64_t tag = 0;
  stoa_file* file = nullptr;
  std::byte* buffer = nullptr;  // a write only reads it
  std::size_t bytes = 0;
  std::uint64_t offset = 0;
  core::FileId parent = core::kNoFile;
  std::string name{};
  int flags = 0;
  std::uint32_t mode = 0;
  stoa_attributes* attributes = nullptr;
};

// What is done. Shared with the callbacks of the client, which may come from its threads. Thread-safe.
class RingCompletions {
 public:
  static Result<std::shared_ptr<RingCompletions>> make();
  ~RingCompletions();
  RingCompletions(const RingCompletions&) = delete;
  RingCompletions& operator=(const RingCompletions&) = delete;

  int fd() const { return event_; }
  // One more is under way, to be ended by add().
  void expect();
  void add(const stoa_completion& done);
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
  std::vector<stoa::native::lib::RingOperation> prepared;
  std::vector<iovec> registered;
  bool is_parents = false;
};

namespace stoa::native::lib {

// Sends one operation, or answers it at once. It ends with one RingCompletions::add.
void start(stoa_ring& ring, RingOperation operation);

}  // namespace stoa::native::lib
