#include "frontends/native/mount/mount_session.h"

#include <fstream>

#include "base/log.h"
#include "frontends/native/data/cached_client.h"
#include "frontends/native/fuse/device.h"
#include "frontends/native/fuse/mount_point.h"
#include "frontends/native/mount/mount_monitor.h"
#include "frontends/native/mount/mounted_file_system.h"

namespace stoa::native::mount {
namespace {

// Connections to the server: large reads and writes do not wait behind each other.
constexpr std::uint32_t kChannels = 2;

// The kernel has the switch, and it is off.
bool io_uring_is_off() {
  char value = 0;
  std::ifstream("/sys/module/fuse/parameters/enable_uring").get(value);
  return value == 'N';
}

MountReport report_of(CachedClient& client, const fuse::Device& device, const std::string& url) {
  const ClientCounts calls = client.client().counts();
  const LeaseStats kept = client.leases().stats();
  return {.server = url,
          .transport = device.over_ring() ? "ring" : "fuse",
          .counters = {{"calls", calls.calls},
                       {"resent_calls", calls.resent},
                       {"reconnects", calls.reconnects},
                       {"sessions", calls.sessions},
                       {"reclaimed", calls.reclaimed},
                       {"lost", calls.lost},
                       {"cache_hits", kept.cache.hits},
                       {"cache_misses", kept.cache.misses},
                       {"cache_bytes", kept.cache.bytes},
                       {"leases", kept.cache.leases},
                       {"leases_granted", kept.cache.granted},
                       {"leases_refused", kept.cache.refused},
                       {"leases_recalled", kept.cache.recalls},
                       {"leases_lost", kept.cache.lost},
                       {"local_opens", kept.local_opens},
                       {"unsent_bytes", client.storage().unsent_bytes()}},
          .lost_files = {}};
}

}  // namespace

Status serve_mount(const MountOptions& options, const std::function<void()>& mounted) {
  MountMonitor monitor;  // ends last: who waits for it knows that the session has ended, too
  STOA_TRY(client, CachedClient::connect({.client = {.url = options.url,
                                                     .key_file = options.key_file,
                                                     .channels = kChannels,
                                                     .soft = options.soft,
                                                     .tls = options.tls,
                                                     .ca_file = options.ca_file,
                                                     .kerberos = options.kerberos}}));
  const bool of_user = client->key() != KeyKind::kHost;
  LeasedStorage& leases = client->leases();
  MountedFileSystem fs(client->storage(), {&leases, of_user});
  STOA_TRY(fd, fuse::mount_fuse({.directory = options.directory,
                                 .source = options.url,
                                 .read_only = options.read_only || client->client().facts().read_only,
                                 .no_programs = options.no_programs,
                                 .for_all_users = !of_user}));
  auto device = fuse::Device::start(std::move(fd), fs);
  if (!device) {
    (void)fuse::unmount_fuse(options.directory, true);  // the error below is the one to tell
    return fail(device.error());
  }
  KernelNotices notices((*device)->notifier());
  leases.set_kernel(&notices);
  fs.set_kernel(&notices);
  fuse::raise_read_ahead(options.directory);
  const Status watched = monitor.start(options.directory, [&client = *client, &device = **device, &options] {
    return report_of(client, device, options.url);
  });
  if (!watched) log_warning("mount", "stoa stats and stoa umount cannot ask", {{"cause", describe(watched.error())}});
  mounted();
  log_info("mount", "mounted", {{"url", options.url}, {"directory", options.directory}});
  if (!(*device)->over_ring() && io_uring_is_off()) {
    log_info("mount",
             "FUSE over io_uring is off, which costs speed; turn it on: echo Y > /sys/module/fuse/parameters/"
             "enable_uring, or fuse.enable_uring=1 on the kernel's command line");
  }
  (*device)->wait();
  monitor.close_listener();
  leases.stop_recalls();
  leases.set_kernel(nullptr);
  fs.set_kernel(nullptr);
  monitor.stop(client->storage().commit_everything().files);
  log_info("mount", "unmounted", {{"directory", options.directory}});
  return {};
}

}  // namespace stoa::native::mount
