// The open of a request that may yet fail: it leaves the table again unless the request finishes.
#pragma once

#include <utility>

#include "base/assert.h"
#include "core/state/state_table.h"

namespace stoa::core {

class UnfinishedOpen {
 public:
  // `spec`: without the file.
  UnfinishedOpen(VolumeState& state, const OpenSpec& spec) : state_(state), spec_(spec) {}
  ~UnfinishedOpen() {
    if (id_ != kNoOpen) state_.close(id_);
  }
  UnfinishedOpen(const UnfinishedOpen&) = delete;
  UnfinishedOpen& operator=(const UnfinishedOpen&) = delete;

  Status begin(FileId file) {
    STOA_ASSERT(id_ == kNoOpen, "an open is begun once");
    spec_.file = file;
    STOA_TRY(id, state_.open(spec_));
    id_ = id;
    return {};
  }
  // An open of a file that is being made, with its directory locked.
  Status begin_unmade(FileId file) {
    STOA_ASSERT(id_ == kNoOpen, "an open is begun once");
    spec_.file = file;
    STOA_TRY(id, state_.open_unmade(spec_));
    id_ = id;
    return {};
  }
  OpenId id() const { return id_; }
  OpenId finish() {
    STOA_ASSERT(id_ != kNoOpen, "an open that is finished was begun");
    return std::exchange(id_, kNoOpen);
  }

 private:
  VolumeState& state_;
  OpenSpec spec_;
  OpenId id_ = kNoOpen;
};

}  // namespace stoa::core
