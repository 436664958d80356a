#include "frontends/kerberos/gss_values.h"

#include <gssapi/gssapi_krb5.h>

namespace stoa::kerberos {
namespace {

void append_lines(OM_uint32 code, int type, std::string& text) {
  OM_uint32 ignored = 0;
  OM_uint32 more = 0;
  do {
    GssBuffer line;
    if (gss_display_status(&ignored, code, type, gss_mech_krb5, &more, line.get()) != GSS_S_COMPLETE) break;
    text.append(text.empty() ? "" : "; ").append(line.text());
  } while (more != 0);
}

}  // namespace

gss_buffer_desc buffer_of(std::span<const std::byte> bytes) {
  return {bytes.size(), const_cast<std::byte*>(bytes.data())};
}

GssBuffer::~GssBuffer() {
  OM_uint32 minor = 0;
  gss_release_buffer(&minor, &value_);
}

std::string describe_status(OM_uint32 major, OM_uint32 minor) {
  std::string text;
  append_lines(major, GSS_C_GSS_CODE, text);
  append_lines(minor, GSS_C_MECH_CODE, text);
  return text;
}

std::string describe_minor(OM_uint32 minor) {
  std::string text;
  append_lines(minor, GSS_C_MECH_CODE, text);
  return text;
}

}  // namespace stoa::kerberos
