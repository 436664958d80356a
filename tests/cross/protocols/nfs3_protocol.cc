#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cross/protocols/protocol.h"

namespace stoa::cross {
namespace {

using clients::NfsClient;
using clients::NfsCreate;
using clients::NfsEntry;
using clients::NfsReply;

Outcome outcome_of(const NfsReply& reply) {
  if (reply.lost) return Outcome::kOther;
  switch (reply.status) {
    case NFS3_OK:
      return Outcome::kOk;
    case NFS3ERR_NOENT:
      return Outcome::kMissing;
    case NFS3ERR_ACCES:
    case NFS3ERR_PERM:
      return Outcome::kDenied;
    case NFS3ERR_DQUOT:
      return Outcome::kNoRoom;
    case NFS3ERR_ROFS:
      return Outcome::kReadOnly;
    case NFS3ERR_EXIST:
      return Outcome::kExists;
    case NFS3ERR_NOTEMPTY:
      return Outcome::kNotEmpty;
    default:
      ADD_FAILURE() << reply.text();
      return Outcome::kOther;
  }
}

class Nfs3Protocol final : public Protocol {
 public:
  explicit Nfs3Protocol(std::unique_ptr<NfsClient> client) : client_(std::move(client)) {}

  Outcome put(const std::string& path, std::string_view bytes) override {
    const auto [dir, name] = split(path);
    const NfsReply parent = client_->walk(dir);
    if (!parent.ok()) return outcome_of(parent);
    const NfsReply made = client_->create(parent.handle, name, NfsCreate::kUnchecked, {.size = 0});
    if (!made.ok() || bytes.empty()) return outcome_of(made);
    return write_all(made.handle, 0, bytes);
  }
  Content get(const std::string& path) override {
    const NfsReply found = client_->walk(path);
    if (!found.ok()) return {outcome_of(found)};
    NfsReply read = client_->read_all(found.handle);
    return {outcome_of(read), std::move(read.data)};
  }
  Outcome remove(const std::string& path) override {
    const auto [dir, name] = split(path);
    const NfsReply parent = client_->walk(dir);
    return parent.ok() ? outcome_of(client_->remove(parent.handle, name)) : outcome_of(parent);
  }
  std::vector<std::string> list(const std::string& path) override {
    const NfsReply dir = client_->walk(path);
    EXPECT_TRUE(dir.ok()) << dir.text();
    std::vector<std::string> names;
    for (const NfsEntry& entry : client_->list(dir.handle).entries) names.push_back(entry.name);
    std::ranges::sort(names);
    return names;
  }
  std::optional<std::uint64_t> size(const std::string& path) override {
    const NfsReply found = client_->walk(path);
    if (!found.ok()) return std::nullopt;
    const NfsReply known = client_->getattr(found.handle);
    return known.attr ? std::optional(known.attr->size) : std::nullopt;
  }
  Outcome make_directory(const std::string& path) override {
    const auto [dir, name] = split(path);
    const NfsReply parent = client_->walk(dir);
    return parent.ok() ? outcome_of(client_->mkdir(parent.handle, name)) : outcome_of(parent);
  }
  Outcome remove_directory(const std::string& path) override {
    const auto [dir, name] = split(path);
    const NfsReply parent = client_->walk(dir);
    return parent.ok() ? outcome_of(client_->rmdir(parent.handle, name)) : outcome_of(parent);
  }
  Outcome rename(const std::string& from, const std::string& to) override {
    const auto [from_dir, from_name] = split(from);
    const auto [to_dir, to_name] = split(to);
    const NfsReply source = client_->walk(from_dir);
    if (!source.ok()) return outcome_of(source);
    const NfsReply target = client_->walk(to_dir);
    if (!target.ok()) return outcome_of(target);
    return outcome_of(client_->rename(source.handle, from_name, target.handle, to_name));
  }
  Outcome write(const std::string& path, std::uint64_t offset, std::string_view bytes) override {
    const NfsReply found = client_->walk(path);
    return found.ok() ? write_all(found.handle, offset, bytes) : outcome_of(found);
  }
  Outcome truncate(const std::string& path, std::uint64_t size) override {
    const NfsReply found = client_->walk(path);
    return found.ok() ? outcome_of(client_->setattr(found.handle, {.size = size})) : outcome_of(found);
  }
  Outcome set_mode(const std::string& path, std::uint32_t mode) override {
    const NfsReply found = client_->walk(path);
    return found.ok() ? outcome_of(client_->setattr(found.handle, {.mode = mode})) : outcome_of(found);
  }
  std::uint64_t room(const std::string& path) override {
    const NfsReply found = client_->walk(path);
    EXPECT_TRUE(found.ok()) << found.text();
    return client_->fsstat(found.handle).bytes_free;
  }

 private:
  static std::pair<std::string, std::string> split(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
  }
  Outcome write_all(const clients::NfsHandle& file, std::uint64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
      const NfsReply written = client_->write(file, offset, bytes.substr(0, 1 << 20), FILE_SYNC);
      if (!written.ok() || written.count == 0) return outcome_of(written);
      offset += written.count;
      bytes.remove_prefix(written.count);
    }
    return Outcome::kOk;
  }

  std::unique_ptr<NfsClient> client_;
};

}  // namespace

std::unique_ptr<Protocol> open_nfs3(const clients::ServerProcess& server, std::uint32_t uid) {
  std::string why;
  auto client = NfsClient::connect(server.nfs(), uid, &why);
  EXPECT_NE(client, nullptr) << why;
  return client == nullptr ? nullptr : std::make_unique<Nfs3Protocol>(std::move(client));
}

}  // namespace stoa::cross
