// The operations of the kernel that the file system answers: one function for each, from arguments to reply.
#pragma once

#include "frontends/native/fuse/exchange.h"

namespace stoa::native::fuse {

// attribute_operations.cc
Answer handle_lookup(Exchange& x);
Answer handle_getattr(Exchange& x);
Answer handle_statx(Exchange& x);
Answer handle_setattr(Exchange& x);
Answer handle_access(Exchange& x);
Answer handle_statfs(Exchange& x);
Answer handle_getxattr(Exchange& x);
Answer handle_listxattr(Exchange& x);
Answer handle_setxattr(Exchange& x);
Answer handle_removexattr(Exchange& x);

// name_operations.cc
Answer handle_readlink(Exchange& x);
Answer handle_symlink(Exchange& x);
Answer handle_mknod(Exchange& x);
Answer handle_mkdir(Exchange& x);
Answer handle_link(Exchange& x);
Answer handle_unlink(Exchange& x);
Answer handle_rmdir(Exchange& x);
Answer handle_rename(Exchange& x);
Answer handle_rename2(Exchange& x);

// file_operations.cc
Answer handle_open(Exchange& x);
Answer handle_create(Exchange& x);
Answer handle_tmpfile(Exchange& x);
Answer handle_read(Exchange& x);
Answer handle_write(Exchange& x);
Answer handle_flush(Exchange& x);
Answer handle_fsync(Exchange& x);
Answer handle_release(Exchange& x);
Answer handle_lseek(Exchange& x);
Answer handle_fallocate(Exchange& x);
Answer handle_copy_file_range(Exchange& x);

// directory_operations.cc
Answer handle_opendir(Exchange& x);
Answer handle_readdir(Exchange& x);
Answer handle_readdirplus(Exchange& x);
Answer handle_releasedir(Exchange& x);
Answer handle_fsyncdir(Exchange& x);

// lock_operations.cc
Answer handle_getlk(Exchange& x);
Answer handle_setlk(Exchange& x);
// The lock that GETLK, SETLK and SETLKW are about; F_UNLCK too. Empty: malformed.
struct LockWish {
  LockCall lock;
  bool unlock = false;
};
std::optional<LockWish> parse_lock(Exchange& x);

// The reply of operations that find or make a name.
fuse_entry_out entry_out(const Exchange& x, const core::Attributes& attr, const Validity& valid);
Answer entry_answer(Exchange& x, const Result<Entry>& found);

}  // namespace stoa::native::fuse
