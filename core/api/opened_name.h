// The name by which a file was opened for delete-on-close, and the user who opened it.
#pragma once

#include <string>

#include "core/api/context.h"

namespace stoa::core {

struct OpenedName {
  FileId parent = kNoFile;
  std::string name;
  Protocol protocol = Protocol::kInternal;
  Credentials cred = Credentials::superuser();
  std::string client;  // as in OpContext
  bool operator==(const OpenedName&) const = default;
};

// The time at which the last close of a file removes the name by which an open has it.
enum class DeleteWhen : std::uint8_t {
  kNever,
  kAtClose,  // once this open is closed
  kPending,  // from now on
};

}  // namespace stoa::core
