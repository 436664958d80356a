#include "frontends/s3/op/call.h"
#include "frontends/s3/op/location_constraint.h"
#include "frontends/s3/op/objects.h"
#include "frontends/s3/xml/reader.h"

namespace stoa::s3 {
namespace {

Outcome<void> check_location(const Call& call) {
  std::string wanted;
  if (!call.body.empty()) {
    const auto document = parse_xml(call.body);
    if (!document || document->name != "CreateBucketConfiguration") return refuse(Code::kMalformedXml);
    for (const XmlNode& child : document->children) {
      if (child.name != "LocationConstraint")
        return refuse(Code::kNotImplemented, "CreateBucketConfiguration asks for something that is not implemented.");
      wanted = child.text;
    }
  }
  return check_location_constraint(wanted, call.services.options.region);
}

// CreateBucket for an existing bucket of the caller succeeds in the first region, as in S3, and changes nothing;
// elsewhere it is an error.
Outcome<Response> taken(const Call& call, const core::Export& existing) {
  const bool own = existing.s3 && existing.owner == call.user->name;
  if (own && call.services.options.region == "us-east-1") {
    Response response;
    response.add("Location", "/" + existing.name);
    return response;
  }
  return std::unexpected<Failure>(Failure{.code = own ? Code::kBucketAlreadyOwnedByYou : Code::kBucketAlreadyExists,
                                          .details = {{"BucketName", existing.name}}});
}

// A directory that a crash left between mkdir and the export: empty, private and the caller's.
Outcome<core::FileId> adopt_left_over(const Call& call, core::FileId parent) {
  const core::OpContext own = call.own_ctx();
  auto found = call.ns().lookup(own, {.parent = parent, .name = call.route.bucket});
  if (!found) return refuse(found.error(), Missing::kBucket);
  const core::Attributes& attr = found->attr;
  auto listed = call.ns().readdir(own, {.dir = attr.id, .cookie = 2, .entries_max = 1});
  const bool ours = attr.type == core::FileType::kDirectory && attr.mode == 0700 && attr.uid == call.user->uid &&
                    listed && listed->entries.empty();
  if (!ours) return refuse(Code::kBucketAlreadyExists);
  for (const core::Export& existing : call.registry->exports()) {
    if (existing.root == attr.id) return refuse(Code::kBucketAlreadyExists);
  }
  return attr.id;
}

}  // namespace

Outcome<Response> create_bucket(Call& call) {
  const std::string& name = call.route.bucket;
  if (!valid_bucket_name(name)) {
    return std::unexpected<Failure>(Failure{.code = Code::kInvalidBucketName, .details = {{"BucketName", name}}});
  }
  const auto locked = call.request.filled("x-amz-bucket-object-lock-enabled");
  if (locked && !equal_names(*locked, "false")) {
    return std::unexpected<Failure>(
        Failure{.code = Code::kNotImplemented, .details = {{"Header", "x-amz-bucket-object-lock-enabled"}}});
  }
  STOA_CHECK_OK(refuse_unsupported_headers(call.request));
  STOA_CHECK_OK(check_location(call));

  if (const core::Export* existing = call.registry->find_export(name)) return taken(call, *existing);

  const core::OpContext own = call.own_ctx();
  auto parent = call.ns().resolve_path(own, {.path = call.services.options.bucket_directory});
  if (!parent) return std::unexpected<Failure>(Failure{.code = Code::kInternalError, .log = describe(parent.error())});
  auto made = call.ns().mkdir(
      own,
      {.parent = parent->attr.id, .name = name, .set = {.mode = 0700, .uid = call.user->uid, .gid = call.user->gid}});
  core::FileId root = core::kNoFile;
  if (made) {
    root = made->attr.id;
  } else if (made.error().code == Errc::kExists) {
    STOA_TRY(left, adopt_left_over(call, parent->attr.id));
    root = left;
  } else {
    return refuse(made.error(), Missing::kBucket);
  }

  auto path = call.ns().path_of(own, {.id = root});
  if (!path) return refuse(path.error(), Missing::kBucket);
  auto added = call.services.registry.add_export(
      {.name = name, .root = root, .path = path->path, .s3 = true, .owner = call.user->name},
      call.fresh_ctx().deadline);
  if (!added) {
    // Another request made the same bucket first, or the registry refuses it: the empty directory goes again, unless
    // it is that other request's.
    const auto registry = call.services.registry.snapshot();
    const core::Export* winner = registry->find_export(name);
    if (winner == nullptr || winner->root != root)
      (void)call.ns().rmdir(own, {.parent = parent->attr.id, .name = name});
    if (winner != nullptr) return taken(call, *winner);
    if (added.error().code == Errc::kInvalid) {
      return std::unexpected<Failure>(
          Failure{.code = Code::kInvalidBucketName, .details = {{"BucketName", name}}, .log = describe(added.error())});
    }
    return refuse(added.error(), Missing::kBucket);
  }
  Response response;
  response.add("Location", "/" + name);
  return response;
}

}  // namespace stoa::s3
