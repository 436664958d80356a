// s3_load: drives one load against one S3 (or plain HTTP) server and prints one line of JSON.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "bench/load/die.h"
#include "bench/load/file_choice.h"
#include "bench/load/s3_session.h"

namespace stoa::bench {
namespace {

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
constexpr std::size_t kSmall = 4096;
constexpr std::size_t kLarge = std::size_t{8} << 20;
constexpr unsigned kPrepareInflight = 32;

struct Options {
  std::string url;
  std::string bucket = "test";
  std::string access_key;
  std::string secret_key;
  std::string load;
  std::string payload = "signed";
  std::string tag = "0";
  unsigned inflight = 32;
  std::uint64_t count = 0;
  double seconds = 4;
  std::uint64_t files = 10'000;
  unsigned page = 1000;
  std::uint64_t seed = 1;
  std::vector<int> server_pids;
};

std::string key_name(std::uint64_t index) {
  char text[32];
  std::snprintf(text, sizeof(text), "k%08llu", static_cast<unsigned long long>(index));
  return text;
}

class Put final : public S3Phase {
 public:
  Put(std::string prefix, std::string body, bool sign) : prefix_(std::move(prefix)), body_(std::move(body)) {
    if (sign) hash_ = sha256_hex(body_);  // once: the generator must not be measured by its own hashing
  }
  void begin(S3Slot& slot) override {
    slot.request.method = "PUT";
    slot.request.path = prefix_ + key_name(slot.index);
    slot.request.body = body_;
    slot.request.body_hash = hash_;
  }
  std::string answered(S3Slot&) override { return ""; }
  std::uint64_t bytes(const S3Slot&) const override { return body_.size(); }

 private:
  std::string prefix_;
  std::string body_;
  std::string hash_;
};

struct GetWork {
  std::string prefix;
  std::uint64_t files = 1;
  std::size_t bytes = 0;   // that must come
  std::size_t object = 0;  // size of the object when a range of it is asked for; 0: all of it
  bool head = false;
  std::uint64_t seed = 0;
};

class Get final : public S3Phase {
 public:
  explicit Get(GetWork work) : work_(std::move(work)) {}
  void begin(S3Slot& slot) override {
    const std::uint64_t choice = mix(work_.seed + slot.index);
    slot.request.method = work_.head ? "HEAD" : "GET";
    slot.request.path = work_.prefix + key_name(choice % work_.files);
    if (work_.object > 0) {
      const std::uint64_t from = mix(choice) % (work_.object / kSmall - work_.bytes / kSmall + 1) * kSmall;
      slot.request.range = std::to_string(from) + "-" + std::to_string(from + work_.bytes - 1);
    }
  }
  std::string answered(S3Slot& slot) override {
    if (work_.head) {
      curl_off_t length = 0;
      curl_easy_getinfo(slot.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
      return static_cast<std::size_t>(length) == work_.bytes ? "" : "wrong Content-Length";
    }
    if (slot.answer_bytes != work_.bytes) return "wrong length";
    if (work_.object > 0 && slot.status != 206) return "not a partial answer";
    return slot.answer[0] == 'x' ? "" : "wrong bytes";
  }
  std::uint64_t bytes(const S3Slot&) const override { return work_.head ? 0 : work_.bytes; }

 private:
  GetWork work_;
};

// One operation is one whole listing by ListObjectsV2, page after page.
class List final : public S3Phase {
 public:
  List(std::string bucket, std::string prefix, std::uint64_t keys, unsigned page)
      : bucket_(std::move(bucket)), prefix_(std::move(prefix)), keys_(keys), page_(page) {}
  void begin(S3Slot& slot) override {
    slot.counted = 0;
    slot.token.clear();
    ask(slot);
  }
  std::string answered(S3Slot& slot) override {
    const std::uint64_t took = now_ns() - asked_ns_;
    pages_.record(took);
    if (slot.token.empty()) first_pages_.record(took);
    for (std::size_t at = slot.answer.find("<Key>"); at != std::string::npos; at = slot.answer.find("<Key>", at + 5))
      ++slot.counted;
    const std::size_t token = slot.answer.find("<NextContinuationToken>");
    if (token != std::string::npos) {
      const std::size_t from = token + std::strlen("<NextContinuationToken>");
      slot.token = slot.answer.substr(from, slot.answer.find('<', from) - from);
      ask(slot);
      return kAgain;
    }
    last_pages_.record(took);
    return slot.counted == keys_ ? "" : "listed " + std::to_string(slot.counted) + " of " + std::to_string(keys_);
  }
  std::uint64_t bytes(const S3Slot&) const override { return 0; }
  void note_in(Outcome& outcome) const {
    outcome.note("entries", static_cast<double>(keys_));
    outcome.note("page_p50_us", static_cast<double>(pages_.percentile(0.5)) / 1e3);
    outcome.note("page_p99_us", static_cast<double>(pages_.percentile(0.99)) / 1e3);
    outcome.note("first_page_p50_us", static_cast<double>(first_pages_.percentile(0.5)) / 1e3);
    outcome.note("last_page_p50_us", static_cast<double>(last_pages_.percentile(0.5)) / 1e3);
  }

 private:
  void ask(S3Slot& slot) {
    slot.request.method = "GET";
    slot.request.path = "/" + bucket_;
    slot.request.query = slot.token.empty() ? "" : "continuation-token=" + encoded(slot.token) + "&";
    slot.request.query += "list-type=2&max-keys=" + std::to_string(page_) + "&prefix=" + encoded(prefix_);
    slot.request.keep_answer = true;
    asked_ns_ = now_ns();  // this load runs with one request in flight
  }
  static std::string encoded(const std::string& text) {
    static constexpr char kDigits[] = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
          std::strchr("-_.~", c) != nullptr) {
        out += c;
      } else {
        out += '%';
        out += kDigits[static_cast<unsigned char>(c) >> 4];
        out += kDigits[static_cast<unsigned char>(c) & 15];
      }
    }
    return out;
  }
  std::string bucket_;
  std::string prefix_;
  std::uint64_t keys_;
  unsigned page_;
  std::uint64_t asked_ns_ = 0;
  Histogram pages_;
  Histogram first_pages_;
  Histogram last_pages_;
};

// DeleteObjects of `page` keys at once.
class DeleteObjects final : public S3Phase {
 public:
  DeleteObjects(std::string bucket, std::string prefix, unsigned page, bool sign)
      : bucket_(std::move(bucket)), prefix_(std::move(prefix)), page_(page), sign_(sign) {}
  void begin(S3Slot& slot) override {
    slot.text = "<Delete><Quiet>true</Quiet>";
    for (std::uint64_t i = 0; i < page_; ++i)
      slot.text += "<Object><Key>" + prefix_ + key_name(slot.index * page_ + i) + "</Key></Object>";
    slot.text += "</Delete>";
    if (sign_) hash_ = sha256_hex(slot.text);  // used as soon as this returns
    slot.request.method = "POST";
    slot.request.path = "/" + bucket_;
    slot.request.query = "delete=";
    slot.request.body = slot.text;
    slot.request.body_hash = hash_;
    slot.request.content_md5 = md5_base64(slot.text);
    slot.request.keep_answer = true;
  }
  std::string answered(S3Slot& slot) override {
    return slot.answer.find("<Error>") == std::string::npos ? "" : "a key was not removed";
  }
  std::uint64_t bytes(const S3Slot&) const override { return 0; }

 private:
  std::string bucket_;
  std::string prefix_;
  unsigned page_;
  bool sign_;
  std::string hash_;
};

class LoadRun {
 public:
  explicit LoadRun(const Options& options)
      : o_(options),
        session_(options.url, options.access_key.empty()
                                  ? std::nullopt
                                  : std::optional(S3Keys{options.access_key, options.secret_key})),
        outcome_(options.server_pids) {}
  int run();

 private:
  bool sign_payload() const { return o_.payload == "signed" && !o_.access_key.empty(); }
  std::string path_of(const std::string& folder) const { return "/" + o_.bucket + "/" + folder + "/"; }
  void timed(S3Phase& phase) {
    outcome_.begin();
    session_.run(phase, o_.inflight, o_.count > 0 ? o_.count : kUnlimited, o_.seconds, outcome_);
    outcome_.end();
  }
  // Objects 0..count-1 of `bytes` under a prefix of their own, made once.
  std::string prepared(std::uint64_t count, std::size_t bytes, unsigned inflight = kPrepareInflight) {
    const std::string folder = "prep-" + std::to_string(count) + "-" + std::to_string(bytes);
    S3Request mark{.method = "HEAD", .path = path_of(folder + "-done") + "k"};
    if (session_.call(mark) == 200) return path_of(folder);
    Outcome outcome;
    Put put(path_of(folder), std::string(bytes, 'x'), sign_payload());
    session_.run(put, inflight, count, 0, outcome);
    if (outcome.errors() > 0) die("preparing failed: " + outcome.first_error());
    mark.method = "PUT";
    mark.body = "x";
    std::string why;
    if (session_.call(mark, &why) / 100 != 2) die("preparing failed: " + why);
    return path_of(folder);
  }
  void put(std::size_t bytes) {
    Put phase(path_of("run-" + o_.load + "-" + o_.tag), std::string(bytes, 'x'), sign_payload());
    timed(phase);
  }
  void get(GetWork work, unsigned prepare_inflight = kPrepareInflight) {
    const std::size_t bytes = work.object > 0 ? work.object : work.bytes;
    work.prefix = prepared(work.files, bytes, prepare_inflight);
    work.seed = o_.seed;
    Get phase(std::move(work));
    timed(phase);
  }
  void list() {
    const std::string prefix = prepared(o_.files, 1).substr(o_.bucket.size() + 2);
    List phase(o_.bucket, prefix, o_.files, o_.page);
    timed(phase);
    phase.note_in(outcome_);
  }
  void delete_objects() {
    const std::string folder = "run-" + o_.load + "-" + o_.tag;
    Put put(path_of(folder), "x", sign_payload());
    Outcome outcome;
    session_.run(put, kPrepareInflight, o_.count * o_.page, 0, outcome);
    if (outcome.errors() > 0) die("preparing failed: " + outcome.first_error());
    DeleteObjects phase(o_.bucket, folder + "/", o_.page, sign_payload());
    o_.seconds = 0;
    timed(phase);
    outcome_.note("entries", o_.page);
  }

  Options o_;
  S3Session session_;
  Outcome outcome_;
};

int LoadRun::run() {
  using Step = void (*)(LoadRun&);
  static const std::map<std::string, Step> kLoads{
      {"put-4k", [](LoadRun& r) { r.put(kSmall); }},
      {"put-8m", [](LoadRun& r) { r.put(kLarge); }},
      {"get-4k", [](LoadRun& r) { r.get({.files = r.o_.files, .bytes = kSmall}); }},
      {"head", [](LoadRun& r) { r.get({.files = r.o_.files, .bytes = kSmall, .head = true}); }},
      {"get-8m", [](LoadRun& r) { r.get({.files = 16, .bytes = kLarge}, 4); }},
      {"range-8m", [](LoadRun& r) { r.get({.files = 2, .bytes = kLarge, .object = 8 * kLarge}, 2); }},
      {"list", [](LoadRun& r) { r.list(); }},
      {"delete-objects", [](LoadRun& r) { r.delete_objects(); }},
      {"create-bucket",
       [](LoadRun& r) {
         std::string why;
         if (r.session_.call({.method = "PUT", .path = "/" + r.o_.bucket}, &why) / 100 != 2) r.outcome_.failed(why);
       }},
  };
  const auto load = kLoads.find(o_.load);
  if (load == kLoads.end()) {
    std::string names;
    for (const auto& [name, step] : kLoads) names += " " + name;
    die("no load is called " + o_.load + "; there are:" + names);
  }
  load->second(*this);
  std::puts(outcome_.to_json(o_.load, o_.inflight, 1, o_.seed).c_str());
  return outcome_.errors() > 0 ? 1 : 0;
}

}  // namespace
}  // namespace stoa::bench

int main(int argc, char** argv) {
  stoa::bench::Options o;
  CLI::App app{"One load against one S3 server; prints one line of JSON. Exit status 1: some operations failed."};
  app.add_option("--url", o.url, "http://host:port")->required();
  app.add_option("--bucket", o.bucket, "Bucket");
  app.add_option("--access-key", o.access_key, "Access key; without one nothing is signed (plain HTTP servers)");
  app.add_option("--secret-key", o.secret_key, "Secret key");
  app.add_option("--payload", o.payload, "Whether the signature covers the body")
      ->check(CLI::IsMember({"signed", "unsigned"}));
  app.add_option("--load", o.load, "Which load")->required();
  app.add_option("--tag", o.tag, "Another word for each run on the same bucket");
  app.add_option("--inflight", o.inflight, "Requests in flight, each on a connection of its own")
      ->check(CLI::Range(1, 1024));
  app.add_option("--count", o.count, "Operations at most (0: as many as --seconds allows)");
  app.add_option("--seconds", o.seconds, "Time limit");
  app.add_option("--files", o.files, "Objects that are prepared, or keys that are listed");
  app.add_option("--page", o.page, "Keys that are listed, or deleted, at once")->check(CLI::Range(1, 1000));
  app.add_option("--seed", o.seed, "Seed of the random choices");
  app.add_option("--pid", o.server_pids, "Processes of the server, whose CPU is reported")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  return stoa::bench::LoadRun(o).run();
}
