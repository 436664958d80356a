// Recent events: soft limits, damage, disks that fill up.
#include <algorithm>
#include <limits>

#include "frontends/admin/event_sentences.h"
#include "frontends/admin/fact_text.h"
#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"

namespace stoa::admin {

JsonResult list_events(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {"after"}));
  STOA_TRY(after, query_number(request, "after", 0, std::numeric_limits<std::uint64_t>::max()));
  const core::EventLog& events = service.volume.events();
  // Read first: events between the two reads would be left out.
  std::uint64_t next = events.newest();
  Json list = Json::array();
  for (const core::Event& event : events.after(after)) {
    next = std::max(next, event.sequence);
    Json json{{"sequence", std::to_string(event.sequence)},
              {"time", time_text(event.time)},
              {"severity", core::to_string(event.severity)},
              {"what", core::to_string(event.kind)},
              {"facts", Json::object()},
              {"message", sentence(event)}};
    for (auto& [name, fact] : facts_of(core::fact_names(event.kind), event.facts)) json["facts"][name] = fact;
    if (event.path.empty()) {
      json["path"] = nullptr;
    } else {
      put_bytes(json, "path", event.path);
    }
    list.push_back(std::move(json));
  }
  return Json{{"events", std::move(list)}, {"next", std::to_string(next)}};
}

}  // namespace stoa::admin
