// One mount from its beginning to its end: the session with the server, the kernel's connection, the unmount.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/error.h"
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
};

// Connects, mounts, calls `mounted` once, and serves until the file system is unmounted; the session with the server
// ends then. Starts threads, so call it after any fork. With a host's key every user of the machine may use the mount,
// each with the own rights; with a user's key or by Kerberos only the mounting user, as all requests are made for the
// user of the key or of the ticket.
// Errors, before `mounted` is called, are one sentence with cause and cure.
Status serve_mount(const MountOptions& options, const std::function<void()>& mounted);

}  // namespace stoa::native::mount
