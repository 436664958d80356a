// A file of which bytes are buffered, or are known to be at the server without being committed.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "frontends/native/data/read_blocks.h"
#include "frontends/native/data/write_buffer.h"

namespace stoa::native::data {

struct BufferedFile {
  explicit BufferedFile(core::FileId file) : id(file) {}

  const core::FileId id;
  std::mutex mutex;                 // guards all below, and the opens of the file
  std::condition_variable changed;  // pieces were sent, blocks were read, a commit has ended
  WriteBuffer writes;
  ReadBlocks blocks;
  std::uint64_t lease = 0;                 // of what is buffered
  core::FileId leased = core::kNoFile;     // HeldLease::file of it
  std::optional<core::Attributes> newest;  // of the newest reply to a write of this client
  Timestamp touched;                       // the last write that was buffered
  bool takes_set_id = false;               // buffered bytes are of a user who takes set-id bits off by writing
  std::uint32_t through = 0;               // calls under way that nothing may be buffered behind
  bool aging = false, ready = false;       // its place in the queues of WriteBehind
  bool sends_all = false;                  // also what is less than a full piece
  std::uint32_t syncs = 0;                 // calls that wait until what is sent now is durable
  bool uncommitted = false, listed = false;
  std::uint32_t committing = 0;  // commits under way
  core::Credentials writer;      // who may commit it
  std::string name;              // under which it was made; for the log

  // Errors of bytes that a program believes written. Each open file is told of the newest, once; one that no open file
  // was told of yet is told to the next.
  std::uint64_t errors = 0;
  Error error{};
  bool error_told = true;
  void record(Error cause) {
    ++errors;
    error = std::move(cause);
    error_told = false;
  }
  Status tell(OpenFile& open) {
    if (open.errors_told == errors) return {};
    open.errors_told = errors;
    error_told = true;
    return fail(error);
  }
  bool idle() const {
    return writes.empty() && blocks.empty() && !uncommitted && through == 0 && committing == 0 && !aging && !ready &&
           error_told;
  }
};

}  // namespace stoa::native::data
