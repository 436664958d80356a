// A request line and headers, one a line: claims, canonical form, body plan and routing.
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
  auto target = parse_target(line());
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
  const auto claim = parse_authorization(request);
  if (!claim || !*claim) return 0;
  (void)check_time(**claim, 1369353600);
  (void)check_signature(request, **claim, "UNSIGNED-PAYLOAD", signing_key("secret", (*claim)->scope));
  return 0;
}
