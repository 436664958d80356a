// What is still written when the disk of the metadata is nearly full. What the volume holds does not grow then: the
// ledger refuses that, as all of it is charged. What is not charged is looked at here: names, and what the
// administrator sets. And what must work may cost a little at first: deleting into a recycle bin, committing what was
// accepted before. That has a bound, so that what is kept for removals and for the database itself is there whatever is
// done.
#pragma once

#include <atomic>

#include "core/kv/kv_store.h"

namespace stoa::core {

class MetadataRoom {
 public:
  explicit MetadataRoom(KvStore& kv) : kv_(kv) {}

  // kNoSpace: not now. `name_bytes`: by how much its names grow.
  Status admit(const WriteBatch& batch, std::int64_t name_bytes);
  // The same for what nothing depends on: it may not grow at all.
  Status admit_settings(const WriteBatch& batch);

 private:
  // By how many bytes what the store keeps grows.
  Result<std::int64_t> growth(const WriteBatch& batch);

  KvStore& kv_;
  std::atomic<std::int64_t> spent_{0};  // since there was room
};

}  // namespace stoa::core
