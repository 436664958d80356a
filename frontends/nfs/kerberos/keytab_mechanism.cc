#include "frontends/nfs/kerberos/keytab_mechanism.h"

#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <krb5/krb5.h>

#include <mutex>
#include <utility>

#include "base/log.h"

namespace stoa::nfs {
namespace {

gss_buffer_desc buffer_of(std::span<const std::byte> bytes) {
  return {bytes.size(), const_cast<std::byte*>(bytes.data())};
}

// A buffer allocated by the library.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  ~Buffer() {
    OM_uint32 minor = 0;
    gss_release_buffer(&minor, &value_);
  }
  gss_buffer_t get() { return &value_; }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(value_.value), value_.length}; }
  std::string text() const { return {static_cast<const char*>(value_.value), value_.length}; }

 private:
  gss_buffer_desc value_ = GSS_C_EMPTY_BUFFER;
};

std::string describe_status(OM_uint32 major, OM_uint32 minor) {
  std::string text;
  for (const auto& [code, type] : {std::pair{major, GSS_C_GSS_CODE}, std::pair{minor, GSS_C_MECH_CODE}}) {
    OM_uint32 ignored = 0;
    OM_uint32 more = 0;
    do {
      Buffer line;
      if (gss_display_status(&ignored, code, type, gss_mech_krb5, &more, line.get()) != GSS_S_COMPLETE) break;
      text.append(text.empty() ? "" : "; ").append(line.text());
    } while (more != 0);
  }
  return text;
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

class KerberosContext final : public rpc::GssContext {
 public:
  explicit KerberosContext(Acceptor& acceptor) : acceptor_(acceptor) {}
  ~KerberosContext() override {
    OM_uint32 minor = 0;
    gss_delete_sec_context(&minor, &context_, GSS_C_NO_BUFFER);
  }

  rpc::GssStep accept(std::span<const std::byte> token) override {
    const std::lock_guard lock(acceptor_.mutex);
    gss_buffer_desc input = buffer_of(token);
    gss_name_t client = GSS_C_NO_NAME;
    Buffer output;
    OM_uint32 minor = 0;
    OM_uint32 lifetime = 0;
    const OM_uint32 major =
        gss_accept_sec_context(&minor, &context_, acceptor_.credential, &input, GSS_C_NO_CHANNEL_BINDINGS, &client,
                               nullptr, output.get(), nullptr, &lifetime, nullptr);
    const auto answer = output.bytes();
    rpc::GssStep step{.major = major,
                      .minor = minor,
                      .token = {answer.begin(), answer.end()},
                      .lifetime = std::chrono::seconds(lifetime)};
    OM_uint32 ignored = 0;
    if (major == GSS_S_COMPLETE) {
      Buffer name;
      if (gss_display_name(&ignored, client, name.get(), nullptr) == GSS_S_COMPLETE) step.principal = name.text();
      if (step.principal.empty()) step = {.major = GSS_S_FAILURE};
    }
    gss_release_name(&ignored, &client);
    if (step.major != rpc::GssStep::kComplete && step.major != rpc::GssStep::kContinueNeeded) {
      log_debug("nfs", "a Kerberos client was refused", {{"reason", describe_status(major, minor)}});
    }
    return step;
  }

  bool verify_mic(std::span<const std::byte> message, std::span<const std::byte> mic) override {
    OM_uint32 minor = 0;
    gss_buffer_desc data = buffer_of(message), token = buffer_of(mic);
    return gss_verify_mic(&minor, context_, &data, &token, nullptr) == GSS_S_COMPLETE;
  }

  bool append_mic(std::span<const std::byte> message, rpc::ReplyBuffer& out) override {
    OM_uint32 minor = 0;
    gss_buffer_desc data = buffer_of(message);
    Buffer mic;
    if (!is_good(gss_get_mic(&minor, context_, GSS_C_QOP_DEFAULT, &data, mic.get())) || mic.bytes().empty())
      return false;
    out.append(mic.bytes());
    return true;
  }

  bool unwrap(std::span<const std::byte> token, std::vector<std::byte>& message) override {
    OM_uint32 minor = 0;
    int encrypted = 0;
    gss_buffer_desc data = buffer_of(token);
    Buffer plain;
    if (gss_unwrap(&minor, context_, &data, plain.get(), &encrypted, nullptr) != GSS_S_COMPLETE || encrypted == 0)
      return false;
    const auto bytes = plain.bytes();
    message.assign(bytes.begin(), bytes.end());
    return true;
  }

  bool append_wrapped(std::span<const std::byte> message, rpc::ReplyBuffer& out) override {
    OM_uint32 minor = 0;
    int encrypted = 0;
    gss_buffer_desc data = buffer_of(message);
    Buffer token;
    const OM_uint32 major = gss_wrap(&minor, context_, 1, GSS_C_QOP_DEFAULT, &data, &encrypted, token.get());
    if (!is_good(major) || encrypted == 0 || token.bytes().empty()) return false;
    out.append(token.bytes());
    return true;
  }

 private:
  Acceptor& acceptor_;
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

std::unique_ptr<rpc::GssContext> KeytabMechanism::begin() {
  return std::make_unique<KerberosContext>(parts_->acceptor);
}

}  // namespace stoa::nfs
