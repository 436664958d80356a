#include <gtest/gtest.h>

#include "tests/cross/native_caller.h"
#include "tests/cross/protocols/protocol.h"

namespace stoa::cross {
namespace {

using native::WireStatus;

Outcome outcome_of(const NativeReply& reply) {
  switch (reply.why.empty() ? reply.status : WireStatus::io) {
    case WireStatus::ok:
      return Outcome::kOk;
    case WireStatus::not_found:
      return Outcome::kMissing;
    case WireStatus::access:
    case WireStatus::not_owner:
      return Outcome::kDenied;
    case WireStatus::quota:
      return Outcome::kNoRoom;
    case WireStatus::read_only:
      return Outcome::kReadOnly;
    case WireStatus::exists:
      return Outcome::kExists;
    case WireStatus::not_empty:
      return Outcome::kNotEmpty;
    default:
      ADD_FAILURE() << reply.text();
      return Outcome::kOther;
  }
}

class NativeProtocol final : public Protocol {
 public:
  explicit NativeProtocol(std::unique_ptr<NativeCaller> caller) : caller_(std::move(caller)) {}

  Outcome put(const std::string& path, std::string_view bytes) override {
    return in_parent(path, [&](native::File dir, const auto& name) { return caller_->put(dir, name, bytes); });
  }
  Content get(const std::string& path) override {
    const NativeReply found = caller_->walk(path);
    if (!found.ok()) return {outcome_of(found)};
    NativeReply read = caller_->read_all(found.file);
    return {outcome_of(read), std::move(read.data)};
  }
  Outcome remove(const std::string& path) override {
    return in_parent(path, [&](native::File dir, const auto& name) { return caller_->unlink(dir, name); });
  }
  std::vector<std::string> list(const std::string& path) override {
    const NativeReply dir = caller_->walk(path);
    EXPECT_TRUE(dir.ok()) << dir.text();
    return caller_->list(dir.file);
  }
  std::optional<std::uint64_t> size(const std::string& path) override {
    const NativeReply found = caller_->walk(path);
    return found.ok() ? std::optional(found.attr.size) : std::nullopt;
  }
  Outcome make_directory(const std::string& path) override {
    return in_parent(path, [&](native::File dir, const auto& name) { return caller_->mkdir(dir, name); });
  }
  Outcome remove_directory(const std::string& path) override {
    return in_parent(path, [&](native::File dir, const auto& name) {
      return caller_->run<native::operations::rmdir>({.parent = dir, .name = name});
    });
  }
  Outcome rename(const std::string& from, const std::string& to) override {
    return in_parent(from, [&](native::File dir, const std::string& name) {
      const std::size_t slash = to.rfind('/');
      const NativeReply target = caller_->walk(slash == std::string::npos ? "" : to.substr(0, slash));
      return target.ok() ? caller_->rename(dir, name, target.file, to.substr(slash + 1)) : target;
    });
  }
  Outcome write(const std::string& path, std::uint64_t offset, std::string_view bytes) override {
    const NativeReply found = caller_->walk(path);
    return outcome_of(found.ok() ? caller_->write(found.file, offset, bytes) : found);
  }
  Outcome truncate(const std::string& path, std::uint64_t size) override {
    const NativeReply found = caller_->walk(path);
    return outcome_of(found.ok() ? caller_->resize(found.file, size) : found);
  }
  Outcome set_mode(const std::string& path, std::uint32_t mode) override {
    const NativeReply found = caller_->walk(path);
    return outcome_of(found.ok() ? caller_->set(found.file, {.which = native::kSetMode, .mode = mode}) : found);
  }
  std::uint64_t room(const std::string& path) override {
    const NativeReply found = caller_->walk(path);
    EXPECT_TRUE(found.ok()) << found.text();
    return caller_->bytes_available(found.file);
  }

 private:
  template <class Act>
  Outcome in_parent(const std::string& path, const Act& act) {
    const std::size_t slash = path.rfind('/');
    const NativeReply parent = caller_->walk(slash == std::string::npos ? "" : path.substr(0, slash));
    return outcome_of(parent.ok() ? act(parent.file, path.substr(slash + 1)) : parent);
  }

  std::unique_ptr<NativeCaller> caller_;
};

}  // namespace

std::unique_ptr<Protocol> open_native(const clients::ServerProcess& server, std::uint32_t uid) {
  auto caller = NativeCaller::connect(server, uid);
  return caller == nullptr ? nullptr : std::make_unique<NativeProtocol>(std::move(caller));
}

}  // namespace stoa::cross
