// The sockets that a server accepts from, in the epoll of its workers.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "frontends/wire/listener.h"

namespace stoa::wire {

// Thread-safe once it listens.
class Listening {
 public:
  // Keys of epoll events begin here; connections have smaller ones.
  static constexpr std::uint64_t kFirstKey = ~std::uint64_t{0} - 1024;

  Listening(int epoll, std::string name) : epoll_(epoll), name_(std::move(name)) {}
  ~Listening();
  Listening(const Listening&) = delete;

  // Binds. kInvalid: a malformed address; kIo: a port is taken.
  Status listen(const std::vector<Endpoint>& endpoints);
  std::vector<std::uint16_t> ports() const;

  // Accepts connections on the listener of this epoll key, and arms it again; each socket, non-blocking, is given
  // to `admit`. False: no descriptors were left, and resume() must be called a little later.
  bool accept(std::uint64_t key, const std::function<void(int fd)>& admit);
  bool paused() const;
  void resume();
  // Accepts nothing more. A connection that another thread is accepting just now may still come.
  void stop();

 private:
  void arm(std::size_t index);

  const int epoll_;
  const std::string name_;  // of the server, for the log
  std::vector<Listener> listeners_;
  mutable std::mutex mutex_;  // guards the two below
  std::vector<std::size_t> paused_;
  bool stopped_ = false;
};

}  // namespace stoa::wire
