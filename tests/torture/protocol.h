// The operations of a client on a file through every protocol, with any odd lengths and offsets; one connection each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tests/clients/server_process.h"

namespace stoa::torture {

enum class Said : std::uint8_t {
  kOk,
  kLost,     // the connection broke: the result is unknown
  kMissing,  // NFS3ERR_NOENT, NFS4ERR_NOENT, NoSuchKey
  kStale,    // NFS3ERR_STALE, NFS4ERR_STALE
  kNoRoom,   // NOSPC, DQUOT, InsufficientStorage
  kFailed,   // IO, SERVERFAULT, InternalError, and a body that breaks off
  kBusy,     // JUKEBOX, DELAY, SlowDown
  kOther,
  kNoSuchThing,  // the protocol lacks it
};

struct Answer {
  Said said = Said::kLost;
  std::string text{};  // in the terms of the protocol
  std::string bytes{};
  bool end = false;  // of the file, behind these bytes
  bool ok() const { return said == Said::kOk; }
};

enum class Version : std::uint8_t { kNfs3, kNfs40, kNfs41, kNfs42, kS3 };
inline constexpr Version kVersions[] = {Version::kNfs3, Version::kNfs40, Version::kNfs41, Version::kNfs42,
                                        Version::kS3};
std::string_view name_of(Version version);

// Size of one read or write: a session of NFSv4 takes and gives a MiB, with all that is around the data.
inline constexpr std::uint32_t kCallBytesMax = (1u << 20) - 4096;

// Files are named relative to the export's directory and lie in it; used by one thread.
class Protocol {
 public:
  virtual ~Protocol() = default;

  virtual Answer read(const std::string& name, std::uint64_t offset, std::uint32_t count) = 0;
  // READ_PLUS: 4.2 only.
  virtual Answer read_plus(const std::string& name, std::uint64_t offset, std::uint32_t count);
  virtual Answer remove(const std::string& name) = 0;
  // A whole file in place of an existing one, at once and durably: S3 only.
  virtual Answer replace(const std::string& name, std::string_view bytes);
  // The same by a multipart upload, and by a copy of another file.
  virtual Answer replace_by_parts(const std::string& name, std::string_view bytes);
  virtual Answer replace_by_copy(const std::string& name, const std::string& source);
  // NFS only.
  virtual Answer make(const std::string& name);  // or find it
  virtual Answer write(const std::string& name, std::uint64_t offset, std::string_view bytes, bool stable);
  virtual Answer commit(const std::string& name);
  virtual Answer truncate(const std::string& name, std::uint64_t size);
  virtual Answer punch(const std::string& name, std::uint64_t offset, std::uint64_t length);  // 4.2
  // Small things that occupy metadata.
  virtual Answer make_directory(const std::string& name);
  virtual Answer remove_directory(const std::string& name);
  virtual Answer make_symlink(const std::string& name, const std::string& target);
  virtual Answer set_attribute(const std::string& name, const std::string& attribute, std::string_view value);  // 4.2

  // The whole of it, in as many reads as it takes.
  Answer read_all(const std::string& name);
};

// A connection of its own to the export `name` of the server. Empty: it cannot be reached. `client` names the simulated
// machine: a connection by the same name is a restart of it.
std::unique_ptr<Protocol> connect(Version version, const clients::ServerProcess& server, const std::string& client,
                                  const std::string& name = "test");

// Each in its own file.
std::unique_ptr<Protocol> connect_nfs3(const clients::ServerProcess& server, const std::string& name);
std::unique_ptr<Protocol> connect_nfs4(const clients::ServerProcess& server, const std::string& client,
                                       const std::string& name, unsigned minor);
std::unique_ptr<Protocol> connect_s3(const clients::ServerProcess& server, const std::string& name);

}  // namespace stoa::torture
