#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <thread>
#include <unordered_map>

#include "appliance/cli/session.h"
#include "appliance/config/byte_size.h"

namespace stoa::cli {
namespace {

// A resource: its member in the admin interface, its option, and whether it counts bytes.
struct Resource {
  const char* member;
  const char* option;
  bool bytes;
};
constexpr std::array<Resource, 5> kResources{{{"read_bytes", "read", true},
                                              {"write_bytes", "write", true},
                                              {"read_ops", "read-iops", false},
                                              {"write_ops", "write-iops", false},
                                              {"metadata_ops", "metadata", false}}};

constexpr std::uint64_t kBurstMsMax = 3'600'000;

struct QosOptions {
  std::string target;
  std::array<std::string, kResources.size()> limits{};
  std::array<std::string, kResources.size()> guarantees{};
  std::string burst;
  std::string weight;
  std::uint32_t seconds = 1;
};

Result<std::uint64_t> parse_number(std::string_view text, std::string_view what) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number;
  return fail(Errc::kInvalid, "'" + std::string(text) + "' is not " + std::string(what));
}

// "100MB/s", "500", "500/s" or "none".
Result<Json> parse_rate(std::string_view text, bool bytes) {
  if (text == "none") return Json();
  const std::string_view given = text;
  if (text.ends_with("/s")) text.remove_suffix(2);
  if (bytes) {
    const auto rate = appliance::parse_bytes_with_unit(text, "");
    if (rate) return Json(*rate);
    return fail(Errc::kInvalid,
                "'" + std::string(given) +
                    "' is no rate with a unit; write it as 100MB/s (1000² bytes), 100MiB/s (1024² bytes) or 100B/s");
  }
  STOA_TRY(number, parse_number(text, "a number of operations a second, such as 500"));
  return Json(number);
}

// "2s", "250ms"
Result<Json> parse_burst(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view unit = text.substr(digits);
  const auto number = parse_number(text.substr(0, digits), "");
  if (!number || (unit != "s" && unit != "ms") || *number > kBurstMsMax)
    return fail(Errc::kInvalid, "'" + std::string(text) + "' is not a time such as 2s or 250ms");
  return Json(unit == "s" ? *number * 1000 : *number);
}

std::string rate_text(double rate, bool bytes) {
  if (bytes) return appliance::round_bytes(static_cast<std::uint64_t>(rate)) + "/s";
  return std::to_string(static_cast<std::uint64_t>(rate + 0.5)) + "/s";
}

// In the most natural unit: "100MB/s", "64KiB/s".
std::string exact_rate(std::uint64_t rate, bool bytes) {
  if (!bytes) return std::to_string(rate) + "/s";
  std::string decimal;
  std::uint64_t rest = rate;
  for (const char* unit : {"B", "KB", "MB", "GB", "TB"}) {
    decimal = std::to_string(rest) + unit;
    if (rest % 1000 != 0) break;
    rest /= 1000;
  }
  std::string binary = appliance::exact_bytes(rate);
  if (!binary.ends_with('B')) binary += 'B';
  return (decimal.size() < binary.size() ? decimal : binary) + "/s";
}

std::string limit_text(const Json& limits, const std::string& member, bool bytes) {
  const Json& limit = limits[member];
  const Json& guarantee = limits["guarantee_" + member];
  std::string text = limit.is_null() ? "-" : exact_rate(limit.get<std::uint64_t>(), bytes);
  if (!guarantee.is_null()) text += " (at least " + exact_rate(guarantee.get<std::uint64_t>(), bytes) + ")";
  return text;
}

void print_qos_classes(const std::vector<Json>& qos_classes) {
  Table table({"READ", "WRITE", "READ OPS", "WRITE OPS", "METADATA OPS", "BURST", "WEIGHT", "TARGET"});
  for (const Json& qos_class : qos_classes) {
    const Json& limits = qos_class["limits"];
    std::vector<std::string> row;
    for (const Resource& resource : kResources) row.push_back(limit_text(limits, resource.member, resource.bytes));
    row.push_back(std::to_string(limits["burst_ms"].get<std::uint64_t>()) + " ms");
    row.push_back(std::to_string(limits["weight"].get<std::uint64_t>()));
    row.push_back(printable(bytes_of(qos_class, "target")));
    table.add(std::move(row));
  }
  table.print();
}

Outcome set(const Session& session, const QosOptions& options) {
  Json changes = Json::object();
  for (std::size_t i = 0; i < kResources.size(); ++i) {
    const Resource& resource = kResources[i];
    if (!options.limits[i].empty()) {
      STOA_TRY(rate, parse_rate(options.limits[i], resource.bytes));
      changes[resource.member] = rate;
    }
    if (!options.guarantees[i].empty()) {
      STOA_TRY(rate, parse_rate(options.guarantees[i], resource.bytes));
      changes[std::string("guarantee_") + resource.member] = rate;
    }
  }
  if (!options.burst.empty()) {
    STOA_TRY(burst, parse_burst(options.burst));
    changes["burst_ms"] = burst;
  }
  if (!options.weight.empty()) {
    STOA_TRY(weight, parse_number(options.weight, "a weight from 1 to 10000"));
    changes["weight"] = weight;
  }
  if (changes.empty())
    return fail(Errc::kInvalid, "say what to set: a limit such as --read 100MB/s, a guarantee, --burst or --weight");
  STOA_TRY(client, session.connect());
  const Query query{{"target", options.target}};
  // Options not given keep their values.
  Json body = Json::object();
  auto before = client.get("/v1/qos/class", query);
  if (before) {
    body = (*before)["limits"];
  } else if (before.error().code != Errc::kNotFound) {
    return fail(std::move(before).error());
  }
  body.update(changes);
  STOA_TRY(qos_class, client.put("/v1/qos/class", query, body));
  session.print(qos_class, [&] { print_qos_classes({qos_class}); });
  return kDone;
}

Outcome get(const Session& session, const QosOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(qos_class, client.get("/v1/qos/class", {{"target", options.target}}));
  session.print(qos_class, [&] { print_qos_classes({qos_class}); });
  return kDone;
}

struct QosClass {
  Json json;
  std::int64_t time_ns;  // time of the look
};

// All pages of them.
Result<std::vector<QosClass>> all_qos_classes(AdminClient& client) {
  std::vector<QosClass> all;
  for (Query query;;) {
    STOA_TRY(page, client.get("/v1/qos/classes", query));
    for (Json& qos_class : page["qos_classes"])
      all.push_back({std::move(qos_class), page["time_ns"].get<std::int64_t>()});
    if (!page["truncated"].get<bool>()) return all;
    query["after"] = page["next_after"].get<std::string>();
  }
}

Outcome list(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(all, all_qos_classes(client));
  std::vector<Json> qos_classes;
  for (QosClass& qos_class : all) qos_classes.push_back(std::move(qos_class.json));
  session.print(Json{{"qos_classes", qos_classes}}, [&] { print_qos_classes(qos_classes); });
  return kDone;
}

Outcome remove(const Session& session, const QosOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.remove("/v1/qos/class", {{"target", options.target}}));
  static_cast<void>(reply);
  session.print(Json{{"removed", options.target}},
                [&] { std::printf("The limits of %s are removed.\n", printable(options.target).c_str()); });
  return kDone;
}

Outcome top(const Session& session, const QosOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(before, all_qos_classes(client));
  std::this_thread::sleep_for(std::chrono::seconds(options.seconds));
  STOA_TRY(now, all_qos_classes(client));
  const auto between = [](const QosClass& earlier, const QosClass& later) {
    return static_cast<double>(later.time_ns - earlier.time_ns) / 1e9;
  };
  const double elapsed = between(before.back(), now.back());  // there is always one, that of background work
  struct Row {
    double waiting, bytes, operations;
    Json rates;
    std::string target;
  };
  std::unordered_map<std::string, const QosClass*> earlier_qos_classes;  // by target
  for (const QosClass& qos_class : before) earlier_qos_classes.emplace(bytes_of(qos_class.json, "target"), &qos_class);
  std::vector<Row> rows;
  for (const QosClass& looked : now) {
    const Json& qos_class = looked.json;
    Row row{.waiting = qos_class["use"]["waiting"].get<double>(),
            .rates = Json::object(),
            .target = bytes_of(qos_class, "target")};
    const auto then = earlier_qos_classes.find(row.target);
    const double seconds = then != earlier_qos_classes.end() ? between(*then->second, looked) : elapsed;
    const auto rate = [&](const char* member) {
      const auto count = qos_class["use"][member].get<std::uint64_t>();
      const std::uint64_t earlier =
          then != earlier_qos_classes.end() ? then->second->json["use"][member].get<std::uint64_t>() : 0;
      // A QoS class that was removed and made again begins anew.
      return static_cast<double>(count >= earlier ? count - earlier : count) / seconds;
    };
    for (const Resource& resource : kResources) {
      row.rates[resource.member] = rate(resource.member);
      (resource.bytes ? row.bytes : row.operations) += row.rates[resource.member].get<double>();
    }
    row.rates["parked"] = rate("parked");
    rows.push_back(std::move(row));
  }
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return std::tie(a.bytes, a.operations, a.waiting) > std::tie(b.bytes, b.operations, b.waiting);
  });
  Json all = Json::array();
  for (const Row& row : rows)
    all.push_back({{"target", printable(row.target)}, {"waiting", row.waiting}, {"per_second", row.rates}});
  session.print(Json{{"seconds", elapsed}, {"qos_classes", all}}, [&] {
    Table table({"READ", "WRITE", "READ OPS", "WRITE OPS", "METADATA OPS", "PARKED", "WAITING", "TARGET"});
    for (const Row& row : rows) {
      std::vector<std::string> cells;
      for (const Resource& resource : kResources)
        cells.push_back(rate_text(row.rates[resource.member].get<double>(), resource.bytes));
      cells.push_back(rate_text(row.rates["parked"].get<double>(), false));
      cells.push_back(std::to_string(static_cast<std::uint64_t>(row.waiting)));
      cells.push_back(printable(row.target));
      table.add(std::move(cells));
    }
    table.print();
  });
  return kDone;
}

}  // namespace

void add_qos_commands(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("qos", "Limits, guarantees and shares of throughput");
  group->require_subcommand(1);
  const auto o = std::make_shared<QosOptions>();
  const auto target = [&](CLI::App* command) {
    command
        ->add_option(
            "target", o->target,
            "/a/directory, user:NAME, group:NAME, client:NETWORK, protocol:nfs|s3|native, export:NAME or background")
        ->required();
  };

  CLI::App* command = group->add_subcommand(
      "set", "Limit a directory, user, group, network, protocol, export or background work; what is not named stays");
  target(command);
  static constexpr std::array<const char*, kResources.size()> kWhat{
      "Bytes read a second, with a unit: 100MB/s, 100MiB/s", "Bytes written a second, with a unit",
      "Read operations a second", "Write operations a second", "Operations on names and attributes a second"};
  for (std::size_t i = 0; i < kResources.size(); ++i) {
    command
        ->add_option("--" + std::string(kResources[i].option), o->limits[i], std::string(kWhat[i]) + "; none: no limit")
        ->type_name("RATE");
  }
  for (std::size_t i = 0; i < kResources.size(); ++i) {
    command
        ->add_option("--guarantee-" + std::string(kResources[i].option), o->guarantees[i],
                     "At least so much of the limits above it; none: no guarantee")
        ->type_name("RATE");
  }
  command
      ->add_option("--burst", o->burst,
                   "How much of a limit may be used at once after rest, as a time: 2s, 250ms (default 100ms)")
      ->type_name("TIME");
  command
      ->add_option("--weight", o->weight,
                   "Share among those that wait below the same limit, 1 to 10000 (default 100; background 1)")
      ->type_name("NUMBER");
  command->callback([&session, o] { session.command = [&session, o] { return set(session, *o); }; });

  command = group->add_subcommand("get", "Show the limits of one of them");
  target(command);
  command->callback([&session, o] { session.command = [&session, o] { return get(session, *o); }; });

  command = group->add_subcommand("list", "List all limits");
  command->callback([&session] { session.command = [&session] { return list(session); }; });

  command = group->add_subcommand("remove", "Take the limits away");
  target(command);
  command->callback([&session, o] { session.command = [&session, o] { return remove(session, *o); }; });

  command = group->add_subcommand(
      "top", "Show what goes through background work and everything that has limits, the most first");
  command->add_option("--seconds", o->seconds, "How long to look")->check(CLI::Range(1, 3600))->default_val(1);
  command->callback([&session, o] { session.command = [&session, o] { return top(session, *o); }; });
}

}  // namespace stoa::cli
