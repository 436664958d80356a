// Reading and writing files in place. Contracts: core/api/namespace.h.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

Result<ReadReply> read(VolumeContext&, const OpContext&, const ReadRequest&);
Result<ReadSlicesReply> read_slices(VolumeContext&, const OpContext&, const ReadSlicesRequest&);
Result<WriteReply> write(VolumeContext&, const OpContext&, const WriteRequest&);
Result<CommitReply> commit(VolumeContext&, const OpContext&, const CommitRequest&);
Result<RangeReply> allocate(VolumeContext&, const OpContext&, const RangeRequest&);
Result<RangeReply> punch(VolumeContext&, const OpContext&, const RangeRequest&);
Result<SeekReply> seek(VolumeContext&, const OpContext&, const SeekRequest&);
Result<CopyRangeReply> copy_range(VolumeContext&, const OpContext&, const CopyRangeRequest&);

}  // namespace stoa::core
