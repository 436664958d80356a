#include "frontends/native/mount/mount_monitor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace stoa::native::mount {
namespace {

constexpr std::size_t kWatchersMost = 16;
constexpr int kPeriodMs = 1000;
constexpr int kPatienceMs = 10 * kPeriodMs;

struct FoundMount {
  std::string device;  // "0:53"
  uid_t user = 0;      // who has mounted it
};

// proc(5): blanks, newlines and backslashes are octal.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size()) {
      plain += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0'));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

// The directory itself is not asked: it may hang, or be closed to this user.
Result<FoundMount> find_mount(const std::string& directory) {
  std::error_code failed;
  const auto absolute = std::filesystem::absolute(directory, failed).lexically_normal();
  auto name = absolute.has_filename() ? absolute : absolute.parent_path();
  const auto parent = std::filesystem::canonical(name.parent_path(), failed);
  const std::string wanted = failed ? name.string() : (parent / name.filename()).string();
  std::ifstream table("/proc/self/mountinfo");
  std::optional<FoundMount> found;
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string id, above, device, root, at, word, type, source, options;
    words >> id >> above >> device >> root >> at;
    while (words >> word && word != "-") continue;
    words >> type >> source >> options;
    if (type != "fuse.stoa" || unescaped(at) != wanted) continue;
    found = FoundMount{device, 0};
    const std::size_t user = options.find("user_id=");
    if (user != std::string::npos) std::from_chars(&options[user + 8], options.data() + options.size(), found->user);
  }
  if (!found) {
    return fail(Errc::kNotFound, "nothing is mounted on " + directory + "; see findmnt -t fuse.stoa");
  }
  return *found;
}

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
};
Address address_of(const FoundMount& mount) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::string text = "stoa-mount/" + mount.device;  // behind a zero: abstract
  std::memcpy(address.name.sun_path + 1, text.data(), text.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return address;
}

std::optional<ucred> peer_of(int socket) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  return peer;
}

std::string to_text(const MountReport& report) {
  std::string text = "server " + report.server + "\ntransport " + report.transport + "\nprocess " +
                     std::to_string(report.process) + "\n";
  for (const auto& [name, value] : report.counters) text += name + " " + std::to_string(value) + "\n";
  if (report.lost_files) text += "lost_files " + std::to_string(*report.lost_files) + "\n";
  return text;
}

MountReport from_text(const std::string& text) {
  MountReport report;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    const std::string name = line.substr(0, blank);
    const std::string value = line.substr(blank + 1);
    std::uint64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    if (name == "server")
      report.server = value;
    else if (name == "transport")
      report.transport = value;
    else if (name == "process")
      report.process = number;
    else if (name == "lost_files")
      report.lost_files = number;
    else
      report.counters.emplace_back(name, number);
  }
  return report;
}

Status bind_listener(const std::string& directory, fuse::OwnedFd& listener) {
  STOA_TRY(mount, find_mount(directory));
  listener = fuse::OwnedFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const Address address = address_of(mount);
  if (listener && ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address.name), address.length) == 0)
    return {};
  return fail_errno(errno, "the socket of the mount");
}

}  // namespace

Status MountMonitor::start(const std::string& directory, Report report, Said said, fuse::OwnedFd listener) {
  report_ = std::move(report);
  said_ = std::move(said);
  wake_ = fuse::OwnedFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return fail_errno(errno, "the socket of the mount");
  listener_ = std::move(listener);
  if (!listener_) STOA_CHECK_OK(bind_listener(directory, listener_));
  // Once more for one of the process before: who connects is shown the process that has called this last.
  if (::listen(listener_.get(), kWatchersMost) != 0) return fail_errno(errno, "the socket of the mount");
  listening_.store(true);
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error&) {
    return fail(Errc::kBusy, "no thread for the socket of the mount");
  }
  return {};
}

void MountMonitor::close_listener() {
  listening_.store(false);
  if (wake_) ::eventfd_write(wake_.get(), 1);
}

void MountMonitor::stop(std::uint64_t lost_files) {
  lost_files_ = lost_files;
  stopping_.store(true);
  if (!thread_.joinable()) return;
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

MountMonitor::~MountMonitor() {
  if (!thread_.joinable() && !stopping_.load()) return;  // never started
  stop(lost_files_);
  if (replaced_) return;  // the mount goes on
  send_report({.server = {}, .transport = {}, .counters = {}, .lost_files = lost_files_});
}

void MountMonitor::serve() {
  while (!stopping_.load() && !replaced_) {
    if (!listening_.load()) listener_ = fuse::OwnedFd{};
    std::vector<pollfd> ready{{wake_.get(), POLLIN, 0}, {listener_ ? listener_.get() : -1, POLLIN, 0}};
    for (const fuse::OwnedFd& watcher : watchers_) ready.push_back({watcher.get(), POLLIN, 0});
    const int count = ::poll(ready.data(), ready.size(), watchers_.empty() ? -1 : kPeriodMs);
    if (count == 0) send_report(report_());
    if (count > 0 && ready[0].revents != 0) {
      eventfd_t times = 0;
      ::eventfd_read(wake_.get(), &times);
    }
    // The last first, as they leave the list.
    for (std::size_t i = ready.size(); count > 0 && i > 2 && !replaced_; --i) {
      if (ready[i - 1].revents != 0) hear(i - 3);
    }
    if (count > 0 && ready[1].revents != 0 && !replaced_) accept_one();
  }
}

// Who has gone away, or says something, gets no reports any more.
void MountMonitor::hear(std::size_t watcher) {
  fuse::OwnedFd socket = std::move(watchers_[watcher]);
  watchers_.erase(watchers_.begin() + static_cast<std::ptrdiff_t>(watcher));
  std::array<char, 64> word;
  const ssize_t got = ::recv(socket.get(), word.data(), word.size(), MSG_DONTWAIT);
  const auto peer = peer_of(socket.get());
  if (got <= 0 || !peer || peer->uid != ::geteuid()) return;
  replaced_ = said_(std::string(word.data(), static_cast<std::size_t>(got)), std::move(socket), listener_.get());
}

void MountMonitor::accept_one() {
  fuse::OwnedFd watcher(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!watcher) return;
  const auto peer = peer_of(watcher.get());
  if (!peer || (peer->uid != 0 && peer->uid != ::geteuid())) return;
  // Those who went away are found by a report; a full house turns the newcomer away.
  if (watchers_.size() >= kWatchersMost) send_report(report_());
  if (watchers_.size() >= kWatchersMost) return;
  const std::string text = to_text(report_());
  if (::send(watcher.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
  watchers_.push_back(std::move(watcher));
}

void MountMonitor::send_report(const MountReport& report) {
  const std::string text = to_text(report);
  std::erase_if(watchers_, [&](const fuse::OwnedFd& watcher) {
    if (::send(watcher.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return false;
    return errno != EAGAIN && errno != ENOBUFS;  // one who does not read misses a report
  });
}

Result<MountWatch> MountWatch::connect(const std::string& directory) {
  STOA_TRY(mount, find_mount(directory));
  if (::geteuid() != 0 && ::geteuid() != mount.user) {
    return fail(Errc::kAccess, directory + " was mounted by another user; ask as that user or as root");
  }
  MountWatch watch;
  watch.socket_ = fuse::OwnedFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!watch.socket_) return fail_errno(errno, "socket");
  const Address address = address_of(mount);
  const bool connected =
      ::connect(watch.socket_.get(), reinterpret_cast<const sockaddr*>(&address.name), address.length) == 0;
  // Anybody may take an abstract name: only who has mounted is believed.
  const auto peer = connected ? peer_of(watch.socket_.get()) : std::nullopt;
  if (!peer || peer->uid != mount.user) {
    return fail(Errc::kShutdown, "no process serves " + directory + "; unmount it: stoa umount --lazy " + directory);
  }
  watch.user_ = peer->uid;
  watch.process_ = fuse::OwnedFd(static_cast<int>(::syscall(SYS_pidfd_open, peer->pid, 0)));
  return watch;
}

Result<MountReport> MountWatch::next() {
  pollfd ready{socket_.get(), POLLIN, 0};
  if (::poll(&ready, 1, kPatienceMs) == 0) return fail(Errc::kTimeout, "the process of the mount says nothing");
  std::array<char, 65536> text;
  const ssize_t got = ::recv(socket_.get(), text.data(), text.size(), 0);
  if (got <= 0) return fail(Errc::kShutdown, "the process of the mount has ended");
  return from_text(std::string(text.data(), static_cast<std::size_t>(got)));
}

Result<fuse::OwnedFd> MountWatch::take_socket() {
  if (user_ == ::geteuid()) return std::move(socket_);
  return fail(Errc::kAccess, "the mount is served for user " + std::to_string(user_) + "; take it over as that user");
}

void MountWatch::wait_for_end(std::chrono::milliseconds patience) {
  pollfd ended{process_.get(), POLLIN, 0};
  while (process_ && ::poll(&ended, 1, static_cast<int>(patience.count())) < 0 && errno == EINTR) continue;
}

}  // namespace stoa::native::mount
