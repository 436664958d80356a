#include "appliance/config/endpoint.h"
#include "appliance/daemon/door.h"
#include "appliance/data_folder/small_file.h"
#include "base/log.h"
#include "frontends/s3/s3_server.h"

namespace stoa::appliance {
namespace {

constexpr std::chrono::seconds kPatience{10};

// The text of both files, to see whether they changed; empty without TLS or when one cannot be read.
std::string certificate_text(const Config& config) {
  if (config.s3.tls_certificate.empty()) return {};
  const auto certificate = read_small_file(config.s3.tls_certificate);
  const auto key = read_small_file(config.s3.tls_key);
  return certificate && key ? *certificate + *key : std::string();
}

class S3Door final : public Door {
 public:
  S3Door(core::Volume& volume, MetricRegistry& metrics, s3::ServerOptions options, std::string certificate)
      : volume_(volume), metrics_(metrics), options_(std::move(options)), certificate_(std::move(certificate)) {}
  ~S3Door() override { close(); }

  Status open() {
    STOA_TRY(server, s3::Server::start(volume_.ns(), volume_.registry(), metrics_, options_));
    server_ = std::move(server);
    options_.port = server_->port();
    return {};
  }
  std::string name() const override { return "s3"; }
  std::string address() const override { return server_->url(); }

  // The server reads its certificate when it starts, so a renewed one means another server on the same port. It is
  // tried on a free port first: a file that cannot be used must not close the door.
  Status reload(const Config& config) override {
    const std::string fresh = certificate_text(config);
    if (options_.tls_certificate_file.empty() || fresh == certificate_) return {};
    s3::ServerOptions trial = options_;
    trial.port = 0;
    STOA_CHECK_OK(s3::Server::start(volume_.ns(), volume_.registry(), metrics_, trial));
    close();
    STOA_CHECK_OK(open());
    certificate_ = fresh;
    log_info("s3", "serving with the renewed certificate");
    return {};
  }

 private:
  void close() {
    if (server_ != nullptr && !server_->drain(kPatience))
      log_warning("s3", "requests were cut off when the door closed");
    server_.reset();
  }

  core::Volume& volume_;
  MetricRegistry& metrics_;
  s3::ServerOptions options_;
  std::string certificate_;
  std::unique_ptr<s3::Server> server_;
};

}  // namespace

Result<std::unique_ptr<Door>> open_s3_door(const Config& config, core::Volume& volume, MetricRegistry& metrics) {
  STOA_TRY(endpoint, parse_endpoint(config.s3.listen));
  s3::ServerOptions options{.address = endpoint.host, .port = endpoint.port};
  options.domain = config.s3.domain;
  options.region = config.s3.region;
  options.bucket_directory = config.s3.bucket_directory;
  options.tls_certificate_file = config.s3.tls_certificate;
  options.tls_key_file = config.s3.tls_key;
  options.inline_bytes_max = static_cast<std::uint32_t>(config.volume.inline_bytes_max);
  options.limits.connections_max = static_cast<std::uint32_t>(config.s3.connections_max);
  auto door = std::make_unique<S3Door>(volume, metrics, options, certificate_text(config));
  const Status opened = door->open();
  if (!opened) {
    return fail(opened.error().code, "the S3 door cannot open at " + config.s3.listen + ": " +
                                         describe(opened.error()) + "; choose another with s3.listen (--s3-listen)");
  }
  return std::unique_ptr<Door>(std::move(door));
}

}  // namespace stoa::appliance
