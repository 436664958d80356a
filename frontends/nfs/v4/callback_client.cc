#include "frontends/nfs/v4/callback_client.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace stoa::nfs4 {
namespace {

constexpr std::uint32_t kCallbackVersion = 1;
constexpr std::uint32_t kCbNull = 0, kCbCompound = 1;
constexpr int kAttemptsMax = 3;  // at once; a recall is offered again from time to time

// One of the two numbers behind the host.
std::optional<std::uint8_t> take_octet(std::string_view& text) {
  const auto dot = text.rfind('.');
  if (dot == text.npos) return std::nullopt;
  const std::string_view digits = text.substr(dot + 1);
  std::uint8_t octet = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), octet);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  text = text.substr(0, dot);
  return octet;
}

// Whether the server of this call says that it did it: an accepted reply with a status of its own.
bool accepted(rpc::XdrReader& in) {
  in.u32();  // xid
  in.u32();  // REPLY
  const std::uint32_t status = in.u32();
  in.u32();  // the verifier
  in.opaque(rpc::kAuthBytesMax);
  const std::uint32_t accept_status = in.u32();
  return in.ok() && status == 0 && accept_status == 0;
}

}  // namespace

std::optional<std::uint16_t> callback_port(const CallbackAddress& given, const std::array<std::uint8_t, 16>& host) {
  std::string_view text = given.address;
  const auto low = take_octet(text);
  const auto high = low ? take_octet(text) : std::nullopt;
  if (!high) return std::nullopt;
  std::array<std::uint8_t, 16> named{};
  const std::string name(text);
  if (given.network == "tcp") {
    named[10] = named[11] = 0xff;
    if (inet_pton(AF_INET, name.c_str(), named.data() + 12) != 1) return std::nullopt;
  } else if (given.network != "tcp6" || inet_pton(AF_INET6, name.c_str(), named.data()) != 1) {
    return std::nullopt;
  }
  const auto port = static_cast<std::uint16_t>(*high << 8 | *low);
  const bool somebody = named != std::array<std::uint8_t, 16>{} && port != 0;
  return named == host && somebody ? std::optional(port) : std::nullopt;
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
  std::vector<std::byte> record = header(kCbNull);
  const bool sent = line_->call_back(
      std::move(record), [weak = weak_from_this(), on_up = std::move(on_up)](std::span<const std::byte> reply) {
        const auto self = weak.lock();
        if (self == nullptr) return;
        rpc::XdrReader in(reply);
        const bool answered = accepted(in);
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
  std::vector<std::byte> record = header(kCbCompound);
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  out.u32(0);  // tag
  out.u32(0);  // minorversion
  out.u32(ident_);
  out.u32(1);
  out.u32(callback.operation);
  out.fixed(callback.arguments);
  const auto bytes = buffer.bytes();
  record.insert(record.end(), bytes.begin(), bytes.end());
  const bool sent =
      line_->call_back(std::move(record), [weak = weak_from_this(), callback](std::span<const std::byte> reply) {
        if (const auto self = weak.lock()) self->take_reply(callback, reply);
      });
  if (!sent) take_reply(std::move(callback), {});
}

void CallbackClient::take_reply(Callback callback, std::span<const std::byte> reply) {
  rpc::XdrReader in(reply);
  const bool answered = accepted(in);
  const auto status = static_cast<Nfs4Status>(in.u32());
  const bool taken = answered && in.ok() && status == Nfs4Status::kOk;
  {
    const std::lock_guard lock(mutex_);
    state_ = answered ? State::kUp : State::kDown;
    std::erase_if(under_way_, [&](const Callback& other) {
      return other.operation == callback.operation && other.about.other == callback.about.other;
    });
  }
  if (answered && !taken && ++callback.attempts < kAttemptsMax) return call(std::move(callback));
  if (callback.done) callback.done(taken);
}

std::vector<std::byte> CallbackClient::header(std::uint32_t procedure) const {
  enum : std::uint32_t { kAuthNone = 0, kAuthSys = 1 };
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  out.u32(0);  // the line sets the xid
  out.u32(rpc::kCall);
  out.u32(rpc::kRpcVersion);
  out.u32(program_);
  out.u32(kCallbackVersion);
  out.u32(procedure);
  if (procedure == kCbNull) {
    out.u32(kAuthNone);
    out.u32(0);
  } else {
    // Clients refuse AUTH_NONE for anything but CB_NULL. Stamp, machine, uid, gid, no groups.
    constexpr std::string_view kMachine = "stoa";
    out.u32(kAuthSys);
    out.u32(4 + 4 + kMachine.size() + 4 + 4 + 4);
    out.u32(0);
    out.string(kMachine);
    out.u32(0);
    out.u32(0);
    out.u32(0);
  }
  out.u32(kAuthNone);  // the verifier
  out.u32(0);
  const auto bytes = buffer.bytes();
  return {bytes.begin(), bytes.end()};
}

}  // namespace stoa::nfs4
