// Reading and writing files in place. Contracts: core/api/namespace.h.
#pragma once

#include "core/txn/tree.h"

namespace stoa::core {

Result<ReadReply> read(Tree&, const OpContext&, const ReadRequest&);
Result<ReadSlicesReply> read_slices(Tree&, const OpContext&, const ReadSlicesRequest&);
Result<WriteReply> write(Tree&, const OpContext&, const WriteRequest&);
Result<CommitReply> commit(Tree&, const OpContext&, const CommitRequest&);
Result<RangeReply> allocate(Tree&, const OpContext&, const RangeRequest&);
Result<RangeReply> punch(Tree&, const OpContext&, const RangeRequest&);
Result<SeekReply> seek(Tree&, const OpContext&, const SeekRequest&);
Result<CopyRangeReply> copy_range(Tree&, const OpContext&, const CopyRangeRequest&);

}  // namespace stoa::core
