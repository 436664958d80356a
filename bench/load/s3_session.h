// Requests to an HTTP server through libcurl's multi interface: one thread, one epoll, kept-alive connections, one
// request in flight a slot.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/load/outcome.h"
#include "bench/load/s3_signer.h"

namespace stoa::bench {

struct S3Request {
  std::string method;          // GET, HEAD, PUT, POST
  std::string path;            // "/bucket/key", percent-encoded
  std::string query;           // canonical
  std::string range;           // "0-8388607"
  std::string_view body;       // of a PUT or POST; lives until the answer is there
  std::string_view body_hash;  // its SHA-256 in hex; empty: UNSIGNED-PAYLOAD
  std::string content_md5{};   // in base64; empty: not told
  bool keep_answer = false;    // else it is only counted
};

struct S3Slot {
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  S3Request request;
  unsigned number = 0;
  std::uint64_t index = 0;
  std::uint64_t started_ns = 0;
  std::uint64_t answer_bytes = 0;
  std::string answer;
  long status = 0;
  std::string token;          // of the listing
  std::uint64_t counted = 0;  // keys listed
  std::string text;           // for a body that the load makes
};

// The work of a load: fills slot.request for operation slot.index; then looks at the answer. The verdict of
// answered(): empty when the operation is done well, kAgain to send slot.request (changed) as its next part, else the
// failure.
class S3Phase {
 public:
  static constexpr const char* kAgain = "again";
  virtual ~S3Phase() = default;
  virtual void begin(S3Slot& slot) = 0;
  virtual std::string answered(S3Slot& slot) = 0;
  virtual std::uint64_t bytes(const S3Slot& slot) const = 0;
};

class S3Session {
 public:
  // `url`: http://host:port. No keys: nothing is signed.
  S3Session(const std::string& url, std::optional<S3Keys> keys);
  ~S3Session();
  S3Session(const S3Session&) = delete;
  S3Session& operator=(const S3Session&) = delete;

  void run(S3Phase& phase, unsigned inflight, std::uint64_t count, double seconds, Outcome& outcome);
  // One request, for setting up: the HTTP status, 0 when there was no answer.
  long call(const S3Request& request, std::string* answer = nullptr);

 private:
  static int on_socket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int on_timer(CURLM*, long timeout_ms, void* self);
  void send(S3Slot& slot);
  void next(S3Slot& slot);
  void turn();
  void finished(S3Slot& slot, CURLcode code);

  std::string url_;
  std::optional<S3Signer> signer_;
  CURLM* multi_ = curl_multi_init();
  int epoll_ = -1;
  std::uint64_t timer_ns_ = 0;
  S3Phase* phase_ = nullptr;
  Outcome* outcome_ = nullptr;
  std::uint64_t count_ = 0;
  std::uint64_t next_index_ = 0;
  std::uint64_t deadline_ns_ = 0;
  std::uint64_t busy_slots_ = 0;
};

}  // namespace stoa::bench
