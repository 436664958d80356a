#include "frontends/nfs/v4/recalls.h"

#include <algorithm>

namespace stoa::nfs4 {
namespace {

std::uint64_t key_of(core::FileId file) { return static_cast<std::uint64_t>(file); }

}  // namespace

void Recalls::add_channel(std::shared_ptr<SessionBackChannel> channel) {
  const std::lock_guard lock(mutex_);
  channels_.push_back(std::move(channel));
}

void Recalls::remove_channel(const std::shared_ptr<SessionBackChannel>& channel) {
  const std::lock_guard lock(mutex_);
  std::erase(channels_, channel);
}

bool Recalls::channel_up() {
  std::vector<std::shared_ptr<SessionBackChannel>> channels;
  {
    const std::lock_guard lock(mutex_);
    channels = channels_;
  }
  return std::ranges::any_of(channels, [](const auto& channel) { return channel->up(); });
}

void Recalls::send(const Given& given, const std::vector<std::shared_ptr<SessionBackChannel>>& channels) {
  // The newest session that can be reached, else the newest: the client may bind a connection yet.
  for (auto it = channels.rbegin(); it != channels.rend(); ++it) {
    if ((*it)->up()) return (*it)->recall(given.stateid, given.handle);
  }
  if (!channels.empty()) channels.back()->recall(given.stateid, given.handle);
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
  send(copy, channels);
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
  send(copy, channels);
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
  for (const Given& given : again) send(given, channels);
}

bool Recalls::outstanding() {
  const std::lock_guard lock(mutex_);
  return recalled_ != 0;
}

}  // namespace stoa::nfs4
