// A TCP connection that carries RPC records: bytes written to `out` leave with the next flush, in one system call
// for many calls. One receive takes in many replies. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bench/load/xdr.h"

namespace stoa::bench {

class RpcConnection {
 public:
  // Connects; exits the program with a message when it cannot.
  RpcConnection(const std::string& host, int port);
  ~RpcConnection();
  RpcConnection(const RpcConnection&) = delete;
  RpcConnection& operator=(const RpcConnection&) = delete;

  XdrOut out;
  // Around one record: end takes the result of begin.
  std::size_t begin_record() {
    const std::size_t at = out.size();
    out.u32(0);
    return at;
  }
  void end_record(std::size_t at) { out.patch_u32(at, 0x80000000u | static_cast<std::uint32_t>(out.size() - at - 4)); }

  int fd() const { return fd_; }
  bool unsent() const { return sent_ < out.size(); }
  void flush();  // the rest that the socket does not take stays

  // Receives all bytes available and gives each whole record to `each(std::string_view)`, which may write to `out`.
  template <class Each>
  void receive(Each each) {
    if (!take_in()) return;
    for (std::string_view record = next_record(); record.data() != nullptr; record = next_record()) each(record);
  }

 private:
  bool take_in();
  std::string_view next_record();

  int fd_ = -1;
  std::size_t sent_ = 0;
  std::size_t capacity_ = 256 << 10;
  std::unique_ptr<char[]> in_ = std::make_unique<char[]>(capacity_);
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace stoa::bench
