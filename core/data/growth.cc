#include "core/data/growth.h"

#include "base/assert.h"

namespace stoa::core {
namespace {

Usage bytes(std::uint64_t count) {
  return {.bytes = static_cast<std::int64_t>(count)};
}

}  // namespace

Status begin_growth(VolumeContext& volume, Node& node, std::uint64_t end) {
  STOA_ASSERT(node.writing != nullptr, "a file that grows is being written");
  Writing& writing = *node.writing;
  STOA_ASSERT((writing.growing == 0) == (writing.promised_end == 0), "room is promised to writes that are under way");
  const std::uint64_t known = std::max(node.record.size, writing.promised_end);
  if (end > known) {
    STOA_CHECK_OK(volume.ledger.reserve(node.charge_target(), bytes(end - known)));
    writing.promised_end = end;
  }
  ++writing.growing;
  return {};
}

void end_growth(VolumeContext& volume, Node& node, std::uint64_t end, bool grown) {
  STOA_ASSERT(node.writing != nullptr, "a file that grows is being written");
  Writing& writing = *node.writing;
  STOA_ASSERT(!grown || end <= std::max(node.record.size, writing.promised_end), "a file grows into what is promised");
  if (grown && end > node.record.size) {
    node.pending = node.pending + bytes(end - node.record.size);
    node.record.size = end;
  }
  STOA_ASSERT(writing.growing > 0, "no more growths end than began");
  if (--writing.growing != 0) return;
  // The record's size was charged, or, of a file that was removed meanwhile, released with it; the rest is ours.
  if (const Usage rest = promised(node); !is_zero(rest)) volume.ledger.give_back(node.charge_target(), rest);
  writing.promised_end = 0;
}

}  // namespace stoa::core
