// Counters, gauges and latency histograms in the Prometheus text format. Updating one takes no lock: each thread adds
// to a cell of its own cache line, and a scrape sums the cells.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoa {

inline constexpr std::size_t kMetricCells = 16;
std::size_t metric_cell();  // this thread's cell, in [0, kMetricCells)

class Counter {
 public:
  void add(std::uint64_t n = 1) { cells_[metric_cell()].value.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const;

 private:
  struct alignas(64) Cell {
    std::atomic<std::uint64_t> value{0};
  };
  std::array<Cell, kMetricCells> cells_;
};

class Gauge {
 public:
  void set(std::int64_t v) { value_.store(v, std::memory_order_relaxed); }
  void add(std::int64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Latency in nanoseconds, in buckets of powers of two from 1 us to about 67 s.
class Histogram {
 public:
  static constexpr std::size_t kBuckets = 28;  // the last one is +Inf
  void observe_ns(std::uint64_t ns);
  struct Snapshot {
    std::array<std::uint64_t, kBuckets> counts{};
    std::uint64_t total = 0;
    std::uint64_t sum_ns = 0;
  };
  Snapshot snapshot() const;

 private:
  struct alignas(64) Cell {
    std::array<std::atomic<std::uint64_t>, kBuckets> counts{};
    std::atomic<std::uint64_t> sum_ns{0};
  };
  std::array<Cell, kMetricCells> cells_;
};

using Labels = std::vector<std::pair<std::string, std::string>>;

// Owns every metric; references stay valid as long as it lives. Asking again for the same name and labels gives the
// same object. Registering takes a lock: do it when a server starts, not on a request.
class MetricRegistry {
 public:
  MetricRegistry() = default;
  // A part of `whole`, for one volume in a process: `whole` has and renders the metrics made here, with `labels`
  // before their own. `whole` outlives it. Counters, gauges and histograms stay; callbacks go with the part.
  MetricRegistry(MetricRegistry& whole, Labels labels);
  ~MetricRegistry();
  MetricRegistry(const MetricRegistry&) = delete;
  MetricRegistry& operator=(const MetricRegistry&) = delete;

  Counter& counter(std::string_view name, std::string_view help, Labels labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, Labels labels = {});
  // Rendered in seconds, as Prometheus wants: name it `*_seconds`.
  Histogram& histogram(std::string_view name, std::string_view help, Labels labels = {});
  // A gauge whose value is read at each scrape. `read` must not block for long; the objects that it reads stay until
  // drop_callbacks() or the end of this registry.
  void gauge_callback(std::string_view name, std::string_view help, Labels labels, std::function<double()> read);
  // Callbacks made here are not called any more once it returns. Not within one.
  void drop_callbacks();

  // For the whole only.
  std::string render() const;
  Histogram::Snapshot histogram_sum(std::string_view name) const;

  // Over all series of a family that carry each of the labels; zero when there is no such family. For a part: its own
  // metrics.
  std::uint64_t counter_sum(std::string_view name, const Labels& with = {}) const;

 private:
  enum class Kind : std::uint8_t { kCounter, kGauge, kHistogram, kCallback };
  struct Series {
    Labels labels;
    Counter* counter = nullptr;
    Gauge* gauge = nullptr;
    Histogram* histogram = nullptr;
    std::function<double()> read;
    const MetricRegistry* part = nullptr;  // of a callback: the part that made it
  };
  struct FamilyOfSeries {
    Kind kind;
    std::string help;
    std::vector<Series> series;
  };
  Series& find_or_add(std::string_view name, std::string_view help, Labels labels, Kind kind);
  Labels labelled(Labels more) const;

  MetricRegistry* const whole_ = nullptr;  // null: it is the whole
  const Labels labels_{};
  mutable std::mutex mutex_;  // guards everything below, not the metrics' values
  std::map<std::string, FamilyOfSeries, std::less<>> families_;
  std::deque<Counter> counters_;
  std::deque<Gauge> gauges_;
  std::deque<Histogram> histograms_;
};

}  // namespace stoa
