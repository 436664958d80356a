#include <algorithm>

#include "frontends/native/server/attributes.h"
#include "frontends/native/server/op/operations.h"

namespace stoa::native {

namespace {

constexpr U32 kEntriesMax = 4096;  // of one reply

}  // namespace

WireStatus op_readdir(OperationRun& run, const ReaddirArgs& in, ReaddirReply& out) {
  STOA_NATIVE_TRY(dir, run.file(in.dir));
  const std::size_t most = std::min<std::size_t>(run.room(), in.bytes_max);
  constexpr std::size_t kEntryBytes = kRecordHeadBytes + fixed_bytes<DirectoryEntry>();
  const std::size_t may = std::min<std::size_t>({in.entries_max, kEntriesMax, most / kEntryBytes});
  if (may == 0) return WireStatus::too_large;
  STOA_NATIVE_TRY(listed, run.ns.readdir(run.ctx, {.dir = dir,
                                                   .cookie = in.cookie,
                                                   .entries_max = static_cast<std::uint32_t>(may),
                                                   .name_bytes_max = static_cast<std::uint32_t>(most),
                                                   .want_attributes = in.want_attributes != 0,
                                                   .root = run.ctx.root}));
  Bytes entries;
  for (const core::DirectoryEntry& entry : listed.entries) {
    const std::size_t before = entries.size();
    append_record(entries, 0,
                  DirectoryEntry{.id = static_cast<U64>(entry.id),
                                 .cookie = entry.cookie,
                                 .type = to_wire(entry.type),
                                 .has_attributes = entry.attr.has_value(),
                                 .attr = entry.attr ? to_wire(*entry.attr) : Attributes{},
                                 .name = entry.name});
    if (entries.size() > most) {
      entries.resize(before);
      break;
    }
    ++out.count;
  }
  if (out.count == 0 && !listed.entries.empty()) return WireStatus::too_large;
  run.text.assign(reinterpret_cast<const char*>(entries.data()), entries.size());
  out.end = listed.end && out.count == listed.entries.size();
  out.dir = to_wire(listed.dir);
  out.entries = run.text;
  return WireStatus::ok;
}

}  // namespace stoa::native
