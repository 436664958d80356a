// Skipping of unreadable parts in the files of a database.
#pragma once

#include <rocksdb/db.h>

#include <optional>
#include <string>

namespace stoa::kv {

// The first key behind `from` at which another piece of a file begins or a file ends: from there on the data may be
// readable. Pieces are blocks, found by the indexes of the files. Of a file that is missing or has a damaged index
// only the bounds are known. Absent: no file has anything at `from` or behind it.
std::optional<std::string> next_piece(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& from);

}  // namespace stoa::kv
