#include "frontends/nfs/v4/callback_client.h"

#include <algorithm>

#include "frontends/nfs/rpc/universal_address.h"

namespace stoa::nfs4 {
namespace {

constexpr int kRecallAttemptsMax = 3;  // at once; a recall is offered again from time to time

}  // namespace

std::optional<std::uint16_t> callback_port(const CallbackAddress& given, const std::array<std::uint8_t, 16>& host) {
  const bool ipv6 = given.network == "tcp6";
  if (!ipv6 && given.network != "tcp") return std::nullopt;
  const auto named = rpc::parse_universal_address(given.address, ipv6);
  if (!named || named->host != host || named->host == std::array<std::uint8_t, 16>{} || named->port == 0) {
    return std::nullopt;
  }
  return named->port;
}

void CallbackClient::set(State state) {
  const std::lock_guard lock(mutex_);
  state_ = state;
}

bool CallbackClient::up() {
  const std::lock_guard lock(mutex_);
  return state_ == State::kUp;
}

bool CallbackClient::lost() {
  const std::lock_guard lock(mutex_);
  return state_ == State::kDown;
}

void CallbackClient::probe(std::function<void()> on_up) {
  const bool sent =
      line_->call_back(rpc::call_record(program_, kCallbackVersion, kCbNull, rpc::AuthFlavor::kNone),
                       [weak = weak_from_this(), on_up = std::move(on_up)](std::span<const std::byte> reply) {
                         const auto self = weak.lock();
                         if (self == nullptr) return;
                         const bool answered = rpc::results_of(reply).has_value();
                         self->set(answered ? State::kUp : State::kDown);
                         if (answered) on_up();
                       });
  if (!sent) set(State::kDown);
}

void CallbackClient::call(Callback callback) {
  {
    const std::lock_guard lock(mutex_);
    const bool known = std::ranges::any_of(under_way_, [&](const Callback& other) {
      return other.operation == callback.operation && other.about.other == callback.about.other;
    });
    if (known) return;
    under_way_.push_back({.operation = callback.operation, .about = callback.about, .arguments = {}});
  }
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  out.u32(0);  // tag
  out.u32(0);  // minorversion
  out.u32(ident_);
  out.u32(1);
  out.u32(callback.operation);
  out.fixed(callback.arguments);
  // Clients refuse AUTH_NONE for anything but CB_NULL.
  const bool sent =
      line_->call_back(rpc::call_record(program_, kCallbackVersion, kCbCompound, rpc::AuthFlavor::kSys, buffer.bytes()),
                       [weak = weak_from_this(), callback](std::span<const std::byte> reply) {
                         if (const auto self = weak.lock()) self->take_reply(callback, reply);
                       });
  if (!sent) take_reply(std::move(callback), {});
}

void CallbackClient::take_reply(Callback callback, std::span<const std::byte> reply) {
  const auto results = rpc::results_of(reply);
  const bool answered = results.has_value();
  rpc::XdrReader in(answered ? *results : std::span<const std::byte>{});
  const auto status = static_cast<Nfs4Status>(in.u32());
  const bool taken = answered && in.ok() && status == Nfs4Status::kOk;
  if (taken && callback.answer) {
    in.opaque(kTagBytesMax);
    in.u32();  // number of results
    if (in.u32() == callback.operation && static_cast<Nfs4Status>(in.u32()) == Nfs4Status::kOk && in.ok())
      callback.answer(in);
  }
  {
    const std::lock_guard lock(mutex_);
    state_ = answered ? State::kUp : State::kDown;
    std::erase_if(under_way_, [&](const Callback& other) {
      return other.operation == callback.operation && other.about.other == callback.about.other;
    });
  }
  if (answered && !taken && ++callback.attempts < kRecallAttemptsMax) return call(std::move(callback));
  if (callback.done) callback.done(taken);
}

}  // namespace stoa::nfs4
