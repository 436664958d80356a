// The writer of the audit log: one thread reads the journal and appends records that the policies want, as JSON lines,
// one file a day.
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

// The last line of the log has its position, so it needs no other memory: a line that a crash tore is cut off and
// written again. A line that the disk refuses is kept and retried each second, and nothing more is read meanwhile.
class AuditWriter final : public core::AuditLog {
 public:
  // Begins where the log ends. `volume` and `metrics` must outlive it. kIo, kInvalid (syslog), kCorrupt.
  static Result<std::unique_ptr<AuditWriter>> open(AuditOptions options, core::Volume& volume, MetricRegistry& metrics);
  // Writes all records of the journal so far.
  ~AuditWriter() override;

  Status set_policy(const core::AuditPolicy& policy) override;
  Status remove_policy(core::FileId directory) override;
  Status catch_up() override;
  Result<core::AuditLines> query(const core::AuditQuery& query) override { return query_log(folder_, query); }
  Result<core::AuditVerdict> verify() override;
  Result<std::string> report(const std::string& day) override;

 private:
  AuditWriter(AuditOptions options, core::Volume& volume, MetricRegistry& metrics);
  Status recover();
  // The log lacks records known to have been in it: reports that in the log itself.
  void add_cut(const KnownEnd& kept);
  void run(const std::stop_token& stop);

  // All of these want mutex_.
  Result<bool> advance();  // true: there is more
  Status write_pending();
  Status change_policy(const std::function<Status()>& change);
  Result<bool> is_wanted(const core::AuditTable& table, const core::JournalRecord& record, core::ResolvedPath& where,
                         core::ResolvedPath& target);
  void add_record(const core::RegistrySnapshot& registry, const core::JournalRecord& record,
                  const core::ResolvedPath& where, const core::ResolvedPath& target);
  void add_lost(std::uint64_t count);
  void add_own(std::string_view operation);  // bookkeeping, with the usage of the volume
  void add_transfers();                      // transfers of users since the last time
  std::string& text_of_day();                // pending text for day_, where the next line goes
  void begin_day(std::string_view day);
  void expire_days(const std::string& before);
  // Writes missing reports of the days before; and the present usage of directories, from which the report of `until`
  // is made.
  Status summarise_days(const std::string& until);
  // Records, outside of the folder, the end of the log that is surely written: a start checks whether it is still
  // there.
  Status keep_end();
  Status open_day(const std::string& day);
  void close_day();

  const AuditOptions options_;
  const LogFolder folder_;
  core::Volume& volume_;
  core::Journal& journal_;
  Counter& records_;
  Counter& lost_;
  Counter& cut_;
  std::unique_ptr<SyslogSender> syslog_;

  std::mutex mutex_;  // guards the members below
  core::PathResolver paths_;
  std::uint64_t cursor_ = 0;   // the journal was read so far
  std::uint64_t told_ = 0;     // the sequence of the last line
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
  std::chrono::steady_clock::time_point transfers_due_ = std::chrono::steady_clock::now();
  bool failing_ = false;
  bool stopped_ = false;
  std::condition_variable written_;  // something was, or the thread stops

  std::jthread thread_;
};

}  // namespace stoa::appliance
