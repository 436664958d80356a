// The back channel of a session (RFC 8881 2.10.3.1, 20): one callback at a time, on slot 0, over any connection that is bound.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "core/api/file_handle.h"
#include "frontends/nfs/rpc/program.h"
#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// What the client gave in CREATE_SESSION or BACKCHANNEL_CTL.
struct CallbackSecurity {
  std::uint32_t program = 0;
  std::vector<std::byte> credential = std::vector<std::byte>(8);  // flavor and body, as they go into the call
};

// callback_sec_parms4<>, behind the program's number: the first that is of use is taken.
CallbackSecurity read_callback_security(rpc::XdrReader& in);

class SessionBackChannel : public std::enable_shared_from_this<SessionBackChannel> {
 public:
  explicit SessionBackChannel(const std::array<std::byte, 16>& session) : session_(session) {}

  void set_security(CallbackSecurity security);
  void bind(std::weak_ptr<rpc::BackChannel> connection);
  // Whether there is a connection to call over.
  bool up();
  // Queues CB_RECALL. Does not block. What cannot be delivered is dropped: the table revokes in time.
  void recall(const Stateid& stateid, const core::HandleBytes& handle);

 private:
  struct Recall {
    Stateid stateid;
    core::HandleBytes handle;
    int attempts = 0;
  };
  void send_next(std::unique_lock<std::mutex>& lock);
  void take_reply(std::span<const std::byte> reply);
  std::vector<std::byte> encode(const Recall& recall) const;

  const std::array<std::byte, 16> session_;
  std::mutex mutex_;  // guards what follows; never held while a connection is called
  CallbackSecurity security_;
  std::vector<std::weak_ptr<rpc::BackChannel>> connections_;
  std::uint64_t binds_ = 0;  // how often one was bound
  std::uint32_t sequence_ = 1;
  bool busy_ = false;
  std::deque<Recall> queue_;  // the first is under way while busy_
};

}  // namespace stoa::nfs4
