#include "tests/crash/worker.h"

namespace stoa::crash {
namespace {

using clients::NfsClient;
using clients::NfsCreate;
using clients::NfsReply;

constexpr std::uint64_t kFileMax = 4u << 20;

class NfsWorker final : public Worker {
 public:
  using Worker::Worker;

 private:
  bool connect(const Protocols& protocols, std::string* why) override {
    client_ = NfsClient::connect(protocols.nfs, 0, why);
    if (client_ == nullptr) return false;
    last_verifier_ = std::exchange(verifier_, {});
    NfsReply folder = client_->mkdir(client_->root(), name_);
    if (!folder.ok()) folder = client_->lookup(client_->root(), name_);
    dir_ = folder.handle;
    return folder.ok();
  }

  bool step() override {
    const std::uint64_t choice = random_.below(100);
    if (files_.empty() || (choice < 20 && files_.size() < 30)) return create();
    if (choice < 65) return write();
    if (choice < 75) return commit(existing_name());
    if (choice < 82) return truncate();
    if (choice < 92) return rename();
    return remove();
  }

  // Tells an answer from a broken connection, and a refusal from success.
  bool settle(const NfsReply& reply, const std::string& what) {
    if (reply.lost) return false;
    if (reply.ok()) {
      promised();
    } else {
      refused(what, reply.text());
    }
    return true;
  }

  bool create() {
    const std::string path = "f" + std::to_string(random_.below(60));
    if (files_.contains(path)) return true;
    begin({{path, ExpectedFile()}});
    const NfsReply made =
        client_->create(dir_, path, random_.percent(50) ? NfsCreate::kGuarded : NfsCreate::kExclusive);
    if (!settle(made, "CREATE of " + path)) return false;
    if (!made.ok()) return true;
    handles_[path] = made.handle;
    return write_to(path, 0, any_bytes(), random_.percent(70));
  }

  bool write() {
    const std::string path = existing_name();
    const std::uint64_t size = files_[path].size_max();
    std::uint64_t offset = random_.percent(40) ? size : random_.below(size + 1);
    if (random_.percent(5)) offset += random_.below(100'000);
    std::string bytes = any_bytes();
    if (bytes.empty()) bytes = "x";
    if (offset + bytes.size() > kFileMax) return remove();
    return write_to(path, offset, bytes, random_.percent(50));
  }

  bool write_to(const std::string& path, std::uint64_t offset, std::string_view bytes, bool durable) {
    constexpr std::size_t kPiece = 1u << 20;
    for (std::size_t done = 0; done < bytes.size(); done += kPiece) {
      const std::string_view piece = bytes.substr(done, kPiece);
      ExpectedFile after = files_[path];
      after.write_perhaps(offset + done, piece);
      begin({{path, after}});
      const NfsReply reply = client_->write(handles_[path], offset + done, piece, durable ? FILE_SYNC : UNSTABLE);
      if (reply.ok() && reply.count != piece.size()) problem("WRITE was short");
      if (reply.ok() && durable && reply.committed != FILE_SYNC) problem("WRITE FILE_SYNC was answered with less");
      if (!settle(reply, "WRITE to " + path)) return false;
      if (!reply.ok()) return true;
      if (reply.committed != UNSTABLE) {
        files_[path].write_durably(offset + done, piece);
      } else {
        if (verifier_.empty()) verifier_ = reply.verifier;
        if (verifier_ == last_verifier_) problem("the write verifier is that of the run before the crash");
        if (verifier_ != reply.verifier) problem("the write verifier changed while the server ran");
      }
    }
    return true;
  }

  bool commit(const std::string& path) {
    const NfsReply reply = client_->commit(handles_[path]);
    if (reply.lost) return false;
    if (!reply.ok()) {
      problem("COMMIT of " + path + ": " + reply.text());
    } else if (!verifier_.empty() && reply.verifier != verifier_) {
      problem("COMMIT and WRITE give different verifiers");
    } else {
      files_[path].commit();
    }
    return true;
  }

  bool truncate() {
    const std::string path = existing_name();
    if (!commit(path)) return false;
    const std::uint64_t size = random_.below(files_[path].size_max() * 5 / 4 + 10);
    ExpectedFile after = files_[path];
    after.truncate(size);
    begin({{path, after}});
    return settle(client_->setattr(handles_[path], {.size = size}), "SETATTR of " + path);
  }

  bool rename() {
    const std::string from = existing_name(), to = "f" + std::to_string(random_.below(60));
    if (from == to) return true;
    begin({{from, std::nullopt}, {to, files_[from]}});
    const clients::NfsHandle handle = handles_[from];
    const NfsReply reply = client_->rename(dir_, from, dir_, to);
    if (!settle(reply, "RENAME of " + from + " to " + to)) return false;
    if (reply.ok()) handles_[to] = handle;
    return true;
  }

  bool remove() {
    const std::string path = existing_name();
    begin({{path, std::nullopt}});
    return settle(client_->remove(dir_, path), "REMOVE of " + path);
  }

  std::unique_ptr<NfsClient> client_;
  clients::NfsHandle dir_;
  std::string verifier_, last_verifier_;  // of this run of the server, and of the one before
};

}  // namespace

std::unique_ptr<Worker> make_nfs_worker(int number, std::uint64_t seed) {
  return std::make_unique<NfsWorker>("nfs-" + std::to_string(number), seed);
}

}  // namespace stoa::crash
