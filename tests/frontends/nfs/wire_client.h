// A raw ONC RPC client for tests: sends exactly the given bytes, and shows exactly the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "frontends/nfs/rpc/message.h"
#include "frontends/nfs/rpc/xdr.h"

namespace stoa::test {

using Bytes = std::vector<std::byte>;

// Builds XDR by hand.
class Xdr {
 public:
  Xdr& u32(std::uint32_t value);
  Xdr& u64(std::uint64_t value);
  Xdr& opaque(std::span<const std::byte> bytes);
  Xdr& string(std::string_view text);
  Xdr& raw(std::span<const std::byte> bytes);
  const Bytes& bytes() const { return bytes_; }
  operator std::span<const std::byte>() const { return bytes_; }

 private:
  Bytes bytes_;
};

struct CallSpec {
  std::uint32_t xid = 1;
  std::uint32_t rpc_version = 2;
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  std::uint32_t auth_flavor = 0;
  Bytes auth_body{};
  std::uint32_t verifier_flavor = 0;
  Bytes verifier_body{};
};
Bytes auth_sys(std::uint32_t uid, std::uint32_t gid, std::vector<std::uint32_t> groups = {},
               std::string_view machine = "test");
Bytes encode(const CallSpec& spec, std::span<const std::byte> arguments = {});

struct WireReply {
  std::uint32_t xid = 0;
  std::uint32_t reply_status = 0;     // 0 accepted, 1 denied
  std::uint32_t accept_status = 0;    // when accepted
  std::uint32_t reject_status = 0;    // when denied: 0 RPC_MISMATCH, 1 AUTH_ERROR
  std::uint32_t auth_status = 0;      // AUTH_ERROR
  std::uint32_t low = 0, high = 0;    // mismatches
  std::uint32_t verifier_flavor = 0;  // when accepted
  Bytes verifier{};
  Bytes results{};
};

class WireClient {
 public:
  static constexpr std::uint8_t kIpv6 = 0;
  // From 127.0.0.`host`: another client by address; kIpv6: from ::1.
  explicit WireClient(std::uint16_t port, std::uint8_t host = 1);
  ~WireClient();
  WireClient(const WireClient&) = delete;

  int fd() const { return fd_; }
  bool send_raw(std::span<const std::byte> bytes);
  bool send_record(std::span<const std::byte> record);
  // Cuts the record into fragments of `size` bytes.
  bool send_fragments(std::span<const std::byte> record, std::size_t size);
  // Empty: the server closed the connection (or answered nonsense).
  std::optional<Bytes> receive_record();
  std::optional<WireReply> receive();
  static std::optional<WireReply> parse(std::span<const std::byte> record);
  std::optional<WireReply> call(const CallSpec& spec, std::span<const std::byte> arguments = {});
  // True when the server has closed the connection; waits for it.
  bool closed_by_server();
  void finish_sending();  // half-close

 private:
  bool read_exactly(std::byte* at, std::size_t size);
  int fd_;
};

}  // namespace stoa::test
