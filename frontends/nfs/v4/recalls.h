// The delegations of a client for recalls. Its own small lock, because recalls come from any thread, also from one
// that has the state of another client locked.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontends/nfs/v4/callback_channel.h"

namespace stoa::nfs4 {

class Recalls {
 public:
  void add_channel(std::shared_ptr<CallbackChannel> channel);
  void remove_channel(const std::shared_ptr<CallbackChannel>& channel);
  // Whether the client can be called: without, it gets no delegations.
  bool channel_up();
  bool all_lost();  // no channel is left that may work
  // Another callback: over the newest channel that is up, else over the newest. False: there is none at all.
  bool call(Callback callback);

  // A delegation was given out. The table may have recalled it before this is called: then it is recalled now.
  void granted(core::FileId file, const Stateid& stateid, const core::HandleBytes& handle);
  void returned(core::FileId file);  // or was not given out after all
  // Thread-safe, does not block.
  void recall(core::FileId file);
  // Repeats recalls that the client did not take.
  void try_again();
  // The files that were recalled and not returned.
  std::vector<core::FileId> recalled();

 private:
  struct Given {
    Stateid stateid;
    core::HandleBytes handle;
  };
  using Channels = std::vector<std::shared_ptr<CallbackChannel>>;
  static bool send(Callback callback, const Channels& channels);

  std::mutex mutex_;  // guards the members below; never held while a client is called
  std::unordered_map<std::uint64_t, Given> given_;
  std::unordered_set<std::uint64_t> early_;     // recalled before granted() was called
  std::unordered_set<std::uint64_t> recalled_;  // of those given
  Channels channels_;
};

}  // namespace stoa::nfs4
