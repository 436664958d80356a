#include "appliance/daemon/protocol.h"

namespace stoa::appliance {
Result<std::unique_ptr<Protocol>> open_s3_protocol(const Config&, core::Volume&, MetricRegistry&) {
  return fail(Errc::kNotSupported,
              "this build has no S3 server; switch it off with s3.enabled = false (--s3-enabled false)");
}
}  // namespace stoa::appliance
