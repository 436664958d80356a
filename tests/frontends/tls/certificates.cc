#include "tests/frontends/tls/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/assert.h"

namespace stoa::test {
namespace {

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long bytes = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<std::size_t>(bytes));
  BIO_free(bio);
  return text;
}

std::string pem_of(X509* certificate) {
  BIO* const bio = BIO_new(BIO_s_mem());
  STOA_ASSERT(PEM_write_bio_X509(bio, certificate) == 1);
  return text_of(bio);
}

void extend(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str());
  STOA_ASSERT(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

X509* make(const std::string& common_name, X509* issuer, EVP_PKEY* key, EVP_PKEY* signer, long seconds,
           const std::string& alternative) {
  static long serial = 0;
  X509* const made = X509_new();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made), seconds);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
  X509* const by = issuer == nullptr ? made : issuer;
  X509_set_issuer_name(made, X509_get_subject_name(by));
  X509_set_pubkey(made, key);
  extend(made, by, NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
  if (!alternative.empty()) extend(made, by, NID_subject_alt_name, alternative);
  STOA_ASSERT(X509_sign(made, signer, EVP_sha256()) > 0);
  return made;
}

}  // namespace

TestAuthority::TestAuthority() {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const own = make("Test Authority", nullptr, key, key, 7200, {});
  key_ = key;
  certificate_ = own;
  pem_ = pem_of(own);
}

TestAuthority::~TestAuthority() {
  X509_free(static_cast<X509*>(certificate_));
  EVP_PKEY_free(static_cast<EVP_PKEY*>(key_));
}

TestCertificate TestAuthority::issue(const std::string& name, long seconds) const {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const made = make("server", static_cast<X509*>(certificate_), key, static_cast<EVP_PKEY*>(key_), seconds, name);
  BIO* const bio = BIO_new(BIO_s_mem());
  STOA_ASSERT(PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  TestCertificate issued{pem_of(made), text_of(bio)};
  X509_free(made);
  EVP_PKEY_free(key);
  return issued;
}

}  // namespace stoa::test
