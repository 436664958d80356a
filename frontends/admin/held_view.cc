#include "frontends/admin/held_view.h"

#include <unordered_map>

namespace stoa::admin {
namespace {

constexpr std::size_t kMost = 100;

class Clients {
 public:
  explicit Clients(const std::vector<ClientStatus>& all) {
    for (const ClientStatus& client : all) by_id_.emplace(client.id, &client);
  }
  Json view(core::HolderId holder) const {
    const auto id = static_cast<std::uint64_t>(holder);
    Json json{{"id", std::to_string(id)}};
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return json;
    const ClientStatus& client = *found->second;
    json["protocol"] = client.protocol;
    json["version"] = client.version;
    json["address"] = client.address;
    put_bytes(json, "name", client.name);
    return json;
  }

 private:
  std::unordered_map<std::uint64_t, const ClientStatus*> by_id_;
};

Json shares(std::uint32_t bits) {
  Json list = Json::array();
  if ((bits & core::kShareRead) != 0) list.push_back("read");
  if ((bits & core::kShareWrite) != 0) list.push_back("write");
  if ((bits & core::kShareDelete) != 0) list.push_back("delete");
  return list;
}

// The most that is cached.
std::string_view kind_of(std::uint32_t lease_bits) {
  if ((lease_bits & core::kWriteCaching) != 0) return "write";
  return (lease_bits & core::kHandleCaching) != 0 ? "handle" : "read";
}

Json view(const core::FileHoldings::Opens& opens) {
  return {{"count", opens.count}, {"access", shares(opens.access)}, {"deny", shares(opens.deny)}};
}

Json view(const core::FileHoldings::Lock& lock) {
  Json json{{"offset", lock.range.offset},
            {"length", lock.range.length},
            {"exclusive", lock.exclusive},
            {"mandatory", lock.mandatory}};
  if (lock.range.length == core::LockRange::kToEnd) json["length"] = nullptr;
  return json;
}

Json view(const core::FileHoldings::Lease& lease) {
  return {{"kind", kind_of(lease.bits)}, {"recalled", lease.recalled}};
}

template <class T>
Json list_view(const core::FileHoldings::List<T>& list, const Clients& clients) {
  Json rows = Json::array();
  for (const T& one : list.first) {
    rows.push_back(view(one));
    rows.back()["client"] = clients.view(one.holder);
  }
  return {{"total", list.total}, {"list", std::move(rows)}};
}

}  // namespace

Json held_view(Service& service, core::FileId file) {
  const core::FileHoldings held = service.volume.state().held_of(file, kMost);
  std::vector<ClientStatus> all;
  if (held.opens.total + held.locks.total + held.leases.total + held.waits.total != 0) all = service.clients();
  const Clients clients(all);
  return {{"opens", list_view(held.opens, clients)},
          {"locks", list_view(held.locks, clients)},
          {"leases", list_view(held.leases, clients)},
          {"waiting", list_view(held.waits, clients)}};
}

}  // namespace stoa::admin
