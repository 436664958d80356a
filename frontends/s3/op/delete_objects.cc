#include "frontends/s3/http/conditions.h"
#include "frontends/s3/op/objects.h"
#include "frontends/s3/xml/reader.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

constexpr std::size_t kKeysMax = 1000;

struct Victim {
  std::string key;
  std::string version;
  std::string etag;
};

struct Victims {
  std::vector<Victim> keys;
  bool quiet = false;
};

Outcome<Victims> read_victims(std::string_view body) {
  if (body.empty()) return refuse(Code::kMissingRequestBody);
  const auto document = parse_xml(body);
  if (!document || document->name != "Delete") return refuse(Code::kMalformedXml);
  Victims victims;
  for (const XmlNode& child : document->children) {
    if (child.name == "Quiet") {
      if (child.text != "true" && child.text != "false") return refuse(Code::kMalformedXml);
      victims.quiet = child.text == "true";
    } else if (child.name == "Object") {
      const auto key = child.value("Key");
      if (!key || key->empty() || victims.keys.size() == kKeysMax) return refuse(Code::kMalformedXml);
      if (child.child("LastModifiedTime") != nullptr || child.child("Size") != nullptr)
        return refuse(Code::kNotImplemented, "Deleting by size or time is not implemented.");
      victims.keys.push_back({std::string(*key), std::string(child.value("VersionId").value_or("")),
                              std::string(child.value("ETag").value_or(""))});
    } else {
      return refuse(Code::kMalformedXml);
    }
  }
  if (victims.keys.empty()) return refuse(Code::kMalformedXml);
  return victims;
}

Outcome<void> remove_one(const Call& call, const Victim& victim) {
  if (victim.key.size() > kKeyBytesMaxS3) return refuse(Code::kKeyTooLong);
  if (!victim.version.empty() && victim.version != "null") return refuse(Code::kNoSuchVersion);
  for (int attempt = 0; attempt < kConditionalAttemptsMax; ++attempt) {
    std::optional<core::ObjectExpectation> expect;
    if (!victim.etag.empty()) {
      auto found = find_object(call, call.root(), victim.key);
      if (!found && found.error().code == Code::kNoSuchKey) return {};
      if (!found) return std::unexpected<Failure>(std::move(found.error()));
      if (!matches_etag(victim.etag, found->etag)) return refuse(Code::kPreconditionFailed);
      expect = core::ObjectExpectation{.version = found->attr.version()};
    }
    const auto removed = call.ns().remove_key(call.ctx, {.root = call.root(), .key = victim.key, .expect = expect});
    if (removed) return {};
    if (removed.error().code == Errc::kPreconditionFailed && expect) continue;
    auto refused = refuse(removed.error());
    if (refused.error().code == Code::kNoSuchKey) return {};
    return refused;
  }
  return refuse(Code::kConditionalRequestConflict);
}

}  // namespace

Outcome<Response> delete_objects(Call& call) {
  STOA_TRY(victims, read_victims(call.body));
  // One sync for all: the removals are applied one by one, and made durable together before the reply.
  core::Unsettled unsettled;
  call.ctx.unsettled = &unsettled;
  XmlWriter xml("DeleteResult");
  for (const Victim& victim : victims.keys) {
    const Outcome<void> removed = remove_one(call, victim);
    if (removed) {
      if (victims.quiet) continue;
      xml.open("Deleted").element("Key", victim.key);
      if (!victim.version.empty()) xml.element("VersionId", victim.version);
      xml.close("Deleted");
    } else {
      const Failure& failure = removed.error();
      xml.open("Error").element("Key", victim.key);
      if (!victim.version.empty()) xml.element("VersionId", victim.version);
      xml.element("Code", info(failure.code).name);
      xml.element("Message", failure.message.empty() ? info(failure.code).message : std::string_view(failure.message));
      xml.close("Error");
    }
  }
  call.ctx.unsettled = nullptr;
  const Status durable = call.ns().settle(call.ctx, unsettled);
  if (!durable) return refuse(durable.error());
  return xml_response(xml.finish());
}

}  // namespace stoa::s3
