// Leases and the opens made under them, at the server.
#include "frontends/native/storage/native_storage.h"
#include "frontends/native/storage/wire_values.h"

namespace stoa::native {

Status NativeStorage::acknowledge(std::uint64_t lease, std::uint32_t keeps) {
  Batch batch;
  batch.add<operations::acknowledge>({.lease = lease, .lease_bits = keeps});
  STOA_TRY(replies, run({.gives_up = [this] { return waits_not_.load(); }}, batch));
  STOA_CHECK_OK(replies.get<operations::acknowledge>(0));
  return {};
}

// The server ends a message at the first operation that fails: the rest is asked again without it.
std::vector<Status> NativeStorage::open_numbered(const core::Credentials& cred, std::span<const NumberedOpen> opens) {
  std::vector<Status> results;
  results.reserve(opens.size());
  while (results.size() < opens.size()) {
    Batch batch;
    for (const NumberedOpen& one : opens.subspan(results.size())) {
      if (batch.size() == kOpensAtOnce) break;
      batch.add<operations::open>({.file = wire_file(one.file),
                                   .open = one.number,
                                   .disposition = wire_disposition(core::OpenDisposition::kOpen),
                                   .access = one.access});
    }
    const auto replies = run({.cred = cred, .gives_up = [this] { return waits_not_.load(); }}, batch);
    if (!replies || replies->size() == 0) {
      const Error error = replies ? Error{Errc::kCorrupt} : replies.error();
      while (results.size() < opens.size()) results.push_back(fail(error));
      return results;
    }
    for (std::size_t i = 0; i < replies->size(); ++i) {
      const auto reply = replies->get<operations::open>(i);
      results.push_back(reply ? Status{} : fail(reply.error()));
    }
  }
  return results;
}

}  // namespace stoa::native
