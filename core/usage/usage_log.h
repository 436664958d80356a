// Log of usage changes. Usage records are written rarely: every change counts in all directories above it, and a
// directory at depth 2000 would cost 2000 records for each file. A group of commits leaves one log record of its
// charges by account. Now and then (settling) the records of all directories above are written, and the log records
// go. Charges to a directory that is gone are written with their group. Family state, "usage" and a number; after a
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
  // The target of a charge: a directory, for all above it, and an owner in those that count owners.
  struct Payee {
    FileId dir = kNoFile;
    UsageClass of = UsageClass::kLive;
    Owner owner{};
    auto key() const { return std::tuple(dir, of, owner.uid, owner.gid); }
    bool operator<(const Payee& other) const { return key() < other.key(); }
  };
  // A removed directory: the parent that took over its charges, and their class.
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
  // Adds the charges of a record. kCorrupt.
  Status add(std::string_view record);

 private:
  std::map<Payee, Usage> charges_;
  std::map<FileId, Gone> gone_;
};

}  // namespace stoa::core
