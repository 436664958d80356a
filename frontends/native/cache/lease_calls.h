// What the layer of leases asks of the client below it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "core/api/credentials.h"
#include "core/api/ids.h"

namespace stoa::native {

// An open with a number that is used already.
struct NumberedOpen {
  std::uint64_t number = 0;
  core::FileId file = core::kNoFile;
  std::uint32_t access = 0;  // core::ShareBits
};
inline constexpr std::size_t kOpensAtOnce = 256;  // of one message

// Thread-safe.
class LeaseCalls {
 public:
  virtual std::uint64_t new_lease() = 0;              // Client::new_lease
  virtual std::uint64_t new_open() = 0;               // Client::new_open
  virtual std::int64_t trusted_until_ns() const = 0;  // Client::trusted_until_ns
  // Gives up all bits of a lease but `keeps`. Blocks. kLeaseLost: it was gone already.
  virtual Status acknowledge(std::uint64_t lease, std::uint32_t keeps) = 0;
  // Opens files of one user at the server; each has its own result, with the errors of Storage::open. Blocks.
  virtual std::vector<Status> open_numbered(const core::Credentials& cred, std::span<const NumberedOpen> opens) = 0;
  // The end: acknowledge() and open_numbered() wait for the server no longer, from now on.
  virtual void stop_waiting() = 0;

 protected:
  ~LeaseCalls() = default;
};

}  // namespace stoa::native
