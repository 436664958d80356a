#include <algorithm>
#include <charconv>
#include <limits>

#include "frontends/admin/page.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {

JsonResult list_clients(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"after", "limit"}));
  STOA_TRY(limit, page_limit(request));
  STOA_TRY(after, query_number(request, "after", 0, std::numeric_limits<std::uint64_t>::max()));
  std::vector<ClientStatus> clients = service.clients();
  std::ranges::sort(clients, {}, &ClientStatus::id);
  const auto first = request.query.contains("after") ? std::ranges::upper_bound(clients, after, {}, &ClientStatus::id)
                                                     : clients.begin();
  const auto show = [](const ClientStatus& client) {
    Json json{{"id", std::to_string(client.id)}, {"protocol", client.protocol},
              {"version", client.version},       {"address", client.address},
              {"opens", client.opens},           {"locks", client.locks},
              {"leases", client.leases},         {"silent_seconds", client.silent_seconds}};
    put_bytes(json, "name", client.name);
    return json;
  };
  return page("clients", first, clients.end(), limit, show,
              [](const ClientStatus& client) { return std::to_string(client.id); });
}

JsonResult evict_client(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  const std::string& text = request.arguments[0];
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool number = error == std::errc{} && end == text.data() + text.size();
  const Status evicted = number ? service.evict_client(id) : fail(Errc::kNotFound);
  if (!evicted && evicted.error().code == Errc::kNotFound) return fail(Cause::kClientUnknown, text);
  STOA_CHECK_OK(evicted);
  return Json();
}

}  // namespace stoa::admin
