#include "frontends/nfs/v4/recalls.h"

#include <algorithm>

namespace stoa::nfs4 {
namespace {

std::uint64_t key_of(core::FileId file) { return static_cast<std::uint64_t>(file); }

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
  std::vector<std::shared_ptr<CallbackChannel>> channels;
  {
    const std::lock_guard lock(mutex_);
    channels = channels_;
  }
  return std::ranges::any_of(channels, [](const auto& channel) { return channel->up(); });
}

bool Recalls::all_lost() {
  Channels channels;
  {
    const std::lock_guard lock(mutex_);
    channels = channels_;
  }
  return std::ranges::all_of(channels, [](const auto& channel) { return channel->lost(); });
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
  Given& given = given_[key_of(file)];
  given = {stateid, handle};
  if (early_.erase(key_of(file)) == 0) return;
  given.recalled = true;
  ++recalled_;
  const Given copy = given;
  const auto channels = channels_;
  lock.unlock();
  send(recall_of(copy.stateid, copy.handle), channels);
}

void Recalls::returned(core::FileId file) {
  const std::lock_guard lock(mutex_);
  early_.erase(key_of(file));
  const auto found = given_.find(key_of(file));
  if (found == given_.end()) return;
  if (found->second.recalled) --recalled_;
  given_.erase(found);
}

void Recalls::recall(core::FileId file) {
  std::unique_lock lock(mutex_);
  const auto found = given_.find(key_of(file));
  if (found == given_.end()) {
    early_.insert(key_of(file));
    return;
  }
  if (!found->second.recalled) ++recalled_;
  found->second.recalled = true;
  const Given copy = found->second;
  const auto channels = channels_;
  lock.unlock();
  send(recall_of(copy.stateid, copy.handle), channels);
}

void Recalls::try_again() {
  std::vector<Given> again;
  std::unique_lock lock(mutex_);
  if (recalled_ == 0) return;
  for (const auto& [file, given] : given_) {
    if (given.recalled) again.push_back(given);
  }
  const auto channels = channels_;
  lock.unlock();
  for (const Given& given : again) send(recall_of(given.stateid, given.handle), channels);
}

bool Recalls::outstanding() {
  const std::lock_guard lock(mutex_);
  return recalled_ != 0;
}

}  // namespace stoa::nfs4
