// One HTTP response, free of the HTTP library.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/context.h"
#include "core/api/io.h"
#include "core/api/namespace.h"

namespace stoa::s3 {

// A range of an object on its way out. `slices` is its beginning; the rest is read as it is sent, and must still be
// of `version`.
struct ContentRange {
  core::FileId id = core::kNoFile;
  core::ObjectVersion version{};
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::vector<core::DataSlice> slices{};
};

struct Response {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  std::optional<ContentRange> content{};       // instead of body
  std::optional<std::uint64_t> head_length{};  // HEAD: the length of GET's body

  Response& add(std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
    return *this;
  }
};

Response xml_response(std::string body, int status = 200);

}  // namespace stoa::s3
