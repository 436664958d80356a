// The options of a mount as mount(8), fstab and `stoa mount -o` write them: "ro,key=/etc/stoa/host.key,soft=30".
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "frontends/native/mount/mount_session.h"

namespace stoa::cli {

// Sets in `options` what the list says; a later option wins. ro rw noexec exec nosuid nodev key=FILE ca=FILE sec=krb5
// tls notls transport=auto|tcp (to the server) soft=SECONDS; what only mount(8) and systemd use is passed over
// (defaults, auto, nofail, _netdev, user, x-...). kInvalid: an unknown option, which is named, or one with a wrong
// value. `sloppy`: unknown options are passed over.
Status read_mount_options(std::string_view list, bool sloppy, native::mount::MountOptions& options);

}  // namespace stoa::cli
