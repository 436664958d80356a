#include "frontends/native/data/cached_client.h"

#include "frontends/native/client/key_file.h"

namespace stoa::native {

Result<std::unique_ptr<CachedClient>> CachedClient::connect(const CachedClientOptions& options) {
  STOA_TRY(key, choose_key(options.client.kerberos, options.client.key_file));
  std::unique_ptr<CachedClient> made(new CachedClient(key.kind));
  ClientOptions with_leases = options.client;
  with_leases.leases = &made->events_;
  STOA_TRY(client, Client::connect(with_leases));
  made->client_ = std::move(client);
  made->server_ = std::make_unique<NativeStorage>(*made->client_, key.kind);
  const std::uint64_t of_names = options.budget_bytes / kPartOfNames;
  STOA_TRY(leases, LeasedStorage::make(*made->server_, *made->server_, {.bytes = of_names}));
  made->leases_ = std::move(leases);
  made->buffers_ = std::make_unique<BufferedStorage>(*made->leases_, *made->leases_, options.budget_bytes - of_names);
  made->leases_->set_kept(made->buffers_.get());
  made->events_.set(made->leases_.get());
  return made;
}

CachedClient::~CachedClient() {
  if (buffers_ != nullptr) (void)buffers_->commit_everything();  // told in the log
  // Nobody is told of recalls any more: the session ends with the client, and all its leases with it.
  events_.set(nullptr);
  if (leases_ != nullptr) leases_->set_kept(nullptr);
}

}  // namespace stoa::native
