// How the calls of LeasedStorage ask the storage below: for its own files alone.
#pragma once

#include "frontends/native/cache/leased_storage.h"

namespace stoa::native {

template <class Call>
auto LeasedStorage::asking(const Asker& asker, core::FileId file, bool of_files, std::uint32_t bits,
                           LeaseTicket& ticket, const Call& call) {
  stay_within_limits();
  std::optional<LeaseWish> wish = cache_.wish(file, of_files, bits);
  ticket = cache_.ticket();
  if (!wish) return call(asker);
  Asker with_wish = asker;
  with_wish.wish = &*wish;
  auto result = call(with_wish);
  if (cache_.granted(*wish, ticket)) engine_.give_back(wish->number);
  return result;
}

// While an open is local, the server decides by permissions. An open that is real since then gives more.
template <class Call>
auto LeasedStorage::through(OpenNumber open, const Call& call) {
  const OpenNumber known = opens_.at_server(open);
  auto result = call(known);
  if (result || known == open) return result;
  const Errc code = result.error().code;
  if (code != Errc::kAccess && code != Errc::kStale) return result;
  return opens_.at_server(open) == open ? call(open) : result;
}

}  // namespace stoa::native
