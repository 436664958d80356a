// The operations on files, names and attributes, one file each. Those on clients, sessions, opens and locks:
// operations_state.h.
#pragma once

#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// --- filehandles
Nfs4Status op_putfh(Compound& c);
Nfs4Status op_putpubfh(Compound& c);
Nfs4Status op_putrootfh(Compound& c);
Nfs4Status op_getfh(Compound& c);
Nfs4Status op_savefh(Compound& c);
Nfs4Status op_restorefh(Compound& c);
Nfs4Status op_lookup(Compound& c);
Nfs4Status op_lookupp(Compound& c);
Nfs4Status op_secinfo(Compound& c);
Nfs4Status op_secinfo_no_name(Compound& c);

// --- attributes
Nfs4Status op_access(Compound& c);
Nfs4Status op_getattr(Compound& c);
Nfs4Status op_setattr(Compound& c);
Nfs4Status op_verify(Compound& c);
Nfs4Status op_nverify(Compound& c);

// --- names
Nfs4Status op_create(Compound& c);
Nfs4Status op_link(Compound& c);
Nfs4Status op_remove(Compound& c);
Nfs4Status op_rename(Compound& c);
Nfs4Status op_readdir(Compound& c);
Nfs4Status op_readlink(Compound& c);

// --- data
Nfs4Status op_read(Compound& c);
Nfs4Status op_read_plus(Compound& c);
Nfs4Status op_seek(Compound& c);
Nfs4Status op_write(Compound& c);
Nfs4Status op_commit(Compound& c);
Nfs4Status op_allocate(Compound& c);
Nfs4Status op_deallocate(Compound& c);
Nfs4Status op_copy(Compound& c);
Nfs4Status op_clone(Compound& c);
Nfs4Status op_io_advise(Compound& c);
Nfs4Status op_offload_cancel(Compound& c);
Nfs4Status op_offload_status(Compound& c);

// --- extended attributes
Nfs4Status op_getxattr(Compound& c);
Nfs4Status op_setxattr(Compound& c);
Nfs4Status op_listxattrs(Compound& c);
Nfs4Status op_removexattr(Compound& c);

}  // namespace stoa::nfs4
