// Records of admin requests for the audit log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace stoa::core {
class Volume;
}

namespace stoa::admin {

struct Reply;
struct Request;
struct Route;
struct Service;

// A request that changed something or tried to, that showed secrets, or that was refused to its caller. Never holds a
// secret.
struct AdminAction {
  Timestamp time{};
  std::uint64_t request_id = 0;
  std::string token;         // its name; empty: none, or a wrong one
  std::string_view role{};   // "admin", "operator", "auditor", "owner"; empty without a token
  std::string_view route{};  // operationId: "set_quota"
  std::string_view method{};
  std::string target;   // the path in the volume, or the name of the record; empty when there is none, or its sender is
                        // not trusted
  std::string client;   // address, or "unix"
  unsigned status = 0;  // of HTTP
  std::string result{};  // "ok", or the code of the error, such as "access"
};

// Logs the request when it is such a one, and tells Service::record_action.
void record(Service& service, const Route& route, const Request& request, const Reply& reply);

// For Service::record_action: tells the journal, and so the audit log, if a policy of audit wants it.
void note_action(core::Volume& volume, const Request& request, const AdminAction& action);

}  // namespace stoa::admin
