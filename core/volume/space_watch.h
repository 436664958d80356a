// Events for disks that fill up, and for metadata without room to grow: one for each step, and one when there is room
// again.
#pragma once

#include <cstddef>
#include <optional>

#include "base/clock.h"
#include "core/api/event_log.h"
#include "core/blob/blob_store.h"

namespace stoa::core {

// One thread at a time.
class SpaceWatch {
 public:
  // That there is room is news only when there has been for so long: around a full disk it comes and goes with each
  // removal, each compaction, each write.
  static constexpr std::int64_t kQuietNs = 60'000'000'000;

  explicit SpaceWatch(EventLog& events) : events_(events) {}
  void look(const BlobStore::Space& space, bool metadata_has_room, Timestamp now);

 private:
  // A level that goes up at once, and down when it was below for the whole time.
  struct Level {
    std::size_t told = 0;
    std::optional<Timestamp> below_since{};
    // Whether `now_at` is news.
    bool moves(std::size_t now_at, Timestamp now);
  };
  void look_at_disks(const BlobStore::Space& space, Timestamp now);

  EventLog& events_;
  Level disks_;     // steps passed
  Level metadata_;  // 1: nothing may grow
};

}  // namespace stoa::core
