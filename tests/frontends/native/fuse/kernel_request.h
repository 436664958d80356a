// Requests as the kernel writes them, and the replies to them.
#pragma once

#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/native/fuse/kernel_abi.h"
#include "frontends/native/fuse/reply_channel.h"

namespace stoa::native::fuse {

// A request with arguments of fixed structures and names, in this order.
class KernelRequest {
 public:
  KernelRequest(std::uint32_t opcode, std::uint64_t node, std::uint64_t unique = 9) {
    header_.opcode = opcode;
    header_.nodeid = node;
    header_.unique = unique;
  }
  template <class T>
  KernelRequest& put(const T& value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    arguments_.insert(arguments_.end(), from, from + sizeof(T));
    return *this;
  }
  KernelRequest& text(std::string_view name) {
    for (const char c : name) arguments_.push_back(static_cast<std::byte>(c));
    arguments_.push_back(std::byte{0});
    return *this;
  }
  std::vector<std::byte> bytes() const {
    fuse_in_header header = header_;
    header.len = static_cast<std::uint32_t>(sizeof(header) + arguments_.size());
    std::vector<std::byte> all(header.len);
    std::memcpy(all.data(), &header, sizeof(header));
    std::copy(arguments_.begin(), arguments_.end(), all.begin() + sizeof(header));
    return all;
  }
  std::size_t argument_bytes() const { return arguments_.size(); }
  // The same with so many bytes of its arguments, and lengths that fit.
  KernelRequest cut(std::size_t length) const {
    KernelRequest shorter = *this;
    shorter.arguments_.resize(length);
    return shorter;
  }

 private:
  fuse_in_header header_{};
  std::vector<std::byte> arguments_;
};

class KeptReplies : public ReplyChannel {
 public:
  struct One {
    int error = 0;
    std::vector<std::byte> body;
  };
  void reply(std::uint64_t unique, int error, std::span<const std::byte> body) override {
    const std::lock_guard lock(mutex_);
    replies_.emplace(unique, One{error, {body.begin(), body.end()}});
    changed_.notify_all();
  }
  std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return replies_.size();
  }
  // Waits for the reply to this request.
  One wait_for(std::uint64_t unique) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return replies_.contains(unique); });
    return replies_.find(unique)->second;
  }

 private:
  mutable std::mutex mutex_;  // guards replies_
  std::condition_variable changed_;
  std::multimap<std::uint64_t, One> replies_;
};

template <class T>
T body_as(const KeptReplies::One& reply, std::size_t at = 0) {
  T value{};
  if (reply.body.size() >= at + sizeof(T)) std::memcpy(&value, reply.body.data() + at, sizeof(T));
  return value;
}

}  // namespace stoa::native::fuse
