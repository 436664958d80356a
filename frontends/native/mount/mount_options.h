// What a mount was asked to be.
#pragma once

#include <chrono>
#include <string>

#include "frontends/native/client/tls_wish.h"

namespace stoa::native::mount {

struct MountOptions {
  std::string url;       // stoa://[user@]host[:port]/export[/path]
  std::string key_file;  // of mode 0600; not used with `kerberos`
  std::string directory;
  TlsWish tls = TlsWish::kOffered;  // stoas:// in the URL and `ca_file` mean kRequired
  std::string ca_file{};            // PEM; empty: the authorities that the system trusts
  std::chrono::seconds soft{0};     // zero: calls wait for the server for ever; else they fail after so long
  bool kerberos = false;            // as ClientOptions has it
  bool read_only = false;
  bool no_programs = false;  // noexec
  std::string log_file{};    // of its process; empty: standard error
};

}  // namespace stoa::native::mount
