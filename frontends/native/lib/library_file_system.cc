#include "frontends/native/lib/library_file_system.h"

#include <grp.h>
#include <unistd.h>

namespace stoa::native::lib {
namespace {

// The effective ids of the process, and its groups.
Result<core::Credentials> of_this_process() {
  core::Credentials cred{.uid = ::geteuid(), .gid = ::getegid()};
  for (;;) {
    const int count = ::getgroups(0, nullptr);
    if (count < 0) return fail_errno(errno, "getgroups");
    std::vector<gid_t> groups(static_cast<std::size_t>(count));
    const int got = ::getgroups(count, groups.data());
    if (got < 0 && errno == EINVAL) continue;  // there are more now
    if (got < 0) return fail_errno(errno, "getgroups");
    cred.groups.assign(groups.begin(), groups.begin() + got);
    return cred;
  }
}

}  // namespace

Result<std::unique_ptr<LibraryFileSystem>> LibraryFileSystem::connect(const LibraryOptions& options) {
  STOA_TRY(cred, of_this_process());
  STOA_TRY(cached, CachedClient::connect({.client = {.url = options.url,
                                                     .key_file = options.key_file,
                                                     .channels = options.channels,
                                                     .soft = options.soft,
                                                     .kerberos = options.kerberos},
                                          .budget_bytes = options.budget_bytes}));
  auto fs = std::unique_ptr<LibraryFileSystem>(new LibraryFileSystem(std::move(cached)));
  if (fs->cached_->key() == KeyKind::kHost) fs->call_options_.as = Identity{cred.uid, cred.gid, cred.groups};
  fs->asker_.cred = std::move(cred);
  return fs;
}

}  // namespace stoa::native::lib
