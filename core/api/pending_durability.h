// Changes that are applied and not durable yet. Namespace::sync() makes it durable before the replies may leave.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/api/ids.h"

namespace stoa::core {

// A list in the order of the calls that added to it, so that a batch of calls shares one list and the changes of
// each can be selected. Tickets of different shards are not comparable; those of one are in its commit order.
class PendingDurability {
 public:
  struct ShardTicket {
    ShardId shard;
    CommitTicket ticket;
  };
  // A place in the list.
  struct Mark {
    std::size_t tickets = 0, written = 0;
  };

  // A change of metadata.
  void add(ShardId shard, CommitTicket ticket) {
    if (ticket != CommitTicket{}) tickets_.push_back({shard, ticket});
  }
  // A file with written content.
  void add_written(FileId file) { written_.push_back(file); }
  void merge(const PendingDurability& other) {
    tickets_.insert(tickets_.end(), other.tickets_.begin(), other.tickets_.end());
    written_.insert(written_.end(), other.written_.begin(), other.written_.end());
  }

  bool empty() const { return tickets_.empty() && written_.empty(); }
  void clear() {
    tickets_.clear();
    written_.clear();
  }
  Mark mark() const { return {tickets_.size(), written_.size()}; }
  // Changes added between two marks.
  PendingDurability between(Mark from, Mark to) const {
    PendingDurability part;
    part.tickets_.assign(tickets_.begin() + offset(from.tickets), tickets_.begin() + offset(to.tickets));
    part.written_.assign(written_.begin() + offset(from.written), written_.begin() + offset(to.written));
    return part;
  }

  // Of the changes in one shard; CommitTicket{}: none.
  CommitTicket newest(ShardId shard) const {
    CommitTicket newest{};
    for (const ShardTicket& one : tickets_) {
      if (one.shard == shard) newest = std::max(newest, one.ticket);
    }
    return newest;
  }
  // May name a file twice.
  std::span<const FileId> written() const { return written_; }

 private:
  static std::ptrdiff_t offset(std::size_t index) { return static_cast<std::ptrdiff_t>(index); }

  std::vector<ShardTicket> tickets_;
  std::vector<FileId> written_;
};

}  // namespace stoa::core
