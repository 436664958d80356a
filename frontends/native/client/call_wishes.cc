#include "frontends/native/client/call_wishes.h"

#include <algorithm>

#include "frontends/native/protocol/login.h"

namespace stoa::native {

Bytes call_block(const std::optional<Identity>& as) {
  Bytes block;
  if (!as) return block;
  const std::size_t count = std::min(as->groups.size(), kGroupsMax);
  Bytes groups(count * sizeof(U32));
  for (std::size_t i = 0; i < count; ++i) store(groups.data() + i * sizeof(U32), as->groups[i]);
  append_record(block, 0, CallBlock{.uid = as->uid, .gid = as->gid, .groups = as_text(groups)});
  return block;
}

U32 milliseconds_to(const Deadline& deadline) {
  if (deadline.is_never()) return 0;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.at() - Deadline::Clock::now()).count();
  return static_cast<U32>(std::clamp<std::int64_t>(left, 1, 50'000));
}

bool has(const Batch& batch, U16 code) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch.code(i) == code) return true;
  }
  return false;
}

bool waits(const Batch& batch, const Replies& replies) {
  const std::size_t last = replies.size() - 1;
  const WireStatus status = replies.status(last);
  if (status == WireStatus::recall_pending || status == WireStatus::grace) return true;
  return status == WireStatus::locked && batch.code(last) == operations::lock::kCode &&
         batch.arguments<operations::lock>(last).waits != 0;
}

bool is_later(WireStatus status) {
  return status == WireStatus::busy || status == WireStatus::in_progress || status == WireStatus::bad_checksum;
}

bool is_counted(WireStatus status) {
  switch (status) {
    case WireStatus::busy:
    case WireStatus::bad_checksum:
    case WireStatus::malformed:
    case WireStatus::tls_required:
    case WireStatus::kerberos_needs_tls:
    case WireStatus::ticket_expired:
      return false;
    default:
      return true;
  }
}

Error refusal_of(WireStatus status) {
  const Errc code = to_errc(status);
  const bool misleads = code == Errc::kNotFound || code == Errc::kInvalid || code == Errc::kStale;
  return {.code = misleads ? Errc::kIo : code, .detail = std::string(to_string(status))};
}

}  // namespace stoa::native
