#include "frontends/http/certificate.h"

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include <fstream>
#include <iterator>

namespace stoa::http {
namespace {

Result<std::string> read_pem(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file || text.empty()) return fail(Errc::kInvalid, "cannot read " + path + ", or it is empty");
  return text;
}

struct Chain {
  gnutls_x509_crt_t* certificates = nullptr;
  unsigned count = 0;
  ~Chain() {
    for (unsigned i = 0; i < count; ++i) gnutls_x509_crt_deinit(certificates[i]);
    gnutls_free(certificates);
  }
};
struct PublicKey {
  gnutls_pubkey_t key = nullptr;
  ~PublicKey() {
    if (key != nullptr) gnutls_pubkey_deinit(key);
  }
};
struct Bytes {
  gnutls_datum_t datum{};
  ~Bytes() { gnutls_free(datum.data); }
};

gnutls_datum_t datum_of(const std::string& text) {
  return {reinterpret_cast<unsigned char*>(const_cast<char*>(text.data())), static_cast<unsigned>(text.size())};
}

// Empty: it is no certificate.
std::string pin_of(const std::string& pem) {
  const gnutls_datum_t text = datum_of(pem);
  Chain chain;
  PublicKey own;
  Bytes der, base64;
  if (gnutls_x509_crt_list_import2(&chain.certificates, &chain.count, &text, GNUTLS_X509_FMT_PEM, 0) < 0 ||
      chain.count == 0)
    return {};
  if (gnutls_pubkey_init(&own.key) != 0 || gnutls_pubkey_import_x509(own.key, chain.certificates[0], 0) != 0) return {};
  if (gnutls_pubkey_export2(own.key, GNUTLS_X509_FMT_DER, &der.datum) != 0) return {};
  unsigned char hash[32];
  if (gnutls_hash_fast(GNUTLS_DIG_SHA256, der.datum.data, der.datum.size, hash) != 0) return {};
  const gnutls_datum_t hashed{hash, sizeof hash};
  if (gnutls_base64_encode2(&hashed, &base64.datum) != 0) return {};
  return "sha256//" + std::string(reinterpret_cast<const char*>(base64.datum.data), base64.datum.size);
}

bool belong_together(const std::string& chain, const std::string& key) {
  struct Pair {
    gnutls_certificate_credentials_t credentials = nullptr;
    ~Pair() {
      if (credentials != nullptr) gnutls_certificate_free_credentials(credentials);
    }
  } pair;
  if (gnutls_certificate_allocate_credentials(&pair.credentials) != 0) return false;
  const gnutls_datum_t certificate = datum_of(chain), secret = datum_of(key);
  return gnutls_certificate_set_x509_key_mem(pair.credentials, &certificate, &secret, GNUTLS_X509_FMT_PEM) >= 0;
}

}  // namespace

Result<Certificate> read_certificate(const std::string& chain_file, const std::string& key_file) {
  STOA_TRY(chain, read_pem(chain_file));
  STOA_TRY(key, read_pem(key_file));
  std::string pin = pin_of(chain);
  if (pin.empty()) return fail(Errc::kInvalid, "there is no certificate in " + chain_file + "; it must be PEM");
  if (!belong_together(chain, key))
    return fail(Errc::kInvalid, "the key in " + key_file + " is none, or is not that of the certificate in " +
                                    chain_file + "; both must be PEM and belong together");
  return Certificate{.chain = std::move(chain), .key = std::move(key), .pin = std::move(pin)};
}

Result<std::optional<Certificate>> read_renewed_certificate(const Certificate& shown, const std::string& chain_file,
                                                            const std::string& key_file) {
  STOA_TRY(fresh, read_certificate(chain_file, key_file));
  if (fresh.chain == shown.chain && fresh.key == shown.key) return std::nullopt;
  return std::optional(std::move(fresh));
}

}  // namespace stoa::http
