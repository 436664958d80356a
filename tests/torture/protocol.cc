#include "tests/torture/protocol.h"

namespace stoa::torture {

std::string_view name_of(Version version) {
  constexpr std::string_view kNames[] = {"NFSv3", "NFSv4.0", "NFSv4.1", "NFSv4.2", "S3"};
  return kNames[static_cast<std::size_t>(version)];
}

Answer Protocol::read_plus(const std::string&, std::uint64_t, std::uint32_t) {
  return {Said::kNoSuchThing};
}
Answer Protocol::replace(const std::string&, std::string_view) {
  return {Said::kNoSuchThing};
}
Answer Protocol::replace_by_parts(const std::string&, std::string_view) {
  return {Said::kNoSuchThing};
}
Answer Protocol::replace_by_copy(const std::string&, const std::string&) {
  return {Said::kNoSuchThing};
}
Answer Protocol::make(const std::string&) {
  return {Said::kNoSuchThing};
}
Answer Protocol::write(const std::string&, std::uint64_t, std::string_view, bool) {
  return {Said::kNoSuchThing};
}
Answer Protocol::commit(const std::string&) {
  return {Said::kNoSuchThing};
}
Answer Protocol::truncate(const std::string&, std::uint64_t) {
  return {Said::kNoSuchThing};
}
Answer Protocol::punch(const std::string&, std::uint64_t, std::uint64_t) {
  return {Said::kNoSuchThing};
}
Answer Protocol::make_directory(const std::string&) {
  return {Said::kNoSuchThing};
}
Answer Protocol::remove_directory(const std::string&) {
  return {Said::kNoSuchThing};
}
Answer Protocol::make_symlink(const std::string&, const std::string&) {
  return {Said::kNoSuchThing};
}
Answer Protocol::set_attribute(const std::string&, const std::string&, std::string_view) {
  return {Said::kNoSuchThing};
}

Answer Protocol::read_all(const std::string& name) {
  Answer all{Said::kOk};
  do {
    Answer piece = read(name, all.bytes.size(), kCallBytesMax);
    if (!piece.ok()) return piece;
    if (piece.bytes.empty() && !piece.end) return {Said::kOther, "a read in the middle of the file gave nothing"};
    all.bytes += piece.bytes;
    all.end = piece.end;
  } while (!all.end);
  return all;
}

std::unique_ptr<Protocol> connect(Version version, const clients::ServerProcess& server, const std::string& client,
                                  const std::string& name) {
  switch (version) {
    case Version::kNfs3:
      return connect_nfs3(server, name);
    case Version::kNfs40:
      return connect_nfs4(server, client, name, 0);
    case Version::kNfs41:
      return connect_nfs4(server, client, name, 1);
    case Version::kNfs42:
      return connect_nfs4(server, client, name, 2);
    case Version::kS3:
      return connect_s3(server, name);
  }
  return nullptr;
}

}  // namespace stoa::torture
