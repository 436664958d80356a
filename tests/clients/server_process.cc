#include "tests/clients/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace stoa::clients {
namespace {

std::vector<char*> to_argv(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  return argv;
}

bool read_line(int fd, std::string* line) {
  line->clear();
  for (char c; ::read(fd, &c, 1) == 1;) {
    if (c == '\n') return true;
    *line += c;
  }
  return false;
}

}  // namespace

std::unique_ptr<ServerProcess> ServerProcess::start(const std::vector<std::string>& command, std::string* why) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
    *why = "pipe";
    return nullptr;
  }
  std::unique_ptr<ServerProcess> server(new ServerProcess);
  const auto argv = to_argv(command);
  server->pid_ = ::fork();
  if (server->pid_ == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  server->input_ = in[1];
  server->output_ = out[0];
  for (std::string line; read_line(out[0], &line);) {
    if (line == "READY") return server;
    const auto equals = line.find('=');
    if (equals != std::string::npos) server->values_[line.substr(0, equals)] = line.substr(equals + 1);
  }
  *why = command[0] + " ended before it was ready";
  return nullptr;
}

ServerProcess::~ServerProcess() {
  stop();
}

std::string ServerProcess::value(const std::string& name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? std::string() : it->second;
}

NfsTarget ServerProcess::nfs() const {
  return {.host = value("STOA_NFS_HOST"),
          .nfs_port = std::atoi(value("STOA_NFS_PORT").c_str()),
          .mount_port = std::atoi(value("STOA_MOUNT_PORT").c_str()),
          .export_path = value("STOA_EXPORT")};
}

S3Target ServerProcess::s3() const {
  return {.url = value("STOA_S3_URL"),
          .access_key = value("STOA_S3_ACCESS_KEY"),
          .secret_key = value("STOA_S3_SECRET_KEY"),
          .bucket = value("STOA_S3_BUCKET")};
}

void ServerProcess::reap() {
  if (pid_ < 0) return;
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
  ::close(output_);
}

void ServerProcess::kill_hard() {
  const pid_t daemon = static_cast<pid_t>(std::atol(value("STOA_PID").c_str()));
  if (daemon > 1) ::kill(daemon, SIGKILL);
  // The shell around the daemon ends by itself when the daemon does.
  reap();
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

void ServerProcess::stop() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
  reap();
}

int run_command(const std::vector<std::string>& command, std::string* output) {
  int out[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return 127;
  const auto argv = to_argv(command);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(out[1], 1);
    ::dup2(out[1], 2);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(out[1]);
  char buffer[4096];
  for (ssize_t count; (count = ::read(out[0], buffer, sizeof buffer)) > 0;)
    output->append(buffer, static_cast<std::size_t>(count));
  ::close(out[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace stoa::clients
