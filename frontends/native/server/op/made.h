// What operations that make a name have in common.
#pragma once

#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

inline WireStatus made(OperationRun& run, const Result<core::CreateReply>& reply, MadeReply& out) {
  if (!reply) return run.failed(reply.error());
  out = {.created = reply->created, .attr = to_wire(reply->attr), .parent = to_wire(reply->parent)};
  return WireStatus::ok;
}

}  // namespace stoa::native
