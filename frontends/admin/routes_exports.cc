#include <algorithm>

#include "core/registry/name_rules.h"
#include "frontends/admin/json_body.h"
#include "frontends/admin/new_directory.h"
#include "frontends/admin/page.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/sentences.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

std::unexpected<Error> no_export(const std::string& name) {
  return fail(Cause::kNameUnknown, "export", name);
}

Result<core::ClientRule> read_client(JsonBody body) {
  core::ClientRule rule;
  const auto network = body.text("network");
  if (!network) body.missing("network");
  if (network) {
    auto parsed = core::Network::parse(*network);
    if (!parsed) return fail(std::move(parsed).error());
    rule.network = *parsed;
  }
  rule.read_only = body.flag("read_only").value_or(false);
  const std::string squash = body.text("squash").value_or("root");
  if (squash == "none") {
    rule.squash = core::Squash::kNone;
  } else if (squash == "all") {
    rule.squash = core::Squash::kAll;
  } else if (squash != "root") {
    body.refuse("squash", "must be none, root or all");
  }
  rule.anonymous_uid = body.id("anonymous_uid").value_or(rule.anonymous_uid);
  rule.anonymous_gid = body.id("anonymous_gid").value_or(rule.anonymous_gid);
  STOA_CHECK_OK(body.finish());
  return rule;
}

Result<core::SecurityFlavor> read_flavor(const std::string& name) {
  for (std::size_t i = 1; i <= core::kSecurityFlavors; ++i) {
    const auto flavor = static_cast<core::SecurityFlavor>(i);
    if (to_string(flavor) == name) return flavor;
  }
  return fail(Cause::kFlavorUnknown, name);
}

// The members common to creation and change. Absent members leave `record` as it is. Returns whether the flavors
// were given.
Result<bool> read_rules(JsonBody& body, core::Export& record) {
  if (const auto protocols = body.texts("protocols")) {
    record.nfs = std::ranges::find(*protocols, "nfs") != protocols->end();
    record.s3 = std::ranges::find(*protocols, "s3") != protocols->end();
    record.native = std::ranges::find(*protocols, "native") != protocols->end();
    for (const std::string& protocol : *protocols) {
      if (protocol != "nfs" && protocol != "s3" && protocol != "native") return fail(Cause::kProtocolUnknown, protocol);
    }
  }
  record.read_only = body.flag("read_only").value_or(record.read_only);
  record.owner = body.text("owner").value_or(record.owner);
  const auto flavors = body.texts("security");
  if (flavors) {
    record.security.clear();
    for (const std::string& name : *flavors) {
      STOA_TRY(flavor, read_flavor(name));
      record.security.push_back(flavor);
    }
  }
  if (const auto tls = body.text("native_tls")) {
    if (*tls != "offered" && *tls != "required") body.refuse("native_tls", "must be offered or required");
    record.native_tls_required = *tls == "required";
  }
  if (auto clients = body.objects("clients")) {
    record.clients.clear();
    for (JsonBody& client : *clients) {
      STOA_TRY(rule, read_client(std::move(client)));
      record.clients.push_back(rule);
    }
  }
  return flavors.has_value();
}

// A flavor without server support would lock out all clients, or be a broken promise.
Status check_kerberos(const Service& service, const core::Export& record) {
  const auto wanted = std::ranges::find_if(
      record.security, [](core::SecurityFlavor flavor) { return flavor != core::SecurityFlavor::kSys; });
  if (wanted == record.security.end()) return {};
  const Status there = service.kerberos();
  if (there) return {};
  return fail(Cause::kFlavorNotOffered, record.name, to_string(*wanted), sentence(there.error()));
}

// Without a certificate nobody could come.
Status check_native_tls(const Service& service, const core::Export& record) {
  if (!record.native_tls_required || service.native_tls) return {};
  return fail(Cause::kNativeTlsMissing, record.name);
}

Status check_reachable(const core::Export& record) {
  if ((!record.nfs && !record.native) || !record.clients.empty()) return {};
  return fail(Cause::kNobodyReaches, record.name);
}

Result<std::string> clean_path(const std::string& path) {
  std::string out;
  std::string_view rest = path;
  while (!rest.empty()) {
    while (rest.starts_with('/')) rest.remove_prefix(1);
    const std::string_view name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(name.size());
    if (name == "." || name == "..") return fail(Cause::kPathDots, path);
    if (!name.empty()) out.append("/").append(name);
  }
  return out.empty() ? "/" : out;
}

}  // namespace

JsonResult list_exports(Service& service, const Request& request) {
  const auto snapshot = service.volume.registry().snapshot();
  // Names of exports are UTF-8: they come as JSON, or are names of buckets.
  return page_by_name(request, "exports", snapshot->exports(), [](const core::Export& record) { return view(record); });
}

JsonResult create_export(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(body, JsonBody::parse(request.body));
  core::Export wanted;
  wanted.name = body.text("name").value_or("");
  if (wanted.name.empty()) body.missing("name");
  wanted.path = body.text("path").value_or("/" + wanted.name);
  NewDirectory::Wanted directory{.create = body.flag("create_directory").value_or(false)};
  directory.mode = static_cast<std::uint32_t>(body.number("mode", 07777).value_or(directory.mode));
  STOA_TRY(security_given, read_rules(body, wanted));
  const auto uid = body.id("uid");
  const auto gid = body.id("gid");
  STOA_CHECK_OK(body.finish());
  if (!wanted.nfs && !wanted.s3 && !wanted.native) return fail(Cause::kProtocolMissing);

  const std::lock_guard lock(service.edit_mutex);
  const auto snapshot = service.volume.registry().snapshot();
  STOA_CHECK_OK(check_reachable(wanted));
  if (!wanted.owner.empty()) {
    const core::User* owner = snapshot->find_user(wanted.owner);
    if (owner == nullptr) return fail(Cause::kExportOwnerUnknown, wanted.name, wanted.owner);
    directory.uid = owner->uid;
    directory.gid = owner->gid;
  }
  directory.uid = uid.value_or(directory.uid);
  directory.gid = gid.value_or(directory.gid);
  STOA_TRY(path, clean_path(wanted.path));
  wanted.path = path;
  // Checked before the directory is made; a later failure (a disk) removes the directory.
  if (security_given) STOA_CHECK_OK(check_kerberos(service, wanted));
  STOA_CHECK_OK(check_native_tls(service, wanted));
  wanted.root = core::kRootId;
  STOA_CHECK_OK(core::check_export(wanted));
  if (snapshot->find_export(wanted.name) != nullptr) return fail(Cause::kNameTaken, "export", wanted.name);
  NewDirectory made(service.volume.ns(), request.context());
  STOA_TRY(root, made.find_or_make(wanted.path, directory));
  wanted.root = root;
  STOA_CHECK_OK(
      service.volume.ns().setattr(request.context(), {.id = root}));  // it must not go with the S3 keys below it
  STOA_TRY(added, service.volume.registry().add_export(wanted, request.until()));
  made.keep();
  return view(added);
}

JsonResult get_export(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  const auto snapshot = service.volume.registry().snapshot();
  const core::Export* record = snapshot->find_export(request.arguments[0]);
  if (record == nullptr) return no_export(request.arguments[0]);
  return view(*record);
}

JsonResult change_export(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(body, JsonBody::parse(request.body));
  const std::lock_guard lock(service.edit_mutex);
  const auto snapshot = service.volume.registry().snapshot();
  const core::Export* old = snapshot->find_export(request.arguments[0]);
  if (old == nullptr) return no_export(request.arguments[0]);
  core::Export changed = *old;
  changed.name = body.text("name").value_or(changed.name);
  STOA_TRY(security_given, read_rules(body, changed));
  STOA_CHECK_OK(body.finish());
  if (security_given) STOA_CHECK_OK(check_kerberos(service, changed));
  if (!old->native_tls_required) STOA_CHECK_OK(check_native_tls(service, changed));
  STOA_CHECK_OK(check_reachable(changed));
  STOA_CHECK_OK(service.volume.registry().change_export(changed, request.until()));
  return view(changed);
}

JsonResult remove_export(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  const std::lock_guard lock(service.edit_mutex);
  STOA_CHECK_OK(service.volume.registry().remove_export(request.arguments[0], request.until()));
  return Json();
}

}  // namespace stoa::admin
