#include "frontends/nfs/v4/recalls.h"

#include <algorithm>

namespace stoa::nfs4 {
namespace {

std::uint64_t key_of(core::FileId file) {
  return static_cast<std::uint64_t>(file);
}

}  // namespace

void Recalls::add_channel(std::shared_ptr<CallbackChannel> channel) {
  const std::lock_guard lock(mutex_);
  channels_.push_back(std::move(channel));
}

void Recalls::remove_channel(const std::shared_ptr<CallbackChannel>& channel) {
  const std::lock_guard lock(mutex_);
  std::erase(channels_, channel);
}

bool Recalls::channel_up() {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(channels_, [](const auto& channel) { return channel->up(); });
}

bool Recalls::all_lost() {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(channels_, [](const auto& channel) { return channel->lost(); });
}

bool Recalls::send(Callback callback, const Channels& channels) {
  if (channels.empty()) return false;
  // The newest session that can be reached, else the newest: the client may bind a connection yet.
  const auto up = std::find_if(channels.rbegin(), channels.rend(), [](const auto& channel) { return channel->up(); });
  (up != channels.rend() ? *up : channels.back())->call(std::move(callback));
  return true;
}

bool Recalls::call(Callback callback) {
  Channels channels;
  {
    const std::lock_guard lock(mutex_);
    channels = channels_;
  }
  return send(std::move(callback), channels);
}

void Recalls::granted(core::FileId file, const Stateid& stateid, const core::HandleBytes& handle) {
  std::unique_lock lock(mutex_);
  given_[key_of(file)] = {stateid, handle};
  if (early_.erase(key_of(file)) == 0) return;
  recalled_.insert(key_of(file));
  const auto channels = channels_;
  lock.unlock();
  send(recall_of(stateid, handle), channels);
}

void Recalls::returned(core::FileId file) {
  const std::lock_guard lock(mutex_);
  early_.erase(key_of(file));
  recalled_.erase(key_of(file));
  given_.erase(key_of(file));
}

void Recalls::recall(core::FileId file) {
  std::unique_lock lock(mutex_);
  const auto found = given_.find(key_of(file));
  if (found == given_.end()) {
    early_.insert(key_of(file));
    return;
  }
  recalled_.insert(key_of(file));
  const Given copy = found->second;
  const auto channels = channels_;
  lock.unlock();
  send(recall_of(copy.stateid, copy.handle), channels);
}

void Recalls::try_again() {
  std::vector<Given> again;
  std::unique_lock lock(mutex_);
  if (recalled_.empty()) return;
  for (const std::uint64_t file : recalled_) again.push_back(given_.at(file));
  const auto channels = channels_;
  lock.unlock();
  for (const Given& given : again) send(recall_of(given.stateid, given.handle), channels);
}

std::vector<core::FileId> Recalls::recalled() {
  const std::lock_guard lock(mutex_);
  std::vector<core::FileId> files;
  files.reserve(recalled_.size());
  for (const std::uint64_t file : recalled_) files.push_back(core::FileId{file});
  return files;
}

}  // namespace stoa::nfs4
