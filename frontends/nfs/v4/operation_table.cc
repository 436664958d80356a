#include "frontends/nfs/v4/operation_table.h"

#include <array>

#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/operations_state.h"

namespace stoa::nfs4 {
namespace {

// SEQUENCE is the loop's own.
Nfs4Status op_sequence_place(Compound&) {
  return Nfs4Status::kServerFault;
}

constexpr Place kInSession = Place::kInSession;
constexpr bool kTwice = true;  // may be run twice
constexpr bool kOnce = false;
constexpr bool kMoves = true;
template <std::uint8_t kCount>
constexpr Arguments kBytes{kCount, Arguments::Tail::kNone};
template <std::uint8_t kBefore>
constexpr Arguments kOpaque{kBefore, Arguments::Tail::kOpaque};
template <std::uint8_t kBefore>
constexpr Arguments kWords{kBefore, Arguments::Tail::kWords};
constexpr Arguments kHandle{0, Arguments::Tail::kHandle};

// Numbers: RFC 7530 16, RFC 8881 18, RFC 7862 15, RFC 8276 8.4. A null function: kNotSupp, as 8881 18 and 7862 15 allow
// it for OPTIONAL operations, and 7530 16.7 for DELEGPURGE without CLAIM_DELEGATE_PREV.
constexpr std::array kOperations{
    OperationEntry{3, "access", 0, 2, op_access, kInSession, {kBytes<4>, kTwice, Cost::kNone, Pays::kLooks}},
    OperationEntry{4, "close", 0, 2, op_close, kInSession, {kBytes<20>, kTwice, Cost::kMemory, Pays::kGivesBack}},
    OperationEntry{5, "commit", 0, 2, op_commit, kInSession, {kBytes<12>, kTwice, Cost::kSync, Pays::kLooks}},
    OperationEntry{6, "create", 0, 2, op_create},
    OperationEntry{7, "delegpurge", 0, 2, nullptr},
    OperationEntry{
        8, "delegreturn", 0, 2, op_delegreturn, kInSession, {kBytes<16>, kOnce, Cost::kMemory, Pays::kGivesBack}},
    OperationEntry{9, "getattr", 0, 2, op_getattr, kInSession, {kWords<0>, kTwice, Cost::kNone, Pays::kLooks}},
    OperationEntry{10, "getfh", 0, 2, op_getfh, kInSession, {kBytes<0>, kTwice, Cost::kNone, Pays::kNothing}},
    OperationEntry{11, "link", 0, 2, op_link},
    OperationEntry{12, "lock", 0, 2, op_lock, kInSession, {{}, kOnce, Cost::kMemory, Pays::kUnforeseen}},
    OperationEntry{13, "lockt", 0, 2, op_lockt, kInSession, {{}, kOnce, Cost::kMemory, Pays::kUnforeseen}},
    OperationEntry{14, "locku", 0, 2, op_locku, kInSession, {kBytes<40>, kTwice, Cost::kMemory, Pays::kGivesBack}},
    OperationEntry{15, "lookup", 0, 2, op_lookup, kInSession, {kOpaque<0>, kTwice, Cost::kNone, Pays::kLooks, kMoves}},
    OperationEntry{16, "lookupp", 0, 2, op_lookupp, kInSession, {kBytes<0>, kTwice, Cost::kNone, Pays::kLooks, kMoves}},
    OperationEntry{17, "nverify", 0, 2, op_nverify},
    OperationEntry{18, "open", 0, 2, op_open, kInSession, {{}, kOnce, Cost::kOpen, Pays::kUnforeseen}},
    OperationEntry{19, "openattr", 0, 2, nullptr},
    OperationEntry{20, "open_confirm", 0, 2, op_open_confirm, Place::kMinor0},
    OperationEntry{
        21, "open_downgrade", 0, 2, op_open_downgrade, kInSession, {{}, kOnce, Cost::kMemory, Pays::kUnforeseen}},
    OperationEntry{22, "putfh", 0, 2, op_putfh, kInSession, {kHandle, kTwice, Cost::kNone, Pays::kNothing, kMoves}},
    OperationEntry{
        23, "putpubfh", 0, 2, op_putpubfh, kInSession, {kBytes<0>, kTwice, Cost::kNone, Pays::kNothing, kMoves}},
    OperationEntry{
        24, "putrootfh", 0, 2, op_putrootfh, kInSession, {kBytes<0>, kTwice, Cost::kNone, Pays::kNothing, kMoves}},
    OperationEntry{25, "read", 0, 2, op_read, kInSession, {kBytes<28>, kTwice, Cost::kRead, Pays::kRead}},
    OperationEntry{26, "readdir", 0, 2, op_readdir, kInSession, {kWords<24>, kTwice, Cost::kData, Pays::kUnforeseen}},
    OperationEntry{27, "readlink", 0, 2, op_readlink, kInSession, {kBytes<0>, kTwice, Cost::kData, Pays::kLooks}},
    OperationEntry{28, "remove", 0, 2, op_remove},
    OperationEntry{29, "rename", 0, 2, op_rename},
    OperationEntry{30, "renew", 0, 2, op_renew, Place::kMinor0, {kBytes<8>, kTwice, Cost::kMemory, Pays::kNothing}},
    OperationEntry{
        31, "restorefh", 0, 2, op_restorefh, kInSession, {kBytes<0>, kTwice, Cost::kNone, Pays::kNothing, kMoves}},
    OperationEntry{32, "savefh", 0, 2, op_savefh, kInSession, {kBytes<0>, kTwice, Cost::kNone, Pays::kNothing}},
    OperationEntry{33, "secinfo", 0, 2, op_secinfo, kInSession, {kOpaque<0>, kTwice, Cost::kChange, Pays::kUnforeseen}},
    OperationEntry{34, "setattr", 0, 2, op_setattr},
    OperationEntry{35, "setclientid", 0, 2, op_setclientid, Place::kMinor0},
    OperationEntry{36, "setclientid_confirm", 0, 2, op_setclientid_confirm, Place::kMinor0},
    OperationEntry{37, "verify", 0, 2, op_verify},
    OperationEntry{38, "write", 0, 2, op_write, kInSession, {kOpaque<28>, kTwice, Cost::kWrite, Pays::kWrite}},
    OperationEntry{39, "release_lockowner", 0, 2, op_release_lockowner, Place::kMinor0},
    OperationEntry{40, "backchannel_ctl", 1, 2, op_backchannel_ctl},
    OperationEntry{41, "bind_conn_to_session", 1, 2, op_bind_conn_to_session, Place::kAlone},
    OperationEntry{42, "exchange_id", 1, 2, op_exchange_id, Place::kAlone},
    OperationEntry{43, "create_session", 1, 2, op_create_session, Place::kAlone},
    OperationEntry{44, "destroy_session", 1, 2, op_destroy_session, Place::kAlone},
    OperationEntry{
        45, "free_stateid", 1, 2, op_free_stateid, kInSession, {{}, kOnce, Cost::kMemory, Pays::kUnforeseen}},
    OperationEntry{46, "get_dir_delegation", 1, 2, nullptr},
    OperationEntry{47, "getdeviceinfo", 1, 2, nullptr},
    OperationEntry{48, "getdevicelist", 1, 2, nullptr},
    OperationEntry{49, "layoutcommit", 1, 2, nullptr},
    OperationEntry{50, "layoutget", 1, 2, nullptr},
    OperationEntry{51, "layoutreturn", 1, 2, nullptr},
    OperationEntry{52, "secinfo_no_name", 1, 2, op_secinfo_no_name},
    OperationEntry{
        53, "sequence", 1, 2, op_sequence_place, Place::kFirst, {kBytes<32>, kOnce, Cost::kNone, Pays::kNothing}},
    OperationEntry{54, "set_ssv", 1, 2, nullptr},
    OperationEntry{
        55, "test_stateid", 1, 2, op_test_stateid, kInSession, {{}, kOnce, Cost::kMemory, Pays::kUnforeseen}},
    OperationEntry{56, "want_delegation", 1, 2, op_want_delegation},
    OperationEntry{57, "destroy_clientid", 1, 2, op_destroy_clientid, Place::kAlone},
    OperationEntry{58, "reclaim_complete", 1, 2, op_reclaim_complete},
    OperationEntry{59, "allocate", 2, 2, op_allocate},
    OperationEntry{60, "copy", 2, 2, op_copy, kInSession, {{}, kOnce, Cost::kData, Pays::kUnforeseen}},
    OperationEntry{61, "copy_notify", 2, 2, nullptr},
    OperationEntry{62, "deallocate", 2, 2, op_deallocate},
    OperationEntry{63, "io_advise", 2, 2, op_io_advise},
    OperationEntry{64, "layouterror", 2, 2, nullptr},
    OperationEntry{65, "layoutstats", 2, 2, nullptr},
    OperationEntry{66, "offload_cancel", 2, 2, op_offload_cancel},
    OperationEntry{67, "offload_status", 2, 2, op_offload_status},
    OperationEntry{68, "read_plus", 2, 2, op_read_plus, kInSession, {kBytes<28>, kOnce, Cost::kData, Pays::kRead}},
    OperationEntry{69, "seek", 2, 2, op_seek, kInSession, {{}, kOnce, Cost::kData, Pays::kUnforeseen}},
    OperationEntry{70, "write_same", 2, 2, nullptr},
    OperationEntry{71, "clone", 2, 2, op_clone},
    OperationEntry{72, "getxattr", 2, 2, op_getxattr},
    OperationEntry{73, "setxattr", 2, 2, op_setxattr},
    OperationEntry{74, "listxattrs", 2, 2, op_listxattrs},
    OperationEntry{75, "removexattr", 2, 2, op_removexattr},
};
constexpr std::uint32_t kFirst = kOperations.front().number;
static_assert([] {
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    if (kOperations[i].number != kFirst + i) return false;
    // Operations that are looked through must have a known layout.
    const Foreseen& foreseen = kOperations[i].foreseen;
    const bool known = foreseen.arguments.tail != Arguments::Tail::kUnknown;
    if (!known && (foreseen.idempotent || foreseen.cost == Cost::kNone || foreseen.pays != Pays::kUnforeseen))
      return false;
  }
  return true;
}());

constexpr Foreseen kIllegal{};

}  // namespace

const Foreseen& foresee(std::uint32_t number) {
  if (number < kFirst || number >= kFirst + kOperations.size()) return kIllegal;
  return kOperations[number - kFirst].foreseen;
}

const OperationEntry* find_operation(std::uint32_t number, std::uint32_t minor) {
  if (number < kFirst || number >= kFirst + kOperations.size()) return nullptr;
  const OperationEntry& entry = kOperations[number - kFirst];
  return minor >= entry.minor_low && minor <= entry.minor_high ? &entry : nullptr;
}

}  // namespace stoa::nfs4
