// The opens and locks of a session, as the client knows them: what it asks back when the server has lost them.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "frontends/native/protocol/message.h"

namespace stoa::native {

// Thread-safe. `call`: the record of CallBlock that the message had, for whom it was.
class HeldState {
 public:
  struct Open {
    U64 number = 0;
    U64 file = 0;
    U32 access = 0, deny = 0;
    Bytes call{};
  };
  struct Lock {
    U64 file = 0, owner = 0, offset = 0, end = 0;  // `end` is the last byte
    bool exclusive = false;
    Bytes call{};
  };

  // One operation that has succeeded; `file` is what its operand means.
  void note(U16 code, const RecordView& arguments, U64 file, std::span<const std::byte> call);
  std::vector<Open> opens() const;
  std::vector<Lock> locks() const;
  // All of it, for a process that goes on with the session.
  struct All {
    std::vector<Open> opens{};  // the lost ones, too
    std::vector<Lock> locks{};
    std::vector<U64> lost{};  // numbers of opens
  };
  All all() const;
  void restore(const All& all);
  // They could not be asked back. The opens of a file go with its locks: who relied on the lock must not go on.
  void lose_open(U64 number);
  void lose_file(U64 file);
  bool lost(U64 open) const;
  std::uint64_t lost_count() const;

 private:
  void cut_locked(U64 file, U64 owner, U64 offset, U64 end);

  mutable std::mutex mutex_;  // guards what follows
  std::map<U64, Open> opens_;
  std::vector<Lock> locks_;
  std::set<U64> lost_;
};

}  // namespace stoa::native
