// The leases of files by the directories that they have names in. A files lease of a directory covers files, so it must
// not be granted against the leases that others hold of these.
//
// A lease of a file is registered here before it is compared with the files leases of its directories. A files lease is
// compared with this under the mutex of its directory's shard. So one of the two meets the other.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "core/state/conflicts.h"

namespace stoa::core {

class CoveredLeases {
 public:
  // A lease of so many bits may come; it counts until unpin(), and from began() until ended().
  void pin(FileId file, const LeaseOwner& owner, std::uint32_t bits, std::span<const FileId> directories);
  void unpin(FileId file, const LeaseOwner& owner);
  // The bits that the owner has from now on. Nothing happens for a lease that was never pinned (of a directory).
  void has(FileId file, const LeaseOwner& owner, std::uint32_t bits);
  void ended(FileId file, const LeaseOwner& owner);
  // The file gets a name there, too, or may have got one.
  void named_in(FileId file, FileId directory);
  // Of all holders but this one.
  Modes below(FileId directory, HolderId but) const;
  bool empty() const;

 private:
  struct Key {
    FileId file;
    LeaseOwner owner;
    auto operator<=>(const Key&) const = default;
  };
  struct Held {
    std::uint32_t pins = 0;
    std::uint32_t bits = kLeaseNone;    // of the lease
    std::uint32_t wanted = kLeaseNone;  // while it is pinned
    std::vector<FileId> directories{};
  };
  using All = std::map<Key, Held>;
  void forget_if_unused(All::iterator at);
  void add_directory(All::iterator at, FileId directory);

  mutable std::mutex mutex_;  // guards all that follows; a leaf
  All held_;
  std::set<std::pair<FileId, Key>> by_directory_;
};

}  // namespace stoa::core
