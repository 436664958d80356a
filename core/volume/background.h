// The background work of a volume, on the threads of the process (core/head). It flushes lazy attributes, frees
// garbage, forgets settings of directories that are gone, and reports events. It records and verifies checksums at the
// rate of the options, counts usage by user and group on request, and after the start adopts blobs. All give way to
// requests (qos/background_throttle.h).
#pragma once

#include <chrono>
#include <optional>

#include "core/api/registry.h"
#include "core/data/adoption.h"
#include "core/head/head.h"
#include "core/txn/volume_context.h"
#include "core/volume/space_watch.h"
#include "qos/background_throttle.h"

namespace stoa::core {

class Background {
 public:
  // `adoption`, `registry`, `head` and the objects that the throttle uses must outlive it.
  Background(VolumeContext& volume, Adoption& adoption, Registry& registry, Head& head,
             const qos::BackgroundThrottle::PolicyContext& throttle);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

 private:
  void flush_and_free();
  void read_at_leisure();
  void adopt();
  void count_owners();

  void report(const Status& done, std::string_view message);

  VolumeContext& volume_;
  Adoption& adoption_;
  Registry& registry_;
  Head& head_;
  SpaceWatch space_{volume_.events};
  qos::BackgroundThrottle adopt_pace_;
  qos::BackgroundThrottle flush_pace_;
  qos::BackgroundThrottle read_throttle_;
  qos::BackgroundThrottle count_pace_;
  Counter& failures_;
  std::chrono::steady_clock::time_point forget_due_ = volume_.time.steady();  // of the flushing rounds
  std::chrono::steady_clock::time_point scrub_due_;                           // of the reading rounds
  bool adopted_ = false;                                                      // of the adopting round
  Rounds::Id adopting_;
  Rounds::Id flushing_;
  std::optional<Rounds::Id> reading_;
  Rounds::Id counting_;
};

}  // namespace stoa::core
