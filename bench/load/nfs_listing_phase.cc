#include "bench/load/nfs_call.h"
#include "bench/load/nfs_phases.h"

namespace stoa::bench {
namespace {

// The largest reply that a Linux client asks for.
constexpr std::uint32_t kReplyBytes = 64 << 10;

class ListDirectory final : public Phase {
 public:
  ListDirectory(const Handle& dir, bool plus, std::uint64_t entries) : dir_(dir), plus_(plus), entries_(entries) {}

  void begin(Slot& slot) override {
    slot.cookie = 0;
    slot.bytes = 0;
    std::memset(slot.cookie_verifier, 0, sizeof(slot.cookie_verifier));
    ask(slot);
  }

 private:
  void ask(Slot& slot) {
    if (plus_) {
      READDIRPLUS3args args{};
      args.dir = to_fh(dir_);
      args.cookie = slot.cookie;
      std::memcpy(args.cookieverf, slot.cookie_verifier, sizeof(args.cookieverf));
      args.dircount = kReplyBytes / 4;
      args.maxcount = kReplyBytes;
      queued(slot, rpc_nfs3_readdirplus_async(
                       slot.rpc, nfs_callback<ListDirectory, READDIRPLUS3res, &ListDirectory::got_plus>, &args, &slot));
    } else {
      READDIR3args args{};
      args.dir = to_fh(dir_);
      args.cookie = slot.cookie;
      std::memcpy(args.cookieverf, slot.cookie_verifier, sizeof(args.cookieverf));
      args.count = kReplyBytes;
      queued(slot, rpc_nfs3_readdir_async(slot.rpc, nfs_callback<ListDirectory, READDIR3res, &ListDirectory::got>,
                                          &args, &slot));
    }
  }
  void got(Slot& slot, READDIR3res& res) {
    auto& ok = res.READDIR3res_u.resok;
    page(slot, ok.reply.entries, ok.reply.eof, ok.cookieverf);
  }
  void got_plus(Slot& slot, READDIRPLUS3res& res) {
    auto& ok = res.READDIRPLUS3res_u.resok;
    for (const entryplus3* entry = ok.reply.entries; entry != nullptr; entry = entry->nextentry) {
      if (!entry->name_attributes.attributes_follow) slot.outcome->failed("READDIRPLUS entry without attributes");
    }
    page(slot, ok.reply.entries, ok.reply.eof, ok.cookieverf);
  }
  template <class Entry>
  void page(Slot& slot, const Entry* entry, bool eof, const char* verifier) {
    if (entry == nullptr && !eof) return slot.session->failed(slot, "empty page before the end");
    for (; entry != nullptr; entry = entry->nextentry) {
      slot.cookie = entry->cookie;
      if (entry->name[0] != '.') ++slot.bytes;
    }
    std::memcpy(slot.cookie_verifier, verifier, sizeof(slot.cookie_verifier));
    if (!eof) return ask(slot);
    if (slot.bytes != entries_) {
      return slot.session->failed(slot, "listed " + std::to_string(slot.bytes) + " of " + std::to_string(entries_));
    }
    slot.session->done(slot, 0);
  }
  Handle dir_;
  bool plus_;
  std::uint64_t entries_;
};

}  // namespace

std::unique_ptr<Phase> list_directory(const Handle& dir, bool plus, std::uint64_t entries) {
  return std::make_unique<ListDirectory>(dir, plus, entries);
}

}  // namespace stoa::bench
