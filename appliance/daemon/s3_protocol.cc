#include <utility>

#include "appliance/config/endpoint.h"
#include "appliance/daemon/protocol.h"
#include "appliance/data_folder/secret_file.h"
#include "base/log.h"
#include "frontends/s3/s3_server.h"

namespace stoa::appliance {
namespace {

constexpr std::chrono::seconds kDrainPatience{10};

s3::SignatureV2 accepted_signature_v2(std::string_view text) {
  if (text == "off") return s3::SignatureV2::kOff;
  return text == "all" ? s3::SignatureV2::kAll : s3::SignatureV2::kPresigned;
}

class S3Protocol final : public Protocol {
 public:
  explicit S3Protocol(s3::ServerOptions options) : options_(std::move(options)) {}
  ~S3Protocol() override { close(std::move(server_)); }

  Status open(core::Volume& volume, MetricRegistry& metrics) {
    options_.scheduler = &volume.scheduler();
    STOA_TRY(server, s3::Server::start(volume.ns(), volume.registry(), metrics, options_));
    server_ = std::move(server);
    return {};
  }
  std::string name() const override { return "s3"; }
  std::string address() const override { return server_->url(); }

  Status reload(const Config&) override {
    if (options_.tls_certificate_file.empty()) return {};
    STOA_CHECK_OK(check_secret_file(options_.tls_key_file));
    STOA_TRY(renewed, server_->renew());
    if (renewed == nullptr) return {};
    log_info("s3", "serving with the renewed certificate");
    close(std::exchange(server_, std::move(renewed)));
    return {};
  }

 private:
  static void close(std::unique_ptr<s3::Server> server) {
    if (server != nullptr && !server->drain(kDrainPatience))
      log_warning("s3", "requests were cut off when the S3 server stopped");
  }

  s3::ServerOptions options_;
  std::unique_ptr<s3::Server> server_;
};

}  // namespace

Result<std::unique_ptr<Protocol>> open_s3_protocol(const Config& config, core::Volume& volume,
                                                   MetricRegistry& metrics) {
  STOA_TRY(endpoint, parse_endpoint(config.s3.listen));
  s3::ServerOptions options{.address = endpoint.host, .port = endpoint.port};
  options.domain = config.s3.domain;
  options.region = config.s3.region;
  options.signature_v2 = accepted_signature_v2(config.s3.signature_v2);
  options.bucket_directory = config.s3.bucket_directory;
  options.tls_certificate_file = config.s3.tls_certificate;
  options.tls_key_file = config.s3.tls_key;
  options.inline_bytes_max = static_cast<std::uint32_t>(config.volume.inline_bytes_max);
  options.limits.connections_max = static_cast<std::uint32_t>(config.s3.connections_max);
  auto protocol = std::make_unique<S3Protocol>(options);
  const Status opened = protocol->open(volume, metrics);
  if (!opened) {
    return fail(opened.error().code, "the S3 server cannot start at " + config.s3.listen + ": " +
                                         describe(opened.error()) + "; choose another with s3.listen (--s3-listen)");
  }
  return std::unique_ptr<Protocol>(std::move(protocol));
}

}  // namespace stoa::appliance
