#include "appliance/cli/admin_client.h"

#include <curl/curl.h>

namespace stoa::cli {
namespace {

struct Incoming {
  CURL* curl;
  std::string answer{};  // set when there is no `take`, or on an error
  const AdminClient::Take* take = nullptr;
  bool enough = false;  // stopped by `take`
};

std::size_t collect(char* data, std::size_t size, std::size_t count, void* target) {
  auto& incoming = *static_cast<Incoming*>(target);
  const std::string_view part(data, size * count);
  long status = 0;
  if (incoming.take != nullptr) curl_easy_getinfo(incoming.curl, CURLINFO_RESPONSE_CODE, &status);
  if (status == 200) {
    incoming.enough = !(*incoming.take)(part);
    return incoming.enough ? 0 : part.size();
  }
  incoming.answer.append(part);
  return part.size();
}

Errc parse_errc(std::string_view word) {
  for (std::uint16_t code = kErrcFirst; code <= kErrcLast; ++code) {
    if (to_string(static_cast<Errc>(code)) == word) return static_cast<Errc>(code);
  }
  return Errc::kIo;
}

struct Headers {
  curl_slist* list = nullptr;
  ~Headers() { curl_slist_free_all(list); }
  void add(const std::string& line) { list = curl_slist_append(list, line.c_str()); }
};

}  // namespace

struct AdminClient::Handle {
  CURL* curl = curl_easy_init();
  ~Handle() { curl_easy_cleanup(curl); }
};

AdminClient::AdminClient(AdminAddress address) : address_(std::move(address)), handle_(std::make_unique<Handle>()) {}
AdminClient::~AdminClient() = default;
AdminClient::AdminClient(AdminClient&&) noexcept = default;

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
      continue;
    }
    constexpr char kHex[] = "0123456789ABCDEF";
    out += '%';
    out += kHex[static_cast<unsigned char>(c) >> 4];
    out += kHex[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

Result<std::vector<Json>> AdminClient::get_all(const std::string& path, const std::string& member, Query query) {
  std::vector<Json> all;
  for (;;) {
    STOA_TRY(page, get(path, query));
    for (Json& item : page[member]) all.push_back(std::move(item));
    if (!page["truncated"].get<bool>() || !page.contains("next_after")) return all;
    query["after"] = page["next_after"].get<std::string>();
  }
}

Result<Json> AdminClient::call(const char* method, const std::string& path, const Query& query, const Json* body,
                               const Take* take) {
  CURL* curl = handle_->curl;
  curl_easy_reset(curl);
  std::string url = (address_.url.empty() ? "http://localhost" : address_.url) + path;
  char separator = '?';
  for (const auto& [name, value] : query) {
    url.append(1, std::exchange(separator, '&')).append(name).append("=").append(percent_encode(value));
  }
  Incoming incoming{.curl = curl, .take = take};
  std::string sent;
  char problem[CURL_ERROR_SIZE] = {};
  Headers headers;
  headers.add("Authorization: Bearer " + address_.token);
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, problem);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &collect);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &incoming);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
  if (take == nullptr) {
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 300L);
  } else {
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 60L);
  }
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");  // A proxy of the environment is never meant for this machine.
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  if (!address_.socket.empty()) curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, address_.socket.c_str());
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (!address_.ca.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, address_.ca.c_str());
  if (!address_.pin.empty()) {
    curl_easy_setopt(curl, CURLOPT_PINNEDPUBLICKEY, address_.pin.c_str());
    // The pinned key is the identity; a certificate for another name, or of an unknown authority, is accepted.
    if (address_.ca.empty()) {
      curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
      curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
  }
  if (body != nullptr) {
    sent = body->dump(-1, ' ', false, Json::error_handler_t::replace);
    headers.add("Content-Type: application/json");
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, sent.c_str());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(sent.size()));
  }
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.list);
  const CURLcode code = curl_easy_perform(curl);
  if (incoming.enough) return Json();
  if (code != CURLE_OK) {
    const std::string reason = problem[0] != 0 ? problem : curl_easy_strerror(code);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
      return fail(Errc::kAccess, "the certificate of " + address_.url + " is not trusted (" + reason +
                                     "); name its authority with --ca, or its key with --pin");
    if (code == CURLE_SSL_PINNEDPUBKEYNOTMATCH)
      return fail(Errc::kAccess, address_.url + " shows another key than " + address_.pin +
                                     "; it is not the server that was meant, or has a new key");
    const std::string where = address_.socket.empty() ? address_.url : address_.socket;
    return fail(Errc::kShutdown, "stoad cannot be reached at " + where + ": " + reason);
  }
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  const std::string& answer = incoming.answer;
  Json json = answer.empty() ? Json() : Json::parse(answer, nullptr, /*allow_exceptions=*/false);
  if (status < 400) {
    if (json.is_discarded()) return fail(Errc::kIo, "stoad answered with something that is not JSON");
    return json;
  }
  const Json error = json.is_object() && json.contains("error") ? json["error"] : Json::object();
  const std::string message = error.value("message", "HTTP status " + std::to_string(status));
  const Cause cause = cause_of(error.value("cause", ""));
  if (status == 401)
    return fail(Error{.code = Errc::kAccess, .detail = "stoad refused the token: " + message, .cause = cause});
  return fail(Error{.code = parse_errc(error.value("code", "io")), .detail = message, .cause = cause});
}

}  // namespace stoa::cli
