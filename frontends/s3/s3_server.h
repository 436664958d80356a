// The S3 server: an HTTP server that translates the S3 API into calls of the core.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/metrics.h"
#include "core/api/namespace.h"
#include "core/api/registry.h"
#include "frontends/s3/options.h"

namespace stoa::s3 {

class Server {
 public:
  // Listens and serves until it is destroyed. `ns`, `registry` and `metrics` must outlive it. Each connection has a
  // thread of its own, so that a request that waits for the disk does not delay others.
  // Errors: kInvalid when an option has no meaning or a file cannot be used; kBusy, kAccess, kIo: the address cannot be
  // bound; detail says which.
  static Result<std::unique_ptr<Server>> start(core::Namespace& ns, core::Registry& registry, MetricRegistry& metrics,
                                               ServerOptions options);
  virtual ~Server() = default;

  virtual std::uint16_t port() const = 0;
  // "http://127.0.0.1:9000": how a client on this machine reaches it.
  virtual std::string url() const = 0;

  // Another server with the same options on the same socket, which shows the certificate now in the files. Null when
  // that is the present one, or there is no TLS. It gets new connections; this one finishes those that it has (drain
  // and destroy it). kInvalid, and this server goes on as before: a file cannot be used.
  virtual Result<std::unique_ptr<Server>> renew() = 0;

  // Stops listening and waits until the running requests are answered, at most `patience`. True when none is left.
  // Destroying the server cuts off the rest.
  virtual bool drain(std::chrono::milliseconds patience) = 0;
};

}  // namespace stoa::s3
