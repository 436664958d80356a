// Bytes over a socket, for requests that no decent client sends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoa::s3::test {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool send(std::string_view bytes);
  void finish_sending();
  // Everything until the server closes.
  std::string read_all();
  // Sends `bytes` again and again, a while apart, until the server closes; false: it did not within half a minute.
  bool drip_until_closed(std::string_view bytes);
  // Until `mark` was seen, or the server closes.
  std::string read_until(std::string_view mark);
  void close();

 private:
  int fd_ = -1;
};

// The head of a signed request, ready to send; `headers` are signed, too.
std::string signed_head(std::string_view method, std::string_view target, std::string_view access_key,
                        std::string_view secret_key, std::string_view payload_hash,
                        std::vector<std::pair<std::string, std::string>> headers);

}  // namespace stoa::s3::test
