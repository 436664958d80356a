// Replies of one batch that must wait for the durability that they promise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "core/api/context.h"
#include "frontends/wire/protocol.h"
#include "frontends/wire/reply_buffer.h"

namespace stoa::wire {

// Of one worker.
template <class P>
class DeferredReplies {
 public:
  using Request = typename P::Request;
  using Handler = typename P::Handler;

  void clear(std::size_t keep) {
    replies_.clear(keep);
    waiting_.clear();
    pending_.clear();
  }
  bool empty() const { return waiting_.empty(); }
  // Whether there is anything to wait for.
  bool pending() const { return !pending_.empty(); }

  // A reply is appended to buffer(), with its pending durability in pending_list(), between begin() and add().
  struct Mark {
    std::size_t at;
    core::PendingDurability::Mark pending;
  };
  Mark begin() const { return {replies_.size(), pending_.mark()}; }
  ReplyBuffer& buffer() { return replies_; }
  core::PendingDurability& pending_list() { return pending_; }
  // `request` is an index in the list that sync() is given.
  void add(std::size_t request, const Mark& begin, bool failed, Clock::time_point since) {
    waiting_.push_back({request, begin.at, replies_.size(), failed, since, begin.pending, pending_.mark()});
  }

  // Makes the promised changes durable; replies of changes that failed are replaced. The final replies are in
  // buffer(). `request_of` gives the request of an index. Returns the time when that was done.
  template <class RequestOf>
  Clock::time_point sync(const P& protocol, Handler& handler, const std::string& server, RequestOf request_of);

 private:
  struct Deferred {
    std::size_t request;
    std::size_t begin, end;  // in replies_
    bool failed;             // true whether or not anything is durable
    Clock::time_point since;
    core::PendingDurability::Mark from, to;  // its part of pending_
  };

  ReplyBuffer replies_;
  std::vector<Deferred> waiting_;
  core::PendingDurability pending_;  // the pending durability of the replies, in their order
};

template <class P>
template <class RequestOf>
Clock::time_point DeferredReplies<P>::sync(const P& protocol, Handler& handler, const std::string& server,
                                           RequestOf request_of) {
  const bool durable = pending_.empty() || protocol.sync(pending_).has_value();
  const Clock::time_point now = Clock::now();
  // The final replies differ from those written when a change is not durable, or a reply needs finish().
  const bool rewrite = !durable || std::ranges::any_of(waiting_, [&](const Deferred& d) {
    return handler.finishes(request_of(d.request));
  });
  ReplyBuffer honest;
  for (const Deferred& d : waiting_) {
    Request& request = request_of(d.request);
    const std::span<const std::byte> reply = replies_.bytes().subspan(d.begin, d.end - d.begin);
    handler.took(request, now - d.since);
    Status synced;
    if (!durable && !d.failed) synced = protocol.sync(pending_.between(d.from, d.to));
    if (!synced) {
      log_error(server, "a change could not be made durable", {{"error", describe(synced.error())}});
      handler.append_not_durable(request, synced.error().code, honest);
      continue;
    }
    handler.durable(request, reply, now);
    if (!rewrite) continue;
    const std::size_t at = honest.size();
    honest.append(reply);
    handler.finish(request, honest, at);
  }
  if (rewrite) replies_ = std::move(honest);
  return now;
}

}  // namespace stoa::wire
