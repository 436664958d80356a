// The requests executed shortly before the start, from the journal. A client whose reply was lost with the last process
// retransmits its request, and must get the original answer (exactly once, as in RFC 8881 2.10.6, for protocols without
// sessions).
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/error.h"
#include "core/journal/note.h"
#include "core/kv/kv_store.h"

namespace stoa::core {

// Immutable after load(), and so thread-safe.
class FinishedRequests {
 public:
  // The number of newest records that may contain unanswered requests: the size of the duplicate request cache.
  static constexpr std::uint64_t kRecords = 16384;

  struct Change {
    ChangeKind kind{};
    FileId id{}, parent{}, to_parent{};
    std::optional<Appended> appended{};
  };

  // `next_journal`: the first sequence not yet used. Damaged records are left out. kIo: the store failed.
  static Result<FinishedRequests> load(KvReader& kv, std::uint64_t next_journal);

  // The last change that was stored with the request; null: none, or there is no key.
  const Change* find(const RequestKey& request) const;
  std::size_t size() const { return changes_.size(); }

 private:
  std::unordered_map<RequestKey, Change, RequestKeyHash> changes_;
};

}  // namespace stoa::core
