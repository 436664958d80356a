// The session of a program with its server, and the layers that answer its calls.
#pragma once

#include <string>

#include "frontends/native/data/cached_client.h"
#include "frontends/native/data/workers.h"

namespace stoa::native::lib {

struct LibraryOptions {
  std::string url;
  std::string key_file;
  std::uint32_t channels = 2;
  std::chrono::milliseconds soft{0};
  bool kerberos = false;  // as ClientOptions has it
  std::uint64_t budget_bytes = CachedClientOptions::kBudgetBytes;
};

// Thread-safe. After fork(2) the child must not use it, nor destroy it.
class LibraryFileSystem {
 public:
  // Errors of CachedClient::connect. With a host's key all calls are for the process as it is now.
  static Result<std::unique_ptr<LibraryFileSystem>> connect(const LibraryOptions& options);

  BufferedStorage& storage() { return cached_->storage(); }
  const Asker& asker() const { return asker_; }

  // For messages that go past storage(), of batches and rings. They only ask, or make names between begin_making() and
  // end_making() of leases(); before content is asked for, what is buffered is sent.
  Client& client() { return cached_->client(); }
  LeasedStorage& leases() { return cached_->leases(); }
  const CallOptions& call_options() const { return call_options_; }
  // For calls that block, of programs that do not wait for them.
  data::Workers& workers() { return workers_; }

 private:
  explicit LibraryFileSystem(std::unique_ptr<CachedClient> cached) : cached_(std::move(cached)) {}

  const std::unique_ptr<CachedClient> cached_;
  Asker asker_;
  CallOptions call_options_;
  static constexpr std::size_t kThreadsMost = 8, kJobsMost = 1u << 20;
  data::Workers workers_{kThreadsMost, kJobsMost};  // they use all of the above
};

}  // namespace stoa::native::lib
