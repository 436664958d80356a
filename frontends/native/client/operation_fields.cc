#include "frontends/native/client/operation_fields.h"

namespace stoa::native {
namespace {

template <class Operation>
Bytes map_one(std::span<const std::byte> record, const std::function<File(File)>& map) {
  typename Operation::Arguments arguments;
  (void)read_record(*next_record(record), arguments);
  each_field(arguments, [&]<class Field>(Field& field) {
    if constexpr (std::is_same_v<Field, File>) field = map(field);
  });
  Bytes mapped;
  append_record(mapped, Operation::kCode, arguments);
  return mapped;
}

template <class Operation>
bool read_file(const RecordView& record, U64& file) {
  typename Operation::Reply reply;
  if (!read_record(record, reply)) return false;
  if constexpr (requires { reply.attr.id; }) file = reply.attr.id;
  return true;
}

}  // namespace

Bytes map_files(U16 code, std::span<const std::byte> record, const std::function<File(File)>& map) {
  switch (code) {
#define STOA_NATIVE_OPERATION(number, name, kind, arguments, reply) \
  case number:                                                      \
    return map_one<operations::name>(record, map);
#include "frontends/native/protocol/operations.def"
    default:
      return Bytes(record.begin(), record.end());
  }
}

bool file_of_reply(U16 code, const RecordView& reply, U64& file) {
  file = 0;
  switch (code) {
#define STOA_NATIVE_OPERATION(number, name, kind, arguments, answer) \
  case number:                                                       \
    return read_file<operations::name>(reply, file);
#include "frontends/native/protocol/operations.def"
    default:
      return true;
  }
}

}  // namespace stoa::native
