// One HTTP request as the operations of S3 see it: free of the HTTP library.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/s3/http/uri.h"

namespace stoa::s3 {

// A header of the request. Name as sent; the views live as long as the request.
struct Header {
  std::string_view name;
  std::string_view value;
};

bool equal_names(std::string_view a, std::string_view b);  // ASCII case ignored
std::string lower_case(std::string_view text);
std::string_view trim(std::string_view text);  // without spaces and tabs around it
// HTTP libraries send header text as ISO 8859-1 where they can; the signed form is always UTF-8.
std::string utf8_of_latin1(std::string_view text);

struct Request {
  std::string id;            // x-amz-request-id
  std::uint64_t serial = 0;  // the same as a number
  std::string method;
  std::string raw_target;  // as sent
  Target target;
  std::vector<Header> headers;
  std::array<std::uint8_t, 16> address{};  // of the client; IPv4 mapped
  std::string client;                      // the same as text

  // The first header of that name; absent when there is none.
  std::optional<std::string_view> header(std::string_view name) const;
  // The same, but an empty value counts as absent.
  std::optional<std::string_view> filled(std::string_view name) const;
  std::optional<std::string_view> query(std::string_view name) const { return target.value(name); }
};

// Whether both sides may read the head in different ways. Reasons: two hosts or lengths, a length beside a
// coding, an unknown coding, an invalid name (RFC 9110 5.6.2; RFC 9112 3.2, 5.1, 6.1, 6.3). The data behind such
// a head must not be read.
bool head_is_doubtful(const Request& request);

}  // namespace stoa::s3
