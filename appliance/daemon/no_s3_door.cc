#include "appliance/daemon/door.h"

namespace stoa::appliance {
Result<std::unique_ptr<Door>> open_s3_door(const Config&, core::Volume&, MetricRegistry&) {
  return fail(Errc::kNotSupported,
              "this build has no S3 door; switch it off with s3.enabled = false (--s3-enabled false)");
}
}  // namespace stoa::appliance
