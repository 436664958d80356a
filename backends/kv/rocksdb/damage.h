// The way around what cannot be read in the files of a database.
#pragma once

#include <rocksdb/db.h>

#include <optional>
#include <string>

namespace stoa::kv {

// The first key behind `from` at which another piece of a file begins or a file ends: what is unreadable at `from` may
// be readable there. Pieces are blocks, by the indexes of the files, which are read instead of them; of a file whose
// index is damaged, and of one that is missing, only the bounds are known. Absent: no file has anything at `from` or
// behind it.
std::optional<std::string> next_piece(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& from);

}  // namespace stoa::kv
