// The files of a volume as its table of opens sees them.
#pragma once

#include <memory>

#include "core/txn/volume_context.h"

namespace stoa::core {

std::unique_ptr<FileWatch> watch_files(VolumeContext& volume);

}  // namespace stoa::core
