// The leases of a session, as the client knows them, and the way of their events to the program.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "frontends/native/client/lease_events.h"
#include "frontends/native/protocol/message.h"

namespace stoa::native {

// Thread-safe. Events are told one at a time, in the order in which the calls here come.
class ClientLeases {
 public:
  struct Held {
    U64 number = 0, file = 0;
    U32 bits = 0, kind = 0;
    Bytes call{};  // the record of CallBlock that the message had
  };

  // `events`: null: nobody is told.
  explicit ClientLeases(LeaseEvents* events) : events_(events) {}

  // A message that asks for these leaves. Recalls of them wait for its reply.
  void asked(const std::vector<U64>& numbers);
  // It was answered, or will not be: recalls that have come before are told now.
  void answered(const std::vector<U64>& numbers);

  // Operations that have succeeded. `file` is what the operand means.
  void granted(const LeaseArgs& wish, U64 file, U32 bits, std::span<const std::byte> call);
  void acknowledged(U64 number, U32 bits);
  void recalled(const RecallNotice& notice);  // of a number that nobody knows: nothing happens
  void lose(U64 number);                      // the same

  bool any() const;
  bool held(U64 number) const;
  std::vector<Held> all() const;

 private:
  void tell_locked(const RecallNotice& notice);

  LeaseEvents* const events_;
  std::mutex events_mutex_;   // one event at a time, outside of the next; guards early_ and asked_
  std::map<U64, U32> asked_;  // how many messages ask for it
  std::vector<RecallNotice> early_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<U64, Held> held_;
};

}  // namespace stoa::native
