#include "tests/cross/protocols/protocol.h"

#include <ostream>

namespace stoa::cross {

std::ostream& operator<<(std::ostream& out, Outcome outcome) {
  constexpr const char* kWords[] = {"ok", "missing", "denied", "no room", "read-only", "exists", "not empty", "other"};
  return out << kWords[static_cast<std::size_t>(outcome)];
}

std::string_view name_of(ProtocolKind kind) {
  constexpr std::string_view kNames[] = {"Nfs3", "Nfs4", "S3", "Native"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view word_of(ProtocolKind kind) {
  constexpr std::string_view kWords[] = {"nfs", "nfs", "s3", "native"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::unique_ptr<Protocol> open_protocol(ProtocolKind kind, const clients::ServerProcess& server, std::uint32_t uid) {
  switch (kind) {
    case ProtocolKind::kNfs3:
      return open_nfs3(server, uid);
    case ProtocolKind::kNfs4:
      return open_nfs4(server, uid);
    case ProtocolKind::kS3:
      return open_s3(server, uid);
    case ProtocolKind::kNative:
      return open_native(server, uid);
  }
  return nullptr;
}

}  // namespace stoa::cross
