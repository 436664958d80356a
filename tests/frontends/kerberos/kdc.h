// A Kerberos realm of its own, STOA.TEST, on the loopback: the KDC of MIT, in a folder that goes with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace stoa::test {

class Kdc {
 public:
  static constexpr const char* kRealm = "STOA.TEST";
  // The missing program; empty: none.
  static std::string missing();

  // Points this process to the realm (KRB5_CONFIG). Dies with a message when it does not start.
  Kdc();
  ~Kdc();
  Kdc(const Kdc&) = delete;

  // Makes a principal with a random key; its key goes to keytab().
  std::string add_service(const std::string& name);
  // Makes a principal and gets a ticket for it. The credential cache.
  std::string login(const std::string& name, const std::string& lifetime = "1h");
  // A keytab with the key of that principal, which login() has made with this lifetime.
  std::string login_keytab(const std::string& name, const std::string& lifetime = "1h") const;
  // From now on the tickets of this process are those of this cache; empty: it has none.
  void hold(const std::string& cache);
  std::string keytab() const { return folder_ + "/service.keytab"; }

 private:
  void start();
  std::string folder_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace stoa::test
