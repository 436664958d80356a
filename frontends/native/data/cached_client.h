// A client with its caches, as a mount or libstoa uses it.
#pragma once

#include <memory>

#include "frontends/native/cache/lease_relay.h"
#include "frontends/native/cache/leased_storage.h"
#include "frontends/native/client/client.h"
#include "frontends/native/data/buffered_storage.h"
#include "frontends/native/protocol/message.h"
#include "frontends/native/storage/native_storage.h"

namespace stoa::native {

struct CachedClientOptions {
  static constexpr std::uint64_t kBudgetBytes = 256 * 1024 * 1024;
  ClientOptions client;                       // `leases` is filled in
  std::uint64_t budget_bytes = kBudgetBytes;  // of memory for names, attributes, and data written or read ahead
};

// Thread-safe. After fork(2) the child must not use it, nor destroy it: it has none of its threads.
class CachedClient {
 public:
  // As Client::connect(), with its errors, and those of choose_key() and LeasedStorage::make().
  static Result<std::unique_ptr<CachedClient>> connect(const CachedClientOptions& options);
  // Sends and commits what is buffered; what cannot be is told in the log.
  ~CachedClient();
  CachedClient(const CachedClient&) = delete;

  Client& client() { return *client_; }
  LeasedStorage& leases() { return *leases_; }
  BufferedStorage& storage() { return *buffers_; }
  KeyKind key() const { return key_; }

 private:
  // The part of the budget that is for names and attributes: a quarter.
  static constexpr std::uint64_t kPartOfNames = 4;

  explicit CachedClient(KeyKind key) : key_(key) {}

  const KeyKind key_;
  LeaseRelay events_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<NativeStorage> server_;
  std::unique_ptr<LeasedStorage> leases_;
  std::unique_ptr<BufferedStorage> buffers_;
};

}  // namespace stoa::native
