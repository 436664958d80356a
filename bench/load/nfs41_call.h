// One COMPOUND, written straight into the output of its connection.
#pragma once

#include <string_view>

#include "bench/load/nfs41_protocol.h"
#include "bench/load/rpc_connection.h"

namespace stoa::bench {

struct Slot41;

// Ends, and is ready to leave, with the object: `Call41(slot, true).putfh(file).getattr();`
class Call41 {
 public:
  // Begins with SEQUENCE on the slot. `cache`: sa_cachethis, true for operations that must not run twice, as the
  // Linux client sets it.
  Call41(Slot41& slot, bool cache);
  // Without a session.
  Call41(RpcConnection& connection, std::uint32_t xid);
  ~Call41();
  Call41(const Call41&) = delete;
  Call41& operator=(const Call41&) = delete;

  Call41& putrootfh() { return op(Op::kPutRootFh); }
  Call41& putfh(const Handle41& handle) { return op(Op::kPutFh).opaque(handle.view()); }
  Call41& lookup(std::string_view name) { return op(Op::kLookup).opaque(name); }
  Call41& getfh() { return op(Op::kGetFh); }
  Call41& getattr();                                // kLinuxAttributes
  Call41& create_directory(std::string_view name);  // mode 0755
  // CLAIM_NULL; `create`: UNCHECKED4 with mode 0644. `access` with wants.
  Call41& open(std::uint64_t client, std::string_view owner, std::uint32_t access, bool create, std::string_view name);
  Call41& close(const Stateid41& open) { return op(Op::kClose).u32(0).stateid(open); }
  Call41& read(const Stateid41& open, std::uint64_t offset, std::uint32_t count) {
    return op(Op::kRead).stateid(open).u64(offset).u32(count);
  }
  Call41& write(const Stateid41& open, std::uint64_t offset, std::uint32_t stable, std::string_view data) {
    return op(Op::kWrite).stateid(open).u64(offset).u32(stable).opaque(data);
  }
  Call41& commit() { return op(Op::kCommit).u64(0).u32(0); }
  // WRITE_LT; the first of an owner in a file names the open, later ones the stateid of the locks.
  Call41& lock(const Stateid41& open, std::uint64_t client, std::string_view owner, std::uint64_t offset,
               std::uint64_t length);
  Call41& lock_again(const Stateid41& locks, std::uint64_t offset, std::uint64_t length);
  Call41& unlock(const Stateid41& locks, std::uint64_t offset, std::uint64_t length);
  Call41& delegreturn(const Stateid41& delegation) { return op(Op::kDelegReturn).stateid(delegation); }

  Call41& op(Op number) {
    ++operations_;
    return u32(static_cast<std::uint32_t>(number));
  }
  Call41& u32(std::uint32_t value) {
    connection_.out.u32(value);
    return *this;
  }
  Call41& u64(std::uint64_t value) {
    connection_.out.u64(value);
    return *this;
  }
  Call41& opaque(std::string_view bytes) {
    connection_.out.opaque(bytes);
    return *this;
  }
  Call41& fixed(const void* bytes, std::size_t size) {
    connection_.out.fixed(bytes, size);
    return *this;
  }

 private:
  void begin(std::uint32_t xid);
  Call41& stateid(const Stateid41& stateid) {
    u32(stateid.seqid);
    return fixed(stateid.other.data(), stateid.other.size());
  }
  RpcConnection& connection_;
  std::size_t record_at_ = 0;
  std::size_t count_at_ = 0;
  std::uint32_t operations_ = 0;
};

}  // namespace stoa::bench
