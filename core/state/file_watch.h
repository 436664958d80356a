// The file operations that the table of opens and leases needs. Called with no lock of the table held.
#pragma once

#include <vector>

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
  struct Place {
    bool is_directory = false;
    std::vector<FileId> directories{};  // one for each name of a file; of a directory: none
    FileId covering() const { return directories.size() == 1 ? directories.front() : kNoFile; }
  };
  static constexpr std::size_t kPlacesMax = 64;
  // Where the file is. kStale: no such file. kTooManyLinks: it has more names than that.
  virtual Result<Place> place(FileId file) = 0;
  // The last open of a file without a name is gone.
  virtual void last_closed(FileId file) = 0;
  // Takes away this name of the file. kNotFound: it has it no more. kRecallPending: later.
  virtual Status delete_name(FileId file, const OpenedName& name) = 0;
};

}  // namespace stoa::core
