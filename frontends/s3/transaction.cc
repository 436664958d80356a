#include "frontends/s3/transaction.h"

#include <array>

#include "base/log.h"
#include "frontends/http/connections.h"
#include "frontends/s3/auth/authentication.h"
#include "frontends/s3/op/admission.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

// Time for NFS clients to return leases: a live one does so in milliseconds. Then the answer is SlowDown, after which
// S3 clients retry by themselves; the thread serves other connections, too, and must not wait for a client that is
// gone.
constexpr std::chrono::milliseconds kLeasePatience{3000};

using Handler = Outcome<Response> (*)(Call&);

// In the order of Operation; null: not of this kind.
constexpr std::array<Handler, kOperations> kHandlers{list_buckets,
                                                     create_bucket,
                                                     delete_bucket,
                                                     head_bucket,
                                                     get_bucket_location,
                                                     get_bucket_acl,
                                                     put_bucket_acl,
                                                     get_bucket_configuration,
                                                     list_objects,
                                                     list_objects,
                                                     list_objects,
                                                     list_multipart_uploads,
                                                     delete_objects,
                                                     get_object,
                                                     get_object,
                                                     nullptr,
                                                     copy_object,
                                                     delete_object,
                                                     get_object_acl,
                                                     put_object_acl,
                                                     get_object_attributes,
                                                     get_object_tagging,
                                                     create_multipart_upload,
                                                     nullptr,
                                                     upload_part_copy,
                                                     list_parts,
                                                     complete_multipart_upload,
                                                     abort_multipart_upload,
                                                     nullptr};

bool needs_bucket(Operation operation) {
  return operation != Operation::kListBuckets && operation != Operation::kCreateBucket;
}

bool needs_length(Operation operation) {
  return operation == Operation::kPutObject || operation == Operation::kUploadPart ||
         operation == Operation::kDeleteObjects || operation == Operation::kCompleteMultipartUpload;
}

// The bytes of objects are paid as they come and go.
qos::Price price_of(Operation operation) {
  switch (operation) {
    case Operation::kGetObject:
      return qos::Price{}.add(qos::Resource::kReadOps, 1);
    case Operation::kPutObject:
    case Operation::kUploadPart:
      return qos::Price{}.add(qos::Resource::kWriteOps, 1);
    default:
      return qos::Price::metadata();
  }
}

// Successes are logged only for operations that change something; refusals of any kind at debug level.
void log_failure(const Failure& failure, const Request& request, Operation operation) {
  const CodeInfo& what = info(failure.code);
  const bool ours = what.status >= 500 && failure.code != Code::kNotImplemented && failure.code != Code::kSlowDown;
  const LogLevel level = ours ? LogLevel::kWarning : LogLevel::kDebug;
  if (!log_enabled(level)) return;
  log_event(level, "s3", "request refused",
            {{"request", request.id},
             {"operation", to_string(operation)},
             {"code", what.name},
             {"path", request.target.path},
             {"client", request.client},
             {"cause", failure.log}});
}

}  // namespace

class Transaction::StringSink final : public ByteSink {
 public:
  explicit StringSink(std::string& into) : into_(into) {}
  Outcome<void> write(std::span<const std::byte> data) override {
    into_.append(reinterpret_cast<const char*>(data.data()), data.size());
    return {};
  }

 private:
  std::string& into_;
};

Response error_response(const Failure& failure, const Request& request, std::string_view host_id) {
  const CodeInfo& what = info(failure.code);
  Response response{.status = what.status, .headers = failure.headers};
  if (what.status == 304 || request.method == "HEAD") {
    if (what.status != 304) response.add("Content-Type", "application/xml");
    return response;
  }
  XmlWriter xml("Error", "");
  xml.element("Code", what.name);
  xml.element("Message", failure.message.empty() ? what.message : std::string_view(failure.message));
  for (const auto& [name, value] : failure.details) xml.element(name, value);
  xml.element("Resource", request.target.path).element("RequestId", request.id).element("HostId", host_id);
  response.body = xml.finish();
  response.add("Content-Type", "application/xml");
  return response;
}

Transaction::Transaction(Services& services, std::unique_ptr<Request> request, bool target_ok, std::string_view host_id,
                         http::Connection* connection)
    : services_(services),
      request_(std::move(request)),
      target_ok_(target_ok),
      host_id_(host_id),
      connection_(connection),
      gate_(std::make_shared<QosGate>(services, connection)) {}

Transaction::~Transaction() = default;

bool Transaction::begin() {
  Outcome<void> begun = try_begin();
  if (begun) return true;
  failure_ = std::move(begun.error());
  return false;
}

Outcome<void> Transaction::try_begin() {
  if (!target_ok_) return refuse(Code::kInvalidUri);
  // Authentication comes first: an anonymous client learns nothing from a refusal.
  Outcome<Route> route = route_request(*request_, services_.options.domain);
  if (route) route_ = std::move(*route);
  if (!route && request_->method == "OPTIONS") return std::unexpected<Failure>(std::move(route.error()));
  call_.emplace(
      Call{.services = services_, .request = *request_, .route = route_, .registry = services_.registry.snapshot()});
  STOA_CHECK_OK(authenticate());
  // From here on the connection gives way to no other. If it already has, the answer is lost.
  if (connection_ != nullptr && !connection_->begin_work()) return refuse(Code::kServiceUnavailable);
  if (!route) return std::unexpected<Failure>(std::move(route.error()));
  if (needs_bucket(route_.operation)) STOA_CHECK_OK(find_bucket());
  gate_->enter(*call_);
  STOA_CHECK_OK(gate_->begin(price_of(route_.operation)));
  return prepare_body();
}

Outcome<void> Transaction::authenticate() {
  Authentication authentication(*request_, route_, *call_->registry, services_.signing_keys, services_.options);
  auto found = authentication.run();
  claimed_key_ = authentication.claimed_key();
  STOA_TRY(identity, std::move(found));
  payload_hash_ = std::move(identity.payload_hash);
  signing_ = std::move(identity.signing);
  call_->user = identity.user;
  call_->ctx.request_id = request_->serial;
  call_->ctx.protocol = core::Protocol::kS3;
  call_->ctx.cred = identity.user->credentials();
  call_->ctx.client = request_->client;
  call_->ctx.lease_patience = kLeasePatience;
  return {};
}

Outcome<void> Transaction::find_bucket() {
  const core::Export* bucket = call_->registry->find_export(route_.bucket);
  if (bucket == nullptr || !bucket->s3) {
    return std::unexpected<Failure>(Failure{.code = Code::kNoSuchBucket, .details = {{"BucketName", route_.bucket}}});
  }
  if (const auto expected = request_->filled("x-amz-expected-bucket-owner"); expected && *expected != bucket->owner)
    return refuse(Code::kAccessDenied);
  const Admission admitted = admission(*bucket, *request_);
  if (admitted == Admission::kRefused) return refuse(Code::kAccessDenied);
  call_->bucket = bucket;
  call_->ctx.read_only = admitted == Admission::kReadOnly;
  if (call_->ctx.read_only && changes_bucket(route_.operation)) return refuse(Code::kAccessDenied);
  return {};
}

Outcome<void> Transaction::prepare_body() {
  const Operation operation = route_.operation;
  const BodyExpectation expectation{.needs_length = needs_length(operation),
                                    .checksums_are_of_body = operation != Operation::kCompleteMultipartUpload};
  STOA_TRY(plan, plan_body(*request_, payload_hash_, std::move(signing_), expectation));
  const Limits& limits = services_.options.limits;
  std::uint64_t limit = limits.xml_bytes_max;
  bool want_md5 = false;
  ByteSink* sink = nullptr;
  if (operation == Operation::kPutObject || operation == Operation::kUploadPart) {
    limit = limits.object_bytes_max;
    if (plan.length && *plan.length > limit) {
      return std::unexpected<Failure>(Failure{
          .code = Code::kEntityTooLarge,
          .details = {{"ProposedSize", std::to_string(*plan.length)}, {"MaxSizeAllowed", std::to_string(limit)}}});
    }
    STOA_TRY(streaming,
             operation == Operation::kPutObject ? begin_put_object(*call_, plan) : begin_upload_part(*call_, plan));
    streaming_ = std::move(streaming);
    sink = &streaming_->sink();
    want_md5 = true;
  } else {
    if (plan.length && *plan.length > limit) return refuse(Code::kMaxMessageLengthExceeded);
    if (operation == Operation::kDeleteObjects && !plan.content_md5 && !plan.algorithm)
      return refuse(Code::kInvalidRequest, "Missing required header for this request: Content-MD5 OR x-amz-checksum-*");
    text_ = std::make_unique<StringSink>(call_->body);
    sink = text_.get();
  }
  reader_.emplace(std::move(plan), want_md5, limit, *sink);
  return {};
}

void Transaction::feed(std::span<const std::byte> raw) {
  if (failure_ || !reader_) return;
  Outcome<void> fed = streaming_ ? feed_as_admitted(raw) : reader_->feed(raw);
  if (fed) return;
  failure_ = std::move(fed.error());
  if (failure_->code == Code::kEntityTooLarge && !streaming_) failure_->code = Code::kMaxMessageLengthExceeded;
  streaming_.reset();  // releases staging buffers while the rest of the body is thrown away
}

Outcome<void> Transaction::feed_as_admitted(std::span<const std::byte> raw) {
  while (!raw.empty()) {
    STOA_TRY(passing, gate_->go_on(qos::Resource::kWriteBytes, raw.size()));
    STOA_CHECK_OK(reader_->feed(raw.first(passing)));
    raw = raw.subspan(passing);
  }
  return {};
}

Outcome<Response> Transaction::try_finish() {
  STOA_TRY(digest, reader_->finish());
  if (streaming_) return streaming_->finish(*call_, digest);
  return kHandlers[static_cast<std::size_t>(route_.operation)](*call_);
}

void Transaction::report_refused() const {
  const auto registry = services_.registry.snapshot();
  const core::Export* const bucket = registry->find_export(route_.bucket);
  services_.ns.refused({.request_id = request_->serial, .protocol = core::Protocol::kS3, .client = request_->client},
                       {.request = request_->method + " " + request_->target.path,
                        .reason = info(failure_->code).name,
                        .claimed = claimed_key_.empty() ? std::string() : "access key " + claimed_key_,
                        .directory = bucket != nullptr && bucket->s3 ? bucket->root : core::kRootId});
}

Response Transaction::finish() {
  if (!failure_) {
    Outcome<Response> done = try_finish();
    if (done) return std::move(*done);
    failure_ = std::move(done.error());
  }
  streaming_.reset();
  // Denials by the core were recorded by the core, with a cause.
  if (info(failure_->code).status == 403 && failure_->log.empty()) report_refused();
  log_failure(*failure_, *request_, route_.operation);
  return error_response(*failure_, *request_, host_id_);
}

}  // namespace stoa::s3
