#include "frontends/native/client/client_login.h"

#include <algorithm>

#include "frontends/native/protocol/login.h"

namespace stoa::native {
namespace {

constexpr std::chrono::milliseconds kStepPatience{10'000};
// No server says how long a client stays away for more than this, or how much memory its slots take.
constexpr std::chrono::milliseconds kRefusedMost{60'000};
constexpr U32 kSlotsMost = 1024;

std::string sentence(WireStatus why, const LoginWish& wish) {
  switch (why) {
    case WireStatus::wrong_key:
      return "the server does not take this key; look at the key file, and at `stoa user` or `stoa host key list` "
             "there";
    case WireStatus::no_export:
      return "the server has no export " + wish.export_name +
             " for native clients; `stoa export list` tells which it has";
    case WireStatus::no_rule:
      return "the export " + wish.export_name + " has no rule for this host; `stoa export` there adds one";
    case WireStatus::no_common_version:
      return "client and server have no version of the protocol in common; the older one is to be upgraded";
    case WireStatus::tls_required:
      return "the export " + wish.export_name + " is for clients with TLS only; mount with --tls";
    case WireStatus::busy:
      return "the server takes no log-in from here for a while";
    default:
      return "the server refuses the log-in: " + std::string(to_string(why));
  }
}

// The next message of the log-in, which is to be of this kind.
Result<std::shared_ptr<const Bytes>> expect(ClientConnection& connection, MessageKind kind, const LoginWish& wish,
                                            MessageView& view, std::chrono::milliseconds& wait) {
  STOA_TRY(body, connection.receive(kStepPatience));
  if (cut_message(*body, view) != Cut::kWhole) return fail(Errc::kCorrupt, "the server's answer is damaged");
  if (view.header.kind == static_cast<U16>(MessageKind::kRefused)) {
    std::span<const std::byte> records = view.operations;
    Refused refused;
    if (const auto record = next_record(records)) (void)read_record(*record, refused);
    wait = std::min(std::chrono::milliseconds(refused.wait_ms), kRefusedMost);
    const WireStatus why{view.header.status};
    if (why == WireStatus::tls_required && wish.offers_tls != nullptr) *wish.offers_tls = true;
    return fail(to_errc(why), sentence(why, wish));
  }
  if (view.header.kind != static_cast<U16>(kind)) return fail(Errc::kCorrupt, "the server's answer is out of turn");
  return body;
}

}  // namespace

Result<Welcome> log_in(ClientConnection& connection, const ClientKey& key, const LoginWish& wish,
                       std::chrono::milliseconds& wait) {
  const Nonce nonce = make_nonce();
  Bytes hello;
  const Hello said{.oldest_version = kVersion,
                   .newest_version = kVersion,
                   .key_kind = static_cast<U32>(key.kind),
                   .session = wish.session,
                   .nonce = as_text(nonce),
                   .key = key.key,
                   .export_name = wish.export_name,
                   .client_id = wish.client_id};
  append_record(hello, 0, said);
  STOA_CHECK_OK(connection.send(encode_single(MessageKind::kHello, said)));

  MessageView view;
  STOA_TRY(challenged, expect(connection, MessageKind::kChallenge, wish, view, wait));
  const Bytes challenge(view.operations.begin(), view.operations.end());
  Challenge given;
  std::span<const std::byte> records = challenge;
  const auto record = next_record(records);
  if (!record || !read_record(*record, given) || given.version != kVersion || given.nonce.size() != kNonceBytes)
    return fail(Errc::kCorrupt, "the server's answer is damaged");
  if (given.offers_tls != 0 && wish.offers_tls != nullptr) {
    *wish.offers_tls = true;
    return fail(Errc::kAccess, "the server offers TLS");
  }
  const auto binding = connection.binding();
  const Mac mac = prove(ProofOf::kClient, key.secret, {hello, challenge}, binding);
  Bytes proof;
  append_record(proof, 0, Proof{.mac = as_text(mac)});
  STOA_CHECK_OK(connection.send(encode_single(MessageKind::kProof, Proof{.mac = as_text(mac)})));

  STOA_TRY(welcomed, expect(connection, MessageKind::kWelcome, wish, view, wait));
  records = view.operations;
  const auto first = next_record(records);
  const std::size_t first_bytes = view.operations.size() - records.size();
  const auto second = next_record(records);
  Welcome welcome;
  Proof shown;
  if (!first || !second || !read_record(*first, welcome) || !read_record(*second, shown))
    return fail(Errc::kCorrupt, "the server's answer is damaged");
  const Mac wanted =
      prove(ProofOf::kServer, key.secret, {hello, challenge, proof, view.operations.first(first_bytes)}, binding);
  if (!same(wanted, shown.mac))
    return fail(Errc::kAccess, "the server does not know the secret of the key: it is not the one");
  if (welcome.slots < 2 || welcome.session == 0 || welcome.lease_seconds == 0)
    return fail(Errc::kCorrupt, "the server's answer is damaged");
  welcome.slots = std::min(welcome.slots, kSlotsMost);
  return welcome;
}

}  // namespace stoa::native
