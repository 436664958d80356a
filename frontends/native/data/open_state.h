// Open files as one process hands them to the next, when nothing is buffered.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "frontends/native/storage/storage.h"

namespace stoa::native {

struct OpenState {
  OpenNumber number = 0;
  core::FileId file = core::kNoFile;
  std::uint32_t access = 0;  // ShareBits
  core::Credentials cred{};
  std::uint64_t size = 0;  // of the file when it was opened
  bool untold = false;     // of the newest error of the file
};

// Bytes of a file that a program believes written are lost, and somebody has still to be told.
struct FaultState {
  core::FileId file = core::kNoFile;
  Errc cause = Errc::kIo;
  bool told = false;  // to some open file
};

struct BufferedState {
  std::vector<OpenState> opens{};
  std::vector<FaultState> faults{};
};

}  // namespace stoa::native
