#include "frontends/tls/stream.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <utility>

namespace stoa::tls {

// A sink that collects what the library sends.
struct OutputMethod {
  static int write(BIO* bio, const char* data, std::size_t bytes, std::size_t* written) {
    auto& stream = *static_cast<Stream*>(BIO_get_data(bio));
    const auto all = std::as_bytes(std::span(data, bytes));
    stream.output_.insert(stream.output_.end(), all.begin(), all.end());
    *written = bytes;
    return 1;
  }
  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }
  static int create(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
  }
  static const BIO_METHOD* get() {
    static BIO_METHOD* const method = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stoa output");
      BIO_meth_set_write_ex(made, write);
      BIO_meth_set_ctrl(made, control);
      BIO_meth_set_create(made, create);
      return made;
    }();
    return method;
  }
};

namespace {

constexpr std::string_view kBindingLabel = "EXPORTER-Channel-Binding";
// What the library adds to a record of 16 KiB.
constexpr std::size_t kRecordBytes = 16384, kOverheadBytes = 64;

bool is_address(const std::string& host) {
  in6_addr any{};
  return inet_pton(AF_INET, host.c_str(), &any) == 1 || inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

}  // namespace

Result<std::unique_ptr<Stream>> Stream::make(const Context& context, int fd) {
  std::unique_ptr<Stream> stream(new Stream);
  stream->ssl_ = SSL_new(context.get());
  BIO* const input = BIO_new_socket(fd, BIO_NOCLOSE);
  BIO* const output = BIO_new(OutputMethod::get());
  if (stream->ssl_ == nullptr || input == nullptr || output == nullptr) {
    BIO_free(input);
    BIO_free(output);
    ERR_clear_error();
    return fail(Errc::kIo, "there is no memory for TLS");
  }
  BIO_set_data(output, stream.get());
  SSL_set_bio(stream->ssl_, input, output);
  return stream;
}

Result<std::unique_ptr<Stream>> Stream::accept(const Context& context, int fd) {
  STOA_TRY(stream, make(context, fd));
  SSL_set_accept_state(stream->ssl_);
  return std::move(stream);
}

Result<std::unique_ptr<Stream>> Stream::connect(const Context& context, int fd, const std::string& host) {
  STOA_TRY(stream, make(context, fd));
  SSL_set_connect_state(stream->ssl_);
  const bool address = is_address(host);
  bool set = address || SSL_set_tlsext_host_name(stream->ssl_, host.c_str()) == 1;
  if (set && context.verifies()) {
    set = address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(stream->ssl_), host.c_str()) == 1
                  : SSL_set1_host(stream->ssl_, host.c_str()) == 1;
  }
  ERR_clear_error();
  if (!set) return fail(Errc::kInvalid, "no certificate can be for the name " + host);
  return std::move(stream);
}

Stream::~Stream() {
  SSL_free(ssl_);
}

void Stream::note_locked() {
  has_output_.store(!output_.empty(), std::memory_order_release);
  if (established_.load(std::memory_order_relaxed) || SSL_is_init_finished(ssl_) != 1) return;
  const bool bound = SSL_export_keying_material(ssl_, reinterpret_cast<unsigned char*>(binding_.data()),
                                                binding_.size(), kBindingLabel.data(), kBindingLabel.size(),
                                                reinterpret_cast<const unsigned char*>(""), 0, 1) == 1;
  if (bound) established_.store(true, std::memory_order_release);
}

ssize_t Stream::verdict_locked(int result) {
  const int system_error = errno;
  const int error = SSL_get_error(ssl_, result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
    errno = EAGAIN;
    return -1;
  }
  if (error == SSL_ERROR_ZERO_RETURN) return 0;
  if (failure_.empty() && error == SSL_ERROR_SSL) {
    const long trust = SSL_get_verify_result(ssl_);
    if ((SSL_get_verify_mode(ssl_) & SSL_VERIFY_PEER) != 0 && trust != X509_V_OK) {
      failure_ =
          trust == X509_V_ERR_HOSTNAME_MISMATCH || trust == X509_V_ERR_IP_ADDRESS_MISMATCH ? "is for another name"
          : trust == X509_V_ERR_CERT_HAS_EXPIRED || trust == X509_V_ERR_CERT_NOT_YET_VALID
              ? "is not valid today"
              : std::string("is from no authority that is trusted here (") + X509_verify_cert_error_string(trust) + ")";
    }
  }
  ERR_clear_error();
  errno = error == SSL_ERROR_SYSCALL ? (system_error == 0 ? ECONNRESET : system_error) : EPROTO;
  return -1;
}

ssize_t Stream::read(std::span<const iovec> parts) {
  std::size_t got = 0;
  drained_.store(false, std::memory_order_relaxed);
  for (const iovec& part : parts) {
    std::size_t filled = 0;
    while (filled < part.iov_len) {
      // One record at a time, so that nobody who sends waits for long.
      const std::lock_guard lock(mutex_);
      ERR_clear_error();
      errno = 0;
      std::size_t n = 0;
      const int result = SSL_read_ex(ssl_, static_cast<char*>(part.iov_base) + filled, part.iov_len - filled, &n);
      ssize_t verdict = 1;
      if (result != 1) verdict = verdict_locked(result);
      const int error = errno;
      note_locked();
      if (result == 1) {
        filled += n;
        got += n;
        continue;
      }
      // What is an end or a fault is said by the next read, which finds it again.
      const bool again = verdict < 0 && error == EAGAIN;
      drained_.store(again, std::memory_order_relaxed);
      if (got > 0) return static_cast<ssize_t>(got);
      errno = error;
      return verdict;
    }
  }
  return static_cast<ssize_t>(got);
}

ssize_t Stream::handshake() {
  const std::lock_guard lock(mutex_);
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(ssl_);
  const ssize_t verdict = result == 1 ? 1 : verdict_locked(result);
  const int error = errno;
  note_locked();
  errno = error;
  return verdict;
}

bool Stream::seal(std::span<const std::byte> bytes, std::vector<std::byte>& out) {
  const std::lock_guard lock(mutex_);
  ERR_clear_error();
  bool sealed = true;
  if (!bytes.empty()) {
    output_.reserve(output_.size() + bytes.size() + (bytes.size() / kRecordBytes + 1) * kOverheadBytes);
    std::size_t written = 0;
    sealed = SSL_is_init_finished(ssl_) == 1 && SSL_write_ex(ssl_, bytes.data(), bytes.size(), &written) == 1;
    if (!sealed) ERR_clear_error();
  }
  if (out.empty()) {
    out = std::exchange(output_, {});
  } else {
    out.insert(out.end(), output_.begin(), output_.end());
    output_.clear();
  }
  note_locked();
  return sealed;
}

bool Stream::partial() {
  const std::lock_guard lock(mutex_);
  return !established_.load(std::memory_order_relaxed) || SSL_has_pending(ssl_) == 1;
}

std::string Stream::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace stoa::tls
