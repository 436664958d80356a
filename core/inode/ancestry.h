// The place of a directory in the tree: the chain of directories above it, in memory. The accounts of a directory are a
// chain of their own (core/usage/ledger.h): an uncounted recycle bin, and the directory of a multipart upload, count
// elsewhere than they lie. Policies, QoS classes, export roots, audit and depth use this chain.
//
// A chain ends in the root of the volume or in kMultipartId. A directory whose parent is on another shard would have
// that parent as one more link here, without a node or an account of its own.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/api/ids.h"

namespace stoa::core {

struct Ancestry;
using AncestryRef = std::shared_ptr<Ancestry>;

struct Ancestry {
  enum class Kind : std::uint8_t { kPlain, kBin, kUpload };

  Ancestry(FileId directory, AncestryRef parent, Kind what = Kind::kPlain)
      : dir(directory), kind(what), above(std::move(parent)) {}
  // One after the other: the directories above may be more than a stack has room for.
  ~Ancestry();
  Ancestry(const Ancestry&) = delete;
  Ancestry& operator=(const Ancestry&) = delete;

  const FileId dir;
  const Kind kind;
  std::atomic<bool> sealed{false};  // the directory is; changed only under the exclusive tree lock
  AncestryRef above;                // null: the top. Changed only under the exclusive tree lock
};

// All of these need the tree lock, or the lock of a node at the lower end of the chain. Null: a file that lies nowhere.

// The link of the directory `dir`, which is the lowest one or above it; null: it is neither.
AncestryRef find_above(const AncestryRef& from, FileId dir);
// Whether the chain goes through `dir`.
bool lies_in(const AncestryRef& from, FileId dir);
// Whether it goes through a recycle bin.
bool lies_in_bin(const AncestryRef& from);
// Whether it goes through the directory of a multipart upload.
bool lies_in_upload(const AncestryRef& from);
// The lowest directory of the chain that is sealed; kNoFile: none is.
FileId sealed_directory(const AncestryRef& from);
// How many directories are above the lowest one.
std::uint32_t depth_of(const AncestryRef& from);
// All of them, from the top down.
std::vector<FileId> directories_of(const AncestryRef& from);

}  // namespace stoa::core
