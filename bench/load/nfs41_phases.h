// The kinds of work of the NFSv4.1 loads. Names follow file_choice.h; all content is 'x'.
#pragma once

#include <memory>
#include <vector>

#include "bench/load/nfs41_client.h"

namespace stoa::bench {

// OPEN (UNCHECKED4, for writing) of files 0..n-1 in dir. bytes > 0: one UNSTABLE WRITE, too; commit: and COMMIT. Then
// CLOSE.
struct CreateWork41 {
  Handle41 dir;
  std::uint32_t bytes = 0;
  bool commit = false;
};
std::unique_ptr<Phase41> create_files(const CreateWork41& work);

// LOOKUP of file 0..n-1 in order, keeping the handles.
std::unique_ptr<Phase41> collect_handles(const Handle41& dir, std::vector<Handle41>* handles);
// GETATTR of a file that is chosen by a hash of seed and index, as in the next one.
std::unique_ptr<Phase41> getattr_files(const std::vector<Handle41>& handles, std::uint64_t seed);

// OPEN for reading by name, READ of the whole file, CLOSE. No delegation is wanted.
struct OpenWork41 {
  Handle41 dir;
  std::uint64_t files = 0;
  std::uint32_t bytes = 0;
  std::uint64_t seed = 0;
};
std::unique_ptr<Phase41> open_read_close(const OpenWork41& work);

// LOCK and LOCKU of 4 KiB at one of 2^20 places. Each slot has a file and an owner of its own, open through all
// operations: open_files and close_files do as many operations as there are slots.
struct LockedFile {
  Handle41 handle;
  Stateid41 open;
  Stateid41 locks;
  bool has_locks = false;
};
std::unique_ptr<Phase41> open_files(const Handle41& dir, std::vector<LockedFile>& files);
std::unique_ptr<Phase41> lock_unlock(std::vector<LockedFile>& files, std::uint64_t seed);
std::unique_ptr<Phase41> close_files(std::vector<LockedFile>& files);

// One operation is an open, a read of the whole file and a close of a program; it opens each file kOpensInARow times
// before it takes the next, and the client caches as the protocol allows. With a read delegation: OPEN, READ and CLOSE
// for the first, nothing for the others, DELEGRETURN at the end. Without: OPEN, READ and CLOSE, and OPEN and CLOSE for
// each other, because only the change attribute of a new OPEN proves that the cached bytes are still right (RFC 8881
// 10.3.1).
inline constexpr int kOpensInARow = 8;
struct CachedFile {
  std::uint64_t number = 0;
  int uses = 0;
  Handle41 handle;
  std::uint64_t change = 0;
  bool has_delegation = false;
  Stateid41 delegation;
};
struct DelegationCounts {
  std::uint64_t granted = 0;
  std::uint64_t refused = 0;
};
std::unique_ptr<Phase41> open_cached(const OpenWork41& work, std::vector<CachedFile>& files, DelegationCounts& counts);
// DELEGRETURN of the delegations that open_cached holds when time is up, an operation for each file.
std::unique_ptr<Phase41> return_delegations(const std::vector<CachedFile>& files);

// One operation: this client opens a file for reading with a delegation, and `other` opens it for writing. The latter
// succeeds when this one has answered CB_RECALL and sent DELEGRETURN; both close. `other` has as many slots.
std::unique_ptr<Phase41> recall_delegations(const OpenWork41& work, Client41& other, DelegationCounts& counts);

}  // namespace stoa::bench
