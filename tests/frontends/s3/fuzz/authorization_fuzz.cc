// A request line and headers, one a line: claims, canonical form, body plan and routing.
#include "frontends/s3/auth/mechanism.h"
#include "frontends/s3/auth/sigv2.h"
#include "frontends/s3/auth/sigv4.h"
#include "frontends/s3/body.h"
#include "frontends/s3/http/conditions.h"
#include "frontends/s3/operation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stoa::s3;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line = [&] {
    const std::size_t end = text.find('\n');
    const std::string_view taken = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    return taken;
  };
  Request request;
  request.method = line();
  request.raw_target = line();
  auto target = parse_target(request.raw_target);
  if (!target) return 0;
  request.target = std::move(*target);
  while (!text.empty()) {
    const std::string_view header = line();
    const std::size_t colon = header.find(':');
    if (colon == std::string_view::npos) continue;
    request.headers.push_back({header.substr(0, colon), header.substr(colon + 1)});
  }
  (void)route_request(request, "s3.example");
  (void)check_read(read_conditions(request), "abc", {});
  (void)plan_body(request, request.header("x-amz-content-sha256").value_or("UNSIGNED-PAYLOAD"), {}, {});
  const auto mechanism = mechanism_of(request);
  if (!mechanism || *mechanism == Mechanism::kNone) return 0;
  const bool presigned = *mechanism == Mechanism::kVersion2Query || *mechanism == Mechanism::kVersion4Query;
  if (*mechanism == Mechanism::kVersion2Header || *mechanism == Mechanism::kVersion2Query) {
    if (presigned) take_headers_of_query(request);
    const auto claim = parse_authorization_v2(request, presigned);
    if (!claim) return 0;
    (void)check_time(*claim, 1369353600);
    (void)check_signature(request, *claim, "bucket", "secret");
    return 0;
  }
  const auto claim = parse_authorization(request, presigned);
  if (!claim) return 0;
  (void)check_time(*claim, 1369353600);
  (void)check_region(*claim, "us-east-1");
  (void)check_signature(request, *claim, "UNSIGNED-PAYLOAD", signing_key("secret", claim->scope));
  return 0;
}
