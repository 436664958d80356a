// The writer of the audit log of the process: a thread for each volume reads its journal and appends records that the
// policies want, as JSON lines, one file a day.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "appliance/audit/audit_line.h"
#include "appliance/audit/log_folder.h"
#include "appliance/audit/syslog_sender.h"
#include "base/metrics.h"
#include "core/api/audit_log.h"
#include "core/journal/journal.h"
#include "core/journal/path_resolver.h"
#include "core/volume/volume.h"

namespace stoa::appliance {

struct AuditOptions {
  std::string folder;
  std::uint64_t keep_days = 90;
  std::uint64_t bytes_max = 10ull << 30;  // of all days together; the present one always stays
  std::string syslog;                     // empty: none; else SyslogSender::open()
  std::function<Timestamp()> now = wall_now;
};

// Without a label, lines do not say which volume they are of: that is for the only one of a process. A label is of
// letters, digits, '-' and '_', and no two volumes have the same.
struct AuditedVolume {
  core::Volume* volume;
  std::string label{};
};

// All volumes share the files, their days and the chain of hashes; each has its policies, its place in its journal and
// its reports. As an AuditLog this is the first volume's. The last line of a volume says how far its journal was read,
// so the log needs no other memory: a line that a crash tore is cut off and written again. Where the disk refuses a
// line, it is kept and tried again each second, and nothing more is read meanwhile.
class AuditWriter final : public core::AuditLog {
 public:
  // Begins where the log ends. The volumes and `metrics` must outlive it. kIo, kInvalid (syslog, labels), kCorrupt.
  static Result<std::unique_ptr<AuditWriter>> open(AuditOptions options, std::vector<AuditedVolume> volumes,
                                                   MetricRegistry& metrics);
  // Writes all records of the journal so far.
  ~AuditWriter() override;

  // That of a volume, by its place in the list. verify() is about the lines of all.
  core::AuditLog& of(std::size_t volume) { return *sources_[volume]; }

  Status set_policy(const core::AuditPolicy& policy) override { return of(0).set_policy(policy); }
  Status remove_policy(core::FileId directory) override { return of(0).remove_policy(directory); }
  Status catch_up() override { return of(0).catch_up(); }
  Result<core::AuditLines> query(const core::AuditQuery& query) override { return of(0).query(query); }
  Result<core::AuditVerdict> verify() override;
  Result<std::string> report(const std::string& day) override { return of(0).report(day); }

 private:
  struct Source;

  AuditWriter(AuditOptions options, const std::vector<AuditedVolume>& volumes, MetricRegistry& metrics);
  Status recover();
  Status read_log(const std::vector<std::string>& days, const std::optional<KnownEnd>& kept, std::vector<bool>& found,
                  bool& holds_kept);
  Status find_cursor(Source& s, bool found);
  // The log lacks records known to have been in it: reports that in the log itself.
  void add_cut(Source& s, const KnownEnd& kept);
  void run(Source& s, const std::stop_token& stop);
  Status catch_up(Source& s);
  Result<std::string> report(Source& s, const std::string& day);

  // All of these want mutex_.
  Result<bool> advance(Source& s);  // true: there is more
  Status write_pending();
  Status change_policy(Source& s, const std::function<Status()>& change);
  Result<bool> is_wanted(Source& s, const core::AuditTable& table, const core::JournalRecord& record,
                         core::ResolvedPath& where, core::ResolvedPath& target);
  void add_record(Source& s, const core::RegistrySnapshot& registry, const core::JournalRecord& record,
                  const core::ResolvedPath& where, const core::ResolvedPath& target);
  void add_lost(Source& s, std::uint64_t count);
  void add_own(Source& s, std::string_view operation);  // bookkeeping, with the usage of the volume
  void add_transfers(Source& s);                        // what users have read and written since the last time
  std::string& text_of_day();                           // what is pending for day_, where the next line goes
  void begin_day(Source& s, std::string_view day);      // for all volumes that are audited, and this one
  void expire_days(Source& s, const std::string& before);
  // The volume's reports of the days before, where there are none yet; and what directories hold now, from which that
  // of `until` is made.
  Status summarise_days(const Source& s, const std::string& until);
  // Remembers, outside of the folder, what is in the log for sure: a start finds out whether it still is.
  Status keep_end();
  Status open_day(const std::string& day);
  void close_day();

  const AuditOptions options_;
  const LogFolder folder_;
  Counter& records_;
  Counter& lost_;
  Counter& cut_;
  std::unique_ptr<SyslogSender> syslog_;

  std::mutex mutex_;           // guards what follows, and what each Source says
  std::string hash_{kNoHash};  // of the last line, written or pending
  std::string day_;            // of the last line, written or pending; empty: there is none
  struct Pending {
    std::string day, text;
  };
  std::vector<Pending> pending_;      // lines that are not written yet
  std::vector<std::string> expired_;  // days to remove when those are
  std::string open_day_;              // day of the file fd_
  int fd_ = -1;
  std::uint64_t bytes_ = 0;            // good bytes of that file
  std::string written_hash_{kNoHash};  // of the last line that is written
  std::string kept_hash_;              // of the line in the file of keep_end()
  std::chrono::steady_clock::time_point end_due_ = std::chrono::steady_clock::now();
  std::condition_variable written_;  // something was, or a thread stops

  // What is of one volume.
  struct Source final : core::AuditLog {
    Source(AuditWriter& writer, const AuditedVolume& audited);
    // The members that every line begins with.
    LineWriter& begin(LineWriter& line, std::uint64_t sequence, std::string_view time) const;

    Status set_policy(const core::AuditPolicy& policy) override;
    Status remove_policy(core::FileId directory) override;
    Status catch_up() override { return log.catch_up(*this); }
    Result<core::AuditLines> query(const core::AuditQuery& query) override { return query_log(folder, query); }
    Result<core::AuditVerdict> verify() override { return log.verify(); }
    Result<std::string> report(const std::string& day) override { return log.report(*this, day); }

    AuditWriter& log;
    core::Volume& volume;
    core::Journal& journal;
    const LogFolder folder;  // for the lines of this volume

    // Guarded by the log's mutex_.
    core::PathResolver places;
    std::uint64_t cursor = 0;  // the journal was read so far
    std::uint64_t told = 0;    // the sequence of its last line
    std::chrono::steady_clock::time_point transfers_due = std::chrono::steady_clock::now();
    bool failing = false;
    bool stopped = false;

    std::jthread thread;
  };
  std::vector<std::unique_ptr<Source>> sources_;
};

}  // namespace stoa::appliance
