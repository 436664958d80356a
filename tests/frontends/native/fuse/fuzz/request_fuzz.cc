// Requests of the kernel, as bytes: each is answered once at most, within its space, and nothing else happens.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "frontends/native/fuse/dispatcher.h"
#include "tests/frontends/native/fuse/stub_file_system.h"

namespace {

using stoa::native::fuse::Dispatcher;
using stoa::native::fuse::StubFileSystem;

constexpr std::size_t kSpaceBytes = 8192;

class CountedReplies : public stoa::native::fuse::ReplyChannel {
 public:
  void reply(std::uint64_t, int error, std::span<const std::byte> body) override {
    if (++count > 1 || error < 0 || (error != 0 && !body.empty()) || body.size() > kSpaceBytes) std::abort();
  }
  int count = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static StubFileSystem fs;
  static Dispatcher dispatcher(fs, {.minor = 39, .write_bytes_max = 1 << 20, .direct_io = true});
  if (fs.entries.empty()) {
    for (std::uint64_t i = 1; i < 100; ++i) {
      fs.entries.push_back({.id = stoa::core::FileId{i},
                            .type = stoa::core::FileType::kRegular,
                            .cookie = i,
                            .name = std::string(i, 'n'),
                            .attr = stoa::core::Attributes{.id = stoa::core::FileId{i}}});
    }
  }
  // The length in the header fits, so that what is behind it is looked at.
  std::vector<std::byte> request(size);
  for (std::size_t i = 0; i < size; ++i) request[i] = static_cast<std::byte>(data[i]);
  if (size >= 4) {
    const auto length = static_cast<std::uint32_t>(size);
    std::memcpy(request.data(), &length, sizeof(length));
  }
  std::vector<std::byte> space(kSpaceBytes);
  CountedReplies replies;
  dispatcher.handle(request, space, replies);
  return 0;
}
