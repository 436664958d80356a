#include "frontends/native/mount/listed_entries.h"

namespace stoa::native::mount {

// The lease is taken hold of with the first entry, when what had to be fetched is there.
bool ListedEntries::add(const core::DirectoryEntry& entry, const fuse::Validity& none) {
  if (!entry.attr) return to_.add(entry, none);
  if (!begun_) {
    begun_ = true;
    known_ = times_.known_entries(call_, directory_);
    keeps_names_ = known_ && times_.may_keep_names(directory_);
  }
  const KnownEntry known = known_ ? known_(entry.name, entry.id) : KnownEntry{};
  if (!known.name) return to_.add(entry, none);
  core::DirectoryEntry now = entry;
  fuse::Validity valid;
  if (keeps_names_) valid.entry = times_.trusted_for();
  // It needs no server, unless it was forgotten in this moment.
  if (const auto attr = known.attributes ? storage_.getattr(asker_, entry.id) : Result<core::Attributes>(*entry.attr)) {
    now.attr = *attr;
    if (known.attributes) valid.attr = times_.trusted_for();
  }
  return to_.add(now, valid);
}

}  // namespace stoa::native::mount
