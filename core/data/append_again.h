// Appends that a client sends again after a restart. The transaction that makes a file longer by an append has the
// request's key and the place of the bytes in the journal (core/journal/finished_requests.h). So each append is in the
// file once: whole, as its bytes were written before that transaction, or not at all, as a start zeros what is behind
// the end.
#pragma once

#include <cstdint>
#include <optional>

#include "core/api/requests.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// The answer to an append that was executed before the restart; absent: it was not, and must run. The bytes are written
// again where they were, as after a power cut some may be lost, and after a kill none is known to be durable; but not
// where the file was cut since, or the place has other bytes than these and zeros. Errors: as of the append; kAccess:
// the caller may not append any more.
std::optional<Result<WriteReply>> append_again(VolumeContext& volume, const OpContext& ctx, const NodeRef& node,
                                               const WriteRequest& req, std::uint64_t length);

}  // namespace stoa::core
