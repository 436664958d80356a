// One bit of stored content flips below the server: readers get the right bytes or an error, never wrong ones.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "tests/torture/client.h"
#include "tests/torture/scenario.h"

namespace stoa::torture {
namespace {

namespace fs = std::filesystem;

// Turns a bit of the byte in the middle of `around`, wherever the blobs hold these bytes. False: nowhere.
bool flip(const fs::path& blobs, std::string_view around, unsigned bit) {
  constexpr std::size_t kPiece = 1u << 20;
  bool found = false;
  std::string buffer(kPiece, '\0');
  for (const auto& entry : fs::recursive_directory_iterator(blobs)) {
    if (!entry.is_regular_file()) continue;
    const int fd = ::open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) continue;
    for (off_t at = ::lseek(fd, 0, SEEK_DATA); at >= 0;) {
      const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), at);
      if (got < static_cast<ssize_t>(around.size())) break;
      const void* const place = ::memmem(buffer.data(), static_cast<std::size_t>(got), around.data(), around.size());
      if (place != nullptr) {
        const off_t middle =
            at + (static_cast<const char*>(place) - buffer.data()) + static_cast<off_t>(around.size() / 2);
        const char turned = static_cast<char>(around[around.size() / 2] ^ (1 << bit));
        found = ::pwrite(fd, &turned, 1, middle) == 1 || found;
      }
      at = ::lseek(fd, at + got - static_cast<off_t>(around.size()) + 1, SEEK_DATA);
      if (got < static_cast<ssize_t>(kPiece)) break;
    }
    ::close(fd);
  }
  return found;
}

// The history of the content when the bit flips.
enum class Way : std::uint8_t { kWritten, kCommitted, kPut, kPutAndTouched, kAlwaysWritten };
constexpr std::pair<Way, const char*> kWays[] = {{Way::kWritten, "written with FILE_SYNC"},
                                                 {Way::kCommitted, "written, then COMMIT"},
                                                 {Way::kPut, "put over S3"},
                                                 {Way::kPutAndTouched, "put over S3, then one byte written elsewhere"},
                                                 {Way::kAlwaysWritten, "written in small pieces, again and again"}};

class Flips {
 public:
  Flips(Run& run, fs::path data) : run_(run), data_(std::move(data)), client_("flip", run.random.next()) {}

  // `restart` restarts the server, after a kill if requested.
  Status one(const clients::ServerProcess*& server, const std::function<Status(bool)>& restart) {
    const auto& [way, story] = run_.random.pick(kWays);
    const std::string file = "f" + std::to_string(++files_);
    const std::uint64_t size = 20'000 + run_.random.below(500'000);
    client_.attach(*server);
    STOA_CHECK_OK(make(way, file, size));
    // A byte that the last small write has nothing to do with, and its neighbours, which make it easy to find.
    const std::string& content = *client_.twin(file).now();
    const std::uint64_t at = 32 + run_.random.below(size - 64);
    const std::string around = content.substr(at - 16, 32);
    if (!flip(data_ / "blobs", around, static_cast<unsigned>(run_.random.below(8))))
      return {};  // it is not on the disk yet
    ++flipped_;
    std::string told = std::string("a file ") + story + "; then bit of byte " + std::to_string(at) + " of " +
                       std::to_string(size) + " turns over";
    bool overwritten = way == Way::kPutAndTouched || way == Way::kAlwaysWritten;
    if (run_.random.percent(40)) {
      overwritten = true;
      // Beside the damage: renewed blocks must not be made from wrong bytes.
      const std::uint64_t beside = std::min(size - 1, at / 65536 * 65536 + run_.random.below(65536));
      const std::string byte = run_.random.bytes(1);
      if (beside != at) {
        Protocol* nfs = client_.protocol(Version::kNfs3);
        if (nfs == nullptr) return broken("the server cannot be reached");
        const Answer answer = nfs->write(file, beside, byte, true);
        if (answer.said == Said::kLost) return broken(told + "; a write beside it kills the server");
        if (answer.ok()) client_.twin(file).done({.kind = Change::Kind::kWrite, .offset = beside, .bytes = byte});
        told += "; then byte " + std::to_string(beside) + " is written: " + answer.text;
      }
    }
    if (run_.random.percent(15)) {
      // A kill takes the checksums of blocks overwritten in place in the last seconds before it: the one window that
      // is documented.
      STOA_CHECK_OK(restart(!overwritten));
      client_.attach(*server);
      told += "; then the server starts anew";
    }
    return look(file, at, told);
  }

  unsigned flipped() const { return flipped_; }
  std::uint64_t operations() const { return client_.operations() + 6 * flipped_; }

 private:
  Status make(Way way, const std::string& file, std::uint64_t size) {
    const Version nfs = kVersions[run_.random.below(4)];
    if (way == Way::kPut || way == Way::kPutAndTouched) {
      STOA_CHECK_OK(
          client_.change(Version::kS3, file, {.kind = Change::Kind::kReplace, .bytes = run_.random.bytes(size)}));
    } else {
      STOA_CHECK_OK(client_.change(nfs, file, {.kind = Change::Kind::kMake}));
      STOA_CHECK_OK(client_.change(
          nfs, file,
          {.kind = Change::Kind::kWrite, .bytes = run_.random.bytes(size), .durable = way == Way::kWritten}));
    }
    if (way == Way::kCommitted) STOA_CHECK_OK(client_.change(nfs, file, {.kind = Change::Kind::kCommit}));
    const unsigned touches = way == Way::kPutAndTouched ? 1 : way == Way::kAlwaysWritten ? 8 : 0;
    for (unsigned i = 0; i < touches; ++i) {
      const std::uint64_t length = way == Way::kPutAndTouched ? 1 : 1 + run_.random.below(3000);
      STOA_CHECK_OK(client_.change(nfs, file,
                                   {.kind = Change::Kind::kWrite,
                                    .offset = run_.random.below(size - length),
                                    .bytes = run_.random.bytes(length)}));
    }
    return {};
  }

  Status look(const std::string& file, std::uint64_t at, const std::string& told) {
    const std::string& content = *client_.twin(file).now();
    for (const Version version : kVersions) {
      // The whole, and a little around.
      for (const bool whole : {true, false}) {
        Protocol* protocol = client_.protocol(version);
        if (protocol == nullptr) return broken(told + "; the server cannot be reached");
        const std::uint64_t from = whole ? 0 : at - run_.random.below(16);
        const Answer answer = protocol->read(file, from, whole ? kCallBytesMax : 32);
        // Any error will do, and a body that breaks off, too.
        if (!answer.ok()) {
          client_.attach_anew(version);
          continue;
        }
        if (const std::string wrong = client_.twin(file).compare(from, answer.bytes.size(), answer.bytes,
                                                                 from + answer.bytes.size() >= content.size());
            !wrong.empty())
          return broken(told + "; " + std::string(name_of(version)) + " reads it without an error: " + wrong);
      }
    }
    return {};
  }

  Run& run_;
  const fs::path data_;
  Client client_;
  unsigned files_ = 0;
  unsigned flipped_ = 0;
};

}  // namespace

Status flipped_bits(Run& run) {
  constexpr unsigned kFiles = 30;
  const fs::path data = run.folder / "data";
  STOA_TRY(server, run.start(data));
  const clients::ServerProcess* now = server.get();
  const auto restart = [&](bool kill) -> Status {
    if (kill) {
      server->kill_hard();
    } else {
      server->stop();
    }
    STOA_TRY(next, run.start(data));
    server = std::move(next);
    now = server.get();
    return {};
  };
  Flips flips(run, data);
  for (unsigned i = 0; i < kFiles * run.effort; ++i) STOA_CHECK_OK(flips.one(now, restart));
  if (flips.flipped() == 0) return broken("no content was found on the disk to turn a bit of");
  run.operations = flips.operations();
  return {};
}

}  // namespace stoa::torture
