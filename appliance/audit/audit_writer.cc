#include "appliance/audit/audit_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

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
constexpr std::size_t kLabelBytesMax = 64;

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

// A part of names of files, and of lines.
bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= kLabelBytesMax &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == text.npos;
}

Status check_labels(const std::vector<AuditedVolume>& volumes) {
  std::set<std::string_view> labels;
  for (const AuditedVolume& one : volumes) {
    const bool known = !labels.insert(one.label).second;
    if (known || (!is_label(one.label) && !(one.label.empty() && volumes.size() == 1)))
      return fail(Errc::kInvalid, "volumes of one audit log need labels of letters and digits, each its own");
  }
  return labels.empty() ? fail(Errc::kInvalid, "an audit log of no volume") : Status();
}

}  // namespace

Result<std::unique_ptr<AuditWriter>> AuditWriter::open(AuditOptions options, std::vector<AuditedVolume> volumes,
                                                       MetricRegistry& metrics) {
  STOA_CHECK_OK(check_labels(volumes));
  std::unique_ptr<AuditWriter> writer(new AuditWriter(std::move(options), volumes, metrics));
  const AuditOptions& chosen = writer->options_;
  if (!chosen.syslog.empty()) {
    STOA_TRY(syslog, SyslogSender::open(chosen.syslog, metrics));
    writer->syslog_ = std::move(syslog);
  }
  STOA_CHECK_OK(writer->recover());
  for (const auto& source : writer->sources_) {
    source->thread =
        std::jthread([raw = writer.get(), at = source.get()](const std::stop_token& stop) { raw->run(*at, stop); });
  }
  return writer;
}

AuditWriter::AuditWriter(AuditOptions options, const std::vector<AuditedVolume>& volumes, MetricRegistry& metrics)
    : options_(std::move(options)),
      folder_{.path = options_.folder},
      records_(metrics.counter("stoa_audit_records_total", "Records that were written to the audit log")),
      lost_(metrics.counter("stoa_audit_lost_total",
                            "Records that the journal had dropped before the audit log read them")),
      cut_(metrics.counter("stoa_audit_cut_total",
                           "Starts at which lines that had been in the audit log were no longer there")) {
  for (const AuditedVolume& one : volumes) sources_.push_back(std::make_unique<Source>(*this, one));
}

AuditWriter::~AuditWriter() {
  for (const auto& source : sources_) source->thread.request_stop();
  for (const auto& source : sources_) {
    if (source->thread.joinable()) source->thread.join();
  }
  close_day();
}

AuditWriter::Source::Source(AuditWriter& writer, const AuditedVolume& audited)
    : log(writer),
      volume(*audited.volume),
      journal(volume.journal()),
      folder{.path = writer.options_.folder, .volume = audited.label},
      places(journal) {}

LineWriter& AuditWriter::Source::begin(LineWriter& line, std::uint64_t sequence, std::string_view time) const {
  line.number("sequence", static_cast<std::int64_t>(sequence)).text("time", time);
  if (!folder.volume.empty()) line.text("volume", folder.volume);
  return line;
}

// Where each volume's lines end. `found`: in which of them there is one at all.
Status AuditWriter::read_log(const std::vector<std::string>& days, const std::optional<KnownEnd>& kept,
                             std::vector<bool>& found, bool& holds_kept) {
  bool any = false;
  const auto enough = [&] {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (!found[i] && sources_[i]->volume.registry().audited()) return false;
    }
    return any;
  };
  for (auto day = days.rbegin(); day != days.rend() && !enough(); ++day) {
    const std::string file = folder_.day_file(*day);
    std::string last;
    std::vector<std::optional<std::uint64_t>> told(sources_.size());
    const auto torn = each_line(file, kWholeFile, [&](std::string_view line) {
      const auto chain = chain_of(line);
      if (!chain) return true;
      last = chain->hash;
      holds_kept = holds_kept || last == kept->hash;
      for (std::size_t i = 0; i < sources_.size(); ++i) {
        if (!sources_[i]->folder.has(line)) continue;
        if (const auto sequence = number_of(line, "sequence")) told[i] = sequence;
      }
      return true;
    });
    if (!torn) return fail(torn.error());
    if (!any && !last.empty()) hash_ = last;
    any = any || !last.empty();
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (found[i] || !told[i]) continue;
      sources_[i]->told = *told[i];
      found[i] = true;
    }
    if (day != days.rbegin()) continue;
    day_ = *day;
    if (*torn == 0) continue;
    log_warning("audit", "the last line was torn by a crash and is written again", {{"file", file}, {"bytes", *torn}});
    std::error_code error;
    std::filesystem::resize_file(file, std::filesystem::file_size(file, error) - *torn, error);
    if (error) return fail_errno(error.value(), file);
  }
  written_hash_ = hash_;
  return {};
}

// Where the volume's journal is read on.
Status AuditWriter::find_cursor(Source& s, bool found) {
  STOA_TRY(newest, s.journal.newest());
  if (found) {
    s.cursor = s.told;
  } else {
    // Somebody took the log away, or there never was one: rather too much than too little.
    STOA_TRY(oldest, s.journal.oldest());
    s.cursor = s.volume.registry().audited() ? oldest - 1 : newest;
  }
  if (s.cursor <= newest) return {};
  log_error("audit", "the log is ahead of the journal; it goes on with what comes now",
            {{"log", s.cursor}, {"journal", newest}, {"volume", s.folder.volume}});
  s.cursor = s.told = newest;
  add_own(s, "begin");
  return {};
}

Status AuditWriter::recover() {
  std::error_code error;
  std::filesystem::create_directories(folder_.path, error);
  if (error) return fail_errno(error.value(), "the folder of the audit log " + folder_.path);
  std::filesystem::permissions(folder_.path, std::filesystem::perms::owner_all, error);
  STOA_TRY(days, folder_.days());
  STOA_TRY(kept, read_end(folder_));
  std::vector<bool> found(sources_.size());
  bool holds_kept = !kept;
  STOA_CHECK_OK(read_log(days, kept, found, holds_kept));
  for (std::size_t i = 0; i < sources_.size(); ++i) STOA_CHECK_OK(find_cursor(*sources_[i], found[i]));
  if (!holds_kept && kept->day < day_) {
    const auto read = each_line(folder_.day_file(kept->day), kWholeFile, [&](std::string_view line) {
      const auto chain = chain_of(line);
      holds_kept = chain && chain->hash == kept->hash;
      return !holds_kept;
    });
    if (!read && read.error().code != Errc::kNotFound) return fail(read.error());
  }
  if (!holds_kept) add_cut(*sources_.front(), *kept);
  return {};
}

void AuditWriter::add_cut(Source& s, const KnownEnd& kept) {
  log_error("audit",
            "lines that were in the log are gone, or were changed; what the journal still has of them is written again",
            {{"day", kept.day}, {"hash", kept.hash}});
  cut_.add();
  begin_day(s, day_of(options_.now()));
  LineWriter line(text_of_day());
  s.begin(line, s.told, iso_time(options_.now())).text("operation", "cut");
  line.text("day", kept.day).text("cut_hash", kept.hash).finish(hash_);
  // Also where no policy records anything any more. After an error the lines are written with the next ones.
  if (const Status written = write_pending(); !written) {
    log_error("audit", "that lines are gone is not in the log yet", {{"error", describe(written.error())}});
  } else if (const Status remembered = keep_end(); !remembered) {
    log_error("audit", "the end of the log was not remembered", {{"error", describe(remembered.error())}});
  }
}

void AuditWriter::run(Source& s, const std::stop_token& stop) {
  for (bool more = false;;) {
    const std::uint64_t calls = s.journal.calls();
    const bool stopping = stop.stop_requested();
    const auto due = s.volume.report_omitted_denials();
    const bool audited = s.volume.registry().audited();
    std::uint64_t after = core::Journal::kNothing;
    auto until = due.value_or(core::Journal::kForever);
    {
      const std::lock_guard lock(mutex_);
      more = false;
      if (audited) {
        auto advanced = advance(s);
        if (!advanced) {
          if (!s.failing)
            log_error("audit", "the log cannot go on; it is tried again each second",
                      {{"error", describe(advanced.error())}});
          until = std::chrono::steady_clock::now() + kRetry;
          if (stopping) break;
        } else {
          after = s.cursor;
          const Timestamp now = options_.now();
          until = std::min(
              until, std::chrono::steady_clock::now() + std::chrono::nanoseconds(begin_of_next_day(now).ns - now.ns));
          if (kept_hash_ != written_hash_ && fd_ >= 0) until = std::min(until, end_due_);
          if (!day_.empty()) until = std::min(until, s.transfers_due);  // else advance(s) puts nothing off
          more = *advanced;
        }
        s.failing = !advanced;
        // A failure must not make the loop spin.
        if (s.failing) after = core::Journal::kNothing;
      }
      written_.notify_all();
    }
    if (more) continue;
    if (stopping) break;
    s.journal.wait(after, calls, until, kGather, stop);
  }
  const std::lock_guard lock(mutex_);
  if (s.volume.registry().audited() && !day_.empty() && pending_.empty()) {
    add_transfers(s);
    if (s.cursor > s.told) add_own(s, "checkpoint");
    if (const Status written = write_pending(); !written)
      log_error("audit", "the last line was not written", {{"error", describe(written.error())}});
  }
  if (const Status kept = keep_end(); !kept)
    log_error("audit", "the end of the log was not remembered", {{"error", describe(kept.error())}});
  s.stopped = true;
  written_.notify_all();
}

Result<bool> AuditWriter::advance(Source& s) {
  STOA_CHECK_OK(write_pending());
  STOA_TRY(page, s.journal.read(s.cursor, kRecordsAtOnce));
  const auto registry = s.volume.registry().snapshot();
  const core::AuditTable* const table = registry->audit();
  if (table == nullptr) return false;
  if (page.lost > 0) add_lost(s, page.lost);
  s.places.look_ahead(page.records);
  for (const core::JournalRecord& record : page.records) {
    core::ResolvedPath where, target;
    STOA_TRY(wanted, is_wanted(s, *table, record, where, target));
    s.cursor = record.sequence;
    if (wanted) add_record(s, *registry, record, where, target);
    s.places.apply(record);
    // Memory that stays in the processor's cache costs less than fresh memory.
    if (!pending_.empty() && pending_.back().text.size() >= kWriteBytes) STOA_CHECK_OK(write_pending());
  }
  s.cursor = page.next;
  const std::string today = day_of(options_.now());
  if (!page.more && !day_.empty() && today > day_) begin_day(s, today);
  if (s.cursor - s.told > kCheckpointRecords && !day_.empty()) add_own(s, "checkpoint");
  if (const auto steady = std::chrono::steady_clock::now(); !day_.empty() && steady >= s.transfers_due) {
    s.transfers_due = steady + kTransfersEvery;
    add_transfers(s);
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

Result<bool> AuditWriter::is_wanted(Source& s, const core::AuditTable& table, const core::JournalRecord& record,
                                    core::ResolvedPath& where, core::ResolvedPath& target) {
  const core::AuditClass as = class_of(record.kind);
  const bool decided = is_decided(record);
  if (!decided && !table.any(as)) return false;
  if (record.kind == core::ChangeKind::kOmitted) return true;
  STOA_TRY(at, s.places.of(record));
  where = std::move(at);
  // If the directory is unknown by now, it is recorded.
  bool wanted = decided || !where.known || table.wants(where.directories, as);
  if (record.kind == core::ChangeKind::kRename) {
    STOA_TRY(to, s.places.target_of(record));
    target = std::move(to);
    wanted = wanted || table.wants(target.directories, as);
  }
  return wanted;
}

void AuditWriter::add_record(Source& s, const core::RegistrySnapshot& registry, const core::JournalRecord& record,
                             const core::ResolvedPath& where, const core::ResolvedPath& target) {
  const std::string time = iso_time(record.time);
  // The day is its beginning: nothing is computed twice.
  begin_day(s, std::string_view(time).substr(0, kDayDigits));
  LineWriter line(text_of_day());
  s.begin(line, record.sequence, time);
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
  s.told = record.sequence;
  const std::string_view text = line.finish(hash_);
  records_.add();
  if (syslog_) syslog_->offer(time, text);
}

void AuditWriter::add_lost(Source& s, std::uint64_t count) {
  const Timestamp now = options_.now();
  begin_day(s, day_of(now));
  LineWriter line(text_of_day());
  s.cursor += count;
  s.begin(line, s.cursor, iso_time(now)).text("operation", "lost");
  line.number("count", static_cast<std::int64_t>(count));
  s.told = s.cursor;
  line.finish(hash_);
  lost_.add(count);
  log_warning("audit", "the journal dropped records before the audit log had read them", {{"records", count}});
}

void AuditWriter::add_own(Source& s, std::string_view operation) {
  LineWriter line(text_of_day());
  s.begin(line, s.cursor, iso_time(options_.now())).text("operation", operation);
  if (const auto used = s.volume.ns().usage({}, {.dir = core::kRootId})) {
    line.json("usage", "{\"bytes\":" + std::to_string(core::bytes_of(used->usage)) +
                           ",\"files\":" + std::to_string(used->usage.files) + "}");
  }
  s.told = s.cursor;
  line.finish(hash_);
}

void AuditWriter::add_transfers(Source& s) {
  const std::vector<core::Transfer> all = s.volume.take_transfers();
  if (all.empty()) return;
  const auto registry = s.volume.registry().snapshot();
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
  s.begin(line, s.cursor, iso_time(options_.now())).text("operation", "transferred");
  line.json("users", users + "]");
  s.told = s.cursor;
  line.finish(hash_);
}

std::string& AuditWriter::text_of_day() {
  if (pending_.empty() || pending_.back().day != day_) pending_.push_back({day_, {}});
  return pending_.back().text;
}

// Days never go back: a record of just before midnight may be in the file of the day that began.
void AuditWriter::begin_day(Source& s, std::string_view day) {
  if (day <= day_) return;
  // The cursor may be at a record that has no line yet: this line stands behind the last line.
  const std::uint64_t cursor = std::exchange(s.cursor, s.told);
  const std::string before = day_;
  const auto each = [&](const std::function<void(Source&)>& say) {
    for (const auto& other : sources_) {
      if (other.get() == &s || (other->volume.registry().audited())) say(*other);
    }
  };
  if (!before.empty()) {
    each([this](Source& one) {
      add_transfers(one);
      add_own(one, "checkpoint");
    });
  }
  day_ = day;
  each([&](Source& one) { add_own(one, before.empty() ? "begin" : "day"); });
  expire_days(s, before);
  s.cursor = cursor;
}

void AuditWriter::expire_days(Source& s, const std::string& before) {
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
  s.begin(line, s.told, iso_time(options_.now())).text("operation", "expire");
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
    for (const auto& source : sources_) std::filesystem::remove(source->folder.summary_file(day), error);
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
  for (const auto& source : sources_) {
    if (const Status made = summarise_days(*source, day); !made)
      log_error("audit", "the summary of a day was not written", {{"error", describe(made.error())}});
  }
  return {};
}

Status AuditWriter::summarise_days(const Source& s, const std::string& until) {
  STOA_TRY(begin, read_day_begin(s.folder));
  const bool begins = begin.day < until;
  DayBegin next{.day = until};
  if (begins) {
    STOA_TRY(directories, directories_now(s.volume, begin.directories));
    next.directories = std::move(directories);
  }
  STOA_TRY(days, s.folder.days());
  for (const std::string& day : days) {
    if (day >= until || std::filesystem::exists(s.folder.summary_file(day))) continue;
    const std::string growth = begins && day == begin.day ? growth_json(begin.directories, next.directories) : "null";
    STOA_TRY(summary, summarise(s.folder, day, growth));
    STOA_CHECK_OK(write_small_file(s.folder.summary_file(day), summary + "\n", kFileMode));
  }
  return begins ? keep_day_begin(s.folder, next) : Status();
}

void AuditWriter::close_day() {
  if (fd_ < 0) return;
  if (fdatasync(fd_) != 0) log_error("audit", "the log of the day is not safe on its disk", {{"day", open_day_}});
  close(fd_);
  fd_ = -1;
}

Status AuditWriter::Source::set_policy(const core::AuditPolicy& policy) {
  return log.change_policy(*this, [&] { return volume.registry().set_audit_policy(policy); });
}

Status AuditWriter::Source::remove_policy(core::FileId directory) {
  return log.change_policy(*this, [&] { return volume.registry().remove_audit_policy(directory); });
}

Status AuditWriter::change_policy(Source& s, const std::function<Status()>& change) {
  const std::lock_guard lock(mutex_);
  if (s.volume.registry().audited()) {
    // Records up to now follow the policies up to now.
    for (;;) {
      STOA_TRY(more, advance(s));
      if (!more) break;
    }
  } else {
    STOA_TRY(newest, s.journal.newest());
    s.cursor = s.told = newest;
    // The line comes first: after a crash the log begins there.
    const std::string today = day_of(options_.now());
    if (today > day_) {
      begin_day(s, today);
    } else {
      add_own(s, "begin");
    }
    STOA_CHECK_OK(write_pending());
    STOA_CHECK_OK(keep_end());
  }
  STOA_CHECK_OK(change());
  s.journal.call();
  return {};
}

Status AuditWriter::catch_up(Source& s) {
  STOA_TRY(newest, s.journal.newest());
  s.journal.call();
  std::unique_lock lock(mutex_);
  const auto there = [&] {
    return s.stopped || !s.volume.registry().audited() || (s.cursor >= newest && pending_.empty());
  };
  if (!written_.wait_for(lock, kCatchUpMax, there)) return fail(Cause::kAuditBehind);
  if (s.stopped) return fail(Errc::kShutdown);
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

Result<std::string> AuditWriter::report(Source& s, const std::string& day) {
  if (!is_day(day)) return fail(Cause::kAuditDayForm, day);
  auto kept = read_small_file(s.folder.summary_file(day));
  if (kept) return kept;
  {
    const std::lock_guard lock(mutex_);
    if (day == day_ && s.volume.registry().audited()) {
      add_transfers(s);
      STOA_CHECK_OK(write_pending());
    }
  }
  std::string growth = "null";
  STOA_TRY(begin, read_day_begin(s.folder));
  if (begin.day == day) {
    STOA_TRY(directories, directories_now(s.volume, begin.directories));
    growth = growth_json(begin.directories, directories);
  }
  std::optional<VolumeUsage> now;
  if (const auto used = s.volume.ns().usage({}, {.dir = core::kRootId}); used && day == day_of(options_.now())) {
    now = {static_cast<std::int64_t>(core::bytes_of(used->usage)), used->usage.files};
  }
  auto made = summarise(s.folder, day, growth, now);
  if (!made && made.error().code == Errc::kNotFound) return fail(Cause::kAuditDayUnknown, day);
  return made;
}

}  // namespace stoa::appliance
