// DATA/stoad.run: where a running daemon can be reached. Lines of key=value, for stoa and for shell scripts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "appliance/data_folder/data_folder.h"
#include "base/error.h"

namespace stoa::appliance {

struct RunRecord {
  pid_t pid = 0;
  std::string version;
  std::string admin_url;     // empty: no TCP port
  std::string admin_pin;     // of the key that admin_url shows ("sha256//…"); empty: no TLS
  std::string admin_socket;  // empty: no Unix socket
  std::string nfs;           // "127.0.0.1:2049", empty: NFS is not served
  std::string mount;
  std::string native;  // "127.0.0.1:2052", empty: it is not served
  std::string s3_url;
  std::string log_file;  // empty: standard error
};

Status write_run_record(const DataFolder& folder, const RunRecord& record);
// kNotFound: no daemon has started here, or it ended in good order. A record may outlive a daemon that was killed: see
// lock_holder().
Result<RunRecord> read_run_record(const DataFolder& folder);
void remove_run_record(const DataFolder& folder);

}  // namespace stoa::appliance
