#include "frontends/kerberos/initiator.h"

#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <krb5/krb5.h>

#include "frontends/kerberos/gss_values.h"

namespace stoa::kerberos {
namespace {

constexpr OM_uint32 kFlags = GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG;

Error explained(OM_uint32 major, OM_uint32 minor, const std::string& service, const std::string& host) {
  const std::string name = service + "/" + host;
  const std::string said = " (" + describe_minor(minor) + ")";
  switch (static_cast<krb5_error_code>(static_cast<std::int32_t>(minor))) {
    case KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN:
      return {Errc::kNotFound, 0,
              "the Kerberos realm does not know the server as " + name +
                  "; name it in the URL as its keytab does, or have the principal made"};
    case KRB5KRB_AP_ERR_TKT_EXPIRED:
      return {Errc::kAccess, 0, "the Kerberos ticket has expired; get another one with kinit"};
    case KRB5KRB_AP_ERR_SKEW:
    case KRB5KRB_AP_ERR_TKT_NYV:
      return {Errc::kAccess, 0,
              "the clock of this machine and that of the KDC differ too much for Kerberos; set the clock"};
    case KRB5_KDC_UNREACH:
    case KRB5_REALM_UNKNOWN:
    case KRB5_REALM_CANT_RESOLVE:
      return {Errc::kIo, 0, "no KDC of the Kerberos realm answers; look at krb5.conf and at the network" + said};
    default:
      break;
  }
  if (GSS_ROUTINE_ERROR(major) == GSS_S_CREDENTIALS_EXPIRED)
    return {Errc::kAccess, 0, "the Kerberos ticket has expired; get another one with kinit"};
  if (GSS_ROUTINE_ERROR(major) == GSS_S_NO_CRED)
    return {Errc::kAccess, 0,
            "there is no Kerberos ticket; get one with kinit, or name a cache or a client keytab in "
            "KRB5CCNAME or KRB5_CLIENT_KTNAME" +
                said};
  return {Errc::kAccess, 0, "Kerberos gives no ticket for " + name + "; look at krb5.conf and klist" + said};
}

}  // namespace

struct Initiator::Parts {
  ~Parts() { clear(); }
  void clear() {
    OM_uint32 minor = 0;
    gss_delete_sec_context(&minor, &context, GSS_C_NO_BUFFER);
    gss_release_name(&minor, &target);
  }
  // The context's next step.
  OM_uint32 step(std::span<const std::byte> token, OM_uint32& minor, OM_uint32& flags, GssBuffer& output) {
    gss_channel_bindings_struct bound{};
    bound.application_data = buffer_of(bindings);
    gss_buffer_desc input = buffer_of(token);
    return gss_init_sec_context(&minor, GSS_C_NO_CREDENTIAL, &context, target, const_cast<gss_OID>(gss_mech_krb5),
                                kFlags, 0, &bound, token.empty() ? GSS_C_NO_BUFFER : &input, nullptr, output.get(),
                                &flags, nullptr);
  }

  gss_ctx_id_t context = GSS_C_NO_CONTEXT;
  gss_name_t target = GSS_C_NO_NAME;
  std::vector<std::byte> bindings;
  bool complete = false;
};

Initiator::Initiator() : parts_(std::make_unique<Parts>()) {}
Initiator::~Initiator() = default;

Result<std::vector<std::byte>> Initiator::begin(const std::string& service, const std::string& host,
                                                std::span<const std::byte> bindings) {
  parts_->clear();
  parts_->complete = false;
  parts_->bindings.assign(bindings.begin(), bindings.end());
  const std::string name = service + "@" + host;
  gss_buffer_desc text = buffer_of(std::as_bytes(std::span(name)));
  OM_uint32 minor = 0;
  OM_uint32 major = gss_import_name(&minor, &text, GSS_C_NT_HOSTBASED_SERVICE, &parts_->target);
  if (major != GSS_S_COMPLETE) return fail(explained(major, minor, service, host));
  GssBuffer token;
  OM_uint32 flags = 0;
  major = parts_->step({}, minor, flags, token);
  if (GSS_ERROR(major)) return fail(explained(major, minor, service, host));
  const auto bytes = token.bytes();
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Status Initiator::finish(std::span<const std::byte> token) {
  OM_uint32 minor = 0;
  OM_uint32 flags = 0;
  GssBuffer output;
  const bool begun = parts_->context != GSS_C_NO_CONTEXT && !token.empty();
  const OM_uint32 major = begun ? parts_->step(token, minor, flags, output) : GSS_S_DEFECTIVE_TOKEN;
  // One token each way is all that Kerberos needs.
  parts_->complete = major == GSS_S_COMPLETE && (flags & GSS_C_MUTUAL_FLAG) != 0 && output.bytes().empty();
  if (parts_->complete) return {};
  return fail(Errc::kAccess, "the server does not prove to have the key of the Kerberos ticket: it is not the one");
}

bool Initiator::verify_mic(std::span<const std::byte> message, std::span<const std::byte> mic) {
  OM_uint32 minor = 0;
  gss_buffer_desc data = buffer_of(message), token = buffer_of(mic);
  return parts_->complete && gss_verify_mic(&minor, parts_->context, &data, &token, nullptr) == GSS_S_COMPLETE;
}

}  // namespace stoa::kerberos
