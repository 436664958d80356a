// The client's side of the log-in.
#pragma once

#include <string>

#include "frontends/native/client/connection.h"
#include "frontends/native/client/key_file.h"

namespace stoa::native {

struct LoginWish {
  std::string export_name;
  std::string client_id;  // kClientIdBytes
  U64 session = 0;        // that it had; 0: none
  std::string host{};     // the server's name as the URL has it: by Kerberos it must prove to be that one
  // Not null, on a plain connection: when the server offers TLS, or takes no one without, this is set, and the log-in
  // fails before anything was proven.
  bool* offers_tls = nullptr;
};

// Logs in on a fresh connection, and verifies that the server knows the secret, too, or has the key of the Kerberos
// ticket. kAccess, kNotFound, kNotSupported, kBusy (to be tried again after `wait`), kIo, kTimeout, kCorrupt: with a
// sentence for people. By Kerberos it may ask the KDC.
Result<Welcome> log_in(ClientConnection& connection, const ClientKey& key, const LoginWish& wish,
                       std::chrono::milliseconds& wait);

}  // namespace stoa::native
