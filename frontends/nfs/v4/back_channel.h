// The back channel of a session (RFC 8881 2.10.3.1, 20): callbacks over any connection that is bound, one for each
// slot. A client that does not answer one keeps its slot busy; the others go on.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "frontends/nfs/rpc/program.h"
#include "frontends/nfs/v4/callback_channel.h"

namespace stoa::nfs4 {

// The security of callbacks from CREATE_SESSION or BACKCHANNEL_CTL.
struct CallbackSecurity {
  std::uint32_t program = 0;
  std::vector<std::byte> credential = std::vector<std::byte>(8);  // flavor and body, as they go into the call
};

// callback_sec_parms4<>, behind the program's number: the first usable one is taken.
CallbackSecurity read_callback_security(rpc::XdrReader& in);

class SessionBackChannel final : public CallbackChannel, public std::enable_shared_from_this<SessionBackChannel> {
 public:
  static constexpr std::uint32_t kSlotsMax = 8;

  explicit SessionBackChannel(const std::array<std::byte, 16>& session) : session_(session) {}

  // Before the first bind(). `minor`: of the COMPOUND that made the session: clients accept only its callbacks (RFC
  // 7862 9, RFC 8178 8.1). `slots`: the number that it offers.
  void set_form(std::uint32_t minor, std::uint32_t slots);
  void set_security(CallbackSecurity security);
  void bind(std::weak_ptr<rpc::BackChannel> connection);

  bool up() override;
  void call(Callback callback) override;

 private:
  struct Slot {
    std::uint32_t sequence = 1;
    std::optional<Callback> callback{};  // in progress, or waits for a connection
    bool sent = false;                   // or just being sent by a thread
  };
  void send_all(std::unique_lock<std::mutex>& lock);
  void take_reply(std::size_t slot, std::span<const std::byte> reply);
  std::vector<std::byte> encode(std::size_t slot) const;

  const std::array<std::byte, 16> session_;
  std::mutex mutex_;  // guards the members below; never held while a connection is called
  std::uint32_t minor_ = 1;
  std::uint32_t slots_in_use_ = 1;
  CallbackSecurity security_;
  std::vector<std::weak_ptr<rpc::BackChannel>> connections_;
  std::uint64_t binds_ = 0;  // number of binds
  std::array<Slot, kSlotsMax> slots_;
  std::deque<Callback> waiting_;
};

}  // namespace stoa::nfs4
