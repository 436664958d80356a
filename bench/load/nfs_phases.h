// The kinds of work of the NFS loads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/load/nfs_session.h"

namespace stoa::bench {

std::string file_name(std::uint64_t index);  // "f0000042"

// CREATE (UNCHECKED) of file_name(index), with `prefix` before it, in one of the directories, chosen by a hash of seed
// and index. bytes > 0: one UNSTABLE WRITE too; commit: and a COMMIT.
struct CreateWork {
  std::vector<Handle> dirs;
  std::uint32_t bytes = 0;
  bool commit = false;
  std::string prefix{};
  std::uint64_t seed = 0;
};
std::unique_ptr<Phase> create_files(const CreateWork& work);

// LOOKUP of file 0..n-1 in order, keeping the handles.
std::unique_ptr<Phase> collect_handles(const Handle& dir, std::vector<Handle>* handles);
// The next six choose by a hash of seed and index.
std::unique_ptr<Phase> getattr_files(const std::vector<Handle>& handles, std::uint64_t seed);
std::unique_ptr<Phase> getattr_directories(const std::vector<Handle>& handles, std::uint64_t seed);
std::unique_ptr<Phase> lookup_files(const Handle& dir, std::uint64_t files, std::uint64_t seed);
std::unique_ptr<Phase> stat_files(const Handle& dir, std::uint64_t files, std::uint64_t seed);
std::unique_ptr<Phase> read_small_files(const Handle& dir, std::uint64_t files, std::uint32_t bytes,
                                        std::uint64_t seed);
std::unique_ptr<Phase> remove_files(const Handle& dir);  // in order
// The same with directories.
std::unique_ptr<Phase> make_directories(const Handle& dir);
std::unique_ptr<Phase> remove_directories(const Handle& dir);

// One operation is one whole listing, which must show `entries` names beside "." and "..".
std::unique_ptr<Phase> list_directory(const Handle& dir, bool plus, std::uint64_t entries);

// Block `index` of one file; FILE_SYNC or UNSTABLE. Random ones choose by a hash among `blocks`.
struct BlockWork {
  Handle file;
  std::uint32_t bytes = 0;
  std::uint64_t blocks = 0;
  bool random = false;
  bool file_sync = false;
  std::uint64_t seed = 0;
};
std::unique_ptr<Phase> write_blocks(const BlockWork& work);
std::unique_ptr<Phase> read_blocks(const BlockWork& work);
std::unique_ptr<Phase> commit_file(const Handle& file);

}  // namespace stoa::bench
