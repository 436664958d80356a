// RPCSEC_GSS on the server side (RFC 2203 5): makes and ends contexts, accepts or refuses calls, unwraps them, and
// wraps replies. Version 1; mechanisms are separate (frontends/kerberos).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontends/nfs/rpc/gss_contexts.h"
#include "frontends/nfs/rpc/message.h"
#include "frontends/nfs/rpc/program.h"

namespace stoa::rpc {

inline constexpr std::uint32_t kGssSequenceMax = 0x8000'0000;  // MAXSEQ

// One accepted call; belongs to its record, because a call must not be checked twice.
struct GssCall {
  GssContexts::EntryRef entry;
  std::uint32_t sequence = 0;
  GssService service = GssService::kNone;
  std::size_t argument_bytes = 0;  // kIntegrity
  std::vector<std::byte> plain;    // kPrivacy: the sequence number, then the arguments
};

// rpc_gss_integ_data (5.3.2.2) split into the covered data and the checksum. False: not well-formed.
struct GssIntegrityBody {
  std::span<const std::byte> data{};  // the sequence number, then the arguments
  std::span<const std::byte> checksum{};
};
bool decode_integrity_body(std::span<const std::byte> body, GssIntegrityBody& parts);
// rpc_gss_priv_data (5.3.2.3)
bool decode_privacy_body(std::span<const std::byte> body, std::span<const std::byte>& token);

// Thread-safe.
class GssServer {
 public:
  using Clock = std::chrono::steady_clock;
  GssServer(GssMechanism& mechanism, const GssLimits& limits, MetricRegistry& metrics)
      : mechanism_(mechanism), contexts_(limits, metrics) {}

  static bool makes_context(const CallHeader& header) {
    return header.gss &&
           (header.gss->procedure == GssProcedure::kInit || header.gss->procedure == GssProcedure::kContinueInit);
  }

  // --- RPCSEC_GSS_DATA, RPCSEC_GSS_DESTROY
  enum class Verdict : std::uint8_t {
    kBelieved,  // `call` is set
    kDenied,    // header.auth has the reason
    kGarbage,   // `call` is set, for the reply; the arguments were altered (5.3.3.4.2, 5.3.3.4.3)
    kDrop,      // a replay, or too old: no answer (5.3.3.1)
  };
  Verdict judge(CallHeader& header, Clock::time_point now, std::shared_ptr<GssCall>& call);
  // Sets the credential and the arguments of `header` from an accepted call decoded from the same record.
  static void show(const GssCall& call, CallHeader& header);
  void destroy(const GssCall& call) { contexts_.remove(*call.entry); }

  // --- RPCSEC_GSS_INIT, RPCSEC_GSS_CONTINUE_INIT (5.2.2, 5.2.3): appends the whole reply. Returns the mechanism's
  // reason for refusing a token; empty: it accepts it, or was not asked.
  std::string establish(const CallHeader& header, const ClientAddress& address, Clock::time_point now, XdrWriter& out);

  // Protects the accepted reply in `out` from `begin` on, record mark first, verifier AUTH_NONE, as `call` requires:
  // with a verifier, the results wrapped. `more` bytes will follow the frame (only with GssService::kNone). False: it
  // cannot be done, and the reply is gone.
  bool wrap(const GssCall& call, ReplyBuffer& out, std::size_t begin, std::size_t more) const;

  const GssContexts& contexts() const { return contexts_; }

 private:
  GssMechanism& mechanism_;
  GssContexts contexts_;
};

}  // namespace stoa::rpc
