// What the kernel keeps of a mount's files, as far as the recall of a lease has to end it.
#pragma once

#include <span>
#include <string>

#include "core/api/ids.h"

namespace stoa::native {

// Called by the threads of recalls, which hold no lock and serve no request. Blocks: the kernel waits for pages in use,
// and writes dirty ones back through the mount.
class KernelCache {
 public:
  // Of one directory. Waits for calls under way that change names there.
  virtual void forget_names(core::FileId directory, std::span<const std::string> names) = 0;
  // All names of all directories, without a lock: a thread that serves a request may ask for it. False: the kernel
  // cannot.
  virtual bool forget_all_names() = 0;
  virtual void forget_attributes(core::FileId file) = 0;
  virtual void forget_pages(core::FileId file) = 0;  // and attributes

 protected:
  ~KernelCache() = default;
};

}  // namespace stoa::native
