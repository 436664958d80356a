#include "frontends/nfs/rpc/gss_server.h"

#include "frontends/nfs/rpc/record_mark.h"

#include <utility>

namespace stoa::rpc {
namespace {

constexpr std::size_t kStatusAt = kMarkBytes + 20;  // of the accept status in a frame with an empty verifier
constexpr std::size_t kSequenceBytes = 4;
constexpr std::uint32_t kFailure = 13u << 16;  // GSS_S_FAILURE

// An opaque whose bytes `append` writes.
template <class Append>
bool put_opaque(ReplyBuffer& out, Append append) {
  XdrWriter writer(out);
  const std::size_t length_at = out.size();
  writer.u32(0);
  if (!append(out)) return false;
  const std::size_t length = out.size() - length_at - 4;
  writer.patch_u32(length_at, static_cast<std::uint32_t>(length));
  out.append_zeros(padded(length) - length);
  return true;
}

// The end of an accepted reply's head and the begin of its results (RFC 5531 9).
bool put_head(GssContext& context, std::uint32_t xid, std::uint32_t verified, std::uint32_t status, ReplyBuffer& out) {
  XdrWriter writer(out);
  writer.u32(xid);
  writer.u32(kReply);
  writer.u32(0);  // accepted
  writer.u32(static_cast<std::uint32_t>(AuthFlavor::kGss));
  const auto word = be32(verified);
  if (!put_opaque(out, [&](ReplyBuffer& to) { return context.append_mic(word, to); })) return false;
  writer.u32(status);
  return true;
}

// rpc_gss_init_res (5.2.3)
void put_init_result(XdrWriter& out, std::span<const std::byte> handle, const GssStep& step, std::uint32_t window) {
  out.opaque(handle);
  out.u32(step.major);
  out.u32(step.minor);
  out.u32(window);
  out.opaque(step.token);
}

}  // namespace

bool decode_integrity_body(std::span<const std::byte> body, GssIntegrityBody& parts) {
  XdrReader in(body);
  parts.data = in.opaque(body.size());
  parts.checksum = in.opaque(body.size());
  return in.ok() && in.left() == 0 && parts.data.size() >= kSequenceBytes;
}

bool decode_privacy_body(std::span<const std::byte> body, std::span<const std::byte>& token) {
  XdrReader in(body);
  token = in.opaque(body.size());
  return in.ok() && in.left() == 0;
}

GssServer::Verdict GssServer::judge(CallHeader& header, Clock::time_point now, std::shared_ptr<GssCall>& call) {
  const auto deny = [&](AuthStatus why) {
    header.auth = why;
    return Verdict::kDenied;
  };
  const GssCredential& gss = *header.gss;
  GssContexts::EntryRef entry = contexts_.find(gss.handle, now);
  if (entry == nullptr || !entry->established.load(std::memory_order_acquire))
    return deny(AuthStatus::kGssCredentialProblem);
  if (entry->expires <= now) {
    contexts_.remove(*entry);
    return deny(AuthStatus::kGssContextProblem);
  }
  auto judged = std::make_shared<GssCall>(GssCall{.sequence = gss.sequence, .service = gss.service});
  const std::lock_guard lock(entry->mutex);
  if (!entry->context->verify_mic(header.to_verify, header.verifier)) return deny(AuthStatus::kGssCredentialProblem);
  if (gss.sequence > kGssSequenceMax) return deny(AuthStatus::kGssContextProblem);
  if (!entry->window.take(gss.sequence)) return Verdict::kDrop;

  // The sequence number of the body must be that of the header (5.3.3.1).
  const auto has_sequence = [&](std::span<const std::byte> data) {
    return data.size() >= kSequenceBytes && load_be32(data.data()) == gss.sequence;
  };
  bool good = true;
  if (gss.service == GssService::kIntegrity) {
    GssIntegrityBody parts;
    good = decode_integrity_body(header.arguments, parts) && has_sequence(parts.data) &&
           entry->context->verify_mic(parts.data, parts.checksum);
    if (good) judged->argument_bytes = parts.data.size() - kSequenceBytes;
  } else if (gss.service == GssService::kPrivacy) {
    std::span<const std::byte> token;
    good = decode_privacy_body(header.arguments, token) && entry->context->unwrap(token, judged->plain) &&
           has_sequence(judged->plain);
  }
  judged->entry = std::move(entry);
  call = std::move(judged);
  return good ? Verdict::kBelieved : Verdict::kGarbage;
}

void GssServer::show(const GssCall& call, CallHeader& header) {
  header.credential.principal = call.entry->principal;
  header.credential.service = call.service;
  switch (call.service) {
    case GssService::kNone:
      break;
    case GssService::kIntegrity:
      header.arguments = header.arguments.subspan(4 + kSequenceBytes, call.argument_bytes);
      break;
    case GssService::kPrivacy:
      header.arguments = std::span(call.plain).subspan(kSequenceBytes);
      break;
  }
}

std::string GssServer::establish(const CallHeader& header, const ClientAddress& address, Clock::time_point now,
                                 XdrWriter& out) {
  XdrReader in(header.arguments);
  const auto token = in.opaque(header.arguments.size());
  if (!in.ok() || in.left() != 0) {
    encode_accepted(out, header.xid, AcceptStatus::kGarbageArguments);
    return {};
  }
  const auto deny = [&](AuthStatus why) {
    encode_auth_error(out, header.xid, why);
    return std::string();
  };

  GssContexts::EntryRef entry;
  GssStep step;
  if (header.gss->procedure == GssProcedure::kContinueInit) {
    entry = contexts_.find(header.gss->handle, now);
    if (entry == nullptr) return deny(AuthStatus::kGssCredentialProblem);
    const std::lock_guard lock(entry->mutex);
    // Checked under the mutex, so that one thread makes the last step.
    if (entry->established.load()) return deny(AuthStatus::kGssCredentialProblem);
    step = entry->context->accept(token);
    if (step.major == GssStep::kComplete) contexts_.establish(*entry, std::move(step.principal), now + step.lifetime);
  } else {
    if (!header.gss->handle.empty()) return deny(AuthStatus::kBadCredential);
    std::unique_ptr<GssContext> fresh = mechanism_.begin({});
    step = fresh->accept(token);
    if (step.major == GssStep::kComplete || step.major == GssStep::kContinueNeeded) {
      entry = contexts_.add(address, std::move(fresh), now);
      if (step.major == GssStep::kComplete) contexts_.establish(*entry, std::move(step.principal), now + step.lifetime);
    }
  }

  const std::size_t begin = out.size();
  if (step.major == GssStep::kComplete) {
    ReplyBuffer head;
    const std::lock_guard lock(entry->mutex);
    if (put_head(*entry->context, header.xid, GssWindow::kSize, static_cast<std::uint32_t>(AcceptStatus::kSuccess),
                 head)) {
      out.fixed(head.bytes());
      put_init_result(out, entry->handle, step, GssWindow::kSize);
      return {};
    }
    out.truncate(begin);
    step = {.major = kFailure};
  }
  encode_accepted(out, header.xid, AcceptStatus::kSuccess);
  if (step.major == GssStep::kContinueNeeded) {
    put_init_result(out, entry->handle, step, GssWindow::kSize);
    return {};
  }
  if (entry != nullptr) contexts_.remove(*entry);
  put_init_result(out, {}, step, 0);
  // As the programs of Kerberos print them: routine errors are in these bits (RFC 2744 3.9.1), and minor ones are
  // signed.
  return "GSS error " + std::to_string(step.major >> 16) + ", minor " +
         std::to_string(static_cast<std::int32_t>(step.minor));
}

bool GssServer::wrap(const GssCall& call, ReplyBuffer& out, std::size_t begin, std::size_t more) const {
  const std::uint32_t xid = load_be32(out.bytes().data() + begin + kMarkBytes);
  const std::uint32_t status = load_be32(out.bytes().data() + begin + kStatusAt);
  const bool wraps = status == static_cast<std::uint32_t>(AcceptStatus::kSuccess) && call.service != GssService::kNone;

  ReplyBuffer wrapped;
  XdrWriter writer(wrapped);
  writer.u32(0);
  bool done = false;
  {
    const std::lock_guard lock(call.entry->mutex);
    GssContext& context = *call.entry->context;
    done = put_head(context, xid, call.sequence, status, wrapped);
    if (done && !wraps) {
      writer.fixed(out.bytes().subspan(begin + kStatusAt + 4));
    } else if (done) {
      // Protected results begin with the sequence number: it replaces the accept status in front of them.
      out.overwrite(begin + kStatusAt, be32(call.sequence));
      const std::span<const std::byte> data = out.bytes().subspan(begin + kStatusAt);
      if (call.service == GssService::kIntegrity) {
        writer.opaque(data);
        done = put_opaque(wrapped, [&](ReplyBuffer& to) { return context.append_mic(data, to); });
      } else {
        done = put_opaque(wrapped, [&](ReplyBuffer& to) { return context.append_wrapped(data, to); });
      }
    }
  }
  out.truncate(begin);
  if (!done) return false;
  writer.patch_u32(0, kLastFragment | static_cast<std::uint32_t>(wrapped.size() - kMarkBytes + more));
  if (begin == 0) {
    std::swap(out, wrapped);
  } else {
    out.append(wrapped.bytes());
  }
  return true;
}

}  // namespace stoa::rpc
