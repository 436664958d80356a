#include "bench/load/s3_session.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace stoa::bench {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr long kConnectionsKept = 1024;
constexpr long kBufferBytes = 512 << 10;
constexpr long kPatienceSeconds = 120;

std::size_t on_body(char* data, std::size_t, std::size_t size, void* to) {
  auto& slot = *static_cast<S3Slot*>(to);
  slot.answer_bytes += size;
  // Failures are worth reading; other answers only where the load asks for them.
  if (slot.request.keep_answer || slot.answer.size() < 1024)
    slot.answer.append(data, slot.request.keep_answer ? size : std::min<std::size_t>(size, 1024));
  return size;
}

std::string code_in(const std::string& xml) {
  const std::size_t from = xml.find("<Code>");
  const std::size_t to = xml.find("</Code>");
  return from == std::string::npos || to == std::string::npos ? "" : " " + xml.substr(from + 6, to - from - 6);
}

}  // namespace

S3Session::S3Session(const std::string& url, std::optional<S3Keys> keys) : url_(url) {
  while (!url_.empty() && url_.back() == '/') url_.pop_back();
  const std::size_t scheme = url_.find("://");
  if (keys) signer_.emplace(*keys, scheme == std::string::npos ? url_ : url_.substr(scheme + 3));
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &S3Session::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &S3Session::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kConnectionsKept);
  timer_ns_ = kNever;
}

S3Session::~S3Session() {
  curl_multi_cleanup(multi_);
  close(epoll_);
}

int S3Session::on_socket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  auto& session = *static_cast<S3Session*>(self);
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(session.epoll_, EPOLL_CTL_DEL, fd, nullptr);
    return 0;
  }
  epoll_event event{};
  event.data.fd = fd;
  if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  if (epoll_ctl(session.epoll_, EPOLL_CTL_MOD, fd, &event) != 0) epoll_ctl(session.epoll_, EPOLL_CTL_ADD, fd, &event);
  return 0;
}

int S3Session::on_timer(CURLM*, long timeout_ms, void* self) {
  auto& session = *static_cast<S3Session*>(self);
  session.timer_ns_ = timeout_ms < 0 ? kNever : now_ns() + static_cast<std::uint64_t>(timeout_ms) * 1'000'000;
  return 0;
}

void S3Session::send(S3Slot& slot) {
  const S3Request& request = slot.request;
  slot.answer.clear();
  slot.answer_bytes = 0;
  slot.status = 0;
  curl_easy_setopt(slot.easy, CURLOPT_URL,
                   (url_ + request.path + (request.query.empty() ? "" : "?" + request.query)).c_str());
  curl_slist_free_all(slot.headers);
  slot.headers = nullptr;
  if (signer_) {
    const auto hash = request.body_hash.empty() ? std::string_view("UNSIGNED-PAYLOAD") : request.body_hash;
    const SignedHeaders headers = signer_->sign(request.method, request.path, request.query, hash);
    slot.headers = curl_slist_append(slot.headers, headers.date.c_str());
    slot.headers = curl_slist_append(slot.headers, headers.payload.c_str());
    slot.headers = curl_slist_append(slot.headers, headers.authorization.c_str());
  }
  if (!request.content_md5.empty())
    slot.headers = curl_slist_append(slot.headers, ("Content-MD5: " + request.content_md5).c_str());
  if (request.method == "PUT" || request.method == "POST") {
    slot.headers = curl_slist_append(slot.headers, "Content-Type: application/octet-stream");
    slot.headers = curl_slist_append(slot.headers, "Expect:");
    // As POST with another word: libcurl then sends a small body in one packet with the headers.
    curl_easy_setopt(slot.easy, CURLOPT_POST, 1L);
    curl_easy_setopt(slot.easy, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(slot.easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(slot.easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  } else if (request.method == "HEAD") {
    curl_easy_setopt(slot.easy, CURLOPT_CUSTOMREQUEST, nullptr);
    curl_easy_setopt(slot.easy, CURLOPT_NOBODY, 1L);
  } else {
    curl_easy_setopt(slot.easy, CURLOPT_CUSTOMREQUEST, nullptr);
    curl_easy_setopt(slot.easy, CURLOPT_HTTPGET, 1L);
  }
  curl_easy_setopt(slot.easy, CURLOPT_RANGE, request.range.empty() ? nullptr : request.range.c_str());
  curl_easy_setopt(slot.easy, CURLOPT_HTTPHEADER, slot.headers);
  curl_multi_add_handle(multi_, slot.easy);
}

void S3Session::next(S3Slot& slot) {
  slot.started_ns = now_ns();
  if (next_index_ >= count_ || slot.started_ns >= deadline_ns_) {
    --busy_slots_;
    return;
  }
  slot.index = next_index_++;
  slot.request = {};
  phase_->begin(slot);
  send(slot);
}

void S3Session::finished(S3Slot& slot, CURLcode code) {
  curl_easy_getinfo(slot.easy, CURLINFO_RESPONSE_CODE, &slot.status);
  std::string verdict;
  if (code != CURLE_OK) {
    verdict = curl_easy_strerror(code);
  } else if (slot.status < 200 || slot.status > 299) {
    verdict = "HTTP " + std::to_string(slot.status) + code_in(slot.answer);
  } else {
    verdict = phase_->answered(slot);
  }
  if (verdict == S3Phase::kAgain) return send(slot);
  if (verdict.empty()) {
    outcome_->succeeded(slot.started_ns, phase_->bytes(slot));
  } else {
    outcome_->failed(verdict);
  }
  next(slot);
}

void S3Session::turn() {
  epoll_event events[64];
  int running = 0;
  const std::uint64_t now = now_ns();
  int wait_ms = 1000;
  if (timer_ns_ != kNever)
    wait_ms = timer_ns_ <= now ? 0 : static_cast<int>(std::min<std::uint64_t>((timer_ns_ - now) / 1'000'000 + 1, 1000));
  const int ready = epoll_wait(epoll_, events, 64, wait_ms);
  for (int i = 0; i < ready; ++i) {
    int what = 0;
    if ((events[i].events & EPOLLIN) != 0) what |= CURL_CSELECT_IN;
    if ((events[i].events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
    if ((events[i].events & (EPOLLERR | EPOLLHUP)) != 0) what |= CURL_CSELECT_ERR;
    curl_multi_socket_action(multi_, events[i].data.fd, what, &running);
  }
  if (timer_ns_ <= now_ns()) {
    timer_ns_ = kNever;
    curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  }
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* easy = message->easy_handle;
    const CURLcode code = message->data.result;
    S3Slot* slot = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &slot);
    curl_multi_remove_handle(multi_, easy);
    finished(*slot, code);
  }
}

void S3Session::run(S3Phase& phase, unsigned inflight, std::uint64_t count, double seconds, Outcome& outcome) {
  std::vector<S3Slot> slots(inflight);
  phase_ = &phase;
  outcome_ = &outcome;
  count_ = count;
  next_index_ = 0;
  busy_slots_ = inflight;
  deadline_ns_ = seconds > 0 ? now_ns() + static_cast<std::uint64_t>(seconds * 1e9) : kNever;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    S3Slot& slot = slots[i];
    slot.number = static_cast<unsigned>(i);
    slot.easy = curl_easy_init();
    curl_easy_setopt(slot.easy, CURLOPT_PRIVATE, &slot);
    curl_easy_setopt(slot.easy, CURLOPT_WRITEFUNCTION, &on_body);
    curl_easy_setopt(slot.easy, CURLOPT_WRITEDATA, &slot);
    curl_easy_setopt(slot.easy, CURLOPT_BUFFERSIZE, kBufferBytes);
    curl_easy_setopt(slot.easy, CURLOPT_TIMEOUT, kPatienceSeconds);
    curl_easy_setopt(slot.easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(slot.easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(slot.easy, CURLOPT_PROXY, "");
    next(slot);
  }
  while (busy_slots_ > 0) turn();
  for (S3Slot& slot : slots) {
    curl_easy_cleanup(slot.easy);
    curl_slist_free_all(slot.headers);
  }
}

long S3Session::call(const S3Request& request, std::string* answer) {
  class Once final : public S3Phase {
   public:
    explicit Once(const S3Request& once) : request_(once) {}
    void begin(S3Slot& slot) override { slot.request = request_; }
    std::string answered(S3Slot& slot) override {
      status = slot.status;
      body = slot.answer;
      return "";
    }
    std::uint64_t bytes(const S3Slot&) const override { return 0; }
    long status = 0;
    std::string body;

   private:
    S3Request request_;
  };
  Once once(request);
  Outcome outcome;
  run(once, 1, 1, 0, outcome);
  if (answer != nullptr) *answer = once.status != 0 ? once.body : outcome.first_error();
  return once.status;
}

}  // namespace stoa::bench
