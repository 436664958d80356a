// An open file, as the layer of buffers knows it.
#pragma once

#include <cstdint>
#include <memory>

#include "frontends/native/data/read_pattern.h"
#include "frontends/native/storage/storage.h"

namespace stoa::native::data {

struct BufferedFile;

// The file's mutex guards what changes.
struct OpenFile {
  std::shared_ptr<BufferedFile> file;
  OpenNumber number = 0;
  std::uint32_t access = 0;  // ShareBits
  core::Credentials cred;    // who opened it: buffered bytes are sent for this user
  std::uint64_t size = 0;    // of the file when it was opened
  ReadPattern pattern{};
  bool begun = false;             // to be read, from its start
  std::uint64_t errors_told = 0;  // BufferedFile::errors of which it was told
  std::uint32_t unsent = 0;       // pieces that go through it
  bool closed = false;            // by the program; at the server behind its last piece
  bool close_sent = false;
};

}  // namespace stoa::native::data
