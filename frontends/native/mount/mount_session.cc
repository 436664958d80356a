#include "frontends/native/mount/mount_session.h"

#include <fstream>

#include "base/log.h"
#include "frontends/native/client/key_file.h"
#include "frontends/native/data/cached_client.h"
#include "frontends/native/fuse/device.h"
#include "frontends/native/fuse/mount_point.h"
#include "frontends/native/mount/mount_monitor.h"
#include "frontends/native/mount/mounted_file_system.h"
#include "frontends/native/mount/take_over.h"

namespace stoa::native::mount {
namespace {

using Clock = std::chrono::steady_clock;

// Connections to the server: large reads and writes do not wait behind each other.
constexpr std::uint32_t kChannels = 2;
// For each step of a process that is replaced: less than the other waits for all of them.
constexpr std::chrono::seconds kStepPatience{8};
constexpr std::chrono::seconds kAnswerPatience{2};  // for the server, before anything is stopped

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
          .process = static_cast<std::uint64_t>(::getpid()),
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

Result<std::unique_ptr<CachedClient>> connect(const MountOptions& options,
                                              std::shared_ptr<const SessionState> resumes) {
  return CachedClient::connect({.client = {.url = options.url,
                                           .key_file = options.key_file,
                                           .channels = kChannels,
                                           .soft = options.soft,
                                           .tls = options.tls,
                                           .ca_file = options.ca_file,
                                           .kerberos = options.kerberos,
                                           .resumes = std::move(resumes)}});
}

// A mount that is served: by its first process, or by one that has taken it over.
class ServedMount : private Handing {
 public:
  ServedMount(const MountOptions& options, std::unique_ptr<CachedClient> client)
      : options_(options),
        client_(std::move(client)),
        fs_(client_->storage(), {&client_->leases(), client_->key() != KeyKind::kHost}) {}

  ~ServedMount() override { end_notices(); }
  ServedMount(const ServedMount&) = delete;

  CachedClient& client() { return *client_; }
  MountedFileSystem& files() { return fs_; }
  void set_device(std::unique_ptr<fuse::Device> device) {
    device_ = std::move(device);
    notices_.emplace(device_->notifier());
    client_->leases().set_kernel(&*notices_);
    fs_.set_kernel(&*notices_);
  }
  fuse::Device& device() { return *device_; }
  // `listener`: of the process before; empty: a new one.
  void start_monitor(fuse::OwnedFd listener);
  // Blocks until it is unmounted, or another process serves it, and ends all.
  void wait();

 private:
  Status may_hand_over() override;
  MountOptions options() override { return options_; }
  Result<Handed> stop() override;
  void go_on() override;
  void left() override;
  Result<Handed> stop_steps();
  void end_notices() {
    client_->leases().set_kernel(nullptr);
    fs_.set_kernel(nullptr);
  }

  const MountOptions options_;
  MountMonitor monitor_;  // ends last: who waits for it knows that the session has ended, too
  std::unique_ptr<CachedClient> client_;
  MountedFileSystem fs_;
  std::unique_ptr<fuse::Device> device_;
  std::optional<KernelNotices> notices_;
  std::atomic<bool> left_{false};
};

void ServedMount::start_monitor(fuse::OwnedFd listener) {
  const Status watched = monitor_.start(
      options_.directory, [this] { return report_of(*client_, *device_, options_.url); },
      [this](const std::string& word, fuse::OwnedFd socket, int of_monitor) {
        return hand_over(word, std::move(socket), of_monitor, *this);
      },
      std::move(listener));
  if (!watched) log_warning("mount", "stoa stats and stoa umount cannot ask", {{"cause", describe(watched.error())}});
}

void ServedMount::wait() {
  device_->wait();
  monitor_.close_listener();
  client_->leases().stop_recalls();
  end_notices();
  if (left_) {
    monitor_.stop(0);
    log_info("mount", "another process serves it now", {{"directory", options_.directory}});
    return;
  }
  monitor_.stop(client_->storage().commit_everything().files);
  log_info("mount", "unmounted", {{"directory", options_.directory}});
}

Status ServedMount::may_hand_over() {
  STOA_CHECK_OK(device_->may_pause());
  Client& client = client_->client();
  Batch question;
  question.add<operations::getattr>({.file = File{client.facts().root}});
  CallOptions once{.deadline = Deadline(Clock::now() + kAnswerPatience), .asks_once = true};
  if (client_->key() == KeyKind::kHost) once.as = Identity{};
  // Whatever it answers.
  if (client.call(question, once)) return {};
  return fail(Errc::kTimeout, "the server does not answer at this time; try again when it does");
}

Result<Handing::Handed> ServedMount::stop() {
  auto handed = stop_steps();
  if (!handed) client_->leases().ask_again();
  return handed;
}

Result<Handing::Handed> ServedMount::stop_steps() {
  // While requests are still answered: the kernel waits for some of them before it forgets pages.
  STOA_CHECK_OK(client_->leases().give_all_back(Clock::now() + kStepPatience));
  client_->storage().write_everything_back();
  STOA_CHECK_OK(device_->pause(options_.directory, Clock::now() + kStepPatience));
  client_->storage().write_everything_back();
  auto session = client_->client().hand_over(Deadline(Clock::now() + kStepPatience));
  if (!session) {
    device_->resume();
    return fail(session.error());
  }
  Handed handed;
  handed.mount = {.session = std::move(*session),
                  .buffers = client_->storage().state(),
                  .local_opens = client_->leases().local_opens(),
                  .files = fs_.state(),
                  .device = device_->state(handed.descriptors)};
  return handed;
}

void ServedMount::go_on() {
  client_->client().take_back();
  device_->resume();
  client_->leases().ask_again();
}

void ServedMount::left() {
  left_ = true;
  client_->client().leave_session();
  device_->leave();
}

}  // namespace

Status serve_mount(const MountOptions& options, const std::function<void()>& mounted) {
  STOA_TRY(client, connect(options, nullptr));
  const bool of_user = client->key() != KeyKind::kHost;
  const bool read_only = options.read_only || client->client().facts().read_only;
  ServedMount mount(options, std::move(client));
  STOA_TRY(fd, fuse::mount_fuse({.directory = options.directory,
                                 .source = options.url,
                                 .read_only = read_only,
                                 .no_programs = options.no_programs,
                                 .for_all_users = !of_user}));
  auto device = fuse::Device::start(std::move(fd), mount.files());
  if (!device) {
    (void)fuse::unmount_fuse(options.directory, true);  // the error below is the one to tell
    return fail(device.error());
  }
  mount.set_device(std::move(*device));
  fuse::raise_read_ahead(options.directory);
  mount.start_monitor({});
  mounted();
  log_info("mount", "mounted", {{"url", options.url}, {"directory", options.directory}});
  if (!mount.device().over_ring() && io_uring_is_off()) {
    log_info("mount",
             "FUSE over io_uring is off, which costs speed; turn it on: echo Y > /sys/module/fuse/parameters/"
             "enable_uring, or fuse.enable_uring=1 on the kernel's command line");
  }
  mount.wait();
  return {};
}

Status replace_mount(const std::string& directory, const std::function<Status(MountOptions&)>& amend,
                     const std::function<void()>& serves) {
  STOA_TRY(watch, MountWatch::connect(directory));
  STOA_TRY(socket, watch.take_socket());
  TakeOver old(std::move(socket));
  STOA_TRY(options, old.ask());
  STOA_CHECK_OK(amend(options));
  STOA_TRY(key, read_key_file(options.key_file));
  STOA_TRY(taken, old.take());
  STOA_TRY(client, connect(options, std::make_shared<SessionState>(taken.mount.session)));
  client->storage().restore(taken.mount.buffers);
  for (const LocalOpen& open : taken.mount.local_opens) client->leases().restore(open);
  ServedMount mount(options, std::move(client));
  mount.files().restore(taken.mount.files);
  STOA_TRY(device, fuse::Device::take_over(std::move(taken.descriptors), taken.mount.device, mount.files()));
  mount.set_device(std::move(device));
  STOA_CHECK_OK(old.serve());
  mount.client().client().take_session();
  mount.device().resume();
  mount.start_monitor(std::move(taken.listener));
  // Over io_uring its own requests are answered here, and the directory is busy as long as they are not.
  watch.wait_for_end(kStepPatience);
  serves();
  log_info("mount", "taken over from another process", {{"url", options.url}, {"directory", options.directory}});
  mount.wait();
  return {};
}

}  // namespace stoa::native::mount
