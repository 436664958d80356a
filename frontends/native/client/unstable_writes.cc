#include "frontends/native/client/unstable_writes.h"

#include <algorithm>

namespace stoa::native {

void UnstableWrites::add(Write write) {
  const std::lock_guard lock(mutex_);
  write.number = ++last_;
  bytes_ += cost(write);
  writes_.push_back(std::move(write));
}

U64 UnstableWrites::newest() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::vector<UnstableWrites::Write> UnstableWrites::committed(U64 file, U64 up_to, U64 verifier) {
  std::vector<Write> left, again;
  const std::lock_guard lock(mutex_);
  for (Write& write : writes_) {
    if (write.file != file || write.number > up_to) {
      left.push_back(std::move(write));
      continue;
    }
    bytes_ -= cost(write);
    if (write.verifier != verifier) again.push_back(std::move(write));
  }
  writes_ = std::move(left);
  return again;
}

std::vector<UnstableWrites::Write> UnstableWrites::take_all_but(U64 verifier) {
  std::vector<Write> left, again;
  const std::lock_guard lock(mutex_);
  for (Write& write : writes_) {
    if (write.verifier == verifier) {
      left.push_back(std::move(write));
      continue;
    }
    bytes_ -= cost(write);
    again.push_back(std::move(write));
  }
  writes_ = std::move(left);
  return again;
}

bool UnstableWrites::full() const {
  const std::lock_guard lock(mutex_);
  return bytes_ >= kBytesMax;
}

bool UnstableWrites::empty() const {
  const std::lock_guard lock(mutex_);
  return writes_.empty();
}

U64 UnstableWrites::file_through(U64 open) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(writes_, open, &Write::open);
  return found == writes_.end() ? 0 : found->file;
}

std::map<U64, Bytes> UnstableWrites::files() const {
  std::map<U64, Bytes> all;
  const std::lock_guard lock(mutex_);
  for (const Write& write : writes_) all.try_emplace(write.file, write.call);
  return all;
}

void UnstableWrites::lose(U64 file) {
  const std::lock_guard lock(mutex_);
  lost_.insert(file);
}

bool UnstableWrites::take_loss(U64 file) {
  const std::lock_guard lock(mutex_);
  return lost_.erase(file) != 0;
}

std::vector<U64> UnstableWrites::losses() const {
  const std::lock_guard lock(mutex_);
  return {lost_.begin(), lost_.end()};
}

}  // namespace stoa::native
