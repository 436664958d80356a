// One mount from its beginning to its end: the session with the server, the kernel's connection, the unmount.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "frontends/native/mount/mount_options.h"

namespace stoa::native::mount {

// Connects, mounts, calls `mounted` once, and serves until the file system is unmounted; the session with the server
// ends then. Starts threads, so call it after any fork. With a host's key every user of the machine may use the mount,
// each with the own rights; with a user's key or by Kerberos only the mounting user, as all requests are made for the
// user of the key or of the ticket.
// Errors, before `mounted` is called, are one sentence with cause and cure.
// Returns also when another process has taken the mount over.
Status serve_mount(const MountOptions& options, const std::function<void()>& mounted);

// Takes the mount on `directory` over from the process that serves it, of the same user, and goes on as serve_mount()
// does. Programs that use it notice nothing. `amend` gets the options of that process and may change the key file, TLS
// and `soft`; when it fails, nothing has happened. On an error before `serves` is called the other process goes on, and
// the error says in a sentence why.
Status replace_mount(const std::string& directory, const std::function<Status(MountOptions&)>& amend,
                     const std::function<void()>& serves);

}  // namespace stoa::native::mount
