#include "frontends/native/mount/mount_session.h"

#include "base/log.h"
#include "frontends/native/client/client.h"
#include "frontends/native/client/key_file.h"
#include "frontends/native/fuse/device.h"
#include "frontends/native/fuse/mount_point.h"
#include "frontends/native/mount/mounted_file_system.h"
#include "frontends/native/mount/native_storage.h"

namespace stoa::native::mount {
namespace {

// Connections to the server: large reads and writes do not wait behind each other.
constexpr std::uint32_t kChannels = 2;

}  // namespace

Status serve_mount(const MountOptions& options, const std::function<void()>& mounted) {
  STOA_TRY(key, read_key_file(options.key_file));
  STOA_TRY(client, Client::connect({.url = options.url, .key_file = options.key_file, .channels = kChannels}));
  NativeStorage storage(*client, key.kind);
  MountedFileSystem fs(storage);
  STOA_TRY(fd, fuse::mount_fuse({.directory = options.directory,
                                 .source = options.url,
                                 .read_only = client->facts().read_only,
                                 .for_all_users = key.kind == KeyKind::kHost}));
  auto device = fuse::Device::start(std::move(fd), fs);
  if (!device) {
    (void)fuse::unmount_fuse(options.directory, true);  // the error below is the one to tell
    return fail(device.error());
  }
  mounted();
  log_info("mount", "mounted", {{"url", options.url}, {"directory", options.directory}});
  (*device)->wait();
  fs.commit_all();
  log_info("mount", "unmounted", {{"directory", options.directory}});
  return {};
}

}  // namespace stoa::native::mount
