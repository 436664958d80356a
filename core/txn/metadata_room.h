// Admission of metadata writes when the disk of the metadata is nearly full. The ledger refuses growth of charged
// usage. Uncharged growth is checked here: names, and settings of the administrator. Removals and commits may still
// need a little space at first: deleting into a recycle bin, committing what was accepted before. That is bounded, so
// that the reserve for removals and for the database itself always remains.
#pragma once

#include <atomic>

#include "core/kv/kv_store.h"

namespace stoa::core {

class MetadataRoom {
 public:
  explicit MetadataRoom(KvStore& kv) : kv_(kv) {}

  // kNoSpace: not now. `name_bytes`: by how much its names grow.
  Status admit(const WriteBatch& batch, std::int64_t name_bytes);
  // The same for settings, on which nothing depends: they may not grow at all.
  Status admit_settings(const WriteBatch& batch);

 private:
  // The growth of the store by the batch in bytes.
  Result<std::int64_t> growth(const WriteBatch& batch);

  KvStore& kv_;
  std::atomic<std::int64_t> spent_{0};  // since there was room
};

}  // namespace stoa::core
