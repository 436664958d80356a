// A reply without an end: its text comes bit by bit, and no thread waits for it.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

namespace stoa::admin {

// Thread-safe. One side adds, the other (the HTTP library) takes.
class EventStream {
 public:
  // Limit of the buffered text. Callers of add() ask full() first.
  static constexpr std::size_t kBytesMax = 1u << 20;

  enum class Take : std::uint8_t { kSome, kNone, kEnd };

  void add(std::string_view text);
  bool full() const;
  // Nothing more is added; buffered text is still taken.
  void end();

  // Moves up to `most` bytes to `into`. kNone: the buffer is empty, and `rest` was called under the lock of the
  // stream, before anything can be added. `wake` is called once, from any thread and under that lock, when there is
  // text again.
  Take take(char* into, std::size_t most, std::size_t& taken, const std::function<void()>& rest,
            std::function<void()> wake);
  // The taker is gone: wakes no thread any more, and drops the buffer.
  void close();
  bool closed() const;
  // Called by take() when a stream that was full has room again; outside of the lock.
  void when_drained(std::function<void()> drained);

 private:
  void wake_taker();

  mutable std::mutex mutex_;  // guards all
  std::string waiting_;
  std::size_t taken_ = 0;  // of waiting_
  bool ended_ = false;
  bool closed_ = false;
  std::function<void()> wake_;
  std::function<void()> drained_;
};

}  // namespace stoa::admin
