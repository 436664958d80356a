#include "base/metrics.h"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "base/assert.h"

namespace stoa {
namespace {

void append_labels(std::string& out, const Labels& labels, std::string_view le = {}) {
  if (labels.empty() && le.empty()) return;
  out += '{';
  bool first = true;
  const auto add = [&](std::string_view key, std::string_view value) {
    if (!first) out += ',';
    first = false;
    out.append(key).append("=\"");
    for (const char c : value) {
      if (c == '\\' || c == '"') out += '\\';
      if (c == '\n') {
        out += "\\n";
      } else {
        out += c;
      }
    }
    out += '"';
  };
  for (const auto& [key, value] : labels) add(key, value);
  if (!le.empty()) add("le", le);
  out += '}';
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace

std::size_t metric_cell() {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t cell = next.fetch_add(1, std::memory_order_relaxed) % kMetricCells;
  return cell;
}

std::uint64_t Counter::value() const {
  std::uint64_t sum = 0;
  for (const Cell& cell : cells_) sum += cell.value.load(std::memory_order_relaxed);
  return sum;
}

void Histogram::observe_ns(std::uint64_t ns) {
  // Bucket i holds values up to 2^i microseconds.
  const std::uint64_t us = (ns + 999) / 1000;
  const std::size_t bucket = us <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(us - 1));
  Cell& cell = cells_[metric_cell()];
  cell.counts[bucket < kBuckets ? bucket : kBuckets - 1].fetch_add(1, std::memory_order_relaxed);
  cell.sum_ns.fetch_add(ns, std::memory_order_relaxed);
}

Histogram::Snapshot Histogram::snapshot() const {
  Snapshot all;
  for (const Cell& cell : cells_) {
    for (std::size_t i = 0; i < kBuckets; ++i) {
      const std::uint64_t n = cell.counts[i].load(std::memory_order_relaxed);
      all.counts[i] += n;
      all.total += n;
    }
    all.sum_ns += cell.sum_ns.load(std::memory_order_relaxed);
  }
  return all;
}

MetricRegistry::MetricRegistry(MetricRegistry& whole, Labels labels)
    : whole_(whole.whole_ != nullptr ? whole.whole_ : &whole), labels_(whole.labelled(std::move(labels))) {}

MetricRegistry::~MetricRegistry() {
  drop_callbacks();
}

Labels MetricRegistry::labelled(Labels more) const {
  more.insert(more.begin(), labels_.begin(), labels_.end());
  return more;
}

MetricRegistry::Series& MetricRegistry::find_or_add(std::string_view name, std::string_view help, Labels labels,
                                                    Kind kind) {
  auto it = families_.find(name);
  if (it == families_.end()) {
    it = families_.emplace(std::string(name), FamilyOfSeries{kind, std::string(help), {}}).first;
  }
  STOA_ASSERT(it->second.kind == kind);
  for (Series& series : it->second.series) {
    if (series.labels == labels) return series;
  }
  it->second.series.push_back(Series{.labels = std::move(labels)});
  return it->second.series.back();
}

Counter& MetricRegistry::counter(std::string_view name, std::string_view help, Labels labels) {
  if (whole_ != nullptr) return whole_->counter(name, help, labelled(std::move(labels)));
  const std::lock_guard lock(mutex_);
  Series& series = find_or_add(name, help, std::move(labels), Kind::kCounter);
  if (series.counter == nullptr) series.counter = &counters_.emplace_back();
  return *series.counter;
}

Gauge& MetricRegistry::gauge(std::string_view name, std::string_view help, Labels labels) {
  if (whole_ != nullptr) return whole_->gauge(name, help, labelled(std::move(labels)));
  const std::lock_guard lock(mutex_);
  Series& series = find_or_add(name, help, std::move(labels), Kind::kGauge);
  if (series.gauge == nullptr) series.gauge = &gauges_.emplace_back();
  return *series.gauge;
}

Histogram& MetricRegistry::histogram(std::string_view name, std::string_view help, Labels labels) {
  if (whole_ != nullptr) return whole_->histogram(name, help, labelled(std::move(labels)));
  const std::lock_guard lock(mutex_);
  Series& series = find_or_add(name, help, std::move(labels), Kind::kHistogram);
  if (series.histogram == nullptr) series.histogram = &histograms_.emplace_back();
  return *series.histogram;
}

void MetricRegistry::gauge_callback(std::string_view name, std::string_view help, Labels labels,
                                    std::function<double()> read) {
  MetricRegistry& all = whole_ != nullptr ? *whole_ : *this;
  const std::lock_guard lock(all.mutex_);
  Series& series = all.find_or_add(name, help, labelled(std::move(labels)), Kind::kCallback);
  series.read = std::move(read);
  series.part = this;
}

void MetricRegistry::drop_callbacks() {
  MetricRegistry& all = whole_ != nullptr ? *whole_ : *this;
  const std::lock_guard lock(all.mutex_);
  for (auto& [name, family] : all.families_)
    std::erase_if(family.series, [this](const Series& series) { return series.part == this; });
  std::erase_if(all.families_, [](const auto& family) { return family.second.series.empty(); });
}

std::uint64_t MetricRegistry::counter_sum(std::string_view name, const Labels& with) const {
  if (whole_ != nullptr) return whole_->counter_sum(name, labelled(with));
  const std::lock_guard lock(mutex_);
  const auto family = families_.find(name);
  if (family == families_.end() || family->second.kind != Kind::kCounter) return 0;
  std::uint64_t sum = 0;
  for (const Series& series : family->second.series) {
    const auto carried = [&](const auto& label) {
      return std::ranges::find(series.labels, label) != series.labels.end();
    };
    if (std::ranges::all_of(with, carried)) sum += series.counter->value();
  }
  return sum;
}

Histogram::Snapshot MetricRegistry::histogram_sum(std::string_view name) const {
  STOA_ASSERT(whole_ == nullptr);
  const std::lock_guard lock(mutex_);
  Histogram::Snapshot sum;
  const auto family = families_.find(name);
  if (family == families_.end() || family->second.kind != Kind::kHistogram) return sum;
  for (const Series& series : family->second.series) {
    const Histogram::Snapshot one = series.histogram->snapshot();
    for (std::size_t i = 0; i < Histogram::kBuckets; ++i) sum.counts[i] += one.counts[i];
    sum.total += one.total;
    sum.sum_ns += one.sum_ns;
  }
  return sum;
}

std::string MetricRegistry::render() const {
  STOA_ASSERT(whole_ == nullptr);
  const std::lock_guard lock(mutex_);
  std::string out;
  for (const auto& [name, family] : families_) {
    out.append("# HELP ").append(name).append(" ").append(family.help).append("\n# TYPE ").append(name);
    out += family.kind == Kind::kCounter ? " counter\n" : family.kind == Kind::kHistogram ? " histogram\n" : " gauge\n";
    for (const Series& series : family.series) {
      if (family.kind == Kind::kHistogram) {
        const Histogram::Snapshot snap = series.histogram->snapshot();
        std::uint64_t cumulative = 0;
        for (std::size_t i = 0; i < Histogram::kBuckets; ++i) {
          cumulative += snap.counts[i];
          const bool last = i + 1 == Histogram::kBuckets;
          out.append(name).append("_bucket");
          append_labels(out, series.labels, last ? "+Inf" : number(static_cast<double>(1ULL << i) / 1e6));
          out.append(" ").append(std::to_string(cumulative)).append("\n");
        }
        out.append(name).append("_sum");
        append_labels(out, series.labels);
        out.append(" ")
            .append(number(static_cast<double>(snap.sum_ns) / 1e9))
            .append("\n")
            .append(name)
            .append("_count");
        append_labels(out, series.labels);
        out.append(" ").append(std::to_string(snap.total)).append("\n");
        continue;
      }
      out += name;
      append_labels(out, series.labels);
      out += ' ';
      if (family.kind == Kind::kCounter) out += std::to_string(series.counter->value());
      if (family.kind == Kind::kGauge) out += std::to_string(series.gauge->value());
      if (family.kind == Kind::kCallback) out += number(series.read());
      out += '\n';
    }
  }
  return out;
}

}  // namespace stoa
