// RFC 8881 18.32
#include <algorithm>

#include "frontends/nfs/v4/io_price.h"
#include "frontends/nfs/v4/object_type.h"
#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/stable_how.h"
#include "frontends/wire/record_pool.h"

namespace stoa::nfs4 {

Nfs4Status op_write(Compound& c) {
  const Stateid stateid = read_stateid(c.in);
  const std::uint64_t offset = c.in.u64();
  const std::uint32_t stable = c.in.u32();
  const auto data = c.in.opaque(~std::uint32_t{0});
  if (!c.in.ok() || stable > static_cast<std::uint32_t>(StableHow::kFileSync)) return Nfs4Status::kBadXdr;
  const auto file = c.file(Nfs4Status::kIsDir);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (const Nfs4Status bad = check_io_stateid(c, stateid, file.id, true); bad != Nfs4Status::kOk) return bad;
  if (offset > core::kFileBytesMax || data.size() > core::kFileBytesMax - offset) return Nfs4Status::kFBig;
  if (const Nfs4Status later = pay_for_io(c, qos::Price::write(data.size())); later != Nfs4Status::kOk) return later;

  const bool unstable = stable == static_cast<std::uint32_t>(StableHow::kUnstable);
  c.ctx.durability = unstable ? core::Durability::kApplied : core::Durability::kDurable;
  const std::span<const std::byte> buffers[] = {data.first(std::min<std::size_t>(data.size(), kIoBytesMax))};
  const core::LentMemory memory = c.call.memory != nullptr ? c.call.memory->lend(buffers[0]) : core::LentMemory{};
  const auto reply = c.ns.write(c.ctx, {.id = file.id, .offset = offset, .data = buffers, .memory = memory});
  if (!reply) return data_status(c, file.id, reply.error());

  c.out.u32(static_cast<std::uint32_t>(reply->length));
  c.out.u32(static_cast<std::uint32_t>(unstable ? StableHow::kUnstable : StableHow::kFileSync));
  c.out.u64(reply->verifier);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4
