// The message of a log-in by Kerberos, on both sides. The server's: the record of TicketProof, and its token, judged by
// a mechanism that says what the input wants, or by that of MIT with a key that no input knows. The client's: the
// server's TicketProof, for a context that never came to be. The first byte chooses.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/assert.h"
#include "frontends/kerberos/keytab_mechanism.h"
#include "frontends/native/client/ticket_client_proof.h"
#include "frontends/native/protocol/message.h"
#include "frontends/native/server/ticket_proof.h"

namespace {

using namespace stoa;
using namespace stoa::native;

// Bytes of the token: the major status, why, the lifetime, the length of the principal, whether there is an answer.
class ObedientMechanism final : public kerberos::GssMechanism {
 public:
  class Context final : public kerberos::GssContext {
   public:
    kerberos::GssStep accept(std::span<const std::byte> token) override {
      STOA_ASSERT(!token.empty() && token.size() <= kTokenBytesMax);
      const auto at = [&](std::size_t i) { return i < token.size() ? static_cast<unsigned>(token[i]) : 0u; };
      return {.major = at(0) % 3 == 2 ? 1u << 16 : at(0) % 3,
              .token = Bytes(at(4) % 2),
              .principal = std::string(1 + at(3) * 2, 'p'),
              .lifetime = std::chrono::seconds(at(2)),
              .why = static_cast<kerberos::GssRefusal>(at(1) % 4)};
    }
    bool verify_mic(std::span<const std::byte>, std::span<const std::byte>) override { return false; }
    bool append_mic(std::span<const std::byte>, wire::ReplyBuffer&) override { return false; }
    bool unwrap(std::span<const std::byte>, std::vector<std::byte>&) override { return false; }
    bool append_wrapped(std::span<const std::byte>, wire::ReplyBuffer&) override { return false; }
  };
  std::unique_ptr<kerberos::GssContext> begin(std::span<const std::byte>) override {
    return std::make_unique<Context>();
  }
};

// A file of MIT's format, version 2, with one key (aes256-cts-hmac-sha1-96) of nfs/localhost@EXAMPLE.ORG.
kerberos::KeytabMechanism& real_mechanism() {
  static const auto mechanism = [] {
    using namespace std::string_literals;
    const std::string text =
        "\x05\x02\x00\x00\x00\x4c\x00\x02\x00\x0b"
        "EXAMPLE.ORG\x00\x03"
        "nfs\x00\x09"
        "localhost\x00\x00\x00\x03\x00\x00\x00\x00\x01\x00\x12\x00\x20"
        "a key of thirty-two characters.."s;
    char path[] = "/tmp/stoa-ticket-fuzz-XXXXXX";
    const int file = mkstemp(path);
    STOA_ASSERT(file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    close(file);
    setenv("KRB5_CONFIG", "/dev/null", 1);
    auto opened = kerberos::KeytabMechanism::open(path);
    STOA_ASSERT(opened);
    return std::move(*opened);
  }();
  return *mechanism;
}

void judge(kerberos::GssMechanism& mechanism, std::span<const std::byte> token) {
  const TicketVerdict verdict = judge_ticket(mechanism, token, Digest{});
  STOA_ASSERT((verdict.status == WireStatus::ok) == verdict.reason.empty());
  if (verdict.status != WireStatus::ok) return;
  STOA_ASSERT(&mechanism != &real_mechanism());
  STOA_ASSERT(!verdict.principal.empty() && verdict.principal.size() <= 256);
  STOA_ASSERT(verdict.lifetime.count() > 0 && !verdict.token.empty() && verdict.context != nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 2 || size > kTokenBytesMax + 4096) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  static ObedientMechanism obedient;
  switch (data[0] % 4) {
    case 0:
      judge(obedient, bytes);
      break;
    case 1:
      judge(real_mechanism(), bytes);
      break;
    case 2: {  // as a record
      std::span<const std::byte> rest = bytes;
      TicketProof proof;
      const auto record = next_record(rest);
      if (record && read_record(*record, proof)) judge(real_mechanism(), as_bytes(proof.token));
      break;
    }
    default: {
      std::span<const std::byte> rest = bytes;
      const auto record = next_record(rest);
      if (!record) break;
      TicketClientProof proof("localhost");
      STOA_ASSERT(!proof.verify(*record, {}, {}));
      break;
    }
  }
  return 0;
}
