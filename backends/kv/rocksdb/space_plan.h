// The space that the metadata database may need at once on the host file system, and the reserve for that.
//
// While growth is refused, the remaining writes are removals, promised writes (commits of accepted data), and RocksDB's
// own writes for them. In units:
//   2  log files: beyond that RocksDB flushes and drops them
//   2  flushes: what the logs hold, once more, as tables
//   6  one compaction: 4 tables of level 0 of half a unit and all of the level below (4), or one table of half a unit
//      and the ten that it overlaps further below (5.5), written anew before the old ones go
//   2  growth by removals into recycle bins and commits of accepted writes (core/txn/metadata_room.h)
// Removals come faster than compactions, which begin when two of these units are used: changes wait for them
// (reclaim.h). A unit is a 96th of the file system, so the reserve is an eighth of it; from 6 GiB on it is 64 MiB, and
// the reserve 768.
#pragma once

#include <algorithm>
#include <cstdint>

namespace stoa::kv {

struct SpacePlan {
  std::uint64_t unit = kUnitMax;

  static SpacePlan of(std::uint64_t total) { return {std::clamp(total / 96, kUnitMin, kUnitMax)}; }

  std::uint64_t logs() const { return 2 * unit; }
  std::uint64_t zeroed_log() const { return unit / 2; }
  std::uint64_t write_buffer() const { return unit / 2; }
  std::uint64_t level_base() const { return 4 * unit; }
  std::uint64_t table() const { return unit / 2; }
  std::uint64_t journal() const { return 4 * unit; }
  std::uint64_t reserve() const { return 12 * unit; }
  // Of files below level 0, at once; one more with all that it overlaps may come to it.
  std::uint64_t compaction() const { return 4 * unit; }
  // The logs and a flush of all their data: left by compactions, and there before RocksDB is resumed after it had no
  // room.
  std::uint64_t recovery() const { return 4 * unit; }
  // While less is there, changes wait for compactions.
  std::uint64_t scarce() const { return 10 * unit; }
  std::uint64_t unpaid_growth() const { return 2 * unit; }
  // Growth is refused when less is free beside the reserve, and accepted again from twice that on.
  std::uint64_t margin() const { return unit / 2; }

 private:
  static constexpr std::uint64_t kUnitMin = 1u << 20;
  static constexpr std::uint64_t kUnitMax = 64u << 20;
};

}  // namespace stoa::kv
