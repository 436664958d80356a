// Kerberos version 5 (RFC 4121) with the keys of a keytab, by the GSSAPI library of MIT.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "frontends/kerberos/gss_mechanism.h"

namespace stoa::kerberos {

class KeytabMechanism final : public GssMechanism {
 public:
  // Reads the keytab: kInvalid when it cannot be read or holds no key. Keys that are added later are found, too.
  // Clients may ask for any principal that has a key there: nfs/HOST@REALM over NFS, stoa/HOST@REALM or that one over
  // the native protocol.
  static Result<std::unique_ptr<KeytabMechanism>> open(const std::string& keytab);
  ~KeytabMechanism() override;

  // The default realm of this machine's krb5.conf, else that of the first key.
  const std::string& realm() const { return realm_; }
  std::unique_ptr<GssContext> begin(std::span<const std::byte> bindings) override;

 private:
  struct Parts;
  KeytabMechanism(std::unique_ptr<Parts> parts, std::string realm);

  const std::unique_ptr<Parts> parts_;
  const std::string realm_;
};

}  // namespace stoa::kerberos
