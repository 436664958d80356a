#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "appliance/cli/terminal_error.h"
#include "appliance/config/config_file.h"
#include "appliance/console/console.h"
#include "appliance/daemon/command_line.h"
#include "appliance/daemon/daemon.h"
#include "appliance/daemon/named_files.h"
#include "appliance/version.h"
#include "base/log.h"

namespace stoa::appliance {
namespace {

enum StoadExit : int {
  kStopped = 0,
  kFailed = 1,
  kBadUsage = 2,
  kNeedsSomebody = 3,  // starting again would not help: the unit's RestartPreventExitStatus names it
};

// Faults that only an administrator can fix: pieces that are missing, damaged, of another volume or time, or from a
// newer version.
int exit_of_refused_volume(const Error& error) {
  switch (error.code) {
    case Errc::kInvalid:
    case Errc::kNotFound:
    case Errc::kCorrupt:
    case Errc::kNotSupported:
    case Errc::kNotDirectory:
    case Errc::kReadOnly:
    case Errc::kAccess:
      return kNeedsSomebody;
    default:
      return kFailed;
  }
}

int complain(const Error& error, int code) {
  cli::complain("stoad", error);
  return code;
}

// Before any thread exists: threads inherit the mask, and sigwait needs the signals blocked in all of them.
void prepare_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// The parent's half of --background: waits for the child's message, and repeats it.
int wait_for_child(int pipe_fd, pid_t child) {
  std::string text;
  char part[512];
  for (;;) {
    const ssize_t n = read(pipe_fd, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(part, static_cast<std::size_t>(n));
    if (!text.ends_with("READY\n")) continue;
    text.resize(text.size() - std::string_view("READY\n").size());
    std::fprintf(stderr, "%s", text.c_str());  // messages of a library on the way
    return kStopped;
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::fprintf(stderr, "%s", text.empty() ? "stoad: ended before it was ready\n" : text.c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : kFailed;
}

// Standard error leads to the waiting parent until the daemon is ready.
void detach(int pipe_fd) {
  setsid();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(pipe_fd, STDERR_FILENO);
  close(null);
}

void cut_standard_error() {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, STDERR_FILENO);
  close(null);
}

void say_ready(int fd) {
  constexpr std::string_view kLine = "READY\n";
  if (write(fd, kLine.data(), kLine.size()) < 0) log_warning("stoad", "nobody heard that we are ready");
  close(fd);
}

int serve(const StoadOptions& options, Config config) {
  int ready_fd = options.ready_fd;
  const auto folder = make_data_folder(config.data.empty() ? default_data_path() : config.data);
  if (!folder) return complain(folder.error(), kFailed);
  ConfigSource source = options.source;
  int pipe_fds[2] = {-1, -1};
  if (options.background) {
    if (config.log.file.empty()) {
      config.log.file = folder->log();
      source.settings.emplace_back("log.file", config.log.file);
    }
    if (pipe2(pipe_fds, O_CLOEXEC) != 0) return complain(fail_errno(errno, "pipe").error(), kFailed);
    const pid_t child = fork();
    if (child < 0) return complain(fail_errno(errno, "fork").error(), kFailed);
    if (child > 0) {
      close(pipe_fds[1]);
      return wait_for_child(pipe_fds[0], child);
    }
    close(pipe_fds[0]);
    detach(pipe_fds[1]);
  }
  auto lock = FolderLock::take(*folder);
  if (!lock) return complain(lock.error(), kFailed);
  auto daemon = Daemon::start(source, config, *folder, *std::move(lock), console_files());
  if (!daemon) {
    log_error("stoad", "did not start", {{"error", describe(daemon.error())}});
    return complain(daemon.error(), exit_of_refused_volume(daemon.error()));
  }
  if (const Status opened = (*daemon)->open_protocols(); !opened) {
    log_error("stoad", "did not start", {{"error", describe(opened.error())}});
    return complain(opened.error(), kFailed);
  }
  const Status ran = (*daemon)->run([&] {
    if (ready_fd >= 0) say_ready(ready_fd);
    if (!options.background) return;
    say_ready(pipe_fds[1]);
    cut_standard_error();
  });
  daemon->reset();
  return ran ? kStopped : kFailed;
}

int run(int argc, char** argv) {
  CLI::App app;
  StoadOptions options;
  build_stoad_app(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kStopped : kBadUsage;
  }
  if (options.version) {
    std::printf("stoad %s\n", std::string(kVersionText).c_str());
    return kStopped;
  }
  if (options.print_example_config) {
    std::printf("%s", example_config().c_str());
    return kStopped;
  }
  const auto config = options.source.load();
  if (!config) return complain(config.error(), kBadUsage);
  if (options.check_config) {
    const Status files = check_named_files(*config);
    return files ? int{kStopped} : complain(files.error(), kBadUsage);
  }
  prepare_signals();
  raise_file_limit();
  return serve(options, *config);
}

}  // namespace
}  // namespace stoa::appliance

int main(int argc, char** argv) {
  try {
    return stoa::appliance::run(argc, argv);
  } catch (const std::exception& error) {  // CLI11 throws; std::bad_alloc may come from anywhere.
    std::fprintf(stderr, "stoad: unexpected: %s\n", error.what());
    return 1;
  }
}
