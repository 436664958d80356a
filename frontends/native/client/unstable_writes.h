// Writes that the server has not promised to keep: the client has them until a commit, and sends them again when the
// server has started anew.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "frontends/native/protocol/message.h"

namespace stoa::native {

// Thread-safe. The bytes stay in the payloads that were sent.
class UnstableWrites {
 public:
  static constexpr std::uint64_t kBytesMax = std::uint64_t{64} << 20;  // beyond it writes are durable at once

  struct Write {
    U64 file = 0, open = 0, offset = 0;
    U64 lease = 0;  // that it was written under; 0: none
    std::span<const std::byte> data{};
    U64 verifier = 0;
    U64 number = 0;  // in the order of their replies
    Bytes call{};
    std::shared_ptr<const Content> payload{};  // has `data`
  };

  void add(Write write);
  // These could not be sent again: a later commit or recovery does it.
  void add_back(std::span<const Write> writes) {
    for (const Write& write : writes) add(write);
  }
  // What a commit that is sent now covers: the writes up to this number.
  U64 newest() const;
  // A commit with this verifier has covered the writes of the file up to this number. Those that it has not kept
  // (another verifier) are given back, in order.
  std::vector<Write> committed(U64 file, U64 up_to, U64 verifier);
  // All that were answered with another verifier, in order, and no longer in the list.
  std::vector<Write> take_all_but(U64 verifier);
  bool full() const;
  bool empty() const;
  // The file of a write that went through this open; 0: there is none.
  U64 file_through(U64 open) const;
  // The files that have some, each with a call block of who has written.
  std::map<U64, Bytes> files() const;

  // Bytes of the file are lost: the next commit of it says so, once.
  void lose(U64 file);
  bool take_loss(U64 file);
  std::vector<U64> losses() const;

 private:
  // Its bytes, and what is kept beside them.
  static std::uint64_t cost(const Write& write) { return write.data.size() + 512; }

  mutable std::mutex mutex_;  // guards what follows
  std::vector<Write> writes_;
  std::uint64_t bytes_ = 0;
  U64 last_ = 0;
  std::set<U64> lost_;
};

}  // namespace stoa::native
