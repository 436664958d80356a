#include "core/api/qos_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace stoa::core {
namespace {

QosEntry entry_of(const QosTarget& target, std::uint32_t weight = 1) {
  return {{.target = target, .limits = {.weight = weight}}, std::make_shared<qos::QosClass>()};
}

Network network_of(std::string_view text) {
  return *Network::parse(text);
}

// The expected content of a table, in the plainest form.
using Twin = std::map<QosTarget, std::pair<QosRule, qos::QosClass*>>;

void expect_same(const QosTable& table, const Twin& twin) {
  ASSERT_EQ(table.size(), twin.size());
  const std::vector<const QosEntry*> entries = table.entries();
  ASSERT_EQ(entries.size(), twin.size());
  auto at = entries.begin();
  for (const auto& [target, wanted] : twin) {
    EXPECT_EQ((*at)->rule, wanted.first);
    EXPECT_EQ((*at)->qos_class.get(), wanted.second);
    EXPECT_EQ(table.find(target), *at++);
  }
  EXPECT_EQ(table.has_directories(),
            std::ranges::any_of(twin, [](const auto& one) { return one.first.kind == QosKind::kDirectory; }));
  EXPECT_EQ(table.governs_requests(),
            std::ranges::any_of(twin, [](const auto& one) { return one.first.kind != QosKind::kBackground; }));
}

// The QoS classes that a request of this caller pays, from the rules and not from the indexes.
std::vector<qos::QosClass*> path_of(const Twin& twin, const QosCaller& caller, std::span<const FileId> directories) {
  std::vector<qos::QosClass*> path;
  const auto add = [&](const QosTarget& target) {
    if (const auto it = twin.find(target); it != twin.end()) path.push_back(it->second.second);
  };
  if (!directories.empty() && directories.front() == kRootId) add(QosTarget::directory(kRootId));
  add(QosTarget::protocol(caller.protocol));
  add(QosTarget::of_export(caller.through));
  std::map<unsigned, qos::QosClass*> networks;  // by length: a client is in one of each at the most
  for (auto it = twin.lower_bound({.kind = QosKind::kClients}); it != twin.end() && it->first.kind == QosKind::kClients;
       ++it) {
    if (it->first.network.contains(caller.address)) networks.emplace(it->first.network.prefix_bits, it->second.second);
  }
  for (const auto& [bits, qos_class] : networks) path.push_back(qos_class);
  for (const FileId dir : directories) {
    if (dir != kRootId) add(QosTarget::directory(dir));
  }
  std::vector<std::uint32_t> gids(caller.cred->groups);
  gids.push_back(caller.cred->gid);
  std::ranges::sort(gids);
  gids.erase(std::ranges::unique(gids).begin(), gids.end());
  for (const std::uint32_t gid : gids) add(QosTarget::group(gid));
  add(QosTarget::user(caller.cred->uid));
  return path;
}

TEST(QosTableTest, AnEmptyTableGovernsNobody) {
  const QosTable table;
  expect_same(table, {});
  std::vector<qos::QosClass*> path{nullptr};
  const FileId above[] = {kRootId, FileId{5}};
  const Credentials cred{};
  table.find_path({.cred = &cred}, above, path);
  EXPECT_TRUE(path.empty());
  EXPECT_EQ(table.without(QosTarget::user(1)).size(), 0u);
}

TEST(QosTableTest, KindsWithTheSameNumberAreApart) {
  const QosTarget targets[] = {QosTarget::protocol(Protocol{1}), QosTarget::of_export(ExportId{1}),
                               QosTarget::directory(FileId{1}), QosTarget::group(1), QosTarget::user(1)};
  QosTable table;
  Twin twin;
  for (const QosTarget& target : targets) {
    EXPECT_EQ(table.find(target), nullptr);
    const QosEntry entry = entry_of(target);
    table = table.with(entry);
    twin[target] = {entry.rule, entry.qos_class.get()};
    expect_same(table, twin);
  }
  for (const QosTarget& target : targets) {
    table = table.without(target);
    twin.erase(target);
    expect_same(table, twin);
  }
}

TEST(QosTableTest, BackgroundWorkAloneGovernsNoRequest) {
  const QosTable table = QosTable().with(entry_of(QosTarget::background()));
  EXPECT_EQ(table.size(), 1u);
  EXPECT_FALSE(table.governs_requests());
  EXPECT_TRUE(table.with(entry_of(QosTarget::user(1))).governs_requests());
}

TEST(QosTableTest, NetworksOfOneAddressAreToldApartByTheirLengthAndPaidFromTheWideToTheNarrow) {
  QosTable table;
  Twin twin;
  for (const char* text : {"10.0.0.0/24", "10.0.0.0/8", "10.0.0.0/32", "*", "::/120", "11.0.0.0/8", "fe80::/10"}) {
    const QosEntry entry = entry_of(QosTarget::clients(network_of(text)));
    table = table.with(entry);
    twin[entry.rule.target] = {entry.rule, entry.qos_class.get()};
  }
  const Credentials cred{};
  const auto expect_path = [&](const char* from, std::size_t paid) {
    const QosCaller caller{.protocol = Protocol::kNfs, .address = network_of(from).address, .cred = &cred};
    std::vector<qos::QosClass*> path;
    table.find_path(caller, {}, path);
    EXPECT_EQ(path, path_of(twin, caller, {})) << from;
    EXPECT_EQ(path.size(), paid) << from;
  };
  expect_path("10.0.0.0", 4);
  expect_path("10.0.0.1", 3);
  expect_path("10.0.1.1", 2);
  expect_path("::1", 2);
  expect_path("192.168.0.1", 1);
  const QosTarget widest = QosTarget::clients(network_of("*"));
  table = table.without(widest);
  twin.erase(widest);
  expect_path("10.0.0.0", 3);
  expect_path("192.168.0.1", 0);
}

TEST(QosTableTest, TheVersionOfItsDirectoriesIsNewWhenOneOfThemHasAnotherQosClass) {
  QosTable table;
  EXPECT_EQ(table.directories_version(), 0u);
  std::vector<std::uint64_t> seen{0};
  const auto expect_new = [&](const QosTable& next) {
    EXPECT_FALSE(std::ranges::count(seen, next.directories_version()) != 0);
    seen.push_back(next.directories_version());
    table = next;
  };
  const QosTarget target = QosTarget::directory(FileId{7});
  const QosEntry entry = entry_of(target);
  expect_new(table.with(entry));
  expect_new(table.with(entry_of(QosTarget::directory(kRootId))));
  expect_new(table.without(target));
  expect_new(table.with(entry));
  expect_new(table.with(entry_of(target)));
  expect_new(QosTable({entry_of(target)}));
  expect_new(table.without(target));
  expect_new(table.with(entry));

  QosEntry other_limits = entry;
  other_limits.rule.limits.weight = 9;
  EXPECT_EQ(table.with(other_limits).directories_version(), seen.back()) << "the same QoS class";
  EXPECT_EQ(table.with(other_limits).find(target)->rule.limits.weight, 9u);
  EXPECT_EQ(table.without(QosTarget::directory(FileId{8})).directories_version(), seen.back()) << "it had none";
  EXPECT_EQ(table.with(entry_of(QosTarget::user(7))).directories_version(), seen.back());
  EXPECT_EQ(table.with(entry_of(QosTarget::user(7))).without(QosTarget::user(7)).directories_version(), seen.back());
  EXPECT_FALSE(table.has_owners());
  EXPECT_TRUE(table.with(entry_of(QosTarget::user(7))).has_owners());
  EXPECT_TRUE(table.with(entry_of(QosTarget::group(7))).has_owners());
}

// Every kind, in few and in many shards' sizes, made at once and one by one, changed and removed; and snapshots of
// before stay.
TEST(QosTableTest, ManyRandomChangesGiveWhatAMapGivesAndOldTablesStayAsTheyWere) {
  std::mt19937_64 random(20261122);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const auto any_target = [&]() -> QosTarget {
    switch (below(8)) {
      case 0:
        return QosTarget::protocol(Protocol{static_cast<std::uint8_t>(below(5))});
      case 1:
        return QosTarget::of_export(ExportId{static_cast<std::uint32_t>(below(200))});
      case 2: {
        Network network{.prefix_bits = static_cast<std::uint8_t>(96 + 8 * below(5))};
        network.address[10] = network.address[11] = 0xff;
        for (unsigned byte = 12; byte < network.prefix_bits / 8u; ++byte)
          network.address[byte] = static_cast<std::uint8_t>(below(4));
        return QosTarget::clients(network);
      }
      case 3:
        return QosTarget::group(static_cast<std::uint32_t>(below(500)));
      case 4:
        return QosTarget::user(static_cast<std::uint32_t>(below(500)));
      case 5:
        return QosTarget::background();
      case 6:
        return QosTarget::directory(FileId{below(20)});
      default:
        return QosTarget::directory(FileId{below(4000) << (below(2) * 40)});
    }
  };

  Twin twin;
  std::vector<QosEntry> first;
  std::vector<std::shared_ptr<qos::QosClass>> alive;  // so that no address comes twice
  for (int i = 0; i < 3000; ++i) {
    QosEntry entry = entry_of(any_target());
    if (!twin.emplace(entry.rule.target, std::pair{entry.rule, entry.qos_class.get()}).second) continue;
    alive.push_back(entry.qos_class);
    first.push_back(std::move(entry));
  }
  QosTable table(std::move(first));
  std::vector<std::pair<QosTable, Twin>> before;
  for (int step = 0; step < 12'000; ++step) {
    if (step % 1500 == 0) before.emplace_back(table, twin);
    const QosTarget target = any_target();
    // At first it grows, at last it shrinks.
    if (below(12'000) >= static_cast<std::uint64_t>(step)) {
      const QosEntry entry = entry_of(target, static_cast<std::uint32_t>(step + 1));
      alive.push_back(entry.qos_class);
      table = table.with(entry);
      twin[target] = {entry.rule, entry.qos_class.get()};
    } else {
      table = table.without(target);
      twin.erase(target);
    }
    EXPECT_EQ(table.find(target) != nullptr, twin.contains(target));
    ASSERT_EQ(table.size(), twin.size());

    std::vector<FileId> above{kRootId};
    for (std::uint64_t i = below(4); i > 0; --i) above.push_back(FileId{2 + below(i % 2 == 0 ? 20 : 4000)});
    const Credentials cred{.uid = static_cast<std::uint32_t>(below(500)),
                           .gid = static_cast<std::uint32_t>(below(500)),
                           .groups = {7, 3, 7}};
    QosCaller caller{.protocol = Protocol{static_cast<std::uint8_t>(below(5))},
                     .through = ExportId{static_cast<std::uint32_t>(below(200))},
                     .cred = &cred};
    caller.address = any_target().network.address;
    std::vector<qos::QosClass*> path;
    table.find_path(caller, above, path);
    ASSERT_EQ(path, path_of(twin, caller, above)) << step;
    std::vector<qos::QosClass*> found;
    table.find_directories(above, found);
    table.compose_path(caller, found, path);
    ASSERT_EQ(path, path_of(twin, caller, above)) << step << ": in two steps";
  }
  before.emplace_back(table, twin);
  for (const auto& [old, wanted] : before) expect_same(old, wanted);
  for (const auto& [target, wanted] : Twin(twin)) {
    table = table.without(target);
    twin.erase(target);
  }
  expect_same(table, {});
}

}  // namespace
}  // namespace stoa::core
