// The handlers behind the table in router.cc.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.h"
#include "frontends/admin/request.h"
#include "frontends/admin/service.h"

namespace stoa::admin {

using JsonResult = Result<nlohmann::json>;

Reply get_health(Service&, const Request&);
Reply get_metrics(Service&, const Request&);

JsonResult get_activity(Service&, const Request&);

JsonResult get_version(Service&, const Request&);
JsonResult get_status(Service&, const Request&);
JsonResult get_volume(Service&, const Request&);
JsonResult get_check(Service&, const Request&);
JsonResult start_check(Service&, const Request&);

JsonResult list_exports(Service&, const Request&);
JsonResult create_export(Service&, const Request&);
JsonResult get_export(Service&, const Request&);
JsonResult change_export(Service&, const Request&);
JsonResult remove_export(Service&, const Request&);

JsonResult list_users(Service&, const Request&);
JsonResult create_user(Service&, const Request&);
JsonResult get_user(Service&, const Request&);
JsonResult change_user(Service&, const Request&);
JsonResult remove_user(Service&, const Request&);
JsonResult list_keys(Service&, const Request&);
JsonResult add_key(Service&, const Request&);
JsonResult change_key(Service&, const Request&);
JsonResult remove_key(Service&, const Request&);

JsonResult list_groups(Service&, const Request&);
JsonResult create_group(Service&, const Request&);
JsonResult remove_group(Service&, const Request&);

JsonResult list_clients(Service&, const Request&);
JsonResult evict_client(Service&, const Request&);

JsonResult list_quotas(Service&, const Request&);
JsonResult get_quota(Service&, const Request&);
JsonResult set_quota(Service&, const Request&);
JsonResult remove_quota(Service&, const Request&);
JsonResult list_owner_quotas(Service&, const Request&);
JsonResult count_owners(Service&, const Request&);

JsonResult list_qos_classes(Service&, const Request&);
JsonResult get_qos_class(Service&, const Request&);
JsonResult set_qos_class(Service&, const Request&);
JsonResult remove_qos_class(Service&, const Request&);

JsonResult list_recycled(Service&, const Request&);
JsonResult restore_recycled(Service&, const Request&);
JsonResult purge_recycled(Service&, const Request&);
JsonResult get_recycle_policy(Service&, const Request&);
JsonResult list_recycle_policies(Service&, const Request&);
JsonResult set_recycle_policy(Service&, const Request&);
JsonResult remove_recycle_policy(Service&, const Request&);

JsonResult get_sealed(Service&, const Request&);
JsonResult set_sealed(Service&, const Request&);

JsonResult explain(Service&, const Request&);

JsonResult list_events(Service&, const Request&);
JsonResult get_session(Service&, const Request&);
JsonResult list_host_keys(Service&, const Request&);
JsonResult add_host_key(Service&, const Request&);
JsonResult remove_host_key(Service&, const Request&);
JsonResult list_tokens(Service&, const Request&);
JsonResult add_token(Service&, const Request&);
JsonResult remove_token(Service&, const Request&);

JsonResult get_acl(Service&, const Request&);
JsonResult set_acl(Service&, const Request&);

JsonResult list_directory(Service&, const Request&);
JsonResult get_stat(Service&, const Request&);
JsonResult get_usage(Service&, const Request&);

Reply get_watch(Service&, const Request&);

JsonResult query_audit(Service&, const Request&);
JsonResult get_audit_policy(Service&, const Request&);
JsonResult list_audit_policies(Service&, const Request&);
JsonResult set_audit_policy(Service&, const Request&);
JsonResult remove_audit_policy(Service&, const Request&);
JsonResult get_audit_report(Service&, const Request&);
JsonResult verify_audit(Service&, const Request&);

// For audit: a request that would change something, and how it ended. Not durable, never fails.

}  // namespace stoa::admin
