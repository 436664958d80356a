#include "frontends/kerberos/keytab_mechanism.h"

#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <krb5/krb5.h>

#include <mutex>
#include <utility>

#include "base/log.h"
#include "frontends/kerberos/gss_values.h"

namespace stoa::kerberos {
namespace {

GssRefusal why_of(OM_uint32 major, OM_uint32 minor) {
  switch (static_cast<krb5_error_code>(static_cast<std::int32_t>(minor))) {
    case KRB5KRB_AP_ERR_TKT_EXPIRED:
      return GssRefusal::kExpired;
    case KRB5KRB_AP_ERR_SKEW:
    case KRB5KRB_AP_ERR_TKT_NYV:
      return GssRefusal::kClockSkew;
    case KRB5_KT_NOTFOUND:
    case KRB5_KT_KVNONOTFOUND:
    case KRB5KRB_AP_ERR_BADKEYVER:
    case KRB5KRB_AP_ERR_NOKEY:
    case KRB5KRB_AP_ERR_NOT_US:
    case KRB5KRB_AP_WRONG_PRINC:
      return GssRefusal::kNoKey;
    default:
      return GSS_ROUTINE_ERROR(major) == GSS_S_CREDENTIALS_EXPIRED ? GssRefusal::kExpired : GssRefusal::kOther;
  }
}

// An expired context still computes; the caller knows its lifetime and ends it.
bool is_good(OM_uint32 major) {
  return major == GSS_S_COMPLETE || major == GSS_S_CONTEXT_EXPIRED;
}

struct Acceptor {
  Acceptor() = default;
  Acceptor(const Acceptor&) = delete;
  ~Acceptor() {
    OM_uint32 minor = 0;
    gss_release_cred(&minor, &credential);
  }
  gss_cred_id_t credential = GSS_C_NO_CREDENTIAL;
  std::mutex mutex;  // one step at a time: a client that floods us with tokens takes one processor, not all
};

class KerberosContext final : public GssContext {
 public:
  KerberosContext(Acceptor& acceptor, std::span<const std::byte> bindings)
      : acceptor_(acceptor), bindings_(bindings.begin(), bindings.end()) {}
  ~KerberosContext() override {
    OM_uint32 minor = 0;
    gss_delete_sec_context(&minor, &context_, GSS_C_NO_BUFFER);
  }

  GssStep accept(std::span<const std::byte> token) override {
    const std::lock_guard lock(acceptor_.mutex);
    gss_buffer_desc input = buffer_of(token);
    gss_name_t client = GSS_C_NO_NAME;
    GssBuffer output;
    OM_uint32 minor = 0;
    OM_uint32 lifetime = 0;
    OM_uint32 flags = 0;
    gss_channel_bindings_struct bound{};
    bound.application_data = buffer_of(bindings_);
    OM_uint32 major = gss_accept_sec_context(&minor, &context_, acceptor_.credential, &input,
                                             bindings_.empty() ? GSS_C_NO_CHANNEL_BINDINGS : &bound, &client, nullptr,
                                             output.get(), &flags, &lifetime, nullptr);
    // The library takes a client that has bound its token to nothing.
    const bool unbound = !bindings_.empty() && (flags & GSS_C_CHANNEL_BOUND_FLAG) == 0;
    if (major == GSS_S_COMPLETE && unbound) major = GSS_S_BAD_BINDINGS;
    const auto answer = output.bytes();
    GssStep step{.major = major,
                 .minor = minor,
                 .token = {answer.begin(), answer.end()},
                 .lifetime = std::chrono::seconds(lifetime),
                 .why = why_of(major, minor)};
    OM_uint32 ignored = 0;
    if (major == GSS_S_COMPLETE) {
      GssBuffer name;
      if (gss_display_name(&ignored, client, name.get(), nullptr) == GSS_S_COMPLETE) step.principal = name.text();
      if (step.principal.empty()) step = {.major = GSS_S_FAILURE};
    }
    gss_release_name(&ignored, &client);
    if (step.major != GssStep::kComplete && step.major != GssStep::kContinueNeeded) {
      log_debug("kerberos", "a client was refused", {{"reason", describe_status(major, minor)}});
    }
    return step;
  }

  bool verify_mic(std::span<const std::byte> message, std::span<const std::byte> mic) override {
    OM_uint32 minor = 0;
    gss_buffer_desc data = buffer_of(message), token = buffer_of(mic);
    return gss_verify_mic(&minor, context_, &data, &token, nullptr) == GSS_S_COMPLETE;
  }

  bool append_mic(std::span<const std::byte> message, wire::ReplyBuffer& out) override {
    OM_uint32 minor = 0;
    gss_buffer_desc data = buffer_of(message);
    GssBuffer mic;
    if (!is_good(gss_get_mic(&minor, context_, GSS_C_QOP_DEFAULT, &data, mic.get())) || mic.bytes().empty())
      return false;
    out.append(mic.bytes());
    return true;
  }

  bool unwrap(std::span<const std::byte> token, std::vector<std::byte>& message) override {
    OM_uint32 minor = 0;
    int encrypted = 0;
    gss_buffer_desc data = buffer_of(token);
    GssBuffer plain;
    if (gss_unwrap(&minor, context_, &data, plain.get(), &encrypted, nullptr) != GSS_S_COMPLETE || encrypted == 0)
      return false;
    const auto bytes = plain.bytes();
    message.assign(bytes.begin(), bytes.end());
    return true;
  }

  bool append_wrapped(std::span<const std::byte> message, wire::ReplyBuffer& out) override {
    OM_uint32 minor = 0;
    int encrypted = 0;
    gss_buffer_desc data = buffer_of(message);
    GssBuffer token;
    const OM_uint32 major = gss_wrap(&minor, context_, 1, GSS_C_QOP_DEFAULT, &data, &encrypted, token.get());
    if (!is_good(major) || encrypted == 0 || token.bytes().empty()) return false;
    out.append(token.bytes());
    return true;
  }

 private:
  Acceptor& acceptor_;
  const std::vector<std::byte> bindings_;
  gss_ctx_id_t context_ = GSS_C_NO_CONTEXT;
};

// The default realm, and whether the keytab has a key; its realm is used when no default is configured.
Result<std::string> look_into(const std::string& path) {
  krb5_context context = nullptr;
  if (const krb5_error_code error = krb5_init_context(&context); error != 0)
    return fail(Errc::kInvalid, "Kerberos: its configuration cannot be read (error " + std::to_string(error) + ")");
  const std::unique_ptr<std::remove_pointer_t<krb5_context>, decltype(&krb5_free_context)> owner(context,
                                                                                                 &krb5_free_context);
  const auto refuse = [&](krb5_error_code error) {
    const char* text = krb5_get_error_message(context, error);
    auto failed = fail(Errc::kInvalid, "keytab " + path + ": " + text);
    krb5_free_error_message(context, text);
    return failed;
  };

  krb5_keytab keytab = nullptr;
  if (const auto error = krb5_kt_resolve(context, ("FILE:" + path).c_str(), &keytab); error != 0) return refuse(error);
  krb5_kt_cursor cursor = nullptr;
  krb5_keytab_entry entry{};
  krb5_error_code error = krb5_kt_start_seq_get(context, keytab, &cursor);
  std::string realm;
  if (error == 0) {
    error = krb5_kt_next_entry(context, keytab, &entry, &cursor);
    if (error == 0) {
      realm.assign(entry.principal->realm.data, entry.principal->realm.length);
      krb5_free_keytab_entry_contents(context, &entry);
    }
    krb5_kt_end_seq_get(context, keytab, &cursor);
  }
  krb5_kt_close(context, keytab);
  if (error != 0) return refuse(error);

  if (char* configured = nullptr; krb5_get_default_realm(context, &configured) == 0) {
    realm = configured;
    krb5_free_default_realm(context, configured);
  }
  return realm;
}

}  // namespace

struct KeytabMechanism::Parts {
  Acceptor acceptor;
};

Result<std::unique_ptr<KeytabMechanism>> KeytabMechanism::open(const std::string& keytab) {
  STOA_TRY(realm, look_into(keytab));
  auto parts = std::make_unique<Parts>();
  const std::string file = "FILE:" + keytab;
  gss_key_value_element_desc elements[] = {{"keytab", file.c_str()}, {"rcache", "none:"}};
  gss_key_value_set_desc store{2, elements};
  gss_OID_set_desc mechanisms{1, const_cast<gss_OID>(gss_mech_krb5)};
  OM_uint32 minor = 0;
  const OM_uint32 major = gss_acquire_cred_from(&minor, GSS_C_NO_NAME, GSS_C_INDEFINITE, &mechanisms, GSS_C_ACCEPT,
                                                &store, &parts->acceptor.credential, nullptr, nullptr);
  if (major != GSS_S_COMPLETE) return fail(Errc::kInvalid, "keytab " + keytab + ": " + describe_status(major, minor));
  return std::unique_ptr<KeytabMechanism>(new KeytabMechanism(std::move(parts), std::move(realm)));
}

KeytabMechanism::KeytabMechanism(std::unique_ptr<Parts> parts, std::string realm)
    : parts_(std::move(parts)), realm_(std::move(realm)) {}
KeytabMechanism::~KeytabMechanism() = default;

std::unique_ptr<GssContext> KeytabMechanism::begin(std::span<const std::byte> bindings) {
  return std::make_unique<KerberosContext>(parts_->acceptor, bindings);
}

}  // namespace stoa::kerberos
