#include "tests/crash/worker.h"

namespace stoa::crash {
namespace {

using clients::S3Client;
using clients::S3Reply;

class S3Worker final : public Worker {
 public:
  using Worker::Worker;

 private:
  bool connect(const Protocols& protocols, std::string*) override {
    client_.emplace(protocols.s3);
    return true;
  }

  bool step() override {
    const std::uint64_t choice = random_.below(100);
    if (files_.empty() || choice < 65) return put();
    if (choice < 68) return multipart();
    return remove();
  }

  bool settle(const S3Reply& reply, const std::string& what) {
    if (reply.lost()) return false;
    if (reply.ok()) {
      promised();
    } else {
      refused(what, reply.text());
    }
    return true;
  }

  std::string any_key() {
    const std::string file = "o" + std::to_string(random_.below(25));
    if (random_.percent(60)) return file;
    return "p" + std::to_string(random_.below(3)) + "/" + (random_.percent(50) ? "q/" : "") + file;
  }

  bool put() {
    if (files_.size() > 30) return remove();
    const std::string key = any_key(), bytes = any_bytes();
    begin({{key, ExpectedFile(bytes)}});
    return settle(client_->put(name_ + "/" + key, bytes), "PUT of " + key);
  }

  bool multipart() {
    const std::string key = any_key(), full = name_ + "/" + key;
    const S3Reply begun = client_->create_multipart(full);
    if (begun.lost()) return false;
    const std::string upload = begun.element("UploadId");
    if (!begun.ok() || upload.empty()) {
      problem("CreateMultipartUpload: " + begun.text());
      return true;
    }
    constexpr std::size_t kPartMin = 5u << 20;
    const std::string first = random_.bytes(kPartMin + random_.below(1000)),
                      last = random_.bytes(random_.below(100'000) + 1);
    std::vector<std::string> etags;
    for (const std::string* part : {&first, &last}) {
      const S3Reply reply = client_->put_part(full, upload, static_cast<int>(etags.size()) + 1, *part);
      if (reply.lost()) return false;
      if (!reply.ok()) {
        problem("UploadPart: " + reply.text());
        return true;
      }
      etags.push_back(reply.headers.contains("etag") ? reply.headers.at("etag") : "");
    }
    begin({{key, ExpectedFile(first + last)}});
    return settle(client_->complete(full, upload, etags), "CompleteMultipartUpload of " + key);
  }

  bool remove() {
    const std::string key = existing_name();
    begin({{key, std::nullopt}});
    return settle(client_->remove(name_ + "/" + key), "DELETE of " + key);
  }

  std::optional<S3Client> client_;
};

}  // namespace

std::unique_ptr<Worker> make_s3_worker(int number, std::uint64_t seed) {
  return std::make_unique<S3Worker>("s3-" + std::to_string(number), seed);
}

}  // namespace stoa::crash
