// One request from its headers to its response: authentication, route, admission, and the check of the body against the
// headers' promises. Free of the HTTP library; used by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "frontends/s3/op/call.h"
#include "frontends/s3/qos_gate.h"

namespace stoa::s3 {

// A refusal as the client gets it.
Response error_response(const Failure& failure, const Request& request, std::string_view host_id);

class Transaction {
 public:
  // `target_ok`: the request's target could be parsed. The request must not move afterwards. `connection`: the
  // request's own, whose deadlines pause while the request waits, and which gives way to others until authentication;
  // may be null.
  Transaction(Services& services, std::unique_ptr<Request> request, bool target_ok, std::string_view host_id,
              http::Connection* connection = nullptr);
  ~Transaction();

  // Everything that the headers decide. False: refused; finish() has the reason, and a body need not be read.
  bool begin();
  // The next bytes of the body. After a refusal the rest is ignored.
  void feed(std::span<const std::byte> raw);
  // The body is complete: does the work. Once.
  Response finish();
  // Instead of begin(): the request is refused for reasons that are not its own (the server is full).
  void refuse_now(Failure failure) { failure_ = std::move(failure); }

  const Request& request() const { return *request_; }
  Operation operation() const { return route_.operation; }
  bool refused() const { return failure_.has_value(); }
  const std::shared_ptr<QosGate>& gate() const { return gate_; }
  // For reading a long object while it is sent.
  const core::OpContext& context() const { return call_ ? call_->ctx : anonymous_; }

 private:
  class StringSink;

  Outcome<void> try_begin();
  Outcome<void> authenticate();
  Outcome<void> find_bucket();
  Outcome<void> prepare_body();
  Outcome<void> feed_as_admitted(std::span<const std::byte> raw);
  Outcome<Response> try_finish();
  void report_refused() const;

  Services& services_;
  std::unique_ptr<Request> request_;
  bool target_ok_;
  std::string host_id_;
  http::Connection* connection_;
  core::OpContext anonymous_{};
  Route route_{};
  std::optional<Call> call_;
  std::shared_ptr<QosGate> gate_;  // also of the response that is being sent
  std::string payload_hash_;
  ChunkSigning signing_{};
  std::string claimed_key_;  // the access key in the request
  std::unique_ptr<StreamingOperation> streaming_;
  std::unique_ptr<ByteSink> text_;
  std::optional<BodyReader> reader_;
  std::optional<Failure> failure_;
};

}  // namespace stoa::s3
