#include <map>

#include "appliance/audit/audit_line.h"
#include "appliance/audit/log_folder.h"

namespace stoa::appliance {

Result<core::AuditVerdict> verify_log(const LogFolder& folder, const std::vector<std::string>& days,
                                      const KnownEnd& end) {
  core::AuditVerdict verdict;
  std::string previous;  // the hash of the line before; empty: the first line of all
  std::string first;     // the predecessor's sum in the very first line
  std::string expired;   // the last hash of the last removed day, as recorded in the log
  std::string cut;       // the first line that reports missing records before it
  std::map<std::string, std::uint64_t, std::less<>> sequences;  // of the last line of each volume
  for (const std::string& day : days) {
    if (!end.day.empty() && day > end.day) {
      verdict.problem = day + ".jsonl: the server did not write this file";
      return verdict;
    }
    std::uint64_t number = 0;
    const auto wrong = [&](const std::string& why) {
      verdict.problem = day + ".jsonl line " + std::to_string(number) + ": " + why;
      return false;
    };
    const auto torn =
        each_line(folder.day_file(day), day == end.day ? end.bytes : kWholeFile, [&](std::string_view line) {
          ++number;
          const auto chain = check_line(line);
          if (!chain)
            return wrong(chain_of(line) ? "the line was changed: its hash is not that of its text"
                                        : "this is no line of an audit log");
          if (previous.empty()) {
            first = chain->previous;
          } else if (chain->previous != previous) {
            return wrong("a line or a file before it was removed, added or moved: it does not follow the one before");
          }
          const auto own = number_of(line, "sequence");
          // "begin": the log was switched on anew, perhaps over another journal.
          std::uint64_t& sequence = sequences[std::string(text_of(line, "volume").value_or(""))];
          if (!own || (*own < sequence && text_of(line, "operation") != "begin"))
            return wrong("its sequence is below that of the line before");
          sequence = *own;
          previous = chain->hash;
          if (text_of(line, "operation") == "expire") expired = text_of(line, "expired_hash").value_or("");
          if (cut.empty() && text_of(line, "operation") == "cut")
            cut = day + ".jsonl line " + std::to_string(number) +
                  ": when the server started, lines that had been before it were gone or changed";
          ++verdict.records;
          return true;
        });
    if (!torn) return fail(torn.error());
    if (!verdict.problem.empty()) return verdict;
    if (*torn != 0) {
      ++number;
      wrong("the line has no end");
      return verdict;
    }
    ++verdict.days;
  }
  // The days that were removed for their age end where the first one that is left begins.
  if (!first.empty() && first != kNoHash && first != expired) {
    verdict.problem = days.front() + ".jsonl line 1: a file before it was removed";
  } else if (!end.day.empty() && previous != end.hash) {
    verdict.problem = end.day + ".jsonl: lines at the end were removed";
  } else {
    verdict.problem = cut;
  }
  return verdict;
}

}  // namespace stoa::appliance
