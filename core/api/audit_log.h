// The audit log as the admin interface sees it. Written by appliance/audit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "core/api/audit_policy.h"

namespace stoa::core {

struct AuditQuery {
  std::optional<std::string> path{};       // a path of the volume: matches it and everything below it (bytes)
  std::optional<std::string> user{};       // name, or number
  std::optional<std::string> operation{};  // "create", "remove", ...; "delete": remove, rmdir and purge
  std::optional<std::string> protocol{};
  std::optional<std::string> result{};    // "ok", "access", ...; "denied": anything but ok
  std::optional<Timestamp> from{}, to{};  // [from, to)
  std::uint64_t after = 0;                // only records with a higher sequence
  std::uint32_t limit = 1000;
};
struct AuditLines {
  std::vector<std::string> lines;     // JSON objects as they are in the log, oldest first
  std::optional<std::uint64_t> next;  // there are more behind this sequence
};

struct AuditVerdict {
  std::uint64_t records = 0;  // lines that are right
  std::uint64_t days = 0;
  std::string problem;  // the first fault: "2026-11-22.jsonl line 7: ..."; empty: none
};

// Thread-safe.
class AuditLog {
 public:
  virtual ~AuditLog() = default;

  // As of core::Registry. Events after the call are recorded by the new policy. kIo: the log cannot be written.
  virtual Status set_policy(const AuditPolicy& policy) = 0;
  virtual Status remove_policy(FileId directory) = 0;

  // Blocks until all that was in the journal before the call is in the log. kTimeout, when the log cannot keep up or
  // its disk refuses; kShutdown.
  virtual Status catch_up() = 0;
  // Reads files; blocks as long as that takes.
  virtual Result<AuditLines> query(const AuditQuery& query) = 0;
  virtual Result<AuditVerdict> verify() = 0;
  // The summary of a day "2026-11-22" as JSON; of the present day up to now. kNotFound: there is no such day;
  // kInvalid.
  virtual Result<std::string> report(const std::string& day) = 0;
};

}  // namespace stoa::core
