// Certificates of an authority that exists for one test.
#pragma once

#include <string>

namespace stoa::test {

struct TestCertificate {
  std::string chain, key;  // PEM
};

class TestAuthority {
 public:
  TestAuthority();
  ~TestAuthority();
  TestAuthority(const TestAuthority&) = delete;

  const std::string& pem() const { return pem_; }
  // `name`: "DNS:nas.example" or "IP:127.0.0.1". Valid from an hour ago until `seconds` from now.
  TestCertificate issue(const std::string& name, long seconds = 3600) const;

 private:
  void* certificate_ = nullptr;
  void* key_ = nullptr;
  std::string pem_;
};

}  // namespace stoa::test
