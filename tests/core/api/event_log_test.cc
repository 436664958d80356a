#include "core/api/event_log.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace stoa::core {
namespace {

TEST(EventLogTest, WhatCameAfterACursorIsGivenInOrder) {
  MetricRegistry metrics;
  EventLog log(metrics);
  const std::uint64_t before = log.newest();
  log.add(Severity::kWarning, EventKind::kOwnersCounted, "/p");
  log.add(Severity::kCritical, EventKind::kSpaceLow, "", {"90", "7"});
  auto events = log.after(0);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_GT(events[0].sequence, before);
  EXPECT_EQ(events[0].path, "/p");
  EXPECT_EQ(events[1].facts, (std::vector<std::string>{"90", "7"}));
  EXPECT_EQ(events[1].severity, Severity::kCritical);
  EXPECT_EQ(log.newest(), events[1].sequence);
  events = log.after(events[0].sequence);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, EventKind::kSpaceLow);
  EXPECT_TRUE(log.after(log.newest()).empty());
  EXPECT_NE(metrics.render().find("stoa_events_total{severity=\"critical\"} 1"), std::string::npos);
}

TEST(EventLogTest, EachKindHasAWordAndFactsOfItsOwn) {
  std::set<std::string_view> words;
  for (std::size_t number = 0; number < event_kind_count(); ++number) {
    const auto kind = static_cast<EventKind>(number);
    EXPECT_TRUE(words.insert(to_string(kind)).second) << to_string(kind);
    std::set<std::string_view> names;
    for (const std::string_view name : fact_names(kind)) EXPECT_TRUE(names.insert(name).second) << to_string(kind);
  }
  EXPECT_EQ(fact_names(EventKind::kOwnersCounted).size(), 0u);
  EXPECT_EQ(fact_names(EventKind::kSpaceLow), (std::vector<std::string_view>{"percent", "free_bytes"}));
}

TEST(EventLogTest, ALaterRunContinuesTheNumbersAndAFutureCursorSeesAll) {
  MetricRegistry metrics;
  EventLog earlier(metrics);
  earlier.add(Severity::kInfo, EventKind::kOwnersCounted, "");
  EventLog log(metrics);
  EXPECT_GE(log.newest() + 1, earlier.newest());
  log.add(Severity::kInfo, EventKind::kOwnersCounted, "");
  EXPECT_EQ(log.after(log.newest() + 1'000'000'000).size(), 1u);
}

TEST(EventLogTest, TheNewestAreKept) {
  MetricRegistry metrics;
  EventLog log(metrics);
  for (std::size_t i = 0; i < EventLog::kEventsMax + 10; ++i)
    log.add(Severity::kInfo, EventKind::kDamage, "", {std::to_string(i), "1"});
  const auto events = log.after(0);
  ASSERT_EQ(events.size(), EventLog::kEventsMax);
  EXPECT_EQ(events.front().facts[0], "10");
  EXPECT_EQ(events.back().facts[0], std::to_string(EventLog::kEventsMax + 9));
}

TEST(EventLogTest, WritersAndReadersMayBeMany) {
  MetricRegistry metrics;
  EventLog log(metrics);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    std::uint64_t seen = log.newest();
    while (!stop.load()) {
      for (const Event& event : log.after(seen)) {
        EXPECT_GT(event.sequence, seen);
        seen = event.sequence;
      }
    }
  });
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&] {
      for (int n = 0; n < 500; ++n) log.add(Severity::kInfo, EventKind::kOwnersCounted, "/x");
    });
  }
  for (auto& writer : writers) writer.join();
  stop.store(true);
  reader.join();
  EXPECT_EQ(log.after(0).size(), EventLog::kEventsMax);
}

}  // namespace
}  // namespace stoa::core
