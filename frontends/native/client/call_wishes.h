// What a call asks of the protocol, however it is waited for.
#pragma once

#include <chrono>
#include <optional>

#include "frontends/native/client/client.h"

namespace stoa::native {

inline constexpr std::chrono::milliseconds kWaitFirst{5}, kWaitMost{250};  // before the same is asked again

// The record of CallBlock for it; empty: none.
Bytes call_block(const std::optional<Identity>& as);
// For Header::deadline_ms.
U32 milliseconds_to(const Deadline& deadline);
bool has(const Batch& batch, U16 code);
// Whether the operation that failed is to be asked again.
bool waits(const Batch& batch, const Replies& replies);
// Whether the same message is to be sent again for this status of the whole.
bool is_later(WireStatus status);
// Whether the slot has counted a message that was answered like this; else the next one has the same sequence.
bool is_counted(WireStatus status);
// What a refused message is to its caller. It is nothing that its operations found.
Error refusal_of(WireStatus status);

}  // namespace stoa::native
