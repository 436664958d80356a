#include "core/journal/finished_requests.h"

#include "core/kv/keys.h"

namespace stoa::core {

Result<FinishedRequests> FinishedRequests::load(KvReader& kv, std::uint64_t next_journal) {
  FinishedRequests finished;
  const std::uint64_t first = next_journal > kRecords ? next_journal - kRecords : 0;
  const auto it = kv.scan(Family::kJournal, keys::be64(first), {});
  for (; it->valid(); it->next()) {
    const auto record = JournalRecord::decode(it->value());
    if (!record || !record->request || !record->is_change()) continue;
    finished.changes_.insert_or_assign(
        record->request, Change{record->kind, record->id, record->parent, record->to_parent, record->appended});
  }
  STOA_CHECK_OK(it->status());
  return finished;
}

const FinishedRequests::Change* FinishedRequests::find(const RequestKey& request) const {
  if (!request || changes_.empty()) return nullptr;
  const auto found = changes_.find(request);
  return found != changes_.end() ? &found->second : nullptr;
}

}  // namespace stoa::core
