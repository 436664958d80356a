#include <algorithm>
#include <charconv>

#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {

JsonResult list_clients(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  std::vector<ClientStatus> clients = service.clients();
  std::ranges::sort(clients, {}, &ClientStatus::id);
  Json list = Json::array();
  for (const ClientStatus& client : clients) {
    Json json{{"id", std::to_string(client.id)}, {"door", client.door},
              {"protocol", client.protocol},     {"address", client.address},
              {"opens", client.opens},           {"locks", client.locks},
              {"leases", client.leases},         {"silent_seconds", client.silent_seconds}};
    put_bytes(json, "name", client.name);
    list.push_back(std::move(json));
  }
  return Json{{"clients", std::move(list)}};
}

JsonResult evict_client(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  const std::string& text = request.arguments[0];
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool number = error == std::errc{} && end == text.data() + text.size();
  const Status evicted = number ? service.evict_client(id) : fail(Errc::kNotFound);
  if (!evicted && evicted.error().code == Errc::kNotFound)
    return fail(Errc::kNotFound, "there is no client '" + text + "' (any more); see stoa client list");
  STOA_CHECK_OK(evicted);
  return Json();
}

}  // namespace stoa::admin
