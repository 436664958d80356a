// Causes of refusals and waits: a code, its facts and an English sentence. What to do about a cause is told by the
// command line (appliance/cli/explain_remedies.h) and the console.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/api/acl.h"
#include "core/api/registry.h"
#include "core/api/requests.h"
#include "core/blob/blob_store.h"
#include "core/volume/volume.h"
#include "frontends/admin/views.h"

namespace stoa::admin {

// Each adds to a list of {"code": …, "parameters": {…}, "what": …} if it is a cause. `what` is the English sentence for
// `code` with its parameters; openapi.yaml lists them.

// The user may not search this directory, which is on the way.
void add_no_way(Json& causes, const core::User& user, const std::string& path, const core::GetAclReply& acl);
// Why a user lacks rights: the mode, where there is no access control list; the first entry of the list that denies one
// of them; or no entry allows them.
struct DenialReason {
  bool list = false;  // there is an access control list
  std::string mode;   // "0755"
  std::uint32_t uid = 0, gid = 0;
  std::size_t entry = 0;  // its number, from 1; 0: no entry allows it, or there is no list
  std::string rule;       // its text, as `stoa acl get` prints it
  bool operator==(const DenialReason&) const = default;
};
// `rights`: AccessRights.
DenialReason why_denied(const core::User& user, const core::GetAclReply& acl, std::uint32_t rights);
// `denied`: the words of the actions that are denied to the user for this reason.
void add_denied(Json& causes, const core::User& user, const std::vector<std::string>& denied,
                const DenialReason& reason, const std::string& path);
void add_recycled(Json& causes);
void add_sealed(Json& causes, const std::string& by);
void add_no_export(Json& causes, const std::string& path);
void add_read_only(Json& causes, const core::Export& record);
// The cause that the export requires Kerberos of NFS clients, and `kerberos` (Service::kerberos) is not available: a
// sentence.
std::optional<std::string> nfs_lockout(const core::Export& record, const Status& kerberos);
void add_no_kerberos(Json& causes, const core::Export& record, const Status& kerberos);
// The effect of the export's rules on one client.
void add_client(Json& causes, const core::Export& record, const core::Network& client);

// Whether nothing more is let in: at a hard limit, or too long above a soft one.
bool is_full(const core::UsageReply& reply);
// Whose quota in a directory it is; neither: that of all together. Names, or numbers that have none.
struct QuotaOwner {
  std::optional<std::string> user{}, group{};
};
// `bin`: the counted usage of the directory's recycle bin.
void add_quota(Json& causes, const std::string& path, const QuotaOwner& owner, const core::UsageReply& reply,
               const core::Usage& bin);

// `held`: held_view().
void add_held(Json& causes, const Json& held);
// `qos_class`: qos_view().
void add_qos_class(Json& causes, const Json& qos_class);
// `space`: of the root directory. The whole volume, or some of the disks that work.
void add_space(Json& causes, const core::StatfsReply& space, std::span<const core::BlobStore::DirectoryHealth> disks);
void add_disk(Json& causes, const core::BlobStore::DirectoryHealth& disk);
// `found`: Volume::damage(). Of the file, or of all below the directory.
void add_damage(Json& causes, const std::string& path, const std::vector<core::DamagedRange>& found);

}  // namespace stoa::admin
