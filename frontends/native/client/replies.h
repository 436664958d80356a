// What became of the operations of a batch.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "frontends/native/client/large_memory.h"
#include "frontends/native/protocol/message.h"

namespace stoa::native {

// Values and texts are views of the messages that it keeps. Movable; const calls are thread-safe.
class Replies {
 public:
  // How many operations were run: all, or up to the first that failed, that one included.
  std::size_t size() const { return replies_.size(); }
  bool ok() const { return replies_.empty() || replies_.back().status == WireStatus::ok; }  // of what was run
  WireStatus status(std::size_t operation) const { return replies_[operation].status; }

  // The reply of an operation. Its own error; kInvalid: it was not run, as one before it failed.
  template <class Operation>
  Result<typename Operation::Reply> get(std::size_t operation) const {
    if (operation >= replies_.size()) return fail(Errc::kInvalid, "an earlier operation failed");
    const One& one = replies_[operation];
    if (one.status != WireStatus::ok) return fail(to_errc(one.status), std::string(to_string(one.status)));
    return read<Operation>(operation);
  }
  // What is told with a failure, too (the lock in the way).
  template <class Operation>
  typename Operation::Reply read(std::size_t operation) const {
    typename Operation::Reply reply{};
    (void)read_record(replies_[operation].record, reply);
    return reply;
  }
  // The bytes that a read has brought.
  std::span<const std::byte> data(std::size_t operation) const;
  // The same, with the message that they lie in.
  std::shared_ptr<const std::byte[]> shared_data(std::size_t operation) const;
  std::size_t bytes() const;  // of the messages that it keeps
  // The file of an operation (Attributes::id of its reply); 0: none.
  U64 file(std::size_t operation) const { return replies_[operation].file; }

  // Of the client: adds what one message has brought for the operations with these codes. `view`: cut from it, whole.
  // kCorrupt: it is not what the protocol says.
  Status append(std::shared_ptr<const Content> body, const MessageView& view, std::span<const U16> codes);
  void drop_last() { replies_.pop_back(); }
  // Those of the rest of the batch, which was asked for again.
  void join(Replies more);

 private:
  struct One {
    U16 code = 0;
    WireStatus status = WireStatus::ok;
    RecordView record{};
    std::span<const std::byte> payload{};
    std::size_t body = 0;  // of bodies_
    U64 file = 0;
  };
  std::vector<std::shared_ptr<const Content>> bodies_;
  std::vector<One> replies_;
};

}  // namespace stoa::native
