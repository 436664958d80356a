// The slots of a session from the client's side: each has one message under way, which is kept until it is answered.
// Whoever waits for a reply reads the channel for all, if nobody does: so a reply wakes one thread, and often none.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/deadline.h"
#include "frontends/native/client/frame.h"
#include "frontends/native/client/wake_up.h"

namespace stoa::native {

// How long one caller waits.
struct Patience {
  Deadline deadline{};
  std::function<bool()> interrupted{};  // asked ten times a second, with no lock held; empty: never
};

// Reads a channel for who waits.
class ChannelReading {
 public:
  // Takes what has come, or waits for it until then; returns at once when the channel is down. By one thread at a time
  // for each channel.
  virtual void read(std::size_t channel, Deadline::Clock::time_point until) = 0;

 protected:
  ~ChannelReading() = default;
};

// Thread-safe.
class CallsInFlight {
 public:
  struct Call;
  using Done = std::function<void(const std::shared_ptr<Call>& call)>;

  // One message and what becomes of it.
  struct Call {
    U32 slot = 0, sequence = 0;
    std::shared_ptr<const Frame> frame{};    // null: it is being made
    std::shared_ptr<const Content> reply{};  // null: not yet
    MessageView answer{};                    // cut from it
    std::int64_t sent_ns = 0;                // the first time, by boot_now_ns(); 0: not yet
    bool abandoned = false;                  // nobody waits for it; its slot is free when it is answered
    bool waiting = false;                    // a thread does
    bool sleeps = false;                     // and nobody has woken it
    Done done{};                             // instead of that: who answers it calls it, with no lock held
  };

  CallsInFlight(U32 slots, std::size_t channels, ChannelReading& reading)
      : slots_(slots), channels_(channels), reading_(reading) {}
  // Goes on with the slots of another process.
  CallsInFlight(std::span<const U32> sequences, std::size_t channels, ChannelReading& reading);

  // A free slot and its next sequence. `make` makes the frame, with no lock held. kTimeout (interrupted, too),
  // kShutdown.
  using Make = std::function<Frame(U64 session, U32 slot, U32 sequence)>;
  Result<std::shared_ptr<Call>> begin(const Patience& patience, const Make& make, Done done = {});
  // Waits for the reply, and reads meanwhile. kTimeout (interrupted, too): the slot stays taken until it comes.
  // kShutdown.
  Status wait(const std::shared_ptr<Call>& call, const Patience& patience);
  // The same message is to be answered anew.
  void again(Call& call);
  // Nobody waits for it any more; its slot stays taken until it is answered anew.
  void give_up(const std::shared_ptr<Call>& call);
  U32 count() const { return static_cast<U32>(slots_.size()); }
  std::size_t channel_of(U32 slot) const { return slot % channels_.size(); }
  // The same for one with `done`, which is not called then. False: it is answered already.
  bool abandon(const std::shared_ptr<Call>& call);
  // Its slot is free. `unused`: the server has not counted the message.
  void end(const std::shared_ptr<Call>& call, bool unused = false);
  // Waits for messages that nobody waits for and that write to one of these files (0 among them: to any). kTimeout,
  // kShutdown.
  Status wait_for_abandoned_writes(const std::vector<U64>& files, const Patience& patience);
  bool has_abandoned_writes() const;
  // Messages that are begun from now on wait; returns the newest sequence of each slot when none is under way.
  // kTimeout, kShutdown: they go on.
  Result<std::vector<U32>> freeze(const Patience& patience);
  void thaw();

  // It is sent now, unless it was answered: the frame, else null.
  std::shared_ptr<const Frame> leaves(Call& call, std::int64_t now_ns);
  // A reply has come. Returns what it answers; null: nobody asked.
  std::shared_ptr<Call> asked(U32 slot, U32 sequence) const;
  // `answer` is cut from the reply. False: its caller waits no more.
  bool answered(const std::shared_ptr<Call>& call, std::shared_ptr<const Content> reply, const MessageView& answer);
  // The frames that are not answered, of the slots of a channel. They are sent now.
  std::vector<std::shared_ptr<const Frame>> unanswered(std::size_t channel, std::int64_t now_ns);
  // As it is now: readdress_all() replaces it.
  std::shared_ptr<const Frame> frame_of(const Call& call) const;
  // They are all for another session from now on.
  void readdress_all(U64 session);
  // Waits end. Returns the calls whose `done` was not called, and will not be.
  std::vector<std::shared_ptr<Call>> stop();

  // --- the channel's own thread (reader_role.cc)
  // The channel may be read from now on.
  void channel_up(std::size_t channel);
  // It must not; returns when nobody does.
  void channel_down(std::size_t channel);
  // Tells the thread that the channel is broken.
  void channel_broken(std::size_t channel);
  // Until the thread is to look for input as nobody else does (kLook), `until` comes (kLater), or the channel is broken
  // (kBroken; at the end, too).
  enum class Turn : std::uint8_t { kLook, kLater, kBroken };
  Turn next_turn(std::size_t channel, Deadline::Clock::time_point until);
  // The thread has seen input. False: a caller reads it.
  bool begin_reading(std::size_t channel);
  void end_reading(std::size_t channel);

 private:
  class Turns;
  struct Slot {
    U32 sequence = 0;
    std::shared_ptr<Call> call{};
    WakeUp woken{};  // of the thread that waits for it
  };
  struct Channel {
    bool up = false, broken = false;
    bool read = false;   // by a caller, or by the thread in this moment
    U32 unattended = 0;  // messages with `done`
    std::uint64_t readings = 0;
    bool thread_rests = false;  // until it is told
    Deadline::Clock::time_point last_read{};
    std::condition_variable thread{};
    std::condition_variable unread{};  // for channel_down
  };

  std::shared_ptr<Call> take_slot_locked(Done done);
  // Whom to tell, once the lock is let go: who is told under it wakes only to wait for it. Null: nobody.
  struct Told {
    WakeUp* caller = nullptr;
    std::condition_variable* thread = nullptr;
    void tell() const;
  };
  Told wake_locked(Slot& slot);  // the thread that waits there, if it sleeps
  Told leave_locked(std::size_t channel);
  Told next_reader_locked(std::size_t channel);
  bool abandoned_writes_locked(const std::vector<U64>& files) const;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable free_, settled_;
  std::deque<Slot> slots_;
  std::deque<Channel> channels_;
  U64 session_ = 0;
  bool stopped_ = false, frozen_ = false;
  ChannelReading& reading_;
};

}  // namespace stoa::native
