// The operations of the native protocol, one file each: arguments to one call of the core, and its answer to a reply.
#pragma once

#include "frontends/native/server/operation_run.h"

namespace stoa::native {

#define STOA_NATIVE_OPERATION(code, name, kind, arguments, reply) \
  WireStatus op_##name(OperationRun& run, const arguments& in, reply& out);
#include "frontends/native/protocol/operations.def"

// The first error of what an operation has to find out before it calls the core, as a status.
#define STOA_NATIVE_TRY(name, expression)                                                         \
  auto STOA_CONCAT(native_try_, name) = (expression);                                             \
  if (!STOA_CONCAT(native_try_, name)) return run.failed(STOA_CONCAT(native_try_, name).error()); \
  [[maybe_unused]] auto&& name = *STOA_CONCAT(native_try_, name)
#define STOA_NATIVE_CHECK(expression)                                                                     \
  do {                                                                                                    \
    if (const Status native_check = (expression); !native_check) return run.failed(native_check.error()); \
  } while (false)
#define STOA_NATIVE_OK(expression)                                                                \
  do {                                                                                            \
    if (const WireStatus native_ok = (expression); native_ok != WireStatus::ok) return native_ok; \
  } while (false)

}  // namespace stoa::native
