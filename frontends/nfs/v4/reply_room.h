// The room that a change needs in a reply: without it, the operation is refused before it changes anything.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoa::nfs4 {

// The most bytes that the good result of an operation takes behind its status, if it changes files or state of a
// client. Nothing: it only looks, so its result may turn out too large when it was run (RFC 8881 2.10.6.4).
std::size_t change_result_bytes(std::uint32_t operation);

}  // namespace stoa::nfs4
