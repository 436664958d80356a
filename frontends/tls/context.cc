#include "frontends/tls/context.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace stoa::tls {
namespace {

// What is received at once: four records of the largest size. It is given back while a connection is at rest.
constexpr std::size_t kReadBufferBytes = std::size_t{72} << 10;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using CertificatePointer = std::unique_ptr<X509, FreeCertificate>;

std::unique_ptr<BIO, FreeBio> reader_of(const std::string& text) {
  return std::unique_ptr<BIO, FreeBio>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// A key with a passphrase is refused: else the library would ask at the terminal.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

}  // namespace

void Context::Free::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

Result<Context::Pointer> Context::make(bool server) {
  ERR_clear_error();
  Pointer context(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()));
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context.get(), TLS1_3_VERSION) != 1)
    return fail(Errc::kInvalid, "the TLS library of this machine has no TLS 1.3");
  // An end without a farewell is an end: what is framed on top shows whether it was whole.
  SSL_CTX_set_options(
      context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context.get(), 1);
  SSL_CTX_set_default_read_buffer_len(context.get(), kReadBufferBytes);
  return context;
}

Result<std::shared_ptr<const Context>> Context::server(const std::string& chain, const std::string& key) {
  STOA_TRY(context, make(true));
  const auto chain_reader = reader_of(chain), key_reader = reader_of(key);
  const CertificatePointer own(PEM_read_bio_X509_AUX(chain_reader.get(), nullptr, no_passphrase, nullptr));
  if (own == nullptr || SSL_CTX_use_certificate(context.get(), own.get()) != 1)
    return fail(Errc::kInvalid, "the certificate is no PEM certificate that serves TLS 1.3");
  for (;;) {
    CertificatePointer next(PEM_read_bio_X509(chain_reader.get(), nullptr, no_passphrase, nullptr));
    if (next == nullptr) break;
    if (SSL_CTX_add0_chain_cert(context.get(), next.get()) != 1)
      return fail(Errc::kInvalid, "the certificates that the server's stands on cannot be used");
    (void)next.release();
  }
  ERR_clear_error();  // that of the end of the text
  const std::unique_ptr<EVP_PKEY, FreeKey> secret(
      PEM_read_bio_PrivateKey(key_reader.get(), nullptr, no_passphrase, nullptr));
  if (secret == nullptr || SSL_CTX_use_PrivateKey(context.get(), secret.get()) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    ERR_clear_error();
    return fail(Errc::kInvalid, "the key is no PEM key without a passphrase, or is not that of the certificate");
  }
  return std::shared_ptr<const Context>(new Context(std::move(context), false));
}

Result<std::shared_ptr<const Context>> Context::client(bool verify, const std::string& ca_file) {
  STOA_TRY(context, make(false));
  SSL_CTX_set_verify(context.get(), verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (verify) {
    const int loaded = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context.get())
                                       : SSL_CTX_load_verify_file(context.get(), ca_file.c_str());
    ERR_clear_error();
    if (loaded != 1) {
      return fail(Errc::kInvalid, ca_file.empty() ? "this machine has no list of authorities to trust; name one"
                                                  : "there is no certificate in " + ca_file + "; it must be PEM");
    }
  }
  return std::shared_ptr<const Context>(new Context(std::move(context), verify));
}

}  // namespace stoa::tls
