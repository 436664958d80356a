#include "core/journal/journal.h"

#include <algorithm>

#include "base/assert.h"
#include "base/log.h"
#include "core/api/recycle.h"
#include "core/inode/node_cache.h"
#include "core/kv/keys.h"

namespace stoa::core {

Result<std::uint64_t> Journal::newest() {
  STOA_CHECK_OK(committer_.wait_durable(committer_.applied()));
  return committer_.journal_tail().durable();
}

Result<std::uint64_t> Journal::oldest() {
  STOA_TRY(newest, this->newest());
  const auto it = kv_.scan(Family::kJournal, keys::be64(0), {});
  STOA_CHECK_OK(it->status());
  return it->valid() ? keys::read_be64(it->key()) : newest + 1;
}

Result<Journal::Page> Journal::read(std::uint64_t after, std::size_t limit) {
  committer_.journal_tail().take_announced();
  STOA_TRY(newest, this->newest());
  if (after > newest) return fail(Cause::kCursorAhead);
  Page page{.next = after};
  if (after == newest) return page;
  page.records.reserve(std::min<std::uint64_t>(limit, newest - after));
  const auto it = kv_.scan(Family::kJournal, keys::be64(after + 1), {});
  for (; it->valid(); it->next()) {
    const std::uint64_t sequence = keys::read_be64(it->key());
    STOA_ASSERT(sequence > page.next, "a walk meets records in order");
    if (sequence > newest) break;
    if (page.records.size() == limit) {
      page.more = true;
      break;
    }
    page.lost += sequence - page.next - 1;
    page.next = sequence;
    auto record = JournalRecord::decode(it->value());
    if (!record && record.error().code == Errc::kCorrupt) {
      // Otherwise no reader could ever get past it.
      log_error("journal", "a record is damaged and skipped", {{"sequence", sequence}});
      ++page.lost;
      continue;
    }
    STOA_CHECK_OK(record);
    record->sequence = sequence;
    page.records.push_back(*std::move(record));
  }
  STOA_CHECK_OK(it->status());
  if (page.next == after && !page.more) {
    page.lost = newest - after;
    page.next = newest;
  }
  STOA_ASSERT(after <= page.next && page.next <= newest, "a page leads onwards, to what is durable");
  STOA_ASSERT(page.records.size() <= limit, "a page has a limit");
  return page;
}

Status Journal::append(const JournalNote& note, const OpContext& ctx) {
  STOA_CHECK_OK(committer_.commit({.journal = {encode_note(note, ctx, time_.wall())}}));
  committer_.journal_tail().announce();
  return {};
}

Result<std::optional<Place>> Journal::place_of(FileId id) {
  const std::string lower = keys::id_key(id);
  const auto it = kv_.scan(Family::kLink, lower, keys::behind_prefix(lower));
  STOA_CHECK_OK(it->status());
  if (!it->valid()) {
    const auto inode = load_inode(kv_, id);
    if (inode && inode->has(kIsBin)) return Place{inode->parent, std::string(kRecycleName)};
    if (!inode && inode.error().code != Errc::kStale) return fail(inode.error());
    return std::nullopt;
  }
  const std::string_view place = keys::after_id(it->key());
  std::string_view name = keys::after_id(place);
  if (name.ends_with('/')) name.remove_suffix(1);
  return Place{keys::id_of(place), std::string(name)};
}

void Journal::wait(std::uint64_t after, std::uint64_t calls, std::chrono::steady_clock::time_point until,
                   std::chrono::milliseconds gather, const std::stop_token& stop) {
  JournalTail& tail = committer_.journal_tail();
  tail.wait(after, calls, until, stop);
  if (stop.stop_requested() || after == kNothing) return;
  if (tail.written() > after || tail.announced()) tail.gather(gather, stop);
}

}  // namespace stoa::core
