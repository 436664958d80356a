// What directories count is written rarely: a directory counts what every change below it counts, and one that is 2000
// directories deep would cost 2000 records for each file. A group of commits leaves one record of what it charged to
// whom; now and then (settling) the records of all directories above are written as they are, and those records go.
// What is charged to a directory that is gone is written with its group. Family state, "usage" and a number; after a
// crash a start adds them up (core/volume/replay_usage.h).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/usage/account_counters.h"

namespace stoa::core {

class UsageLog {
 public:
  // To whom: a directory, for all above it, and an owner in those that count owners.
  struct Payee {
    FileId dir = kNoFile;
    UsageClass of = UsageClass::kLive;
    Owner owner{};
    auto key() const { return std::tuple(dir, of, owner.uid, owner.gid); }
    bool operator<(const Payee& other) const { return key() < other.key(); }
  };
  // A directory that is gone, and what it handed on to its parent what it was charged as.
  struct Gone {
    FileId parent = kNoFile;
    UsageClass child_class = UsageClass::kLive;
  };

  void add(const Payee& payee, const Usage& delta);
  void add_gone(FileId dir, const Gone& gone) { gone_[dir] = gone; }
  void clear() { charges_.clear(), gone_.clear(); }
  bool empty() const { return charges_.empty() && gone_.empty(); }
  std::size_t size() const { return charges_.size() + gone_.size(); }
  const std::map<Payee, Usage>& charges() const { return charges_; }
  const std::map<FileId, Gone>& gone() const { return gone_; }

  std::string encode() const;
  // Adds what a record says. kCorrupt.
  Status add(std::string_view record);

 private:
  std::map<Payee, Usage> charges_;
  std::map<FileId, Gone> gone_;
};

}  // namespace stoa::core
