// A reply that has no end: what it says comes bit by bit, and nobody waits for it in a thread.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

namespace stoa::admin {

// Thread-safe. One side adds, the other (the HTTP library) takes.
class EventStream {
 public:
  // What may wait to be taken. Who adds asks full() first.
  static constexpr std::size_t kBytesMax = 1u << 20;

  enum class Take : std::uint8_t { kSome, kNone, kEnd };

  void add(std::string_view text);
  bool full() const;
  // Nothing more is added; what waits is still taken.
  void end();

  // Moves up to `most` bytes to `into`. kNone: there is nothing, and `rest` was called under the lock of the stream,
  // before anything can be added; `wake` is called once, from any thread and under that lock, when there is something
  // again.
  Take take(char* into, std::size_t most, std::size_t& taken, const std::function<void()>& rest,
            std::function<void()> wake);
  // The taker is gone: wakes nobody any more, and keeps nothing.
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
