// What one message asks for: operations that the server runs in order, up to the first that fails.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "frontends/native/client/large_memory.h"
#include "frontends/native/protocol/message.h"

namespace stoa::native {

// Not thread-safe. A value: it copies what it is given.
class Batch {
 public:
  // Appends an operation and tells its number. `arguments` may name result_of() an earlier one for a file.
  template <class Operation>
  std::size_t add(const typename Operation::Arguments& arguments) {
    Bytes record;
    append_record(record, Operation::kCode, arguments);
    operations_.push_back({Operation::kCode, std::move(record)});
    return operations_.size() - 1;
  }
  // The same for an operation with `data` (write, append, create_filled); its place among the payload is filled in.
  template <class Operation>
  std::size_t add_with(typename Operation::Arguments arguments, std::span<const std::byte> data) {
    arguments.data_at = static_cast<U32>(payload().size());
    arguments.data_bytes = static_cast<U32>(data.size());
    append_payload(data);
    return add<Operation>(arguments);
  }
  std::size_t add_write(const WriteArgs& arguments, std::span<const std::byte> data) {
    return add_with<operations::write>(arguments, data);
  }

  std::size_t size() const { return operations_.size(); }
  bool empty() const { return operations_.empty(); }
  U16 code(std::size_t operation) const { return operations_[operation].code; }
  std::vector<U16> codes() const;
  // The arguments of one operation; its texts are views of the batch.
  template <class Operation>
  typename Operation::Arguments arguments(std::size_t operation) const {
    typename Operation::Arguments read{};
    std::span<const std::byte> bytes = operations_[operation].record;
    (void)read_record(*next_record(bytes), read);
    return read;
  }
  std::span<const std::byte> payload() const {
    return payload_ == nullptr ? std::span<const std::byte>{} : std::span<const std::byte>(*payload_);
  }
  // The same to be kept for longer than the batch; null: there is none.
  std::shared_ptr<const Content> shared_payload() const { return payload_; }
  Bytes records() const;  // of all operations
  // Whether one message takes it.
  bool fits() const;

  // What is left from this operation on, for a message of its own. `files`: of the operations before it, for operands
  // that are results of those.
  Batch rest(std::size_t from, std::span<const U64> files) const;
  // The same with all writes and appends durable before they are answered.
  Batch stable() const;

 private:
  template <class Operation>
  void add_stable(std::size_t operation, const Batch& from) {
    auto arguments = from.arguments<Operation>(operation);
    arguments.stable = 1;
    add<Operation>(arguments);
  }

  void append_payload(std::span<const std::byte> data);

  struct Entry {
    U16 code;
    Bytes record;
  };
  std::vector<Entry> operations_;
  std::shared_ptr<Content> payload_;  // shared with copies of the batch and with frames: none of them changes it
};

}  // namespace stoa::native
