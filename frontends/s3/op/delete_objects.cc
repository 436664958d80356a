#include <utility>

#include "frontends/s3/op/removal.h"
#include "frontends/s3/xml/reader.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

constexpr std::size_t kKeysMax = 1000;

struct WantedKey {
  std::string key;
  std::string version;
  std::string etag, size, modified;  // conditions; empty: none
};

struct DeleteRequest {
  std::vector<WantedKey> keys;
  bool quiet = false;
};

Outcome<DeleteRequest> read_request(std::string_view body) {
  if (body.empty()) return refuse(Code::kMissingRequestBody);
  const auto document = parse_xml(body);
  if (!document || document->name != "Delete") return refuse(Code::kMalformedXml);
  DeleteRequest request;
  for (const XmlNode& child : document->children) {
    if (child.name == "Quiet") {
      if (child.text != "true" && child.text != "false") return refuse(Code::kMalformedXml);
      request.quiet = child.text == "true";
    } else if (child.name == "Object") {
      const auto key = child.value("Key");
      if (!key || key->empty() || request.keys.size() == kKeysMax) return refuse(Code::kMalformedXml);
      const auto text = [&](std::string_view name) { return std::string(child.value(name).value_or("")); };
      request.keys.push_back(
          {std::string(*key), text("VersionId"), text("ETag"), text("Size"), text("LastModifiedTime")});
    } else {
      return refuse(Code::kMalformedXml);
    }
  }
  if (request.keys.empty()) return refuse(Code::kMalformedXml);
  return request;
}

Outcome<void> remove_one(const Call& call, const WantedKey& wanted) {
  if (wanted.key.size() > kKeyBytesMaxS3) return refuse(Code::kKeyTooLong);
  if (!wanted.version.empty()) STOA_CHECK_OK(check_version_id(std::string_view(wanted.version)));
  const auto given = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
  };
  STOA_TRY(conditions, read_removal_conditions(given(wanted.etag), "Size", given(wanted.size), "LastModifiedTime",
                                               given(wanted.modified)));
  return remove_object(call, wanted.key, conditions);
}

}  // namespace

Outcome<Response> delete_objects(Call& call) {
  STOA_TRY(request, read_request(call.body));
  // One sync for all: the removals are applied one by one, and made durable together before the reply.
  call.ctx.defers = true;
  XmlWriter xml("DeleteResult");
  for (const WantedKey& wanted : request.keys) {
    const Outcome<void> removed = remove_one(call, wanted);
    if (removed) {
      if (request.quiet) continue;
      xml.open("Deleted").element("Key", wanted.key);
      if (!wanted.version.empty()) xml.element("VersionId", wanted.version);
      xml.close("Deleted");
    } else {
      const Failure& failure = removed.error();
      xml.open("Error").element("Key", wanted.key);
      if (!wanted.version.empty()) xml.element("VersionId", wanted.version);
      xml.element("Code", info(failure.code).name);
      xml.element("Message", failure.message.empty() ? info(failure.code).message : std::string_view(failure.message));
      xml.close("Error");
    }
  }
  call.ctx.defers = false;
  const core::PendingDurability pending = std::exchange(call.ctx.pending, {});
  const Status durable = call.ns().sync(call.fresh_ctx(), pending);
  if (!durable) return refuse(durable.error());
  return xml_response(xml.finish());
}

}  // namespace stoa::s3
