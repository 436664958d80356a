// Locks of open files.
#pragma once

#include "frontends/native/lib/handles.h"

namespace stoa::native::lib {

// At the close: what may be held. Errors are left out: the server gives up the locks of a session that ends.
void give_up_locks(LibraryFileSystem& session, stoa_file& file);

}  // namespace stoa::native::lib
