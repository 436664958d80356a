// The slots of a session: each takes one message at a time, numbered, and keeps the last reply, so that a message that
// is sent again is answered and not run again (as RFC 8881 2.10.6).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "frontends/native/protocol/message.h"

namespace stoa::native {

// Of a reply that must be kept. A message that changes something says no more than this in its reply: reads in it are
// cut short.
inline constexpr std::size_t kCachedReplyBytesMax = 64u << 10;
inline constexpr U32 kSlots = 64;                                           // of a session
inline constexpr std::uint64_t kReplyMemoryOwn = kCachedReplyBytesMax;      // of one session, whatever others keep
inline constexpr std::uint64_t kReplyMemoryMax = std::uint64_t{256} << 20;  // of all sessions; beyond it: busy

// What replies take that are kept, of all sessions.
struct ReplyMemory {
  std::atomic<std::uint64_t> bytes{0};
};

// Thread-safe.
class Slots {
 public:
  explicit Slots(ReplyMemory& memory) : memory_(memory), slots_(kSlots) {}
  ~Slots();
  Slots(const Slots&) = delete;

  enum class Verdict : std::uint8_t { kRun, kRunAgain, kReplay, kRefused };
  struct Begun {
    Verdict verdict;
    WireStatus status = WireStatus::ok;  // kRefused
    Bytes reply{};                       // kReplay
  };
  // `checksum` tells messages apart. `changes`: it must not run twice. After kRun, finish() follows; after kRunAgain
  // (of one that may run twice) nothing does.
  Begun begin(U32 slot, U32 sequence, U32 checksum, bool changes);
  // The message that kRun was said to has done nothing, and begins again later.
  void put_back(U32 slot);
  // `reply`: the whole frame; null: it may run again.
  void finish(U32 slot, const Bytes* reply);

 private:
  struct Slot {
    bool used = false;  // it has had a message; the first one may have any number
    bool busy = false;
    bool kept = false;
    bool changes = false;
    bool put_back = false;
    U32 sequence = 0;
    U32 checksum = 0;
    Bytes reply{};
  };
  void drop_locked(Slot& slot);

  ReplyMemory& memory_;
  std::mutex mutex_;  // guards what follows
  std::vector<Slot> slots_;
  std::uint64_t kept_bytes_ = 0;  // of all replies
};

}  // namespace stoa::native
