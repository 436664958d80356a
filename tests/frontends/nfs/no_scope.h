// The scope of programs that need none.
#pragma once

#include "frontends/nfs/rpc/program.h"

namespace stoa::test {

struct NoScope {
  void refresh() {}
  bool governs() const { return false; }
  void hand_over(core::PendingDurability&) {}
};
using PlainProgram = rpc::ProgramOf<NoScope>;
using PlainCall = rpc::CallOf<NoScope>;

inline rpc::Programs plain_programs(std::vector<PlainProgram*> programs) {
  return rpc::programs_of<NoScope>(std::move(programs), [] { return std::make_unique<NoScope>(); });
}

}  // namespace stoa::test
