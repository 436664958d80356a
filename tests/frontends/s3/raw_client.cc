#include "tests/frontends/s3/raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "frontends/s3/auth/sigv4.h"
#include "frontends/s3/http/date.h"

namespace stoa::s3::test {

RawClient::RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) close();
}

RawClient::~RawClient() {
  close();
}

void RawClient::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void RawClient::finish_sending() {
  ::shutdown(fd_, SHUT_WR);
}

std::string RawClient::read_all() {
  return read_until({});
}

bool RawClient::drip_until_closed(std::string_view bytes) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < end) {
    if (!send(bytes)) return true;
    pollfd closed{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&closed, 1, 50) == 1) return true;
  }
  return false;
}

std::string RawClient::read_until(std::string_view mark) {
  std::string out;
  char buffer[4096];
  while (mark.empty() || out.find(mark) == std::string::npos) {
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    out.append(buffer, static_cast<std::size_t>(got));
  }
  return out;
}

std::string signed_head(std::string_view method, std::string_view target, std::string_view access_key,
                        std::string_view secret_key, std::string_view payload_hash,
                        std::vector<std::pair<std::string, std::string>> headers) {
  Request request;
  request.method = method;
  request.target = *parse_target(target);
  const std::int64_t now = wall_now().seconds();
  headers.emplace_back("host", "127.0.0.1");
  headers.emplace_back("x-amz-date", amz_date(now));
  headers.emplace_back("x-amz-content-sha256", payload_hash);
  std::sort(headers.begin(), headers.end());
  Authorization claim{.scope = {std::string(access_key), amz_date(now).substr(0, 8), "us-east-1"},
                      .date_time = amz_date(now)};
  std::string names;
  for (const auto& [name, value] : headers) {
    request.headers.push_back({name, value});
    claim.signed_headers.push_back(name);
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string to_sign = string_to_sign(claim, canonical_request(request, claim, payload_hash));
  const std::string signature = to_hex(hmac_sha256(signing_key(secret_key, claim.scope), to_sign));
  std::string head = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\n";
  for (const auto& [name, value] : headers) head += name + ": " + value + "\r\n";
  head += "Authorization: AWS4-HMAC-SHA256 Credential=" + std::string(access_key) + "/" + claim.scope.text() +
          ",SignedHeaders=" + names + ",Signature=" + signature + "\r\n\r\n";
  return head;
}

}  // namespace stoa::s3::test
