#include "frontends/s3/op/admission.h"

namespace stoa::s3 {

Admission admission(const core::Export& bucket, const Request& request) {
  bool read_only = bucket.read_only;
  if (!bucket.clients.empty()) {
    const core::ClientRule* rule = bucket.rule_for(request.address);
    if (rule == nullptr) return Admission::kRefused;
    read_only = read_only || rule->read_only;
  }
  return read_only ? Admission::kReadOnly : Admission::kReadWrite;
}

}  // namespace stoa::s3
