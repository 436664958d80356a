#include <map>

#include "tests/torture/protocol.h"

namespace stoa::torture {
namespace {

using clients::NfsClient;
using clients::NfsCreate;
using clients::NfsReply;

Answer answer_of(const NfsReply& reply) {
  if (reply.lost) return {Said::kLost, "connection lost"};
  switch (reply.status) {
    case NFS3_OK:
      return {Said::kOk, "ok"};
    case NFS3ERR_NOENT:
      return {Said::kMissing, reply.text()};
    case NFS3ERR_STALE:
      return {Said::kStale, reply.text()};
    case NFS3ERR_NOSPC:
    case NFS3ERR_DQUOT:
      return {Said::kNoRoom, reply.text()};
    case NFS3ERR_IO:
    case NFS3ERR_SERVERFAULT:
      return {Said::kFailed, reply.text()};
    case NFS3ERR_JUKEBOX:
      return {Said::kBusy, reply.text()};
    default:
      return {Said::kOther, reply.text()};
  }
}

class Nfs3 final : public Protocol {
 public:
  explicit Nfs3(std::unique_ptr<NfsClient> client) : client_(std::move(client)) {}

  Answer read(const std::string& name, std::uint64_t offset, std::uint32_t count) override {
    return with(name, [&](const clients::NfsHandle& file) {
      NfsReply reply = client_->read(file, offset, count);
      Answer answer = answer_of(reply);
      answer.bytes = std::move(reply.data);
      answer.end = reply.eof;
      return answer;
    });
  }
  Answer remove(const std::string& name) override {
    handles_.erase(name);
    return answer_of(client_->remove(client_->root(), name));
  }
  Answer make(const std::string& name) override {
    const NfsReply made = client_->create(client_->root(), name, NfsCreate::kUnchecked);
    if (made.ok()) handles_[name] = made.handle;
    return answer_of(made);
  }
  Answer write(const std::string& name, std::uint64_t offset, std::string_view bytes, bool stable) override {
    return with(name, [&](const clients::NfsHandle& file) {
      const NfsReply reply = client_->write(file, offset, bytes, stable ? FILE_SYNC : UNSTABLE);
      if (reply.ok() && reply.count != bytes.size())
        return Answer{Said::kOther, "wrote " + std::to_string(reply.count) + " bytes only"};
      return answer_of(reply);
    });
  }
  Answer commit(const std::string& name) override {
    return with(name, [&](const clients::NfsHandle& file) { return answer_of(client_->commit(file)); });
  }
  Answer truncate(const std::string& name, std::uint64_t size) override {
    return with(name,
                [&](const clients::NfsHandle& file) { return answer_of(client_->setattr(file, {.size = size})); });
  }
  Answer make_directory(const std::string& name) override { return answer_of(client_->mkdir(client_->root(), name)); }
  Answer remove_directory(const std::string& name) override { return answer_of(client_->rmdir(client_->root(), name)); }
  Answer make_symlink(const std::string& name, const std::string& target) override {
    return answer_of(
        client_->wait([&](auto done) { client_->symlink_async(client_->root(), name, target, std::move(done)); }));
  }

 private:
  // By the handle of before, as long as it names a file.
  template <class Do>
  Answer with(const std::string& name, Do act) {
    if (const auto known = handles_.find(name); known != handles_.end()) {
      Answer answer = act(known->second);
      if (answer.said != Said::kStale) return answer;
      handles_.erase(known);
    }
    const NfsReply found = client_->lookup(client_->root(), name);
    if (!found.ok()) return answer_of(found);
    return act(handles_[name] = found.handle);
  }

  std::unique_ptr<NfsClient> client_;
  std::map<std::string, clients::NfsHandle> handles_;
};

}  // namespace

std::unique_ptr<Protocol> connect_nfs3(const clients::ServerProcess& server, const std::string& name) {
  clients::NfsTarget target = server.nfs();
  target.export_path = "/" + name;
  std::string why;
  auto client = NfsClient::connect(target, 0, &why);
  return client == nullptr ? nullptr : std::make_unique<Nfs3>(std::move(client));
}

}  // namespace stoa::torture
