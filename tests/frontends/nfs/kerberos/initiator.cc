#include "tests/frontends/nfs/kerberos/initiator.h"

#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>

#include <cstring>

namespace stoa::test {
namespace {

gss_buffer_desc buffer_of(std::span<const std::byte> bytes) {
  return {bytes.size(), const_cast<std::byte*>(bytes.data())};
}

Bytes taken(gss_buffer_desc& buffer) {
  const auto* begin = static_cast<const std::byte*>(buffer.value);
  Bytes bytes(begin, begin + buffer.length);
  OM_uint32 minor = 0;
  gss_release_buffer(&minor, &buffer);
  return bytes;
}

void append(gss_buffer_desc& buffer, rpc::ReplyBuffer& out) {
  out.append(taken(buffer));
}

}  // namespace

Initiator::Initiator(const std::string& cache, const std::string& service) {
  OM_uint32 minor = 0;
  gss_key_value_element_desc elements[] = {{"ccache", cache.c_str()}};
  gss_key_value_set_desc store{1, elements};
  gss_acquire_cred_from(&minor, GSS_C_NO_NAME, GSS_C_INDEFINITE, GSS_C_NO_OID_SET, GSS_C_INITIATE, &store, &credential_,
                        nullptr, nullptr);
  gss_buffer_desc name{service.size(), const_cast<char*>(service.data())};
  gss_import_name(&minor, &name, GSS_C_NT_HOSTBASED_SERVICE, &target_);
}

Initiator::~Initiator() {
  OM_uint32 minor = 0;
  gss_delete_sec_context(&minor, &context_, GSS_C_NO_BUFFER);
  gss_release_name(&minor, &target_);
  gss_release_cred(&minor, &credential_);
}

std::optional<Bytes> Initiator::step(std::span<const std::byte> token) {
  OM_uint32 minor = 0;
  gss_buffer_desc input = buffer_of(token), output = GSS_C_EMPTY_BUFFER;
  const OM_uint32 major =
      gss_init_sec_context(&minor, credential_, &context_, target_, const_cast<gss_OID>(gss_mech_krb5),
                           GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG | GSS_C_CONF_FLAG, 0, GSS_C_NO_CHANNEL_BINDINGS, &input,
                           nullptr, &output, nullptr, nullptr);
  complete_ = major == GSS_S_COMPLETE;
  Bytes bytes = taken(output);
  if (GSS_ERROR(major)) return std::nullopt;
  return bytes;
}

bool Initiator::verify_mic(std::span<const std::byte> message, std::span<const std::byte> mic) {
  OM_uint32 minor = 0;
  gss_buffer_desc data = buffer_of(message), token = buffer_of(mic);
  return gss_verify_mic(&minor, context_, &data, &token, nullptr) == GSS_S_COMPLETE;
}

bool Initiator::append_mic(std::span<const std::byte> message, rpc::ReplyBuffer& out) {
  OM_uint32 minor = 0;
  gss_buffer_desc data = buffer_of(message), mic = GSS_C_EMPTY_BUFFER;
  gss_get_mic(&minor, context_, GSS_C_QOP_DEFAULT, &data, &mic);
  append(mic, out);
  return true;
}

bool Initiator::unwrap(std::span<const std::byte> token, std::vector<std::byte>& message) {
  OM_uint32 minor = 0;
  int encrypted = 0;
  gss_buffer_desc data = buffer_of(token), plain = GSS_C_EMPTY_BUFFER;
  const OM_uint32 major = gss_unwrap(&minor, context_, &data, &plain, &encrypted, nullptr);
  message = taken(plain);
  return major == GSS_S_COMPLETE && encrypted != 0;
}

bool Initiator::append_wrapped(std::span<const std::byte> message, rpc::ReplyBuffer& out) {
  OM_uint32 minor = 0;
  int encrypted = 0;
  gss_buffer_desc data = buffer_of(message), token = GSS_C_EMPTY_BUFFER;
  gss_wrap(&minor, context_, 1, GSS_C_QOP_DEFAULT, &data, &encrypted, &token);
  append(token, out);
  return true;
}

}  // namespace stoa::test
