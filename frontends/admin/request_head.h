// What the head of a request says about where it ends, and whom it is for.
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

  // RFC 9112 6.3: a request that tells its length in two ways, or in a coding that is not known, has no end that both
  // sides agree upon; 3.2: one for two hosts, or none, has no host. A sentence for the client; the connection must be
  // closed behind it.
  std::optional<std::string_view> problem(std::string_view version) const;

  // It asks localhost, or an address. Other names may be led to this machine by anybody's DNS: those of pages in a
  // browser here, say.
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
