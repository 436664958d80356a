#include "frontends/admin/request_head.h"

#include <arpa/inet.h>

#include <algorithm>

namespace stoa::admin {
namespace {

bool equal_words(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool is_address(const std::string& text) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, text.c_str(), bytes) == 1 || inet_pton(AF_INET6, text.c_str(), bytes) == 1;
}

}  // namespace

void RequestHead::add(std::string_view name, std::string_view value) {
  if (equal_words(name, "content-length")) {
    ++lengths_;
    strange_length_ = strange_length_ || value.empty() || value.find_first_not_of("0123456789") != value.npos;
  } else if (equal_words(name, "transfer-encoding")) {
    ++codings_;
    strange_coding_ = strange_coding_ || !equal_words(value, "chunked");
  } else if (equal_words(name, "host")) {
    ++hosts_;
    host_ = value;
  }
}

std::optional<std::string_view> RequestHead::problem(std::string_view version) const {
  if (lengths_ + codings_ > 1) return "the length of the request is told twice";
  if (strange_length_) return "Content-Length is no number";
  if (strange_coding_) return "the only transfer coding is chunked";
  if (hosts_ > 1 || (hosts_ == 0 && version == "HTTP/1.1")) return "the request must have one header Host";
  return std::nullopt;
}

bool RequestHead::host_is_here() const {
  if (hosts_ == 0) return true;  // no browser
  if (host_.starts_with('[')) {
    const std::size_t end = host_.find(']');
    return end != host_.npos && is_address(host_.substr(1, end - 1));
  }
  const std::string name = host_.substr(0, host_.find(':'));
  return equal_words(name, "localhost") || is_address(name);
}

}  // namespace stoa::admin
