// The operations of core::Namespace as types, for code that treats each of them by its properties.
#pragma once

#include <string_view>

#include "core/api/ids.h"
#include "core/api/recycle.h"
#include "core/api/requests.h"

namespace stoa::core {

enum class OperationKind : std::uint8_t { kReads, kPersists, kChanges };

namespace operations {

#define STOA_OPERATION(kind, name, reply, request, routing)        \
  struct name {                                                    \
    using Reply = reply;                                           \
    using Request = request;                                       \
    static constexpr std::string_view kName = #name;               \
    static constexpr OperationKind kKind = OperationKind::k##kind; \
    /* The file whose shard has the operation; kNoFile: any. */    \
    static FileId routing_id([[maybe_unused]] const request& r) {  \
      return routing;                                              \
    }                                                              \
  };
#include "core/api/operations.def"

}  // namespace operations
}  // namespace stoa::core
