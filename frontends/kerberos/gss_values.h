// Values of GSSAPI: buffers and status texts.
#pragma once

#include <gssapi/gssapi.h>

#include <cstddef>
#include <span>
#include <string>

namespace stoa::kerberos {

// For a call of the library, which does not write to it.
gss_buffer_desc buffer_of(std::span<const std::byte> bytes);

// A buffer allocated by the library.
class GssBuffer {
 public:
  GssBuffer() = default;
  GssBuffer(const GssBuffer&) = delete;
  ~GssBuffer();
  gss_buffer_t get() { return &value_; }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(value_.value), value_.length}; }
  std::string text() const { return {static_cast<const char*>(value_.value), value_.length}; }

 private:
  gss_buffer_desc value_ = GSS_C_EMPTY_BUFFER;
};

// In the words of the library. `minor`: of Kerberos.
std::string describe_status(OM_uint32 major, OM_uint32 minor);
// The second half of it.
std::string describe_minor(OM_uint32 minor);

}  // namespace stoa::kerberos
