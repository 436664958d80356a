// Checks of a request's head: where it ends, and which host it is for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stoa::admin {

// Header fields are added one by one, as they came.
class RequestHead {
 public:
  void add(std::string_view name, std::string_view value);

  // RFC 9112 6.3: a request with two lengths, or an unknown coding, has no end that both sides agree upon; 3.2: one
  // with two hosts, or none, has no host. A sentence for the client; the connection must be closed behind it.
  std::optional<std::string_view> problem(std::string_view version) const;

  // Whether the request names localhost, or an address. Foreign DNS may lead other names to this machine, for example
  // from pages in a browser here.
  bool host_is_here() const;

 private:
  std::size_t lengths_ = 0;
  std::size_t codings_ = 0;
  std::size_t hosts_ = 0;
  bool strange_length_ = false;
  bool strange_coding_ = false;
  std::string host_;
};

}  // namespace stoa::admin
