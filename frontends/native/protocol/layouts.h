// The layouts of the native protocol as structs, made from operations.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace stoa::native {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using Text = std::string_view;  // of who encodes it, or of the message that it was decoded from
enum class File : std::uint64_t {};

// In place of a file id: the file of an earlier operation of the same message (what it looked up, opened or made). No
// file has an id as large as these.
inline constexpr std::uint64_t kResultBase = 0xffff'ffff'ffff'0000;
constexpr File result_of(std::size_t operation) {
  return File{kResultBase + operation};
}
constexpr bool is_result(File file) {
  return static_cast<std::uint64_t>(file) >= kResultBase;
}
constexpr std::size_t operation_of(File result) {
  return static_cast<std::uint64_t>(result) - kResultBase;
}

#define STOA_FIELD(type, name) type name{};
#define STOA_LAYOUT(name, ...)                                  \
  struct name {                                                 \
    __VA_ARGS__                                                 \
    friend bool operator==(const name&, const name&) = default; \
  };
#include "frontends/native/protocol/operations.def"
#undef STOA_FIELD

// Calls `visit` with each field, in the order of the wire.
#define STOA_FIELD(type, name) visit(layout.name);
#define STOA_LAYOUT(name, ...)                                                                      \
  template <class Layout, class Visit>                                                              \
    requires std::is_same_v<std::remove_const_t<Layout>, name>                                      \
  constexpr void each_field([[maybe_unused]] Layout& layout, [[maybe_unused]] const Visit& visit) { \
    __VA_ARGS__                                                                                     \
  }
#include "frontends/native/protocol/operations.def"
#undef STOA_FIELD

enum class OperationKind : std::uint8_t { kReads, kState, kChanges };

namespace operations {

#define STOA_NATIVE_OPERATION(code, name, kind, arguments, reply)  \
  struct name {                                                    \
    using Arguments = native::arguments;                           \
    using Reply = native::reply;                                   \
    static constexpr U16 kCode = code;                             \
    static constexpr OperationKind kKind = OperationKind::k##kind; \
    static constexpr std::string_view kName = #name;               \
  };
#include "frontends/native/protocol/operations.def"

}  // namespace operations

// Of Settings::which.
enum SettingBits : std::uint32_t {
  kSetMode = 0x1,
  kSetUmask = 0x2,
  kSetUid = 0x4,
  kSetGid = 0x8,
  kSetSize = 0x10,
  kSetAtime = 0x20,
  kSetAtimeNow = 0x40,
  kSetMtime = 0x80,
  kSetMtimeNow = 0x100,
  kSetBtime = 0x200,
  kSetDos = 0x400,
};
inline constexpr std::uint32_t kSettingsKnown = 0x7ff;

// Of Attributes::type and DirectoryEntry::type.
enum FileKind : std::uint32_t {
  kRegularFile = 1,
  kDirectory = 2,
  kSymlink = 3,
  kBlockDevice = 4,
  kCharDevice = 5,
  kSocket = 6,
  kFifo = 7,
};
// Of OpenArgs::disposition.
// Attributes::flags.
enum AttributeFlags : std::uint32_t { kHasAccessList = 1 };

enum OpenHow : std::uint32_t {
  kOpenExisting = 0,
  kOpenCreate = 1,
  kOpenOrCreate = 2,
  kOpenTruncate = 3,
  kOpenTruncateOrCreate = 4,
  kOpenExclusive = 5,  // a new file, or the one that was made with this verifier
  kOpenNameless = 6,   // a new file in a directory, without a name; it goes with its last close unless it is linked
};
// Of OpenArgs::access and deny.
enum OpenAccess : std::uint32_t { kOpenRead = 1, kOpenWrite = 2 };
// Of CreateArgs::mode and CreateFilledArgs::mode.
enum CreateHow : std::uint32_t { kCreateUnchecked = 0, kCreateGuarded = 1, kCreateExclusive = 2 };
// Of SetXattrArgs::mode.
enum XattrHow : std::uint32_t { kXattrSet = 0, kXattrCreate = 1, kXattrReplace = 2 };
// Of AccessArgs::wanted and AccessReply::granted.
enum AccessWish : std::uint32_t {
  kMayRead = 0x01,
  kMayLookup = 0x02,
  kMayModify = 0x04,
  kMayExtend = 0x08,
  kMayDelete = 0x10,
  kMayExecute = 0x20,
  kMayReadXattrs = 0x40,
  kMayWriteXattrs = 0x80,
  kMayListXattrs = 0x100,
};
// Of LockArgs::length: to the end of all offsets.
inline constexpr std::uint64_t kLockToEnd = ~std::uint64_t{0};

}  // namespace stoa::native
