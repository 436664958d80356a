// Values of the attributes for POSIX ACLs: what is accepted is printed as a value that says the same, and is read again
// from the ACL that it is written as. The first byte: whether of a directory, and default.
#include "base/assert.h"
#include "frontends/native/server/op/posix_acl_value.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace stoa;
  if (size == 0) return 0;
  const std::string_view value(reinterpret_cast<const char*>(data + 1), size - 1);
  const bool directory = (data[0] & 1) != 0, inherited = (data[0] & 2) != 0;
  const auto parsed = native::parse_posix_acl(value);
  if (!parsed) {
    STOA_ASSERT(parsed.error().code == Errc::kInvalid || parsed.error().code == Errc::kNotSupported);
    return 0;
  }
  if (!*parsed) return 0;
  const core::PosixAcl& acl = **parsed;
  const auto again = native::parse_posix_acl(native::print_posix_acl(acl));
  STOA_ASSERT(again && *again == acl);
  if (inherited) {
    STOA_ASSERT(core::default_view(core::with_default({}, acl)) == acl);
  } else {
    STOA_ASSERT(core::access_view(core::with_access({}, acl, directory), directory) == acl);
  }
  return 0;
}
