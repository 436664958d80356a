#include "frontends/nfs/rquota/program.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/clock.h"

namespace stoa::rquota {
namespace {

constexpr std::array<rpc::Procedure, 3> kProcedures{{{"null"}, {"getquota"}, {"getactivequota"}}};
constexpr std::uint64_t kBlockBytesMin = 1024;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();

std::uint64_t blocks(std::uint64_t bytes, std::uint64_t block) {
  return bytes / block + (bytes % block != 0 ? 1 : 0);
}

// A limit of 0 would read as none.
std::uint32_t limit_of(const std::optional<std::uint64_t>& limit, std::uint64_t block) {
  return limit ? static_cast<std::uint32_t>(std::clamp<std::uint64_t>(blocks(*limit, block), 1, kMost)) : 0;
}

std::uint32_t seconds_until(Timestamp end) {
  const std::int64_t left = end.ns != 0 ? end.seconds() - wall_now().seconds() : 0;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 0, kMost));
}

void put_quota(rpc::XdrWriter& out, const core::TightestQuota& bytes, const core::TightestQuota& files) {
  const std::uint64_t largest = std::max({bytes.used, bytes.hard.value_or(0), bytes.soft.value_or(0)});
  std::uint64_t block = kBlockBytesMin;
  while (blocks(largest, block) > kMost && block <= kMost / 4) block *= 2;
  out.u32(static_cast<std::uint32_t>(block));
  out.boolean(true);  // active: enforced
  out.u32(limit_of(bytes.hard, block));
  out.u32(limit_of(bytes.soft, block));
  out.u32(static_cast<std::uint32_t>(std::min(blocks(bytes.used, block), kMost)));
  out.u32(limit_of(files.hard, 1));
  out.u32(limit_of(files.soft, 1));
  out.u32(static_cast<std::uint32_t>(std::min(files.used, kMost)));
  out.u32(seconds_until(bytes.grace_ends));
  out.u32(seconds_until(files.grace_ends));
}

}  // namespace

std::span<const rpc::Procedure> RquotaProgram::procedures() const {
  return kProcedures;
}

Result<core::StatfsReply> RquotaProgram::look(const nfs::Call& call, const Asked& asked) {
  STOA_TRY(dir, nfs::find_directory(call, ns_, "GETQUOTA", asked.path));
  nfs::ExportAccess& access = call.scope;
  if (!access.flavor_allowed()) return fail(Errc::kAccess);
  const core::Credentials& cred = access.context().cred;
  const bool own = asked.of == core::QuotaOf::kUser ? cred.uid == asked.id : cred.in_group(asked.id);
  if (!own && !cred.is_superuser()) return fail(Errc::kNotOwner);
  return ns_.statfs({}, {.id = dir.id, .owner = std::pair(asked.of, asked.id)});
}

rpc::Outcome RquotaProgram::run(const nfs::Call& call, rpc::Reply& reply) {
  if (call.header.procedure == 0) return {};
  rpc::XdrReader in(call.header.arguments);
  Asked asked;
  asked.path = in.string(kPathBytesMax);
  std::uint32_t type = static_cast<std::uint32_t>(QuotaType::kUser);
  if (call.header.version != kFirstVersion) type = in.u32();
  asked.id = in.u32();
  if (!in.ok()) return {.accept = rpc::AcceptStatus::kGarbageArguments};
  if (type == static_cast<std::uint32_t>(QuotaType::kGroup)) asked.of = core::QuotaOf::kGroup;

  const bool known = asked.of == core::QuotaOf::kGroup || type == static_cast<std::uint32_t>(QuotaType::kUser);
  const auto found = known ? look(call, asked) : fail(Errc::kNotSupported);
  if (found && (found->bytes_quota.limited() || found->files_quota.limited())) {
    reply.out.u32(static_cast<std::uint32_t>(Status::kOk));
    put_quota(reply.out, found->bytes_quota, found->files_quota);
    return {};
  }
  const bool refused = !found && (found.error().code == Errc::kNotOwner || found.error().code == Errc::kAccess);
  reply.out.u32(static_cast<std::uint32_t>(refused ? Status::kPerm : Status::kNoQuota));
  return {.failed = !found};
}

}  // namespace stoa::rquota
