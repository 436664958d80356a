#include "tests/frontends/nfs/v40_protocol/callback_listener.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace stoa::test {
namespace {

bool read_exactly(int fd, std::byte* at, std::size_t size) {
  while (size > 0) {
    const ssize_t n = recv(fd, at, size, 0);
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

CallbackListener::CallbackListener() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  EXPECT_EQ(listen(listener_, 16), 0);
  socklen_t size = sizeof at;
  getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
  port_ = ntohs(at.sin_port);
  EXPECT_EQ(pipe(stop_), 0);
  thread_ = std::thread([this] { serve(); });
}

CallbackListener::~CallbackListener() {
  close(stop_[1]);
  thread_.join();
  close(stop_[0]);
  close(listener_);
}

std::string CallbackListener::address() const {
  return "127.0.0.1." + std::to_string(port_ >> 8) + "." + std::to_string(port_ & 0xff);
}

void CallbackListener::serve() {
  std::vector<pollfd> polled{{stop_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
  for (;;) {
    poll(polled.data(), polled.size(), -1);
    if (polled[0].revents != 0) break;
    if (polled[1].revents != 0) polled.push_back({accept(listener_, nullptr, nullptr), POLLIN, 0});
    for (std::size_t i = 2; i < polled.size(); ++i) {
      if (polled[i].revents == 0 || answer(polled[i].fd)) continue;
      close(polled[i].fd);
      polled[i].fd = -1;
    }
    std::erase_if(polled, [](const pollfd& entry) { return entry.fd < 0; });
  }
  for (std::size_t i = 2; i < polled.size(); ++i) close(polled[i].fd);
}

bool CallbackListener::answer(int fd) {
  Bytes mark(4);
  if (!read_exactly(fd, mark.data(), mark.size())) return false;
  Bytes record(rpc::load_be32(mark.data()) & 0x7fff'ffff);
  if (!read_exactly(fd, record.data(), record.size())) return false;
  rpc::CallHeader header;
  EXPECT_TRUE(rpc::decode_call(record, header));
  EXPECT_EQ(header.auth, rpc::AuthStatus::kOk);
  EXPECT_EQ(header.version, 1u);
  const std::lock_guard lock(mutex_);
  if (answers_ == Answers::kNothing) return true;
  Xdr reply;
  reply.u32(header.xid).u32(rpc::kReply).u32(0).u32(0).u32(0).u32(0);
  if (header.procedure == 0) {
    EXPECT_TRUE(header.arguments.empty());
    ++nulls_;
  } else {
    EXPECT_EQ(header.procedure, 1u);
    EXPECT_TRUE(header.credential.sys);
    rpc::XdrReader in(header.arguments);
    in.opaque(1024);
    EXPECT_EQ(in.u32(), 0u);  // minor version
    Recalled recalled{.program = header.program, .ident = in.u32()};
    EXPECT_EQ(in.u32(), 1u);
    EXPECT_EQ(in.u32(), 4u);  // CB_RECALL
    recalled.stateid = read_wire_stateid(in);
    in.u32();
    const auto handle = in.opaque(128);
    recalled.handle.assign(handle.begin(), handle.end());
    EXPECT_TRUE(in.ok() && in.left() == 0);
    const auto status =
        static_cast<std::uint32_t>(answers_ == Answers::kTake ? Nfs4Status::kOk : Nfs4Status::kServerFault);
    reply.u32(status).string("").u32(1).u32(4).u32(status);
    if (answers_ == Answers::kTake) recalls_.push_back(std::move(recalled));
  }
  changed_.notify_all();
  Xdr framed;
  framed.u32(0x8000'0000 | static_cast<std::uint32_t>(reply.bytes().size())).raw(reply.bytes());
  return send(fd, framed.bytes().data(), framed.bytes().size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(framed.bytes().size());
}

CallbackListener::Recalled CallbackListener::take_recall() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !recalls_.empty(); });
  Recalled first = std::move(recalls_.front());
  recalls_.pop_front();
  return first;
}

void CallbackListener::wait_for_null() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return nulls_ > 0; });
  --nulls_;
}

void CallbackListener::set(Answers answers) {
  const std::lock_guard lock(mutex_);
  answers_ = answers;
}

}  // namespace stoa::test
