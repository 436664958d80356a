// The callback service of a client of NFSv4.0 (RFC 7530 15, 16): listens on a port of its own and answers in a thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {

class CallbackListener {
 public:
  enum class Answers { kTake, kRefuse, kNothing };  // NFS4_OK; NFS4ERR_SERVERFAULT; no reply

  CallbackListener();
  ~CallbackListener();
  // As SETCLIENTID takes it.
  std::string address() const;

  struct Recalled {
    std::uint32_t program = 0;
    std::uint32_t ident = 0;
    WireStateid stateid{};
    Bytes handle{};
  };
  Recalled take_recall();  // waits for one
  void wait_for_null();    // CB_NULL was answered
  void set(Answers answers);

 private:
  void serve();
  bool answer(int fd);

  int listener_ = -1;
  int stop_[2]{-1, -1};
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  Answers answers_ = Answers::kTake;
  int nulls_ = 0;
  std::deque<Recalled> recalls_;
  std::thread thread_;
};

}  // namespace stoa::test
