// RFC 8881 18.7
#include "frontends/nfs/v4/attributes.h"
#include "frontends/nfs/v4/delegated_writes.h"
#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/pseudo_root.h"

namespace stoa::nfs4 {
namespace {

// The attributes that the client with a write delegation reports (10.4.3): its size. If it has changed the file
// since the last query, that counts as a change now, so that no reader takes its cached data for the newest.
Nfs4Status show_told(Compound& c, const Bitmap& wanted, const DelegatedWrites::Told& told) {
  const core::FileId file = c.current->ref.id;
  core::OpContext ctx = c.ctx;
  ctx.holder = told.holder;  // its delegation conflicts with nothing
  if (told.changed) {
    core::OpContext own = ctx;
    own.cred = core::Credentials::superuser();
    own.read_only = false;
    const auto touched = c.ns.setattr(own, {.id = file, .set = {.mtime = core::SetTime{.server_time = true}}});
    c.ctx.pending = std::move(own.pending);
    if (!touched) return c.status_of(touched.error());
  }
  auto reply = c.ns.getattr(ctx, {.id = file});
  if (!reply) return c.status_of(reply.error());
  if (told.size) reply->attr.size = *told.size;
  return encode_attributes(c, wanted, subject_in_export(c, reply->attr));
}

}  // namespace

Nfs4Status op_getattr(Compound& c) {
  const Bitmap wanted = Bitmap::decode(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (wanted.meets(kWriteOnly)) return Nfs4Status::kInval;

  if (c.current->pseudo_root()) {
    const core::Attributes attr = pseudo_root_attributes(c);
    return encode_attributes(c, wanted, pseudo_root_subject(attr));
  }
  if (c.env.delegated_writes != nullptr && !c.env.delegated_writes->none()) {
    DelegatedWrites::Told told;
    switch (c.env.delegated_writes->ask(c.current->ref.id, c.holder, c.call.now, told)) {
      case DelegatedWrites::Answer::kLater:
        return Nfs4Status::kDelay;
      case DelegatedWrites::Answer::kKnown:
        return show_told(c, wanted, told);
      case DelegatedWrites::Answer::kNobody:
        break;
    }
  }
  const auto reply = c.ns.getattr(c.ctx, {.id = c.current->ref.id});
  if (!reply) return c.status_of(reply.error());
  return encode_attributes(c, wanted, subject_in_export(c, reply->attr));
}

}  // namespace stoa::nfs4
