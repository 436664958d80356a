// Opens that the client has made itself, under a lease with handle caching: the server does not know them.
//
// A call through one goes to the server without an open, by permission, which cannot have changed while the lease is
// there. Before the lease loses handle caching they are made real: opened at the server under their numbers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/api/credentials.h"
#include "frontends/native/cache/lease_calls.h"
#include "frontends/native/storage/storage.h"

namespace stoa::native {

struct LocalOpen {
  OpenNumber number = 0;
  core::FileId file = core::kNoFile;
  core::Credentials cred{};
  std::uint32_t access = 0;  // ShareBits
};

// Thread-safe.
class LocalOpens {
 public:
  // `calls` outlives it.
  explicit LocalOpens(LeaseCalls& calls) : calls_(calls) {}

  // The caller holds a pin with handle caching on the file.
  OpenNumber add(core::FileId file, const core::Credentials& cred, std::uint32_t access);
  // What a call to the server says for this open: 0 while it is local.
  OpenNumber at_server(OpenNumber open) const;
  // Ends an open. True: it is not at the server, so nothing is to be closed there. Waits while it is being made real.
  bool close(OpenNumber open);
  // Makes those of the files real, and returns when they are. One that the server refuses stays local.
  void make_real(std::span<const core::FileId> files);
  void make_real(core::FileId file) { make_real(std::span(&file, 1)); }
  bool any(core::FileId file) const;
  // Of another process: those that the server has refused stay local there, too.
  std::vector<LocalOpen> all() const;
  void restore(const LocalOpen& open);
  std::size_t size() const;

 private:
  // Opens of one user, marked as being made. Sets `waits` when another round is at work on some.
  std::vector<NumberedOpen> take_together(std::span<const core::FileId> files, std::unordered_set<OpenNumber>& tried,
                                          core::Credentials& cred, bool& waits);
  void erase(OpenNumber open);

  struct Open {
    core::FileId file = core::kNoFile;
    core::Credentials cred;
    std::uint32_t access = 0;
    bool making = false;
  };
  LeaseCalls& calls_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable made_;
  std::unordered_map<OpenNumber, Open> opens_;  // that are local
  std::unordered_map<core::FileId, std::unordered_set<OpenNumber>> of_file_;
};

}  // namespace stoa::native
