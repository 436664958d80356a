#include "appliance/audit/audit_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "appliance/audit/directory_usage.h"
#include "appliance/data_folder/small_file.h"
#include "base/log.h"
#include "core/audit/transfer_tally.h"

namespace stoa::appliance {
namespace {

constexpr std::size_t kRecordsAtOnce = 8192;
constexpr std::size_t kWriteBytes = 256u << 10;
// Records that arrive within this time are written together.
constexpr std::chrono::milliseconds kGather{100};
constexpr std::chrono::seconds kRetry{1};
constexpr std::chrono::seconds kCatchUpMax{10};
// So far the journal may run ahead of the last line before the log notes where it is.
constexpr std::uint64_t kCheckpointRecords = 100'000;
// A crash loses the transfers since the last such line.
constexpr std::chrono::hours kTransfersEvery{1};
// Costs a sync of the log and of a small file.
constexpr std::chrono::seconds kKeepEndEvery{10};
constexpr mode_t kFileMode = 0600;

core::AuditClass class_of(core::ChangeKind kind) {
  switch (kind) {
    case core::ChangeKind::kRemove:
    case core::ChangeKind::kPurge:
      return core::AuditClass::kDelete;
    case core::ChangeKind::kRename:
      return core::AuditClass::kRename;
    case core::ChangeKind::kAttributes:
    case core::ChangeKind::kXattr:
    case core::ChangeKind::kQuota:
      return core::AuditClass::kAttributes;
    case core::ChangeKind::kAdmin:
      return core::AuditClass::kAdmin;
    default:
      return core::AuditClass::kWrite;
  }
}

// Records decided by policy when they happened; others of their kind are not in the journal.
bool is_decided(const core::JournalRecord& record) {
  return record.kind != core::ChangeKind::kAdmin && !record.is_change();
}

// Reads the file of keep_end(). Absent: nothing yet. One that is damaged is the end of no log.
Result<std::optional<KnownEnd>> read_end(const LogFolder& folder) {
  const auto text = read_small_file(folder.end_file());
  if (!text && text.error().code == Errc::kNotFound) return std::optional<KnownEnd>();
  if (!text) return fail(text.error());
  if (text->size() != kDayDigits + 1 + kNoHash.size() + 1 || !is_day(text->substr(0, kDayDigits)))
    return std::optional(KnownEnd{});
  return std::optional(
      KnownEnd{.day = text->substr(0, kDayDigits), .hash = text->substr(kDayDigits + 1, kNoHash.size())});
}

Status write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, "the audit log");
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<AuditWriter>> AuditWriter::open(AuditOptions options, core::Volume& volume,
                                                       MetricRegistry& metrics) {
  std::unique_ptr<AuditWriter> writer(new AuditWriter(std::move(options), volume, metrics));
  const AuditOptions& chosen = writer->options_;
  if (!chosen.syslog.empty()) {
    STOA_TRY(syslog, SyslogSender::open(chosen.syslog, metrics));
    writer->syslog_ = std::move(syslog);
  }
  STOA_CHECK_OK(writer->recover());
  writer->thread_ = std::jthread([raw = writer.get()](const std::stop_token& stop) { raw->run(stop); });
  return writer;
}

AuditWriter::AuditWriter(AuditOptions options, core::Volume& volume, MetricRegistry& metrics)
    : options_(std::move(options)),
      folder_{options_.folder},
      volume_(volume),
      journal_(volume.journal()),
      records_(metrics.counter("stoa_audit_records_total", "Records that were written to the audit log")),
      lost_(metrics.counter("stoa_audit_lost_total",
                            "Records that the journal had dropped before the audit log read them")),
      cut_(metrics.counter("stoa_audit_cut_total",
                           "Starts at which lines that had been in the audit log were no longer there")),
      paths_(journal_) {}

AuditWriter::~AuditWriter() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  close_day();
}

Status AuditWriter::recover() {
  std::error_code error;
  std::filesystem::create_directories(folder_.path, error);
  if (error) return fail_errno(error.value(), "the folder of the audit log " + folder_.path);
  std::filesystem::permissions(folder_.path, std::filesystem::perms::owner_all, error);
  STOA_TRY(days, folder_.days());
  STOA_TRY(newest, journal_.newest());
  STOA_TRY(kept, read_end(folder_));
  bool found = false;
  bool holds_kept = !kept;
  for (auto day = days.rbegin(); day != days.rend() && !found; ++day) {
    const std::string file = folder_.day_file(*day);
    const auto torn = each_line(file, kWholeFile, [&](std::string_view line) {
      if (const auto chain = chain_of(line)) {
        hash_ = chain->hash;
        holds_kept = holds_kept || hash_ == kept->hash;
        told_ = number_of(line, "sequence").value_or(told_);
        found = true;
      }
      return true;
    });
    if (!torn) return fail(torn.error());
    if (day == days.rbegin()) {
      day_ = *day;
      if (*torn > 0) {
        log_warning("audit", "the last line was torn by a crash and is written again",
                    {{"file", file}, {"bytes", *torn}});
        std::filesystem::resize_file(file, std::filesystem::file_size(file, error) - *torn, error);
        if (error) return fail_errno(error.value(), file);
      }
    }
  }
  written_hash_ = hash_;
  if (found) {
    cursor_ = told_;
  } else {
    // The log was removed, or never existed: rather too much than too little.
    STOA_TRY(oldest, journal_.oldest());
    cursor_ = volume_.registry().audited() ? oldest - 1 : newest;
  }
  if (cursor_ > newest) {
    log_error("audit", "the log is ahead of the journal; it goes on with what comes now",
              {{"log", cursor_}, {"journal", newest}});
    cursor_ = told_ = newest;
    add_own("begin");
  }
  if (!holds_kept && kept->day < day_) {
    const auto read = each_line(folder_.day_file(kept->day), kWholeFile, [&](std::string_view line) {
      const auto chain = chain_of(line);
      holds_kept = chain && chain->hash == kept->hash;
      return !holds_kept;
    });
    if (!read && read.error().code != Errc::kNotFound) return fail(read.error());
  }
  if (!holds_kept) add_cut(*kept);
  return {};
}

void AuditWriter::add_cut(const KnownEnd& kept) {
  log_error("audit",
            "lines that were in the log are gone, or were changed; what the journal still has of them is written again",
            {{"day", kept.day}, {"hash", kept.hash}});
  cut_.add();
  begin_day(day_of(options_.now()));
  LineWriter line(text_of_day());
  line.number("sequence", static_cast<std::int64_t>(told_))
      .text("time", iso_time(options_.now()))
      .text("operation", "cut");
  line.text("day", kept.day).text("cut_hash", kept.hash).finish(hash_);
  // Also where no policy records anything any more. After an error the lines are written with the next ones.
  if (const Status written = write_pending(); !written) {
    log_error("audit", "that lines are gone is not in the log yet", {{"error", describe(written.error())}});
  } else if (const Status remembered = keep_end(); !remembered) {
    log_error("audit", "the end of the log was not remembered", {{"error", describe(remembered.error())}});
  }
}

void AuditWriter::run(const std::stop_token& stop) {
  for (bool more = false;;) {
    const std::uint64_t calls = journal_.calls();
    const bool stopping = stop.stop_requested();
    const auto due = volume_.report_omitted_denials();
    const bool audited = volume_.registry().audited();
    std::uint64_t after = core::Journal::kNothing;
    auto until = due.value_or(core::Journal::kForever);
    {
      const std::lock_guard lock(mutex_);
      more = false;
      if (audited) {
        auto advanced = advance();
        if (!advanced) {
          if (!failing_)
            log_error("audit", "the log cannot go on; it is tried again each second",
                      {{"error", describe(advanced.error())}});
          until = std::chrono::steady_clock::now() + kRetry;
          if (stopping) break;
        } else {
          after = cursor_;
          const Timestamp now = options_.now();
          until = std::min(
              until, std::chrono::steady_clock::now() + std::chrono::nanoseconds(begin_of_next_day(now).ns - now.ns));
          if (kept_hash_ != written_hash_ && fd_ >= 0) until = std::min(until, end_due_);
          if (!day_.empty()) until = std::min(until, transfers_due_);  // else advance() puts nothing off
          more = *advanced;
        }
        failing_ = !advanced;
        // A failure must not make the loop spin.
        if (failing_) after = core::Journal::kNothing;
      }
      written_.notify_all();
    }
    if (more) continue;
    if (stopping) break;
    journal_.wait(after, calls, until, kGather, stop);
  }
  const std::lock_guard lock(mutex_);
  if (volume_.registry().audited() && !day_.empty() && pending_.empty()) {
    add_transfers();
    if (cursor_ > told_) add_own("checkpoint");
    if (const Status written = write_pending(); !written)
      log_error("audit", "the last line was not written", {{"error", describe(written.error())}});
  }
  if (const Status kept = keep_end(); !kept)
    log_error("audit", "the end of the log was not remembered", {{"error", describe(kept.error())}});
  stopped_ = true;
  written_.notify_all();
}

Result<bool> AuditWriter::advance() {
  STOA_CHECK_OK(write_pending());
  STOA_TRY(page, journal_.read(cursor_, kRecordsAtOnce));
  const auto registry = volume_.registry().snapshot();
  const core::AuditTable* const table = registry->audit();
  if (table == nullptr) return false;
  if (page.lost > 0) add_lost(page.lost);
  paths_.look_ahead(page.records);
  for (const core::JournalRecord& record : page.records) {
    core::ResolvedPath where, target;
    STOA_TRY(wanted, is_wanted(*table, record, where, target));
    cursor_ = record.sequence;
    if (wanted) add_record(*registry, record, where, target);
    paths_.apply(record);
    // Memory that stays in the processor's cache costs less than fresh memory.
    if (!pending_.empty() && pending_.back().text.size() >= kWriteBytes) STOA_CHECK_OK(write_pending());
  }
  cursor_ = page.next;
  const std::string today = day_of(options_.now());
  if (!page.more && !day_.empty() && today > day_) begin_day(today);
  if (cursor_ - told_ > kCheckpointRecords && !day_.empty()) add_own("checkpoint");
  if (const auto steady = std::chrono::steady_clock::now(); !day_.empty() && steady >= transfers_due_) {
    transfers_due_ = steady + kTransfersEvery;
    add_transfers();
  }
  STOA_CHECK_OK(write_pending());
  if (const auto steady = std::chrono::steady_clock::now(); steady >= end_due_ && kept_hash_ != written_hash_) {
    end_due_ = steady + kKeepEndEvery;
    // The log itself goes on.
    if (const Status kept = keep_end(); !kept)
      log_error("audit", "the end of the log was not remembered", {{"error", describe(kept.error())}});
  }
  return page.more;
}

Result<bool> AuditWriter::is_wanted(const core::AuditTable& table, const core::JournalRecord& record,
                                    core::ResolvedPath& where, core::ResolvedPath& target) {
  const core::AuditClass as = class_of(record.kind);
  const bool decided = is_decided(record);
  if (!decided && !table.any(as)) return false;
  if (record.kind == core::ChangeKind::kOmitted) return true;
  STOA_TRY(at, paths_.of(record));
  where = std::move(at);
  // If the directory is unknown by now, it is recorded.
  bool wanted = decided || !where.known || table.wants(where.directories, as);
  if (record.kind == core::ChangeKind::kRename) {
    STOA_TRY(to, paths_.target_of(record));
    target = std::move(to);
    wanted = wanted || table.wants(target.directories, as);
  }
  return wanted;
}

void AuditWriter::add_record(const core::RegistrySnapshot& registry, const core::JournalRecord& record,
                             const core::ResolvedPath& where, const core::ResolvedPath& target) {
  const std::string time = iso_time(record.time);
  // The day is its beginning: nothing is computed twice.
  begin_day(std::string_view(time).substr(0, kDayDigits));
  LineWriter line(text_of_day());
  line.number("sequence", static_cast<std::int64_t>(record.sequence)).text("time", time);
  const bool omitted = record.kind == core::ChangeKind::kOmitted;
  const bool refused = record.kind == core::ChangeKind::kRefused;
  if (!omitted && !refused) {
    const core::User* const user = registry.find_user_by_uid(record.uid);
    line.user(record.uid, user != nullptr ? &user->name : nullptr);
  }
  line.text("operation", core::operation_word(record.kind, record.type));
  if (omitted) {
    line.number("count", static_cast<std::int64_t>(record.count));
  } else {
    line.bytes("path", where.path);
  }
  if (record.kind == core::ChangeKind::kRename) line.bytes("to_path", target.path);
  if (record.kind == core::ChangeKind::kAdmin || refused) line.bytes("request", record.name);
  if (refused && !record.to_name.empty()) line.bytes("claimed", record.to_name);
  if (record.kind == core::ChangeKind::kXattr && record.parent == core::kNoFile && !record.name.empty())
    line.bytes("attribute", record.name);
  line.text("protocol", core::protocol_word(record.protocol)).bytes("client", record.client);
  line.text("result", omitted ? "denied" : record.result ? to_string(*record.result) : "ok");
  told_ = record.sequence;
  const std::string_view text = line.finish(hash_);
  records_.add();
  if (syslog_) syslog_->offer(time, text);
}

void AuditWriter::add_lost(std::uint64_t count) {
  const Timestamp now = options_.now();
  begin_day(day_of(now));
  LineWriter line(text_of_day());
  cursor_ += count;
  line.number("sequence", static_cast<std::int64_t>(cursor_)).text("time", iso_time(now)).text("operation", "lost");
  line.number("count", static_cast<std::int64_t>(count));
  told_ = cursor_;
  line.finish(hash_);
  lost_.add(count);
  log_warning("audit", "the journal dropped records before the audit log had read them", {{"records", count}});
}

void AuditWriter::add_own(std::string_view operation) {
  LineWriter line(text_of_day());
  line.number("sequence", static_cast<std::int64_t>(cursor_))
      .text("time", iso_time(options_.now()))
      .text("operation", operation);
  if (const auto used = volume_.ns().usage({}, {.dir = core::kRootId})) {
    line.json("usage", "{\"bytes\":" + std::to_string(core::bytes_of(used->usage)) +
                           ",\"files\":" + std::to_string(used->usage.files) + "}");
  }
  told_ = cursor_;
  line.finish(hash_);
}

void AuditWriter::add_transfers() {
  const std::vector<core::Transfer> all = volume_.take_transfers();
  if (all.empty()) return;
  const auto registry = volume_.registry().snapshot();
  std::string users = "[";
  for (const core::Transfer& one : all) {
    const core::User* const user = registry->find_user_by_uid(one.uid);
    users.append(users.size() > 1 ? "," : "")
        .append("{\"user\":")
        .append(json_user(one.uid, user != nullptr ? &user->name : nullptr));
    users.append(",\"read\":")
        .append(std::to_string(one.read))
        .append(",\"written\":")
        .append(std::to_string(one.written))
        .append("}");
  }
  LineWriter line(text_of_day());
  line.number("sequence", static_cast<std::int64_t>(cursor_))
      .text("time", iso_time(options_.now()))
      .text("operation", "transferred");
  line.json("users", users + "]");
  told_ = cursor_;
  line.finish(hash_);
}

std::string& AuditWriter::text_of_day() {
  if (pending_.empty() || pending_.back().day != day_) pending_.push_back({day_, {}});
  return pending_.back().text;
}

// Days never go back: a record of just before midnight may be in the file of the day that began.
void AuditWriter::begin_day(std::string_view day) {
  if (day <= day_) return;
  // The cursor may be at a record that has no line yet: this line stands behind the last line.
  const std::uint64_t cursor = std::exchange(cursor_, told_);
  const std::string before = day_;
  if (!before.empty()) {
    add_transfers();
    add_own("checkpoint");
  }
  day_ = day;
  add_own(before.empty() ? "begin" : "day");
  expire_days(before);
  cursor_ = cursor;
}

void AuditWriter::expire_days(const std::string& before) {
  const auto days = folder_.days();
  if (!days) return;
  const std::string oldest =
      day_of({options_.now().ns - static_cast<std::int64_t>(options_.keep_days) * 86'400'000'000'000});
  std::uint64_t total = 0;
  std::string newest_expired;
  for (auto day = days->rbegin(); day != days->rend(); ++day) {
    std::error_code error;
    const std::uint64_t bytes = std::filesystem::file_size(folder_.day_file(*day), error);
    total += error ? 0 : bytes;
    if (*day >= before || (*day >= oldest && total <= options_.bytes_max)) continue;
    if (newest_expired.empty()) newest_expired = *day;
    expired_.push_back(*day);
  }
  if (newest_expired.empty()) return;
  std::string hash;
  const auto read = each_line(folder_.day_file(newest_expired), kWholeFile, [&](std::string_view line) {
    if (const auto chain = chain_of(line)) hash = chain->hash;
    return true;
  });
  if (!read) {
    expired_.clear();
    return;
  }
  LineWriter line(text_of_day());
  line.number("sequence", static_cast<std::int64_t>(told_))
      .text("time", iso_time(options_.now()))
      .text("operation", "expire");
  line.text("day", newest_expired).text("expired_hash", hash).finish(hash_);
}

Status AuditWriter::write_pending() {
  while (!pending_.empty()) {
    const Pending& first = pending_.front();
    STOA_CHECK_OK(open_day(first.day));
    if (const Status written = write_all(fd_, first.text); !written) {
      // Half a line must not stay in front of the next try.
      if (ftruncate(fd_, static_cast<off_t>(bytes_)) != 0)
        log_error("audit", "a torn line stays in the log", {{"day", first.day}});
      return fail(written.error());
    }
    bytes_ += first.text.size();
    const std::string_view last = std::string_view(first.text).substr(0, first.text.size() - 1);
    written_hash_ = chain_of(last.substr(last.rfind('\n') + 1))->hash;
    pending_.erase(pending_.begin());
  }
  if (expired_.empty()) return {};
  // The line that tells of their end first.
  STOA_CHECK_OK(keep_end());
  for (const std::string& day : expired_) {
    std::error_code error;
    std::filesystem::remove(folder_.day_file(day), error);
    std::filesystem::remove(folder_.summary_file(day), error);
  }
  expired_.clear();
  return {};
}

Status AuditWriter::keep_end() {
  if (fd_ < 0 || kept_hash_ == written_hash_) return {};
  if (fdatasync(fd_) != 0) return fail_errno(errno, "the audit log");
  STOA_CHECK_OK(write_small_file(folder_.end_file(), open_day_ + " " + written_hash_ + "\n", kFileMode));
  kept_hash_ = written_hash_;
  return {};
}

Status AuditWriter::open_day(const std::string& day) {
  if (day == open_day_) return {};
  close_day();
  const std::string file = folder_.day_file(day);
  fd_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kFileMode);
  if (fd_ < 0) return fail_errno(errno, file);
  struct stat info{};
  if (fstat(fd_, &info) != 0) return fail_errno(errno, file);
  bytes_ = static_cast<std::uint64_t>(info.st_size);
  // Before keep_end() refers to lines in it.
  if (bytes_ == 0) STOA_CHECK_OK(sync_name(file));
  open_day_ = day;
  if (const Status made = summarise_days(day); !made) {
    log_error("audit", "the summary of a day was not written", {{"error", describe(made.error())}});
  }
  return {};
}

Status AuditWriter::summarise_days(const std::string& until) {
  STOA_TRY(begin, read_day_begin(folder_));
  const bool begins = begin.day < until;
  DayBegin next{.day = until};
  if (begins) {
    STOA_TRY(directories, directories_now(volume_, begin.directories));
    next.directories = std::move(directories);
  }
  STOA_TRY(days, folder_.days());
  for (const std::string& day : days) {
    if (day >= until || std::filesystem::exists(folder_.summary_file(day))) continue;
    const std::string growth = begins && day == begin.day ? growth_json(begin.directories, next.directories) : "null";
    STOA_TRY(summary, summarise(folder_, day, growth));
    STOA_CHECK_OK(write_small_file(folder_.summary_file(day), summary + "\n", kFileMode));
  }
  return begins ? keep_day_begin(folder_, next) : Status();
}

void AuditWriter::close_day() {
  if (fd_ < 0) return;
  if (fdatasync(fd_) != 0) log_error("audit", "the log of the day is not safe on its disk", {{"day", open_day_}});
  close(fd_);
  fd_ = -1;
}

Status AuditWriter::set_policy(const core::AuditPolicy& policy) {
  return change_policy([&] { return volume_.registry().set_audit_policy(policy); });
}

Status AuditWriter::remove_policy(core::FileId directory) {
  return change_policy([&] { return volume_.registry().remove_audit_policy(directory); });
}

Status AuditWriter::change_policy(const std::function<Status()>& change) {
  const std::lock_guard lock(mutex_);
  if (volume_.registry().audited()) {
    // Records up to now follow the policies up to now.
    for (;;) {
      STOA_TRY(more, advance());
      if (!more) break;
    }
  } else {
    STOA_TRY(newest, journal_.newest());
    cursor_ = told_ = newest;
    // The line comes first: after a crash the log begins there.
    const std::string today = day_of(options_.now());
    if (today > day_) {
      begin_day(today);
    } else {
      add_own("begin");
    }
    STOA_CHECK_OK(write_pending());
    STOA_CHECK_OK(keep_end());
  }
  STOA_CHECK_OK(change());
  journal_.call();
  return {};
}

Status AuditWriter::catch_up() {
  STOA_TRY(newest, journal_.newest());
  journal_.call();
  std::unique_lock lock(mutex_);
  const auto there = [&] {
    return stopped_ || !volume_.registry().audited() || (cursor_ >= newest && pending_.empty());
  };
  if (!written_.wait_for(lock, kCatchUpMax, there)) return fail(Errc::kTimeout, "the audit log is behind the journal");
  if (stopped_) return fail(Errc::kShutdown, "the server is stopping");
  return {};
}

Result<core::AuditVerdict> AuditWriter::verify() {
  KnownEnd end;
  std::vector<std::string> days;
  {
    const std::lock_guard lock(mutex_);
    STOA_TRY(present, folder_.days());
    days = present;
    end = {day_, 0, written_hash_};
    if (!pending_.empty()) end.day = pending_.front().day;
    std::error_code error;
    end.bytes =
        open_day_ == end.day && fd_ >= 0 ? bytes_ : std::filesystem::file_size(folder_.day_file(end.day), error);
    if (error) end.bytes = 0;
  }
  return verify_log(folder_, days, end);
}

Result<std::string> AuditWriter::report(const std::string& day) {
  if (!is_day(day)) return fail(Errc::kInvalid, "'" + day + "' is not a day such as 2026-11-22");
  auto kept = read_small_file(folder_.summary_file(day));
  if (kept) return kept;
  {
    const std::lock_guard lock(mutex_);
    if (day == day_ && volume_.registry().audited()) {
      add_transfers();
      STOA_CHECK_OK(write_pending());
    }
  }
  std::string growth = "null";
  STOA_TRY(begin, read_day_begin(folder_));
  if (begin.day == day) {
    STOA_TRY(directories, directories_now(volume_, begin.directories));
    growth = growth_json(begin.directories, directories);
  }
  std::optional<VolumeUsage> now;
  if (const auto used = volume_.ns().usage({}, {.dir = core::kRootId}); used && day == day_of(options_.now())) {
    now = {static_cast<std::int64_t>(core::bytes_of(used->usage)), used->usage.files};
  }
  auto made = summarise(folder_, day, growth, now);
  if (!made && made.error().code == Errc::kNotFound) return fail(Errc::kNotFound, "there is no audit log of " + day);
  return made;
}

}  // namespace stoa::appliance
