// The answer to a COMPOUND, read where it came in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bench/load/nfs41_protocol.h"
#include "bench/load/xdr.h"

namespace stoa::bench {

// The part of kLinuxAttributes that the loads read.
struct Attributes41 {
  std::uint32_t type = 0;
  std::uint64_t change = 0;
  std::uint64_t size = 0;
};

enum class Delegation41 { kNone, kRead, kWrite };
struct Opened41 {
  Stateid41 stateid;
  Delegation41 delegation = Delegation41::kNone;
  Stateid41 delegation_stateid;
};

// Read in the order of the operations. The first thing that is wrong stays: after it everything reads as zero, why()
// names it.
class Results41 {
 public:
  // `record`: a reply from behind its xid and message type.
  explicit Results41(std::string_view record);

  bool ok() const { return why_.empty() && in_.ok(); }
  std::string why() const { return why_.empty() ? "reply that ends early" : why_; }
  // Of the COMPOUND; nothing when RPC refused it.
  std::optional<std::uint32_t> status() const { return status_; }
  void reject(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }

  // Steps to the result of `op`, which must have succeeded.
  Results41& expect(Op op);
  void getfh(Handle41& handle);
  Attributes41 getattr();
  Opened41 open();
  void read(std::uint32_t count, std::string_view& data);  // all `count` bytes, or it is rejected
  std::uint64_t write(std::uint32_t count);                // the verifier
  std::uint64_t commit() { return expect(Op::kCommit).in_.u64(); }
  Stateid41 close() { return expect(Op::kClose).stateid(); }
  Stateid41 lock() { return expect(Op::kLock).stateid(); }
  Stateid41 unlock() { return expect(Op::kLockU).stateid(); }

  XdrIn& in() { return in_; }

 private:
  Stateid41 stateid();
  void skip_attribute_map();
  XdrIn in_;
  std::string why_;
  std::optional<std::uint32_t> status_;
};

}  // namespace stoa::bench
