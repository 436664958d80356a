// A server for tests: runs tests/serve, learns where it listens, and ends it politely or by kill -9.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/clients/nfs_client.h"
#include "tests/clients/s3_client.h"

namespace stoa::clients {

class ServerProcess {
 public:
  // Blocks until the server says READY. Null when it does not; `why` has its message instead.
  static std::unique_ptr<ServerProcess> start(const std::vector<std::string>& command, std::string* why);
  ~ServerProcess();  // stops it politely
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // The lines that it printed, such as value("STOA_NFS_PORT").
  std::string value(const std::string& name) const;
  NfsTarget nfs() const;
  S3Target s3() const;

  void kill_hard();  // SIGKILL to the daemon, then waits until all of it is gone
  void stop();       // closes its standard input and waits

 private:
  ServerProcess() = default;
  void reap();

  pid_t pid_ = -1;
  int input_ = -1, output_ = -1;
  std::map<std::string, std::string> values_;
};

// Runs a command and returns its exit code; `output` gets both of its output streams.
int run_command(const std::vector<std::string>& command, std::string* output);

}  // namespace stoa::clients
