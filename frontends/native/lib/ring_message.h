// Messages of the operations of a ring.
#pragma once

#include <memory>
#include <vector>

#include "frontends/native/lib/ring.h"

namespace stoa::native::lib {

// What an operation is carried out with. A value; what it names stays until the last operation is done.
struct RingPlace {
  stoa_fs& fs;
  LibraryFileSystem& session;
  std::shared_ptr<RingCompletions> completions;
};

// Operations that go together in one message.
class RingGroup {
 public:
  // False: it is full, or goes by itself.
  bool takes(const RingOperation& operation) const;
  void add(RingOperation operation);
  bool empty() const { return operations_.empty(); }
  // Sends what there is, and is empty then. Does not wait; each operation ends with its completion, whatever fails.
  void send(const RingPlace& place) noexcept;

 private:
  std::vector<RingOperation> operations_;
  std::size_t bytes_ = 0;  // that they read
};

// Fails with the word for a symbolic link, where the server's is another.
Error refused_open(const Error& error, bool is_link);

}  // namespace stoa::native::lib
