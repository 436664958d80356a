// Tells when the disks fill up: once for each step, and once when there is room again.
#pragma once

#include <cstddef>

#include "core/api/event_log.h"
#include "core/data/blob_store.h"

namespace stoa::core {

// One thread at a time.
class SpaceWatch {
 public:
  explicit SpaceWatch(EventLog& events) : events_(events) {}
  void look(const BlobStore::Space& space);

 private:
  EventLog& events_;
  std::size_t level_ = 0;  // steps passed
};

}  // namespace stoa::core
