// The files of a volume as its table of opens sees them.
#pragma once

#include <memory>

#include "core/txn/tree.h"

namespace stoa::core {

std::unique_ptr<FileWatch> watch_files(Tree& tree);

}  // namespace stoa::core
