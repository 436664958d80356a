#include "backends/kv/rocksdb/damage.h"

#include <rocksdb/metadata.h>

#include <algorithm>

namespace stoa::kv {
namespace {

// Whether a piece of a file begins in (from, to]. Uses indexes only.
bool has_border(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& from, const std::string& to) {
  rocksdb::SizeApproximationOptions options;
  options.include_files = true;
  options.include_memtables = false;
  options.files_size_error_margin = -1;  // exact
  const rocksdb::Range range(from, to);
  std::uint64_t size = 0;
  return db.GetApproximateSizes(options, family, &range, 1, &size).ok() && size != 0;
}

// The nearest bound of a file behind `from`.
std::optional<std::string> next_bound(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& from) {
  rocksdb::ColumnFamilyMetaData files;
  db.GetColumnFamilyMetaData(family, &files);
  std::optional<std::string> nearest;
  const auto add = [&](std::string bound) {
    if (bound > from && (!nearest || bound < *nearest)) nearest = std::move(bound);
  };
  for (const rocksdb::LevelMetaData& level : files.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      add(file.smallestkey);
      add(file.largestkey + '\0');
    }
  }
  return nearest;
}

}  // namespace

std::optional<std::string> next_piece(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& from) {
  const auto bound = next_bound(db, family, from);
  if (!bound || !has_border(db, family, from, *bound)) return bound;
  // The shortest string with a border up to it, byte by byte: indexes keep borders as short as they can.
  constexpr std::size_t kKeyBytesMax = 512;
  std::string prefix;
  std::string border = *bound;
  while (prefix.size() < kKeyBytesMax) {
    int low = -1, high = 256;  // a border up to prefix + high, none up to prefix + low
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      const std::string probe = prefix + static_cast<char>(middle);
      const bool before = probe <= from;
      if (before || !(probe >= *bound || has_border(db, family, from, probe))) {
        low = middle;
      } else {
        high = middle;
      }
    }
    if (high < 256) border = std::min(border, prefix + static_cast<char>(high));
    if (low < 0) break;  // nothing lies between prefix and prefix + "\0"
    prefix += static_cast<char>(low);
    const std::string behind = prefix + std::string(16, '\xff');
    if (behind > from && !has_border(db, family, from, behind)) break;  // `border` is final
  }
  // An index that is damaged itself tells a border between any two keys.
  return border.starts_with(from) ? bound : border;
}

}  // namespace stoa::kv
