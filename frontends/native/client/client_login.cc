#include "frontends/native/client/client_login.h"

#include <algorithm>
#include <memory>

#include "frontends/native/client/ticket_client_proof.h"
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
    case WireStatus::no_kerberos:
      return "the server takes no Kerberos, as it has no keytab; set nfs.keytab there, or log in with a key file";
    case WireStatus::kerberos_refused:
      return "the export " + wish.export_name + " takes no Kerberos; `stoa export set " + wish.export_name +
             " --sec sys,krb5` there allows it";
    case WireStatus::kerberos_needs_tls:
      return "the export " + wish.export_name + " takes Kerberos with integrity or privacy only, which is TLS here; " +
             "mount with TLS, and give the server a certificate (native.tls_certificate) if it has none";
    case WireStatus::ticket_refused:
      return "the server does not take the Kerberos ticket: what was said was changed on the way, or the ticket was";
    case WireStatus::ticket_expired:
      return "the Kerberos ticket has expired; get another one with kinit";
    case WireStatus::clock_skew:
      return "the clocks of this machine and of the server differ too much for Kerberos; set them";
    case WireStatus::no_key_for_ticket:
      return "the keytab of the server has no key for the Kerberos ticket; put the newest key of stoa/" + wish.host +
             " or nfs/" + wish.host + ", as the KDC has it, into nfs.keytab there";
    case WireStatus::no_user:
      return "the server knows no user for the principal of the Kerberos ticket (klist shows it); `stoa user create "
             "NAME` there, or `stoa user set NAME --principal PRINCIPAL`";
    default:
      return "the server refuses the log-in: " + std::string(to_string(why));
  }
}

// The next message of the log-in, which is to be of this kind.
Result<std::shared_ptr<const Content>> expect(ClientConnection& connection, MessageKind kind, const LoginWish& wish,
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

// Of a client that has a key.
class KeyProof final : public ClientProof {
 public:
  explicit KeyProof(const std::string& secret) : secret_(secret) {}
  Result<Bytes> make(std::initializer_list<std::span<const std::byte>> said,
                     std::span<const std::byte> binding) override {
    Bytes record;
    append_record(record, 0, Proof{.mac = as_text(prove(ProofOf::kClient, secret_, said, binding))});
    return record;
  }
  Status verify(const RecordView& shown, std::initializer_list<std::span<const std::byte>> said,
                std::span<const std::byte> binding) override {
    Proof proof;
    if (!read_record(shown, proof)) return fail(Errc::kCorrupt, "the server's answer is damaged");
    if (same(prove(ProofOf::kServer, secret_, said, binding), proof.mac)) return {};
    return fail(Errc::kAccess, "the server does not know the secret of the key: it is not the one");
  }

 private:
  const std::string& secret_;
};

std::unique_ptr<ClientProof> make_proof(const ClientKey& key, const LoginWish& wish) {
  if (key.kind == KeyKind::kKerberos) return std::make_unique<TicketClientProof>(wish.host);
  return std::make_unique<KeyProof>(key.secret);
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
  const auto proof = make_proof(key, wish);
  STOA_TRY(proven, proof->make({hello, challenge}, binding));
  STOA_CHECK_OK(connection.send(encode_message(
      {.version = kVersion, .kind = static_cast<U16>(MessageKind::kProof), .operation_count = 1}, {}, proven, {})));

  STOA_TRY(welcomed, expect(connection, MessageKind::kWelcome, wish, view, wait));
  records = view.operations;
  const auto first = next_record(records);
  const std::size_t first_bytes = view.operations.size() - records.size();
  const auto second = next_record(records);
  Welcome welcome;
  if (!first || !second || !read_record(*first, welcome)) return fail(Errc::kCorrupt, "the server's answer is damaged");
  STOA_CHECK_OK(proof->verify(*second, {hello, challenge, proven, view.operations.first(first_bytes)}, binding));
  if (welcome.slots < 2 || welcome.session == 0 || welcome.lease_seconds == 0)
    return fail(Errc::kCorrupt, "the server's answer is damaged");
  welcome.slots = std::min(welcome.slots, kSlotsMost);
  return welcome;
}

}  // namespace stoa::native
