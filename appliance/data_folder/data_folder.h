// Layout of the data folder, and the search for it.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"

namespace stoa::appliance {

// Paths only; nothing is opened.
struct DataFolder {
  std::string path;  // absolute
  std::string meta() const { return path + "/meta"; }
  std::string blobs() const { return path + "/blobs"; }
  std::string mark() const { return path + "/volume"; }
  std::string token() const { return path + "/admin.token"; }
  std::string lock() const { return path + "/stoad.lock"; }
  std::string admin_socket() const { return path + "/admin.socket"; }  // unless the configuration names another
  std::string host_keys() const { return path + "/native.keys"; }      // of hosts that use the native protocol
  std::string run_record() const { return path + "/stoad.run"; }
  std::string audit() const { return path + "/audit"; }
  std::string log() const { return path + "/stoad.log"; }
};

// $XDG_DATA_HOME/stoa, else $HOME/.local/share/stoa, else /var/lib/stoa.
std::string default_data_path();

// Makes the folder (and those above) with mode 0700 when it is missing. kAccess, kNotDirectory, kIo.
Result<DataFolder> make_data_folder(const std::string& path);

// The admin token: 64 hex digits in a file of mode 0600, made when missing.
Result<std::string> load_or_make_token(const DataFolder& folder);
Result<std::string> load_token(const DataFolder& folder);

}  // namespace stoa::appliance
