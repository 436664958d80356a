#include "frontends/nfs/v4/delegated_writes.h"

#include "frontends/nfs/v4/attributes.h"
#include "frontends/nfs/v4/client.h"

namespace stoa::nfs4 {
namespace {

constexpr Bitmap kAskedFor{Attr::kChange, Attr::kSize};
constexpr std::chrono::seconds kPatience{1};  // for an answer
constexpr std::chrono::seconds kGood{1};      // for callers told to retry; clients do after 100 ms
constexpr int kUnusedMax = 5;

Callback getattr_of(const Stateid& stateid, const core::HandleBytes& handle) {
  constexpr std::uint32_t kCbGetattr = 3;
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  out.opaque(handle);
  kAskedFor.encode(out);
  const auto bytes = buffer.bytes();
  return {.operation = kCbGetattr, .about = stateid, .arguments = {bytes.begin(), bytes.end()}};
}

}  // namespace

void DelegatedWrites::add(const std::shared_ptr<Client>& client, const core::FileRef& file, const Stateid& stateid,
                          const core::HandleBytes& handle, std::uint64_t change) {
  const std::lock_guard lock(mutex_);
  entries_.insert_or_assign(file.id, Entry{.client = client,
                                           .holder = client->holder,
                                           .stateid = stateid,
                                           .handle = handle,
                                           .given_change = change,
                                           .told_change = change,
                                           .counted_change = change});
  count_.store(entries_.size(), std::memory_order_relaxed);
}

void DelegatedWrites::remove(core::FileId file, core::HolderId holder) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(file);
  if (found == entries_.end() || found->second.holder != holder) return;
  entries_.erase(found);
  count_.store(entries_.size(), std::memory_order_relaxed);
}

DelegatedWrites::Answer DelegatedWrites::ask(core::FileId file, core::HolderId by, Clock::time_point now, Told& told) {
  std::unique_lock lock(mutex_);
  const auto found = entries_.find(file);
  if (found == entries_.end() || found->second.holder == by) return Answer::kNobody;
  Entry& entry = found->second;
  if (entry.told && now - *entry.told <= kGood) {
    entry.unused = 0;
    told = {.holder = entry.holder};
    if (entry.told_change != entry.given_change) {
      told.size = entry.told_size;
      told.changed = std::exchange(entry.counted_change, entry.told_change) != entry.told_change;
    }
    return Answer::kKnown;
  }
  if (entry.asked) return now - *entry.asked <= kPatience ? Answer::kLater : Answer::kNobody;
  if (++entry.unused > kUnusedMax) return Answer::kNobody;
  const auto client = entry.client.lock();
  if (client == nullptr || !client->recalls.channel_up()) return Answer::kNobody;
  entry.asked = now;
  entry.told.reset();
  Callback callback = getattr_of(entry.stateid, entry.handle);
  callback.answer = [weak = weak_from_this(), file, about = entry.stateid](rpc::XdrReader& in) {
    if (const auto self = weak.lock()) self->take_answer(file, about, in);
  };
  callback.done = [weak = weak_from_this(), file, about = entry.stateid](bool taken) {
    const auto self = weak.lock();
    if (!taken && self != nullptr) self->note_denial(file, about);
  };
  lock.unlock();
  return client->recalls.call(std::move(callback)) ? Answer::kLater : Answer::kNobody;
}

void DelegatedWrites::note_denial(core::FileId file, const Stateid& about) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(file);
  if (found == entries_.end() || found->second.stateid.other != about.other) return;
  found->second.asked.reset();
  found->second.unused = kUnusedMax;  // it will not be called again
}

void DelegatedWrites::take_answer(core::FileId file, const Stateid& about, rpc::XdrReader& in) {
  const Bitmap shown = Bitmap::decode(in);
  rpc::XdrReader values(in.opaque(~std::uint32_t{0}));
  const std::uint64_t change = values.u64(), size = values.u64();
  // Others may follow them, in ascending order. An incomplete reply is no answer.
  if (!in.ok() || !values.ok() || !shown.has(Attr::kChange) || !shown.has(Attr::kSize) || size > core::kFileBytesMax)
    return;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(file);
  if (found == entries_.end() || found->second.stateid.other != about.other) return;
  Entry& entry = found->second;
  entry.asked.reset();
  entry.told = Clock::now();
  entry.told_change = change;
  entry.told_size = size;
}

}  // namespace stoa::nfs4
