// The input of every operation: the request, the caller, and the core. And the table of operations.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/api/namespace.h"
#include "core/api/registry.h"
#include "frontends/s3/auth/signing_keys.h"
#include "frontends/s3/body.h"
#include "frontends/s3/core_call.h"
#include "frontends/s3/error.h"
#include "frontends/s3/http/request.h"
#include "frontends/s3/http/response.h"
#include "frontends/s3/op/staging_buffers.h"
#include "frontends/s3/operation.h"
#include "frontends/s3/options.h"
#include "frontends/s3/slow_requests.h"

namespace stoa::s3 {

// Shared by all requests of one server.
struct Services {
  core::Namespace& ns;
  core::Registry& registry;
  const ServerOptions& options;
  SigningKeys signing_keys{};
  StagingBuffers buffers{};
  std::atomic<std::uint32_t> uploads{0};  // in flight: see Limits::uploads_max
  SlowRequests slow{options.limits.slow_requests_max};
  std::atomic<bool> stopping{false};  // no request may wait any more
};

struct Call {
  Services& services;
  const Request& request;
  const Route& route;
  std::shared_ptr<const core::RegistrySnapshot> registry;  // keeps `user` and `bucket`
  const core::User* user = nullptr;
  mutable core::OpContext ctx{};         // acts as the user; its deadline is that of the last core call
  const core::Export* bucket = nullptr;  // null for ListBuckets and CreateBucket only
  std::string body{};                    // of operations that take XML

  core::Namespace& ns() const { return services.ns; }
  core::FileId root() const { return bucket->root; }
  // The server's own housekeeping (multipart uploads, bucket directories), already decided upon.
  // Deadline of a call of the core that begins now.
  const core::OpContext& fresh_ctx() const {
    begin_core_call(ctx);
    return ctx;
  }
  core::OpContext own_ctx() const {
    core::OpContext own = fresh_ctx();
    own.cred = core::Credentials::superuser();
    own.read_only = false;
    return own;
  }
  bool owns_bucket() const { return bucket->owner == user->name || user->uid == 0; }
};

// An operation that streams its body to the store.
class StreamingOperation {
 public:
  virtual ~StreamingOperation() = default;
  virtual ByteSink& sink() = 0;
  // The body was complete and every hash right.
  virtual Outcome<Response> finish(Call& call, const BodyDigest& digest) = 0;
};

Outcome<Response> list_buckets(Call& call);
Outcome<Response> create_bucket(Call& call);
Outcome<Response> delete_bucket(Call& call);
Outcome<Response> head_bucket(Call& call);
Outcome<Response> get_bucket_location(Call& call);
Outcome<Response> get_bucket_acl(Call& call);
Outcome<Response> put_bucket_acl(Call& call);
Outcome<Response> get_bucket_configuration(Call& call);
Outcome<Response> list_objects(Call& call);  // v1, v2 and versions
Outcome<Response> list_multipart_uploads(Call& call);
Outcome<Response> delete_objects(Call& call);
Outcome<Response> get_object(Call& call);  // and HEAD
Outcome<Response> copy_object(Call& call);
Outcome<Response> delete_object(Call& call);
Outcome<Response> get_object_acl(Call& call);
Outcome<Response> put_object_acl(Call& call);
Outcome<Response> get_object_attributes(Call& call);
Outcome<Response> get_object_tagging(Call& call);
Outcome<Response> create_multipart_upload(Call& call);
Outcome<Response> upload_part_copy(Call& call);
Outcome<Response> list_parts(Call& call);
Outcome<Response> complete_multipart_upload(Call& call);
Outcome<Response> abort_multipart_upload(Call& call);

// Each refuses early, before the body arrives, where it can.
Outcome<std::unique_ptr<StreamingOperation>> begin_put_object(Call& call, const BodyPlan& plan);
// UploadPart may need a checksum that the client did not announce: it is set in `plan`.
Outcome<std::unique_ptr<StreamingOperation>> begin_upload_part(Call& call, BodyPlan& plan);

}  // namespace stoa::s3
