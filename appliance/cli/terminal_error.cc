#include "appliance/cli/terminal_error.h"

#include <cstdio>

#include "appliance/cli/remedies.h"
#include "frontends/admin/sentences.h"

namespace stoa::cli {

std::string terminal_text(const Error& error) {
  if (error.sys_errno != 0) return describe(error);
  if (!error.detail.empty()) return error.detail;
  return error.cause != Cause::kNone ? admin::sentence(error) : describe(error);
}

void complain(const char* program, const Error& error, bool from_server) {
  std::fprintf(stderr, "%s: %s\n", program, terminal_text(error).c_str());
  if (error.cause == Cause::kNone && !from_server) return;
  const std::string what_to_do(remedy(error));
  if (!what_to_do.empty()) std::fprintf(stderr, "what to do: %s\n", what_to_do.c_str());
}

}  // namespace stoa::cli
