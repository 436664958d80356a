// The certificate that the server shows just now, and whether clients may come without TLS.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "frontends/tls/context.h"

namespace stoa::native {

// Thread-safe.
class ServerSecurity {
 public:
  ServerSecurity(bool required, std::shared_ptr<const tls::Context> context)
      : required_(required), context_(std::move(context)) {}

  bool required() const { return required_; }
  // Null: the server offers no TLS.
  std::shared_ptr<const tls::Context> context() const {
    const std::lock_guard lock(mutex_);
    return context_;
  }
  // For connections that come from now on.
  void renew(std::shared_ptr<const tls::Context> context) {
    const std::lock_guard lock(mutex_);
    context_ = std::move(context);
  }

 private:
  const bool required_;
  mutable std::mutex mutex_;  // guards context_
  std::shared_ptr<const tls::Context> context_;
};

}  // namespace stoa::native
