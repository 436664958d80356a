#include "frontends/native/mount/take_over.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/log.h"

namespace stoa::native::mount {
namespace {

constexpr std::size_t kDescriptorsMost = 253;  // SCM_MAX_FD
constexpr std::string_view kReplace = "replace ", kOptions = "options ", kRefusal = "no ";
constexpr std::string_view kGo = "go", kState = "state", kServing = "serving";

struct Word {
  std::string text;
  std::vector<fuse::OwnedFd> descriptors;
};

Status send_word(int socket, std::string_view text, std::span<const int> descriptors = {}) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMost * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return {};
  return fail_errno(errno, "the talk with the other process of the mount");
}

// The word that is there. kShutdown: the other has ended the talk.
Result<Word> read_word(int socket, int flags) {
  std::vector<char> text(std::size_t{64} << 10);
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMost * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return fail(Errc::kShutdown, "the other process of the mount has ended the talk");
  Word word{.text = std::string(text.data(), static_cast<std::size_t>(got))};
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= header->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, reinterpret_cast<const char*>(header) + at, sizeof(fd));
      word.descriptors.emplace_back(fd);
    }
  }
  return word;
}

Result<Word> next_word(int socket) {
  pollfd ready{socket, POLLIN, 0};
  const auto until = std::chrono::steady_clock::now() + kWordPatience;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    const int count = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (count > 0) return read_word(socket, 0);
    if (count == 0) return fail(Errc::kTimeout, "the other process of the mount says nothing; try again");
    if (errno != EINTR) return fail_errno(errno, "poll");
  }
}

// Bytes that another process reads through the descriptor.
Result<fuse::OwnedFd> in_memory(const Bytes& bytes) {
  if (bytes.size() > kHandedBytesMost) return fail(Errc::kTooLarge, "too many files of it are open");
  fuse::OwnedFd fd(::memfd_create("stoa-mount", MFD_CLOEXEC));
  if (!fd) return fail_errno(errno, "memfd_create");
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return fail_errno(errno, "writing what is handed over");
    done += static_cast<std::size_t>(wrote);
  }
  return fd;
}

Result<Bytes> from_memory(int fd) {
  struct stat found{};
  if (::fstat(fd, &found) != 0) return fail_errno(errno, "what the old process has handed over");
  if (found.st_size < 0 || static_cast<std::uint64_t>(found.st_size) > kHandedBytesMost)
    return fail(Errc::kCorrupt, "what the old process has handed over is too long");
  Bytes bytes(static_cast<std::size_t>(found.st_size));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(Errc::kCorrupt, "what the old process has handed over is cut");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::string sentence(const Error& error) {
  return error.detail.empty() || error.sys_errno != 0 ? describe(error) : error.detail;
}

Status send_state(int socket, int listener, const Handing::Handed& handed) {
  STOA_TRY(memory, in_memory(encode_mount(handed.mount)));
  std::vector<int> descriptors{memory.get(), listener};
  descriptors.insert(descriptors.end(), handed.descriptors.begin(), handed.descriptors.end());
  if (descriptors.size() > kDescriptorsMost) return fail(Errc::kTooLarge, "too many locks are waited for");
  return send_word(socket, kState, descriptors);
}

// All up to the last word of the other. On an error the mount goes on here.
Status hand_over_by(int socket, int listener, const std::string& wish, Handing& handing) {
  std::uint32_t version = 0;
  std::from_chars(wish.data() + std::min(kReplace.size(), wish.size()), wish.data() + wish.size(), version);
  if (!wish.starts_with(kReplace) || version != kHandedVersion) {
    return fail(Errc::kNotSupported,
                "the process that serves it cannot hand it over to one of this version; unmount it and mount it again");
  }
  STOA_CHECK_OK(handing.may_hand_over());
  const Bytes options = encode_options(handing.options());
  STOA_CHECK_OK(send_word(
      socket, std::string(kOptions) + std::string(reinterpret_cast<const char*>(options.data()), options.size())));
  STOA_TRY(word, next_word(socket));
  if (word.text != kGo) return fail(Errc::kInvalid, "the other process says what it must not");
  STOA_TRY(handed, handing.stop());
  Status given = send_state(socket, listener, handed);
  if (given) {
    auto last = next_word(socket);
    // What it says from now on fails there; what it has said before counts.
    if (!last) {
      ::shutdown(socket, SHUT_RDWR);
      last = read_word(socket, MSG_DONTWAIT);
    }
    if (!last)
      given = fail(last.error());
    else if (last->text != kServing)
      given = fail(Errc::kInvalid, "the other process says what it must not");
  }
  if (!given) handing.go_on();
  return given;
}

}  // namespace

bool hand_over(const std::string& wish, fuse::OwnedFd socket, int listener, Handing& handing) {
  const Status handed = hand_over_by(socket.get(), listener, wish, handing);
  if (handed) {
    handing.left();
    return true;
  }
  log_warning("mount", "not handed over to another process", {{"cause", describe(handed.error())}});
  (void)send_word(socket.get(), std::string(kRefusal) + sentence(handed.error()));
  return false;
}

namespace {

Status refusal_or(const Word& word, std::string_view wanted) {
  if (word.text.starts_with(wanted)) return {};
  if (word.text.starts_with(kRefusal))
    return fail(Errc::kNotSupported, "the mount goes on as it is: " + word.text.substr(kRefusal.size()));
  return fail(Errc::kNotSupported,
              "the process of the mount is of a version that lets nobody take over; unmount it and mount it again");
}

}  // namespace

Result<MountOptions> TakeOver::ask() {
  STOA_CHECK_OK(send_word(socket_.get(), std::string(kReplace) + std::to_string(kHandedVersion)));
  for (int reports = 0;; ++reports) {
    STOA_TRY(word, next_word(socket_.get()));
    // Reports that were sent before; an older process sends nothing else.
    if (word.text.starts_with("server ") && reports < 3) continue;
    STOA_CHECK_OK(refusal_or(word, kOptions));
    return decode_options(std::as_bytes(std::span(word.text).subspan(kOptions.size())));
  }
}

Result<TakeOver::Taken> TakeOver::take() {
  STOA_CHECK_OK(send_word(socket_.get(), kGo));
  STOA_TRY(word, next_word(socket_.get()));
  STOA_CHECK_OK(refusal_or(word, kState));
  if (word.descriptors.size() < 3) return fail(Errc::kCorrupt, "the old process has sent too few descriptors");
  STOA_TRY(bytes, from_memory(word.descriptors[0].get()));
  STOA_TRY(mount, decode_mount(bytes));
  Taken taken{.mount = std::move(mount), .listener = std::move(word.descriptors[1])};
  for (std::size_t i = 2; i < word.descriptors.size(); ++i) taken.descriptors.push_back(std::move(word.descriptors[i]));
  return taken;
}

Status TakeOver::serve() {
  const Status told = send_word(socket_.get(), kServing);
  return told ? told : fail(Errc::kShutdown, "the old process waits no longer, and goes on with the mount; try again");
}

}  // namespace stoa::native::mount
