// What is to be found in any operation, whichever it is.
#pragma once

#include <functional>

#include "frontends/native/protocol/message.h"

namespace stoa::native {

// The record of an operation with each File operand put through `map`.
Bytes map_files(U16 code, std::span<const std::byte> record, const std::function<File(File)>& map);
// The file that the reply of an operation tells of; 0: none. False: the record is not what the protocol says.
bool file_of_reply(U16 code, const RecordView& reply, U64& file);

}  // namespace stoa::native
