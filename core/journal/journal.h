// The journal for its readers: the changes of the volume in commit order.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time_source.h"
#include "core/commit/committer.h"
#include "core/journal/note.h"
#include "core/kv/kv_store.h"

namespace stoa::core {

// The place of a name of a file in the present store.
struct Place {
  FileId parent = kNoFile;
  std::string name;  // raw component
  bool operator==(const Place&) const = default;
};

// Thread-safe. Readers keep their own position: the sequence of the last record that they have dealt with.
class Journal {
 public:
  // All must outlive it.
  Journal(KvStore& kv, Committer& committer, const TimeSource& time) : kv_(kv), committer_(committer), time_(time) {}

  struct Page {
    std::vector<JournalRecord> records;
    std::uint64_t lost = 0;  // records behind `after` that the cap dropped before they were read
    std::uint64_t next = 0;  // go on behind this one
    bool more = false;       // there were more than `limit`
  };
  // The records behind `after`, `limit` at most. Only durable ones: changes committed before the call are made durable
  // first, with one sync shared by all readers. One that is damaged counts as lost. Errors: kInvalid when `after` is
  // beyond the newest record; kNotSupported: written by a newer version; kIo.
  Result<Page> read(std::uint64_t after, std::size_t limit);
  // The newest record, made durable as by read(); 0: there is none.
  Result<std::uint64_t> newest();
  // The oldest record that is still there; newest + 1: none is.
  Result<std::uint64_t> oldest();

  // Adds a record that is no change of the volume. Does not wait for the disk; readers get it soon.
  Status append(const JournalNote& note, const OpContext& ctx);

  // The present path of the file; a recycle bin as its directory shows it. Absent: it is gone, or has no name. The
  // roots have none either.
  Result<std::optional<Place>> place_of(FileId id);

  // Blocks until there is a record behind `after`, a call() since `calls`, the time, or the stop. Then waits a short
  // time, so that several records are read together.
  static constexpr auto kForever = std::chrono::steady_clock::time_point::max();
  static constexpr std::uint64_t kNothing = JournalTail::kNothing;  // as `after`: records do not wake
  void wait(std::uint64_t after, std::uint64_t calls, std::chrono::steady_clock::time_point until,
            std::chrono::milliseconds gather, const std::stop_token& stop);
  std::uint64_t calls() const { return committer_.journal_tail().calls(); }
  void call() { committer_.journal_tail().call(); }

 private:
  KvStore& kv_;  // without the queue of the committer: only what is written is read
  Committer& committer_;
  const TimeSource& time_;
};

}  // namespace stoa::core
