#include "frontends/admin/watch_hub.h"

#include <algorithm>

#include "base/log.h"
#include "core/api/journal_cursor.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

constexpr std::size_t kRecordsAtOnce = 512;
// Changes of one moment are sent together; the longest delay of one for that.
constexpr std::chrono::milliseconds kGather{20};

std::string cursor_text(std::uint64_t sequence) {
  return core::encode_cursor(core::ShardId{}, sequence);
}

std::string event(std::string_view name, std::uint64_t cursor, const Json& data) {
  std::string text = "id: " + cursor_text(cursor) + "\nevent: ";
  return text.append(name)
      .append("\ndata: ")
      .append(data.dump(-1, ' ', false, Json::error_handler_t::replace))
      .append("\n\n");
}

bool contains(const core::ResolvedPath& where, core::FileId directory) {
  return std::ranges::find(where.directories, directory) != where.directories.end();
}

}  // namespace

WatchHub::WatchHub(core::Volume& volume)
    : volume_(volume), journal_(volume.journal()), reader_([this](const std::stop_token& stop) { serve(stop); }) {}

Result<std::shared_ptr<EventStream>> WatchHub::watch(core::FileId directory, std::uint64_t cursor) {
  auto watcher = std::make_shared<Watcher>(journal_, directory, cursor);
  watcher->stream->when_drained([this] { journal_.call(); });
  watcher->stream->add(event("begin", cursor, {{"cursor", cursor_text(cursor)}}));
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return fail(Errc::kShutdown);
    std::erase_if(watchers_, [](const auto& other) { return other->stream->closed(); });
    if (watchers_.size() >= kWatchersMax) {
      return fail(Cause::kTooManyWatchers, kWatchersMax);
    }
    watchers_.push_back(watcher);
  }
  journal_.call();
  return watcher->stream;
}

void WatchHub::stop() {
  std::vector<std::shared_ptr<Watcher>> all;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    all.swap(watchers_);
  }
  for (const auto& watcher : all) watcher->stream->end();
  reader_.request_stop();
}

void WatchHub::end_all() {
  for (const auto& watcher : present()) watcher->stream->end();
}

std::vector<std::shared_ptr<WatchHub::Watcher>> WatchHub::present() {
  const std::lock_guard lock(mutex_);
  std::erase_if(watchers_, [](const auto& watcher) { return watcher->stream->closed(); });
  return watchers_;
}

void WatchHub::serve(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::uint64_t calls = journal_.calls();
    const auto watchers = present();
    std::uint64_t after = core::Journal::kNothing;
    auto until = core::Journal::kForever;
    bool more = false;
    for (const auto& watcher : watchers) {
      const auto now = std::chrono::steady_clock::now();
      if (!watcher->stream->full()) {
        const auto advanced = advance(*watcher);
        if (!advanced) {
          log_error("watch", "the journal cannot be read", {{"error", describe(advanced.error())}});
          watcher->stream->end();
          watcher->stream->close();
          continue;
        }
        more = more || *advanced;
        after = std::min(after, watcher->cursor);
      }
      if (now - watcher->spoke >= kHeartbeat) {
        watcher->spoke = now;
        if (!watcher->stream->full())
          watcher->stream->add(": still here\nid: " + cursor_text(watcher->cursor) + "\n\n");
      }
      until = std::min(until, watcher->spoke + kHeartbeat);
    }
    if (!more) journal_.wait(after, calls, until, kGather, stop);
  }
}

Result<bool> WatchHub::advance(Watcher& watcher) {
  STOA_TRY(page, journal_.read(watcher.cursor, kRecordsAtOnce));
  if (page.lost > 0) {
    const std::uint64_t at = page.records.empty() ? page.next : page.records.front().sequence - 1;
    watcher.stream->add(event("lost", at, {{"count", page.lost}}));
  }
  watcher.places.look_ahead(page.records);
  for (const core::JournalRecord& record : page.records) {
    if (record.is_change()) STOA_CHECK_OK(tell(watcher, record));
    watcher.places.apply(record);
  }
  watcher.cursor = page.next;
  return page.more;
}

Status WatchHub::tell(Watcher& watcher, const core::JournalRecord& record) {
  STOA_TRY(where, watcher.places.of(record));
  core::ResolvedPath target;
  const bool moves = record.kind == core::ChangeKind::kRename;
  if (moves) {
    STOA_TRY(to, watcher.places.target_of(record));
    target = to;
  }
  if (!contains(where, watcher.directory) && !(moves && contains(target, watcher.directory))) return {};
  const std::string_view word = core::operation_word(record.kind, record.type);
  const auto registry = volume_.registry().snapshot();
  const core::User* const user = registry->find_user_by_uid(record.uid);
  Json data{{"cursor", cursor_text(record.sequence)},
            {"time", time_text(record.time)},
            {"operation", word},
            {"id", std::to_string(static_cast<std::uint64_t>(record.id))},
            {"user", {{"uid", record.uid}, {"name", user != nullptr ? Json(user->name) : Json()}}},
            {"protocol", core::protocol_word(record.protocol)},
            {"client", record.client}};
  if (record.type) data["type"] = to_string(*record.type);
  put_bytes(data, "path", where.path);
  if (moves) put_bytes(data, "to_path", target.path);
  watcher.stream->add(event(word, record.sequence, data));
  watcher.spoke = std::chrono::steady_clock::now();
  return {};
}

}  // namespace stoa::admin
