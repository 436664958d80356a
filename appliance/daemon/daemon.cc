#include "appliance/daemon/daemon.h"

#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <iterator>

#include "appliance/config/endpoint.h"
#include "appliance/daemon/named_files.h"
#include "appliance/daemon/native_protocol.h"
#include "appliance/daemon/process_metrics.h"
#include "appliance/data_folder/run_record.h"
#include "appliance/data_folder/secret_file.h"
#include "appliance/version.h"
#include "base/log.h"

namespace stoa::appliance {
namespace {

LogLevel log_level(const std::string& text) {
  if (text == "debug") return LogLevel::kDebug;
  if (text == "warning") return LogLevel::kWarning;
  if (text == "error") return LogLevel::kError;
  return LogLevel::kInfo;
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : " ").append(name);
  return text;
}

Gauge& protocol_gauge(MetricRegistry& metrics, const std::string& protocol) {
  return metrics.gauge("stoa_protocol_open", "1 while the protocol is served.", {{"protocol", protocol}});
}

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::start(const ConfigSource& source, const Config& config,
                                              const DataFolder& folder, FolderLock lock,
                                              std::span<const admin::ConsoleFile> console) {
  std::unique_ptr<Daemon> daemon(new Daemon(source, config, folder, std::move(lock), console));
  STOA_CHECK_OK(daemon->open());
  return daemon;
}

Daemon::Daemon(const ConfigSource& source, const Config& config, const DataFolder& folder, FolderLock lock,
               std::span<const admin::ConsoleFile> console)
    : source_(source), config_(config), folder_(folder), lock_(std::move(lock)), console_(console) {}

Status Daemon::open() {
  set_log_level(log_level(config_.log.level));
  STOA_CHECK_OK(set_log_file(config_.log.file));
  log_info("stoad", "starting", {{"version", kVersionText}, {"data", folder_.path}, {"pid", getpid()}});
  STOA_CHECK_OK(check_credentials(config_));
  register_process_metrics(metrics_, std::string(kVersionText));

  STOA_TRY(stores, open_stores(config_, folder_, metrics_, {.new_volume = config_.volume_name}));
  stores_ = std::move(stores);
  core::VolumeOptions options = volume_options(config_);
  options.head = &head_;
  auto volume = core::Volume::open(*stores_.kv, *stores_.blobs, metrics_, options);
  if (!volume) return fail(std::move(volume).error());
  volume_ = *std::move(volume);
  // Only now: a refused start changes nothing in the folder.
  if (!stores_.made && access(folder_.token().c_str(), F_OK) != 0) {
    log_warning("stoad", "admin.token is gone; a new one is made, and who used the old one is refused",
                {{"path", folder_.token()}});
  }
  STOA_TRY(token, load_or_make_token(folder_));
  register_store_metrics(metrics_, *stores_.kv, *stores_.blobs);
  metrics_.gauge_callback("stoa_healthy", "1 while the volume keeps and gives what it should; 0: see stoa status.", {},
                          [this] { return std::ranges::none_of(volume_->health(), core::fails) ? 1.0 : 0.0; });

  STOA_TRY(audit, AuditWriter::open({.folder = folder_.audit(),
                                     .keep_days = config_.audit.keep_days,
                                     .bytes_max = config_.audit.bytes_max,
                                     .syslog = config_.audit.syslog},
                                    {{volume_.get()}}, metrics_));
  audit_ = std::move(audit);
  watch_ = std::make_unique<admin::WatchHub>(*volume_);
  check_ = std::make_unique<admin::CheckJob>(*volume_);
  STOA_TRY(host_keys, HostKeyFile::open(folder_.host_keys()));
  host_keys_ = std::move(host_keys);
  service_.reset(new admin::Service{
      .volume = *volume_,
      .metrics = metrics_,
      .check = *check_,
      .version = std::string(kVersionText),
      .token = token,
      .data_folder = folder_.path,
      .engine = config_.engine,
      .started = wall_now(),
      .protocols = {},
      .data_directories = [this] { return stores_.blobs->health(); },
      .space = [this] { return stores_.blobs->space(); },
      .list_host_keys = [this] { return host_keys_->list(); },
      .add_host_key = [this](const std::string& name) { return host_keys_->create(name); },
      .remove_host_key = [this](const std::string& name) { return host_keys_->remove(name); },
      .kerberos = [this] { return kerberos(); },
      .native_tls = !config_.native.listen.empty() && !config_.native.tls_certificate.empty(),
      .record_action = [this](const admin::Request& request,
                              const admin::AdminAction& action) { admin::note_action(*volume_, request, action); },
      .audit = audit_.get(),
      .watch = watch_.get(),
      .console = console_});
  return {};
}

Status Daemon::open_protocols() {
  std::vector<admin::ProtocolStatus> statuses;
  RunRecord record{.pid = getpid(), .version = std::string(kVersionText), .log_file = config_.log.file};
  const auto open_one = [&](const char* name, bool enabled, const auto& opener) -> Status {
    statuses.push_back({.name = name});
    if (!enabled) return {};
    STOA_TRY(protocol, opener(config_, *volume_, metrics_));
    statuses.back().open = true;
    statuses.back().address = protocol->address();
    protocol_gauge(metrics_, name).set(1);
    log_info("stoad", "protocol is served", {{"protocol", name}, {"address", protocol->address()}});
    protocols_.push_back(std::move(protocol));
    return {};
  };
  STOA_CHECK_OK(open_one("nfs", config_.nfs.enabled, &open_nfs_protocol));
  const auto open_native = [this](const Config& config, core::Volume& volume, MetricRegistry& metrics) {
    return open_native_protocol(config, volume, *host_keys_, metrics);
  };
  STOA_CHECK_OK(open_one("native", !config_.native.listen.empty(), open_native));
  STOA_CHECK_OK(open_one("s3", config_.s3.enabled, &open_s3_protocol));
  for (const auto& protocol : protocols_) {
    if (protocol->name() == "nfs") {
      record.nfs = protocol->address();
      record.mount = protocol->mount_address();
    } else if (protocol->name() == "native") {
      record.native = protocol->address();
    } else {
      record.s3_url = protocol->address();
    }
  }
  service_->protocols = [statuses] { return statuses; };
  service_->clients = [this] {
    std::vector<admin::ClientStatus> all;
    const std::lock_guard lock(protocols_mutex_);
    for (const auto& protocol : protocols_) std::ranges::move(protocol->clients(), std::back_inserter(all));
    return all;
  };
  service_->evict_client = [this](std::uint64_t id) -> Status {
    const std::lock_guard lock(protocols_mutex_);
    for (const auto& protocol : protocols_) {
      const Status evicted = protocol->evict_client(id);
      if (evicted || evicted.error().code != Errc::kNotFound) return evicted;
    }
    return fail(Errc::kNotFound);
  };

  admin::ServerOptions options;
  if (!config_.admin.listen.empty()) {
    STOA_TRY(endpoint, parse_endpoint(config_.admin.listen));
    options.host = endpoint.host;
    options.port = endpoint.port;
    options.tls_certificate_file = config_.admin.tls_certificate;
    options.tls_key_file = config_.admin.tls_key;
  }
  options.socket_path = config_.admin.socket.empty() ? folder_.admin_socket() : config_.admin.socket;
  if (config_.admin.socket.empty() && options.socket_path.size() > kSocketPathMax) {
    log_warning("stoad",
                "the path of the data folder is too long for a Unix socket in it; stoa comes through admin.listen",
                {{"data", folder_.path}, {"remedy", "set admin.socket"}});
    options.socket_path.clear();
  }
  if (options.socket_path.empty() && options.host.empty())
    return fail(Errc::kInvalid, "admin.listen is empty, and the path of " + folder_.path +
                                    " is too long for a Unix socket in it; set admin.socket");
  const std::string& mode = config_.admin.socket_mode;
  std::from_chars(mode.data(), mode.data() + mode.size(), options.socket_mode, 8);
  STOA_TRY(server, admin::AdminServer::start(*service_, options));
  admin_ = std::move(server);
  if (!options.host.empty()) {
    // Its address for this machine.
    const std::string host = options.host == "0.0.0.0" ? "127.0.0.1" : options.host == "::" ? "::1" : options.host;
    record.admin_pin = admin_->pin();
    record.admin_url = (record.admin_pin.empty() ? "http://" : "https://") + Endpoint{host, admin_->port()}.to_text();
    if (!record.admin_pin.empty())
      log_info("stoad", "the admin interface speaks TLS",
               {{"address", config_.admin.listen}, {"pin", record.admin_pin}});
  }
  record.admin_socket = options.socket_path;
  return write_run_record(folder_, record);
}

Status Daemon::run(const std::function<void()>& ready) {
  notifier_.ready("serving " + folder_.path);
  ready();
  log_info("stoad", "ready");
  const sigset_t signals = awaited_signals();
  const auto period = notifier_.watchdog_period();
  for (;;) {
    int signal = 0;
    if (period) {
      // Half the time that the service manager waits; a volume that no longer answers keeps us from getting here.
      const timespec timeout{.tv_sec = period->count() / 1000, .tv_nsec = period->count() % 1000 * 1'000'000};
      signal = sigtimedwait(&signals, nullptr, &timeout);
      if (healthy()) notifier_.alive();
    } else {
      signal = sigwaitinfo(&signals, nullptr);
    }
    if (signal == SIGHUP) reload();
    if (signal == SIGTERM || signal == SIGINT) {
      log_info("stoad", "stopping", {{"signal", signal == SIGTERM ? "TERM" : "INT"}});
      notifier_.stopping();
      break;
    }
  }
  close_protocols();
  const Status flushed = volume_->flush();
  if (!flushed) log_error("stoad", "the last flush failed", {{"error", describe(flushed.error())}});
  return flushed;
}

Daemon::~Daemon() {
  admin_.reset();
  check_.reset();
  close_protocols();
  watch_.reset();
  audit_.reset();
  volume_.reset();
  remove_run_record(folder_);
  log_info("stoad", "stopped");
}

// Requests of the admin interface find no protocol meanwhile.
void Daemon::close_protocols() {
  std::vector<std::unique_ptr<Protocol>> closing;
  {
    const std::lock_guard lock(protocols_mutex_);
    closing.swap(protocols_);
  }
  for (auto& protocol : closing) {
    protocol_gauge(metrics_, protocol->name()).set(0);
    protocol.reset();
  }
}

// Whether a restart would not help.
bool Daemon::healthy() {
  const auto root = volume_->ns().getattr(core::OpContext{}, {.id = core::kRootId});
  if (!root) log_error("stoad", "the volume does not answer", {{"error", describe(root.error())}});
  bool keeps = true;
  for (const core::Problem& problem : volume_->health()) {
    if (problem.kind != core::ProblemKind::kMetadataFailed) continue;
    log_error("stoad", "the volume does not keep changes", {{"error", problem.error}, {"path", problem.path}});
    keeps = false;
  }
  return root.has_value() && keeps;
}

Status Daemon::kerberos() const {
  const std::string& keytab = config_.nfs.keytab;
  if (!config_.nfs.enabled && config_.native.listen.empty()) return fail(Cause::kNfsOff);
  if (keytab.empty()) return fail(Cause::kKeytabMissing);
  if (access(keytab.c_str(), R_OK) == 0) return {};
  return fail(Cause::kKeytabUnreadable, keytab);
}

Status Daemon::renew_admin() {
  const std::string before = admin_->pin();
  if (!before.empty()) STOA_CHECK_OK(check_secret_file(config_.admin.tls_key));
  STOA_CHECK_OK(admin_->renew());
  if (admin_->pin() == before) return {};
  STOA_TRY(record, read_run_record(folder_));
  record.admin_pin = admin_->pin();
  return write_run_record(folder_, record);
}

void Daemon::reload() {
  notifier_.reloading();
  const auto fresh = source_.load();
  if (!fresh) {
    log_error("stoad", "reload refused; the old configuration stays", {{"error", fresh.error().detail}});
    notifier_.ready("reload refused, see the log");
    return;
  }
  // Opened again also when the name is the same: it may have been rotated.
  const Status moved = set_log_file(fresh->log.file);
  if (!moved)
    log_error("stoad", "the log file cannot be opened; the old one stays", {{"error", describe(moved.error())}});
  set_log_level(log_level(fresh->log.level));
  for (const auto& protocol : protocols_) {
    const Status reloaded = protocol->reload(*fresh);
    if (!reloaded)
      log_error("stoad", "the server keeps what it had",
                {{"protocol", protocol->name()}, {"error", describe(reloaded.error())}});
  }
  const Status renewed = renew_admin();
  if (!renewed) log_error("stoad", "the admin interface keeps what it had", {{"error", describe(renewed.error())}});
  const auto ignored = changed_keys(config_, *fresh, /*reloadable=*/false);
  if (!ignored.empty()) log_warning("stoad", "changed keys wait for a restart", {{"keys", join(ignored)}});
  config_.log = fresh->log;
  log_info("stoad", "reloaded");
  notifier_.ready("serving " + folder_.path);
}

}  // namespace stoa::appliance
