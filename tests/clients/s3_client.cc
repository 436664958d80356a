#include "tests/clients/s3_client.h"

#include <curl/curl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cctype>
#include <cstring>
#include <ctime>

namespace stoa::clients {
namespace {

std::string hex(const unsigned char* bytes, std::size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 15];
  }
  return out;
}

std::string sha256_hex(std::string_view data) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_Digest(data.data(), data.size(), digest, &length, EVP_sha256(), nullptr);
  return hex(digest, length);
}

std::string md5_base64(std::string_view data) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_Digest(data.data(), data.size(), digest, &length, EVP_md5(), nullptr);
  unsigned char text[2 * EVP_MAX_MD_SIZE];
  const int bytes = EVP_EncodeBlock(text, digest, static_cast<int>(length));
  return {reinterpret_cast<char*>(text), static_cast<std::size_t>(bytes)};
}

std::string hmac(std::string_view key, std::string_view data) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(data.data()),
       data.size(), digest, &length);
  return {reinterpret_cast<char*>(digest), length};
}

std::string url_encode(std::string_view text, bool keep_slash) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 128 && std::isalnum(byte)) || c == '-' || c == '.' || c == '_' || c == '~' ||
        (keep_slash && c == '/')) {
      out += c;
    } else {
      char escaped[4];
      std::snprintf(escaped, sizeof escaped, "%%%02X", byte);
      out += escaped;
    }
  }
  return out;
}

std::string url_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::string xml_unescape(std::string text) {
  static const std::pair<std::string_view, char> kEntities[] = {{"&lt;", '<'},  {"&gt;", '>'},    {"&quot;", '"'},
                                                                {"&#34;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}};
  for (const auto& [entity, c] : kEntities) {
    for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; ++at) {
      text.replace(at, entity.size(), 1, c);
    }
  }
  return text;
}

std::string xml_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '\r':
        out += "&#13;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* reply) {
  static_cast<S3Reply*>(reply)->body.append(data, size * count);
  return size * count;
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* reply) {
  const std::string_view line(data, size * count);
  const auto colon = line.find(':');
  if (colon != std::string_view::npos) {
    std::string name(line.substr(0, colon));
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && std::isspace(static_cast<unsigned char>(value.front()))) value.remove_prefix(1);
    while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back()))) value.remove_suffix(1);
    static_cast<S3Reply*>(reply)->headers[name] = value;
  }
  return size * count;
}

struct Body {
  std::string_view left;
};

std::size_t on_upload(char* into, std::size_t size, std::size_t count, void* body) {
  auto& left = static_cast<Body*>(body)->left;
  const std::size_t bytes = std::min(size * count, left.size());
  std::memcpy(into, left.data(), bytes);
  left.remove_prefix(bytes);
  return bytes;
}

}  // namespace

std::vector<std::string> S3Reply::elements(std::string_view name) const {
  std::vector<std::string> out;
  const std::string open = "<" + std::string(name) + ">", close = "</" + std::string(name) + ">";
  for (std::size_t at = 0; (at = body.find(open, at)) != std::string::npos;) {
    at += open.size();
    const auto end = body.find(close, at);
    if (end == std::string::npos) break;
    out.push_back(xml_unescape(body.substr(at, end - at)));
    at = end;
  }
  return out;
}

std::string S3Reply::element(std::string_view name) const {
  const auto all = elements(name);
  return all.empty() ? std::string() : all.front();
}

std::string S3Reply::text() const {
  return lost() ? "connection lost" : std::to_string(status) + " " + element("Code");
}

S3Client::S3Client(S3Target target) : target_(std::move(target)), curl_(curl_easy_init()) {}
S3Client::~S3Client() {
  curl_easy_cleanup(curl_);
}

S3Reply S3Client::request(const std::string& method, const std::string& key,
                          const std::map<std::string, std::string>& query, std::string_view body,
                          const S3Headers& headers) {
  std::string host = target_.url;
  if (const auto scheme = host.find("://"); scheme != std::string::npos) host = host.substr(scheme + 3);
  std::string path = "/" + target_.bucket;
  if (!key.empty()) path += "/" + url_encode(key, true);
  std::string query_text;
  for (const auto& [name, value] : query) {
    query_text += (query_text.empty() ? "" : "&") + url_encode(name, false) + "=" + url_encode(value, false);
  }
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
  const std::string date(stamp, 8), payload = sha256_hex(body);

  std::map<std::string, std::string> signed_headers{
      {"host", host}, {"x-amz-content-sha256", payload}, {"x-amz-date", stamp}};
  for (const auto& [name, value] : headers) {
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    signed_headers[lower] = value;
  }
  std::string canonical_headers, names;
  for (const auto& [name, value] : signed_headers) {
    canonical_headers += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical =
      method + "\n" + path + "\n" + query_text + "\n" + canonical_headers + "\n" + names + "\n" + payload;
  const std::string scope = date + "/" + target_.region + "/s3/aws4_request";
  const std::string to_sign = std::string("AWS4-HMAC-SHA256\n") + stamp + "\n" + scope + "\n" + sha256_hex(canonical);
  const std::string signing_key =
      hmac(hmac(hmac(hmac("AWS4" + target_.secret_key, date), target_.region), "s3"), "aws4_request");
  const std::string signature_bytes = hmac(signing_key, to_sign);
  const std::string signature =
      hex(reinterpret_cast<const unsigned char*>(signature_bytes.data()), signature_bytes.size());
  const std::string authorization = "Authorization: AWS4-HMAC-SHA256 Credential=" + target_.access_key + "/" + scope +
                                    ", SignedHeaders=" + names + ", Signature=" + signature;

  CURL* curl = static_cast<CURL*>(curl_);
  curl_easy_reset(curl);
  S3Reply reply;
  Body upload{body};
  curl_slist* list = curl_slist_append(nullptr, authorization.c_str());
  for (const auto& [name, value] : signed_headers) {
    if (name != "host") list = curl_slist_append(list, (name + ": " + value).c_str());
  }
  list = curl_slist_append(list, "Expect:");
  const std::string url = target_.url + path + (query_text.empty() ? "" : "?" + query_text);
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 120L);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &reply);
  if (method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else if (method == "PUT" || method == "POST") {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_upload);
    curl_easy_setopt(curl, CURLOPT_READDATA, &upload);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(body.size()));
  } else if (method != "GET") {
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
  }
  const CURLcode code = curl_easy_perform(curl);
  long status = 0;
  if (code == CURLE_OK) curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_slist_free_all(list);
  reply.status = static_cast<int>(status);
  return reply;
}

S3Reply S3Client::put(const std::string& key, std::string_view bytes, const S3Headers& headers) {
  return request("PUT", key, {}, bytes, headers);
}
S3Reply S3Client::get(const std::string& key, const S3Headers& headers) {
  return request("GET", key, {}, {}, headers);
}
S3Reply S3Client::head(const std::string& key) {
  return request("HEAD", key, {}, {});
}
S3Reply S3Client::remove(const std::string& key) {
  return request("DELETE", key, {}, {});
}

S3Reply S3Client::remove_many(const std::vector<std::string>& keys) {
  std::string body = "<Delete><Quiet>true</Quiet>";
  for (const std::string& key : keys) body += "<Object><Key>" + xml_escape(key) + "</Key></Object>";
  body += "</Delete>";
  return request("POST", "", {{"delete", ""}}, body, {{"Content-MD5", md5_base64(body)}});
}

S3Reply S3Client::create_multipart(const std::string& key) {
  return request("POST", key, {{"uploads", ""}}, {});
}

S3Reply S3Client::put_part(const std::string& key, const std::string& upload, int number, std::string_view bytes) {
  return request("PUT", key, {{"partNumber", std::to_string(number)}, {"uploadId", upload}}, bytes);
}

S3Reply S3Client::complete(const std::string& key, const std::string& upload, const std::vector<std::string>& etags) {
  std::string body = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < etags.size(); ++i) {
    body += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + etags[i] + "</ETag></Part>";
  }
  body += "</CompleteMultipartUpload>";
  S3Reply reply = request("POST", key, {{"uploadId", upload}}, body);
  // A complete may answer 200 first and tell of an error in the body.
  if (reply.ok() && !reply.element("Code").empty()) reply.status = 500;
  return reply;
}

S3Listing S3Client::list(const std::string& prefix, const std::string& delimiter, const std::string& continuation,
                         int max_keys) {
  std::map<std::string, std::string> query{
      {"list-type", "2"}, {"encoding-type", "url"}, {"max-keys", std::to_string(max_keys)}};
  if (!prefix.empty()) query["prefix"] = prefix;
  if (!delimiter.empty()) query["delimiter"] = delimiter;
  if (!continuation.empty()) query["continuation-token"] = continuation;
  S3Listing out;
  out.reply = request("GET", "", query, {});
  for (const std::string& key : out.reply.elements("Key")) out.keys.push_back(url_decode(key));
  bool first = true;
  for (const std::string& text : out.reply.elements("Prefix")) {
    // The first <Prefix> repeats the request's, unless the server left it out.
    const std::string decoded = url_decode(text);
    if (first && decoded == prefix) {
      first = false;
      continue;
    }
    out.prefixes.push_back(decoded);
  }
  out.truncated = out.reply.element("IsTruncated") == "true";
  out.continuation = out.reply.element("NextContinuationToken");
  return out;
}

S3Listing S3Client::list_all(const std::string& prefix, const std::string& delimiter) {
  S3Listing all;
  std::string continuation;
  for (;;) {
    S3Listing page = list(prefix, delimiter, continuation);
    all.reply = std::move(page.reply);
    if (!all.reply.ok()) return all;
    all.keys.insert(all.keys.end(), page.keys.begin(), page.keys.end());
    all.prefixes.insert(all.prefixes.end(), page.prefixes.begin(), page.prefixes.end());
    if (!page.truncated) return all;
    continuation = page.continuation;
  }
}

}  // namespace stoa::clients
