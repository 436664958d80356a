// The few operations that a client can do through every protocol, in common terms. So one test can act through one
// protocol, then through a second, and check through a third.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/clients/server_process.h"

namespace stoa::cross {

// The result of a protocol, in its own terms.
enum class Outcome : std::uint8_t {
  kOk,
  kMissing,   // NFS3ERR_NOENT, NFS4ERR_NOENT, NoSuchKey, not_found
  kDenied,    // NFS3ERR_ACCES or PERM, NFS4ERR_ACCESS or PERM, AccessDenied, access or not_owner
  kNoRoom,    // NFS3ERR_DQUOT, NFS4ERR_DQUOT, QuotaExceeded, quota
  kReadOnly,  // NFS3ERR_ROFS, NFS4ERR_ROFS, read_only
  kExists,    // NFS3ERR_EXIST, NFS4ERR_EXIST, exists
  kNotEmpty,  // NFS3ERR_NOTEMPTY, NFS4ERR_NOTEMPTY, not_empty
  kOther,
};
std::ostream& operator<<(std::ostream& out, Outcome outcome);

enum class ProtocolKind : std::uint8_t { kNfs3, kNfs4, kS3, kNative };
std::string_view name_of(ProtocolKind kind);
std::string_view word_of(ProtocolKind kind);  // as the server names it

// Objects that S3 lacks.
constexpr bool has_directories(ProtocolKind kind) {
  return kind != ProtocolKind::kS3;
}  // and renames, modes, appending, truncation

struct Content {
  Outcome outcome = Outcome::kOther;
  std::string bytes{};
};

// Paths are relative to the export, '/' between names. Used by one thread.
class Protocol {
 public:
  virtual ~Protocol() = default;

  // A file with this content, in place of the old one if there is one. All but S3 truncate an existing file first,
  // and leave it empty when the content is then refused.
  virtual Outcome put(const std::string& path, std::string_view bytes) = 0;
  virtual Content get(const std::string& path) = 0;
  virtual Outcome remove(const std::string& path) = 0;
  virtual std::vector<std::string> list(const std::string& path) = 0;  // names in a directory, sorted
  virtual std::optional<std::uint64_t> size(const std::string& path) = 0;

  // kOther, and a failed expectation, where has_directories() is false.
  virtual Outcome make_directory(const std::string& path) = 0;  // mode 0755
  virtual Outcome remove_directory(const std::string& path) = 0;
  virtual Outcome rename(const std::string& from, const std::string& to) = 0;
  virtual Outcome write(const std::string& path, std::uint64_t offset,
                        std::string_view bytes) = 0;  // into a file that is there
  virtual Outcome truncate(const std::string& path, std::uint64_t size) = 0;
  virtual Outcome set_mode(const std::string& path, std::uint32_t mode) = 0;
  virtual std::uint64_t room(const std::string& path) = 0;  // free bytes, as `df` of the directory shows them
};

// As a client of the server of tests/serve: uid 0, or 1001, an ordinary user. Fails the test when it cannot connect.
std::unique_ptr<Protocol> open_protocol(ProtocolKind kind, const clients::ServerProcess& server, std::uint32_t uid);

// Each in its own file.
std::unique_ptr<Protocol> open_nfs3(const clients::ServerProcess& server, std::uint32_t uid);
std::unique_ptr<Protocol> open_nfs4(const clients::ServerProcess& server, std::uint32_t uid);
std::unique_ptr<Protocol> open_s3(const clients::ServerProcess& server, std::uint32_t uid);
std::unique_ptr<Protocol> open_native(const clients::ServerProcess& server, std::uint32_t uid);

}  // namespace stoa::cross
