// stoa mount and stoa umount: a directory of a server as a directory of this machine.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "appliance/cli/mount_option_list.h"
#include "appliance/cli/session.h"
#include "base/log.h"
#include "frontends/native/fuse/mount_point.h"
#include "frontends/native/mount/mount_monitor.h"
#include "frontends/native/mount/mount_session.h"

namespace stoa::cli {
namespace {

struct MountLine {
  std::vector<std::string> words;  // [URL] DIR
  std::string key_file;
  std::string log_file;
  std::string ca_file;
  std::string options;  // of -o
  bool sloppy = false;
  bool fake = false;
  bool tls = false;
  bool no_tls = false;
  bool foreground = false;
  bool replace = false;
};
struct UmountLine {
  std::string directory;
  bool lazy = false;
};

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string(value);
}

Status set_tls(const MountLine& line, native::mount::MountOptions& options) {
  if (!line.ca_file.empty()) options.ca_file = line.ca_file;
  if (line.tls) options.tls = native::TlsWish::kRequired;
  if (line.no_tls) options.tls = native::TlsWish::kOff;
  if (options.tls != native::TlsWish::kOff) return {};
  if (options.url.starts_with("stoas://"))
    return fail(Errc::kInvalid, "stoas:// in the URL and --no-tls exclude each other");
  options.ca_file.clear();
  return {};
}

// The mount outlives the working directory.
Status make_absolute(native::mount::MountOptions& options) {
  std::error_code failed;
  for (std::string* path : {&options.directory, &options.key_file, &options.ca_file, &options.log_file}) {
    if (path->empty()) continue;
    const std::filesystem::path absolute = std::filesystem::absolute(*path, failed);
    if (failed) return fail(Errc::kInvalid, *path + ": " + failed.message());
    *path = absolute.lexically_normal().string();
  }
  return {};
}

Result<native::mount::MountOptions> mount_options(const MountLine& line) {
  native::mount::MountOptions options;
  options.url = line.words.size() == 2 ? line.words[0] : from_environment("STOA_NATIVE_URL");
  options.directory = line.words.back();
  STOA_CHECK_OK(read_mount_options(line.options, line.sloppy, options));
  if (options.kerberos && !line.key_file.empty())
    return fail(Errc::kInvalid, "sec=krb5 and --key-file exclude each other");
  if (!line.key_file.empty()) options.key_file = line.key_file;
  if (options.key_file.empty() && !options.kerberos) options.key_file = from_environment("STOA_NATIVE_KEY_FILE");
  options.log_file = line.log_file;
  if (options.url.empty()) {
    return fail(Errc::kInvalid, "no server is named; give its URL (stoa://HOST/EXPORT) before the directory");
  }
  if (options.key_file.empty() && !options.kerberos) {
    return fail(
        Errc::kInvalid,
        "no key is named; give its file with --key-file, or in STOA_NATIVE_KEY_FILE, or log in by Kerberos with "
        "-o sec=krb5");
  }
  STOA_CHECK_OK(set_tls(line, options));
  if (options.ca_file.empty() && options.tls != native::TlsWish::kOff)
    options.ca_file = from_environment("STOA_NATIVE_CA_FILE");
  STOA_CHECK_OK(make_absolute(options));
  return options;
}

// Those of the process that is replaced, with what the line says besides. What the environment says is for new mounts.
Status amend_options(const MountLine& line, native::mount::MountOptions& options) {
  STOA_CHECK_OK(read_mount_options(line.options, line.sloppy, options));
  if (!line.key_file.empty()) options.key_file = line.key_file;
  if (!line.log_file.empty()) options.log_file = line.log_file;
  STOA_CHECK_OK(set_tls(line, options));
  STOA_CHECK_OK(make_absolute(options));
  if (!options.log_file.empty()) STOA_CHECK_OK(set_log_file(options.log_file));
  return {};
}

// SIGINT and SIGTERM unmount the directory: it is free at once, and the mount ends with its last open file. Before this
// process serves what another has mounted, they end the process alone.
class SignalsUnmount {
 public:
  explicit SignalsUnmount(std::string directory, bool serves = true) : serves_(serves) {
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
    ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    thread_ = std::thread([this, directory = std::move(directory)] {
      int signal = 0;
      while (::sigwait(&set_, &signal) == 0 && !over_.load()) {
        if (!serves_.load()) ::_exit(kRefused);
        const Status unmounted = native::fuse::unmount_fuse(directory, true);
        if (!unmounted) log_warning("mount", "cannot unmount", {{"cause", unmounted.error().detail}});
      }
    });
  }
  ~SignalsUnmount() {
    over_.store(true);
    ::pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }
  void serves() { serves_.store(true); }

 private:
  sigset_t set_{};
  std::atomic<bool> over_{false}, serves_;
  std::thread thread_;
};

// Serves a mount, until it ends; calls its argument when it has begun.
using Serves = std::function<Status(const std::function<void()>& began)>;

Serves serve_new(const native::mount::MountOptions& options) {
  return [options](const std::function<void()>& began) -> Status {
    set_log_level(LogLevel::kInfo);
    if (!options.log_file.empty()) STOA_CHECK_OK(set_log_file(options.log_file));
    const SignalsUnmount signals(options.directory);
    return native::mount::serve_mount(options, began);
  };
}

Serves take_over(const MountLine& line, const std::string& directory) {
  return [line, directory](const std::function<void()>& began) -> Status {
    set_log_level(LogLevel::kInfo);
    SignalsUnmount signals(directory, false);
    const auto amend = [&line](native::mount::MountOptions& options) { return amend_options(line, options); };
    return native::mount::replace_mount(directory, amend, [&] {
      signals.serves();
      began();
    });
  };
}

void leave_terminal() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null >= 0) ::dup2(null, fd);
  }
  if (null >= 0) ::close(null);
  if (::chdir("/") != 0) log_warning("mount", "cannot leave the working directory");
}

// The process of the mount, which never returns: the error goes to `report`, or nothing when all is well.
[[noreturn]] void run_behind(const Serves& serves, int report) {
  ::setsid();
  const Status ended = serves([report] {
    leave_terminal();
    ::close(report);
  });
  if (!ended) {
    const Error& error = ended.error();
    const std::string text = error.detail.empty() || error.sys_errno != 0 ? describe(error) : error.detail;
    const std::string words = static_cast<char>(error.code) + text;
    if (::write(report, words.data(), words.size()) < 0) ::_exit(kRefused);
  }
  ::_exit(ended ? kDone : kRefused);
}

Outcome mount_behind(const Serves& serves) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno(errno, "pipe");
  const pid_t child = ::fork();
  if (child < 0) return fail_errno(errno, "fork");
  if (child == 0) {
    ::close(ends[0]);
    run_behind(serves, ends[1]);
  }
  ::close(ends[1]);
  std::string report;
  std::array<char, 512> part;
  for (;;) {
    const ssize_t got = ::read(ends[0], part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    report.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  if (report.empty()) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
      return fail(Errc::kIo, "the process of the mount ended by itself; mount with --foreground to see why");
    }
    return kDone;
  }
  ::waitpid(child, nullptr, 0);
  return fail(static_cast<Errc>(static_cast<unsigned char>(report[0])), report.substr(1));
}

Result<Serves> server_of(const MountLine& line) {
  if (!line.replace) {
    STOA_TRY(options, mount_options(line));
    return serve_new(options);
  }
  if (line.words.size() != 1)
    return fail(Errc::kInvalid, "--replace takes the directory alone; the server stays the one that is mounted");
  native::mount::MountOptions place{.directory = line.words[0]};
  STOA_CHECK_OK(make_absolute(place));
  return take_over(line, place.directory);
}

Outcome mount(const MountLine& line) {
  STOA_TRY(serves, server_of(line));
  if (line.fake) return kDone;
  if (!line.foreground) return mount_behind(serves);
  STOA_CHECK_OK(serves([] {}));
  return kDone;
}

// Until what was written is safe and the process of the mount has ended.
Status wait_for_end(native::mount::MountWatch& watch) {
  using Clock = std::chrono::steady_clock;
  const auto begun = Clock::now();
  std::optional<std::uint64_t> lost;
  for (;;) {
    const auto report = watch.next();
    if (!report && report.error().code == Errc::kTimeout) continue;
    if (!report) break;
    if (report->lost_files) lost = report->lost_files;
    for (const auto& [name, value] : report->counters) {
      if (name != "unsent_bytes" || Clock::now() - begun < std::chrono::milliseconds(900)) continue;
      std::fprintf(stderr, "writing back %llu KiB\n", static_cast<unsigned long long>((value + 1023) / 1024));
    }
  }
  watch.wait_for_end();
  if (!lost) return fail(Errc::kIo, "the process of the mount died; what it had written and not synced may be lost");
  if (*lost == 0) return {};
  return fail(Errc::kIo, "unmounted, but data of " + std::to_string(*lost) +
                             " files could not be written and is lost; the log of the mount names them");
}

Outcome umount(const UmountLine& line) {
  // Before, as it is found by the mount.
  auto watch = native::mount::MountWatch::connect(line.directory);
  STOA_CHECK_OK(native::fuse::unmount_fuse(line.directory, line.lazy));
  if (watch && !line.lazy) STOA_CHECK_OK(wait_for_end(*watch));
  return kDone;
}

}  // namespace

void add_mount_helper(CLI::App& app, Session& session) {
  const auto o = std::make_shared<MountLine>();
  app.add_option("where", o->words, "The server's URL and the directory")
      ->required()
      ->expected(2)
      ->type_name("URL DIR");
  app.add_option("-o", o->options, "Options of the mount")->type_name("OPTION,...");
  app.add_flag("-s", o->sloppy, "Pass over unknown options");
  app.add_flag("-f", o->fake, "Check the options, and mount nothing");
  app.add_flag_function("-n,-v", [](std::int64_t) {}, "No effect: there is no mtab, and nothing more to tell");
  app.add_option("-t", "The type, which is known")->type_name("TYPE");
  app.callback([&session, o] { session.command = [o] { return mount(*o); }; });
}

void add_mount_commands(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("mount", "Mount a directory of a server over the native protocol");
  const auto o = std::make_shared<MountLine>();
  command
      ->add_option("where", o->words,
                   "The server's URL, stoa://HOST[:PORT]/EXPORT[/PATH] (default: $STOA_NATIVE_URL), and the directory; "
                   "stoas:// requires TLS")
      ->required()
      ->expected(1, 2)
      ->type_name("[URL] DIR");
  command->add_option("--key-file", o->key_file, "The file with the key, mode 0600 (default: $STOA_NATIVE_KEY_FILE)")
      ->type_name("FILE");
  CLI::Option* const ca_file =
      command
          ->add_option(
              "--ca-file", o->ca_file,
              "Require TLS, and a certificate from an authority in this PEM file (default: $STOA_NATIVE_CA_FILE)")
          ->type_name("FILE");
  CLI::Option* const tls = command->add_flag(
      "--tls", o->tls, "Require TLS, and a certificate for the host from an authority that this machine trusts");
  command->add_flag("--no-tls", o->no_tls, "No TLS, even if the server offers it")->excludes(tls)->excludes(ca_file);
  command
      ->add_option("-o", o->options,
                   "As in fstab: ro, noexec, nosuid, nodev, key=FILE, ca=FILE, sec=krb5 (log in by Kerberos, with the "
                   "ticket that "
                   "kinit has got or the keys of KRB5_CLIENT_KTNAME, and no key file), tls, notls, transport=auto|tcp, "
                   "soft=SECONDS (calls "
                   "fail when "
                   "the server does not answer for so long; else they wait)")
      ->type_name("OPTION,...");
  command->add_option("--log-file", o->log_file, "Log there instead of to standard error")->type_name("FILE");
  command->add_flag("--replace", o->replace,
                    "Take over what is mounted on DIR from the process that serves it, as after an upgrade: programs "
                    "notice nothing. Its options stay, except for those that are given");
  command->add_flag("--foreground", o->foreground, "Stay in the foreground until it is unmounted");
  command->callback([&session, o] { session.command = [o] { return mount(*o); }; });

  CLI::App* end =
      app.add_subcommand("umount", "Unmount what stoa mount has mounted, and wait until what was written is safe");
  const auto e = std::make_shared<UmountLine>();
  end->add_option("dir", e->directory, "The directory")->required();
  end->add_flag("--lazy", e->lazy, "Free the directory now, end with the last open file, and wait for nothing");
  end->callback([&session, e] { session.command = [e] { return umount(*e); }; });
}

}  // namespace stoa::cli
