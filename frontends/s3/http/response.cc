#include "frontends/s3/http/response.h"

namespace stoa::s3 {

Response xml_response(std::string body, int status) {
  Response response{.status = status, .body = std::move(body)};
  response.add("Content-Type", "application/xml");
  return response;
}

}  // namespace stoa::s3
