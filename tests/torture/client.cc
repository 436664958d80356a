#include "tests/torture/client.h"

#include <algorithm>

namespace stoa::torture {
namespace {

constexpr std::uint64_t kFilesMax = 12;
constexpr std::uint64_t kFileBytesMax = 3u << 20;

std::string describe(Version version, const std::string& file, const Change& change) {
  const std::string where = std::string(name_of(version)) + " ";
  const std::string range = std::to_string(change.bytes.size()) + " bytes at " + std::to_string(change.offset);
  switch (change.kind) {
    case Change::Kind::kMake:
      return where + "make " + file;
    case Change::Kind::kWrite:
      return where + "write " + file + ", " + range + (change.durable ? ", stable" : ", unstable");
    case Change::Kind::kPunch:
      return where + "punch " + file + ", " + range;
    case Change::Kind::kCommit:
      return where + "commit " + file;
    case Change::Kind::kTruncate:
      return where + "truncate " + file + " to " + std::to_string(change.offset);
    case Change::Kind::kReplace:
      return where + (change.parts ? "multipart upload of " : "put ") + file + ", " +
             std::to_string(change.bytes.size()) + " bytes" +
             (change.source.empty() ? "" : ", a copy of " + change.source);
    case Change::Kind::kRemove:
      return where + "remove " + file;
  }
  return where;
}

Answer ask(Protocol& protocol, const std::string& file, const Change& change) {
  switch (change.kind) {
    case Change::Kind::kMake:
      return protocol.make(file);
    case Change::Kind::kWrite:
      return protocol.write(file, change.offset, change.bytes, change.durable);
    case Change::Kind::kPunch:
      return protocol.punch(file, change.offset, change.bytes.size());
    case Change::Kind::kCommit:
      return protocol.commit(file);
    case Change::Kind::kTruncate:
      return protocol.truncate(file, change.offset);
    case Change::Kind::kReplace:
      if (!change.source.empty()) return protocol.replace_by_copy(file, change.source);
      return change.parts ? protocol.replace_by_parts(file, change.bytes) : protocol.replace(file, change.bytes);
    case Change::Kind::kRemove:
      return protocol.remove(file);
  }
  return {};
}

// Whether it is the disks' fault that a change, or a read, is answered so.
bool may_refuse(Disks disks, Said said) {
  return (disks != Disks::kSound && said == Said::kNoRoom) || (disks > Disks::kFull && said == Said::kFailed);
}
bool may_fail(Disks disks, Said said, const TwinFile& file) {
  return said == Said::kFailed && (disks == Disks::kFailing || (disks == Disks::kReadable && !file.known()));
}

std::unexpected<Error> lost(const std::string& operation) {
  return fail(Errc::kShutdown, operation + ": the connection broke");
}
std::unexpected<Error> unreachable(Version version) {
  return fail(Errc::kShutdown, std::string(name_of(version)) + ": the server cannot be reached");
}

}  // namespace

std::uint64_t awkward_number(model::Random& random) {
  constexpr std::uint64_t kEdges[] = {0, 4, 512, 4096, 8192, 16384, 32768, 65536, 131072, 262144};
  const std::uint64_t choice = random.below(100);
  if (choice < 55) {
    const std::uint64_t at = random.pick(kEdges) + random.below(10);
    return at < 5 ? at : at - 5;
  }
  if (choice < 60) return random.below(kFileBytesMax);
  return random.below(choice < 80 ? 30'000 : 300'000);
}

void Client::attach(const clients::ServerProcess& server) {
  server_ = &server;
  for (auto& connection : connections_) connection.reset();
}

Version Client::any_version() {
  return random_.pick(kVersions);
}
std::string Client::any_name() {
  return name_ + "." + std::to_string(random_.below(kFilesMax));
}

Protocol* Client::protocol(Version version) {
  auto& connection = connections_[static_cast<std::size_t>(version)];
  if (connection == nullptr || random_.percent(fresh_percent_)) {
    connection.reset();
    connection = connect(version, *server_, name_);
  }
  return connection.get();
}

std::unexpected<Error> Client::fault(const std::string& file, const std::string& operation, const std::string& what) {
  return fail(Errc::kCorrupt, operation + ": " + what + "\nwhat was done to it before:\n" + files_[file].history());
}

Status Client::change(Version version, const std::string& file, const Change& change) {
  const std::string operation = describe(version, file, change);
  TwinFile& twin = files_[file];
  Protocol* connection = protocol(version);
  if (connection == nullptr) return unreachable(version);
  ++operations_;
  const Answer answer = ask(*connection, file, change);
  if (answer.said == Said::kNoSuchThing) return {};
  twin.note(operation + ": " + answer.text);
  switch (answer.said) {
    case Said::kOk:
      twin.done(change);
      ++acknowledged_;
      return {};
    case Said::kBusy:
      return {};
    case Said::kLost:
      twin.perhaps(change);
      return lost(operation);
    default:
      if (!may_refuse(disks_, answer.said)) return fault(file, operation, "is answered by " + answer.text);
      twin.perhaps(change);
      return {};
  }
}

Status Client::read(Version version, const std::string& file, std::uint64_t offset, std::uint32_t count) {
  const std::string operation = std::string(name_of(version)) + " read " + file + ", " + std::to_string(count) +
                                " bytes at " + std::to_string(offset);
  TwinFile& twin = files_[file];
  Protocol* connection = protocol(version);
  if (connection == nullptr) return unreachable(version);
  ++operations_;
  Answer answer{Said::kNoSuchThing};
  if (odd_reads_ && random_.percent(50)) answer = connection->read_plus(file, offset, count);
  if (answer.said == Said::kNoSuchThing) answer = connection->read(file, offset, count);
  if (answer.said == Said::kLost) return lost(operation);
  if (answer.said == Said::kNoSuchThing || answer.said == Said::kBusy || may_fail(disks_, answer.said, twin)) return {};
  if (answer.said == Said::kMissing && !twin.now()) return {};
  if (!answer.ok()) return fault(file, operation, "is answered by " + answer.text);
  if (const std::string wrong = twin.compare(offset, count, answer.bytes, answer.end); !wrong.empty())
    return fault(file, operation, wrong);
  return {};
}

Status Client::read_whole(Version version, const std::string& file) {
  const std::string operation = std::string(name_of(version)) + " read the whole of " + file;
  TwinFile& twin = files_[file];
  Protocol* connection = protocol(version);
  if (connection == nullptr) return unreachable(version);
  ++operations_;
  Answer answer = connection->read_all(file);
  if (answer.said == Said::kLost) return lost(operation);
  if (answer.said == Said::kBusy || may_fail(disks_, answer.said, twin)) return {};
  if (answer.said != Said::kOk && answer.said != Said::kMissing)
    return fault(file, operation, "is answered by " + answer.text);
  std::optional<std::string> found;
  if (answer.ok()) found = std::move(answer.bytes);
  std::string wrong;
  if (!twin.known()) {
    wrong = twin.settle(found);
    twin.note(operation + ": " + (found ? std::to_string(found->size()) + " bytes" : "missing"));
  } else if (found != twin.now()) {
    wrong = !found       ? "the file is gone; it had " + std::to_string(twin.now()->size()) + " bytes"
            : twin.now() ? show_difference(*twin.now(), *found)
                         : "a file is there that was removed";
  }
  if (!wrong.empty()) return fault(file, operation, wrong);
  return {};
}

Change Client::any_change(Version version, const TwinFile& twin) {
  if (version == Version::kS3) {
    if (twin.now() && random_.percent(20)) return {.kind = Change::Kind::kRemove};
    const std::string source = any_name();
    const TwinFile& copied = files_[source];
    if (random_.percent(25) && &copied != &twin && copied.known() && copied.now()) {
      return {.kind = Change::Kind::kReplace, .bytes = *copied.now(), .source = source};
    }
    return {
        .kind = Change::Kind::kReplace, .bytes = random_.bytes(awkward_number(random_)), .parts = random_.percent(20)};
  }
  if (!twin.now()) return {.kind = Change::Kind::kMake};
  const std::uint64_t size = twin.now()->size();
  const std::uint64_t choice = random_.below(100);
  if (choice < 70) {
    std::uint64_t offset = random_.percent(40) ? size : awkward_number(random_);
    if (random_.percent(30)) offset = random_.below(size + 1);
    const std::uint64_t length =
        random_.percent(10) ? random_.below(8) : std::min<std::uint64_t>(awkward_number(random_), kCallBytesMax);
    offset = std::min(offset, kFileBytesMax);
    return {.kind = Change::Kind::kWrite,
            .offset = offset,
            .bytes = random_.bytes(std::max<std::uint64_t>(length, 1)),
            .durable = random_.percent(50)};
  }
  if (choice < 75 && version == Version::kNfs42 && size > 0) {
    const std::uint64_t offset = random_.below(size);
    const std::uint64_t length = std::min(size - offset, 1 + awkward_number(random_));
    return {.kind = Change::Kind::kPunch, .offset = offset, .bytes = std::string(length, '\0'), .durable = false};
  }
  if (choice < 82) return {.kind = Change::Kind::kCommit};
  if (choice < 94)
    return {.kind = Change::Kind::kTruncate,
            .offset = random_.percent(50) ? random_.below(size + 1) : awkward_number(random_)};
  return {.kind = Change::Kind::kRemove};
}

std::uint32_t Client::count_to_read(std::uint64_t wanted) const {
  const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, kCallBytesMax));
  return odd_reads_ ? count : (count + 3) & ~3u;
}

Status Client::step() {
  const std::string file = any_name();
  const Version version = any_version();
  const TwinFile& twin = files_[file];
  if (!twin.known()) return read_whole(version, file);
  if (!twin.now() || random_.percent(55)) return change(version, file, any_change(version, twin));
  const std::uint64_t size = twin.now()->size();
  const std::uint64_t choice = random_.below(100);
  if (choice < 30) return read(version, file, 0, count_to_read(size));
  if (choice < 40) return read_whole(version, file);
  const std::uint64_t offset = random_.percent(50) ? random_.below(size + 1) : awkward_number(random_);
  return read(version, file, offset, count_to_read(awkward_number(random_)));
}

Status Client::verify(Version version) {
  for (const auto& [file, twin] : files_) STOA_CHECK_OK(read_whole(version, file));
  return {};
}

Status Client::verify() {
  for (const Version version : kVersions) STOA_CHECK_OK(verify(version));
  return {};
}

void Client::server_died() {
  for (auto& [file, twin] : files_) twin.died();
  server_ = nullptr;
  for (auto& connection : connections_) connection.reset();
}

}  // namespace stoa::torture
