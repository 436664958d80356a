// The slots of a session from the client's side: each has one message under way, which is kept until it is answered.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "frontends/native/protocol/message.h"

namespace stoa::native {

// How long one caller waits.
struct Patience {
  Deadline deadline{};
  std::function<bool()> interrupted{};  // asked ten times a second, with no lock held; empty: never
};

// Thread-safe.
class CallsInFlight {
 public:
  // One message and what becomes of it.
  struct Call {
    U32 slot = 0, sequence = 0;
    std::shared_ptr<const Bytes> frame{};
    std::shared_ptr<const Bytes> reply{};  // null: not yet
    bool abandoned = false;                // nobody waits for it; its slot is free when it is answered
  };

  explicit CallsInFlight(U32 slots) : slots_(slots) {}

  // A free slot and its next sequence. `encode` makes the frame. kTimeout (interrupted, too), kShutdown.
  Result<std::shared_ptr<Call>> begin(const Patience& patience,
                                      const std::function<Bytes(U32 slot, U32 sequence)>& encode);
  // Waits for the reply. kTimeout (interrupted, too): the slot stays taken until it comes. kShutdown.
  Status wait(const std::shared_ptr<Call>& call, const Patience& patience);
  // The same message is to be answered anew.
  void again(Call& call);
  // Nobody waits for it any more; its slot stays taken until it is answered anew.
  void give_up(const std::shared_ptr<Call>& call);
  U32 count() const { return static_cast<U32>(slots_.size()); }
  // Its slot is free. `unused`: the server has not counted the message.
  void end(const std::shared_ptr<Call>& call, bool unused = false);

  // A reply has come. Returns the frame that it answers; null: nobody asked.
  std::shared_ptr<const Bytes> asked(U32 slot, U32 sequence) const;
  // False: its caller waits no more.
  bool answered(U32 slot, U32 sequence, std::shared_ptr<const Bytes> reply);
  // The frames that are not answered, of the slots that `ours` takes.
  std::vector<std::shared_ptr<const Bytes>> unanswered(const std::function<bool(U32)>& ours) const;
  // They are all for another session from now on.
  void readdress_all(U64 session);
  void stop();

 private:
  class Turns;
  struct Slot {
    U32 sequence = 0;
    std::shared_ptr<Call> call{};
  };

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  bool stopped_ = false;
};

}  // namespace stoa::native
