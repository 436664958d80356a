// A client that does random operations on files of its own, through every protocol, over connections old and new, and
// knows the right results.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "tests/model/random.h"
#include "tests/torture/protocol.h"
#include "tests/torture/twin.h"

namespace stoa::torture {

// Lengths and offsets at borders in the server, and those right beside them.
std::uint64_t awkward_number(model::Random& random);

enum class Disks : std::uint8_t {
  kSound,
  kFull,      // changes may be refused
  kReadable,  // changes may fail, but not reads of acknowledged data
  kFailing,   // reads may fail, too
};

class Client {
 public:
  Client(std::string name, std::uint64_t seed) : name_(std::move(name)), random_(seed) {}

  // Uses connections to this server from now on; it must outlive the use.
  void attach(const clients::ServerProcess& server);
  // The next operation of this protocol goes over a connection of its own.
  void attach_anew(Version version) { connections_[static_cast<std::size_t>(version)].reset(); }
  // The number of operations in a hundred with a connection of their own (10).
  void set_fresh(unsigned percent) { fresh_percent_ = percent; }
  // Reads give numbers of bytes that are no multiple of four, too, and are READ_PLUS now and then.
  void set_odd_reads(bool odd) { odd_reads_ = odd; }
  // Errors that tell of them are no fault of the server's; wrong bytes always are.
  void set_disks(Disks disks) { disks_ = disks; }

  // One operation. kShutdown: the connection broke. Any other error is a fault that was found.
  Status step();
  // Reads every file through every protocol, and compares.
  Status verify();
  Status verify(Version version);
  void server_died();
  // Takes over the other's knowledge of files: for a copy of its server's data.
  void know_as(const Client& other) { files_ = other.files_; }

  std::uint64_t operations() const { return operations_; }
  std::uint64_t acknowledged() const { return acknowledged_; }

  // For scenarios that do something of their own to a file.
  std::string any_name();
  TwinFile& twin(const std::string& file) { return files_[file]; }
  Protocol* protocol(Version version);  // empty: it cannot be reached
  Status change(Version version, const std::string& file, const Change& change);
  Status read(Version version, const std::string& file, std::uint64_t offset, std::uint32_t count);
  Status read_whole(Version version, const std::string& file);

 private:
  Version any_version();
  std::uint32_t count_to_read(std::uint64_t wanted) const;
  Change any_change(Version version, const TwinFile& file);
  std::unexpected<Error> fault(const std::string& file, const std::string& operation, const std::string& what);

  const std::string name_;
  model::Random random_;
  const clients::ServerProcess* server_ = nullptr;
  std::array<std::unique_ptr<Protocol>, std::size(kVersions)> connections_;
  std::map<std::string, TwinFile> files_;
  unsigned fresh_percent_ = 10;
  bool odd_reads_ = false;
  Disks disks_ = Disks::kSound;
  std::uint64_t operations_ = 0;
  std::uint64_t acknowledged_ = 0;
};

}  // namespace stoa::torture
