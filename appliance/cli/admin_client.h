// A client of the admin interface of a running stoad.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace stoa::cli {

using Json = nlohmann::json;
using Query = std::map<std::string, std::string>;

struct AdminAddress {
  std::string url;     // "http://127.0.0.1:9090"
  std::string socket;  // used instead of the url's host when set
  std::string token;
  std::string ca;   // a PEM file with the authorities to trust, instead of the system's
  std::string pin;  // "sha256//BASE64": trust the server that has this key, under any name; see curl(1),
                    // --pinnedpubkey
};

// Not thread-safe.
class AdminClient {
 public:
  explicit AdminClient(AdminAddress address);
  ~AdminClient();
  AdminClient(AdminClient&&) noexcept;
  AdminClient& operator=(AdminClient&&) = delete;

  // A reply without a body is null. kShutdown: stoad cannot be reached. Else the error in stoad's answer.
  Result<Json> get(const std::string& path, const Query& query = {}) { return call("GET", path, query, nullptr); }
  // The same for a list that comes in pages (`truncated`, `next_after`): returns the member's entries of all
  // pages.
  Result<std::vector<Json>> get_all(const std::string& path, const std::string& member, Query query = {});
  Result<Json> post(const std::string& path, const Json& body) { return call("POST", path, {}, &body); }
  Result<Json> put(const std::string& path, const Query& query, const Json& body) {
    return call("PUT", path, query, &body);
  }
  Result<Json> patch(const std::string& path, const Json& body) { return call("PATCH", path, {}, &body); }
  Result<Json> remove(const std::string& path, const Query& query = {}) { return call("DELETE", path, query, nullptr); }
  // A reply without an end: hands over each piece as it comes, until `take` returns false or the server ends it.
  // Errors as above; kShutdown, too, when nothing came for a minute.
  using Take = std::function<bool(std::string_view)>;
  Status follow(const std::string& path, const Query& query, const Take& take) {
    STOA_CHECK_OK(call("GET", path, query, nullptr, &take));
    return {};
  }

 private:
  Result<Json> call(const char* method, const std::string& path, const Query& query, const Json* body,
                    const Take* take = nullptr);

  struct Handle;
  AdminAddress address_;
  std::unique_ptr<Handle> handle_;
};

std::string percent_encode(std::string_view text);

}  // namespace stoa::cli
