// An S3 client for tests: path style, SigV4 with signed payloads, one request at a time, no retries.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stoa::clients {

struct S3Target {
  std::string url;  // "http://127.0.0.1:PORT"
  std::string access_key, secret_key;
  std::string bucket;
  std::string region = "us-east-1";
};

struct S3Reply {
  int status = 0;  // 0: the connection broke, so it is unknown whether the request was executed
  std::string body;
  std::map<std::string, std::string> headers;  // names in lower case
  bool ok() const { return status >= 200 && status < 300; }
  bool lost() const { return status == 0; }
  // The text of the first <element>, unescaped.
  std::string element(std::string_view name) const;
  std::vector<std::string> elements(std::string_view name) const;
  std::string text() const;
};

struct S3Listing {
  S3Reply reply;  // the last one
  std::vector<std::string> keys, prefixes;
  bool truncated = false;
  std::string continuation;
};

using S3Headers = std::vector<std::pair<std::string, std::string>>;

// Used by one thread.
class S3Client {
 public:
  explicit S3Client(S3Target target);
  ~S3Client();
  S3Client(const S3Client&) = delete;
  S3Client& operator=(const S3Client&) = delete;

  S3Reply put(const std::string& key, std::string_view bytes, const S3Headers& headers = {});
  S3Reply get(const std::string& key, const S3Headers& headers = {});
  S3Reply head(const std::string& key);
  S3Reply remove(const std::string& key);
  S3Reply remove_many(const std::vector<std::string>& keys);  // DeleteObjects, quiet: the reply names the
                                                              // failures
  S3Reply create_multipart(const std::string& key);
  S3Reply put_part(const std::string& key, const std::string& upload, int number, std::string_view bytes);
  S3Reply complete(const std::string& key, const std::string& upload, const std::vector<std::string>& etags);
  // One page. Keys come URL-encoded on the wire (encoding-type=url) and are given back as bytes.
  S3Listing list(const std::string& prefix = {}, const std::string& delimiter = {},
                 const std::string& continuation = {}, int max_keys = 1000);
  S3Listing list_all(const std::string& prefix = {}, const std::string& delimiter = {});

  // Anything: `query` as name and value, not encoded.
  S3Reply request(const std::string& method, const std::string& key, const std::map<std::string, std::string>& query,
                  std::string_view body, const S3Headers& headers = {});

 private:
  S3Target target_;
  void* curl_;
};

}  // namespace stoa::clients
