// The file operations that the table of opens and leases needs. Called with no lock of the table held.
#pragma once

#include "base/error.h"
#include "core/api/ids.h"
#include "core/api/opened_name.h"

namespace stoa::core {

class FileWatch {
 public:
  virtual ~FileWatch() = default;
  // kStale: no such file. Else whether it is there without a name, only because it is open.
  virtual Result<bool> orphan(FileId file) = 0;
  // Waits until changes of the file that are being made are done. False: not now (content is being written), or no such
  // file.
  virtual bool quiesced(FileId file) = 0;
  // Whether its bytes may change at all: it is not sealed. Waits for a change of that which is under way.
  virtual bool may_cache_writes(FileId) { return true; }
  // The last open of a file without a name is gone.
  virtual void last_closed(FileId file) = 0;
  // Takes away this name of the file. kNotFound: it has it no more. kRecallPending: later.
  virtual Status delete_name(FileId file, const OpenedName& name) = 0;
};

}  // namespace stoa::core
