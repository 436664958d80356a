// A native server that says what a test wants: log-ins succeed, and each message goes to the test.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "frontends/native/protocol/message.h"

namespace stoa::test {

using namespace native;  // NOLINT: of this protocol are all names here

// Its tests log in with the key "host HOSTKEY host-secret".
class FakeServer {
 public:
  // One connection.
  class Peer {
   public:
    explicit Peer(int fd) : fd_(fd) {}
    void send(const Bytes& frame);
    // The reply to a message.
    void reply(const Header& call, const Bytes& records, U32 flags = 0, WireStatus status = WireStatus::ok);
    void recall(const RecallNotice& notice);
    void shut();

   private:
    friend class FakeServer;
    const int fd_;
    std::mutex mutex_;  // one frame at a time
  };
  using Handler = std::function<void(Peer& peer, const MessageView& message)>;

  // `handler`: of calls, pings and goodbyes, in threads of the connections.
  explicit FakeServer(Handler handler);
  ~FakeServer();
  std::uint16_t port() const { return port_; }
  // What the next log-ins are told.
  void next_session(U64 session, U64 boot_verifier, bool may_reclaim);
  void next_welcome(const std::function<void(Welcome&)>& change);
  void break_connections();

 private:
  void accept_all();
  void serve(Peer& peer);
  Welcome welcome();

  const Handler handler_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::mutex mutex_;  // guards what follows
  Welcome welcome_;
  std::list<Peer> peers_;
  std::vector<std::thread> threads_;
  bool stopped_ = false;
  std::thread acceptor_;
};

// One record of a reply.
template <class Layout>
Bytes answer_of(const Layout& layout, WireStatus status = WireStatus::ok) {
  Bytes record;
  append_record(record, static_cast<U16>(status), layout);
  return record;
}
// The arguments of the only operation of a message. False: it is another one.
template <class Operation>
bool is_only(const MessageView& message, typename Operation::Arguments& arguments) {
  std::span<const std::byte> records = message.operations;
  const auto record = next_record(records);
  return record && records.empty() && record->code == Operation::kCode && read_record(*record, arguments);
}

}  // namespace stoa::test
