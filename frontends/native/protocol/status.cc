#include "frontends/native/protocol/status.h"

namespace stoa::native {
namespace {

struct StatusRow {
  WireStatus status;
  Errc errc;
  std::string_view name;
};
constexpr StatusRow kStatusRows[] = {
#define STOA_NATIVE_STATUS(number, name, errc) {WireStatus::name, Errc::errc, #name},
#include "frontends/native/protocol/status.def"
};

}  // namespace

WireStatus to_status(Errc code) {
  for (const StatusRow& row : kStatusRows) {
    if (row.errc == code) return row.status;
  }
  return WireStatus::io;
}

Errc to_errc(WireStatus status) {
  for (const StatusRow& row : kStatusRows) {
    if (row.status == status) return row.errc;
  }
  return Errc::kIo;
}

std::string_view to_string(WireStatus status) {
  if (status == WireStatus::ok) return "ok";
  for (const StatusRow& row : kStatusRows) {
    if (row.status == status) return row.name;
  }
  return "unknown";
}

}  // namespace stoa::native
