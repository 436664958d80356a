#include "tests/model/driver.h"

#include <cstdio>

namespace stoa::model {
namespace {

constexpr std::size_t kTail = 60;
constexpr std::size_t kInodesWanted = 220;
constexpr std::size_t kItemsWanted = 60;

}  // namespace

std::string text(FileId id) {
  return "#" + std::to_string(static_cast<std::uint64_t>(id));
}

std::string in_quotes(std::string_view bytes) {
  std::string out = "'";
  for (const char c : bytes.substr(0, 80)) {
    if (c >= ' ' && c < 127) {
      out += c;
    } else {
      char hex[5];
      std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned char>(c));
      out += hex;
    }
  }
  out += "'";
  if (bytes.size() > 80) out += "(" + std::to_string(bytes.size()) + " bytes)";
  return out;
}

std::string text(const Verdict& verdict) {
  if (verdict.ok()) return "success";
  std::string out;
  for (const Errc error : verdict.errors) out += (out.empty() ? "" : " or ") + std::string(to_string(error));
  return out;
}

template <class Reply>
bool Driver::same_outcome(const Verdict& verdict, const Result<Reply>& reply) {
  if (verdict.ok() && !reply) return differ("must succeed, but: " + stoa::describe(reply.error()));
  if (!verdict.ok() && reply) return differ("succeeded, but must fail with " + text(verdict));
  if (!verdict.ok() && !verdict.allows(reply.error().code)) {
    return differ("fails with " + stoa::describe(reply.error()) + ", right is " + text(verdict));
  }
  return settle_bins();
}

#define INSTANTIATE(Reply) template bool Driver::same_outcome(const Verdict&, const Result<Reply>&);
INSTANTIATE(core::LookupReply)
INSTANTIATE(core::CreateReply)
INSTANTIATE(core::RemoveReply)
INSTANTIATE(core::RenameReply)
INSTANTIATE(core::ReaddirReply)
INSTANTIATE(core::SetattrReply)
INSTANTIATE(core::ReadlinkReply)
INSTANTIATE(core::ReadReply)
INSTANTIATE(core::WriteReply)
INSTANTIATE(core::CommitReply)
INSTANTIATE(core::RangeReply)
INSTANTIATE(core::CopyRangeReply)
INSTANTIATE(core::XattrChangeReply)
INSTANTIATE(core::GetXattrReply)
INSTANTIATE(core::PutKeyReply)
INSTANTIATE(core::RemoveKeyReply)
INSTANTIATE(core::LookupKeyReply)
INSTANTIATE(core::UsageReply)
INSTANTIATE(core::AccessReply)
INSTANTIATE(core::RestoreReply)
INSTANTIATE(core::PurgeReply)
INSTANTIATE(core::RecycleStatusReply)
INSTANTIATE(core::ListRecycledReply)
INSTANTIATE(core::OpenId)
INSTANTIATE(core::PathOfReply)
INSTANTIATE(void)

core::OpContext Driver::context() {
  core::OpContext ctx;
  ctx.durability = random_.percent(5) ? core::Durability::kDurable : core::Durability::kApplied;
  return ctx;
}

void Driver::describe(std::string text) {
  if (options_.trace) std::fprintf(stderr, "%s\n", text.c_str());
  tail_.push_back(std::move(text));
  if (tail_.size() > kTail) tail_.pop_front();
}

bool Driver::differ(std::string what) {
  if (!failure_) failure_ = std::move(what);
  return false;
}

core::VolumeOptions Driver::volume_options() {
  return {.cached_inodes_max = 100, .lazy_attributes_ms = 1000, .scrub_bytes_per_second = 0, .background = false};
}

bool Driver::start() {
  if (auto opened = engine_.open(volume_options()); !opened) return differ("open: " + stoa::describe(opened.error()));
  for (const FileId id : {core::kRootId, core::kMultipartId}) {
    ever_.insert(id);
    const auto reply = ns().getattr(context(), {id});
    if (!reply) return differ("getattr of " + text(id) + ": " + stoa::describe(reply.error()));
    seen_[id] = reply->attr;
    twin_.at(id).mode = reply->attr.mode;
  }
  return true;
}

bool Driver::verify_before(const core::BeforeAttributes& before, FileId id) {
  const auto it = seen_.find(id);
  if (it == seen_.end()) return true;
  const core::Attributes& old = it->second;
  if (before.size != old.size || before.mtime != old.mtime || before.ctime != old.ctime ||
      before.change != old.change) {
    return differ("attributes before the operation of " + text(id) + " are not what getattr said before");
  }
  return true;
}

bool Driver::verify_reply(const core::Attributes& attr, FileId id) {
  const auto now = ns().getattr(context(), {id});
  if (!now) return differ("getattr of " + text(id) + ": " + stoa::describe(now.error()));
  const core::Attributes& a = now->attr;
  if (attr.id != a.id || attr.generation != a.generation || attr.type != a.type || attr.mode != a.mode ||
      attr.links != a.links || attr.uid != a.uid || attr.gid != a.gid || attr.size != a.size || attr.mtime != a.mtime ||
      attr.ctime != a.ctime || attr.btime != a.btime || attr.change != a.change ||
      attr.data_version != a.data_version) {
    return differ("attributes in the reply for " + text(id) + " are not those of getattr: links " +
                  std::to_string(attr.links) + "/" + std::to_string(a.links) + " size " + std::to_string(attr.size) +
                  "/" + std::to_string(a.size) + " change " + std::to_string(attr.change) + "/" +
                  std::to_string(a.change));
  }
  return true;
}

bool Driver::verify(FileId id, Touch touch) {
  const auto reply = ns().getattr(context(), {id});
  if (!twin_.exists(id)) {
    if (reply || reply.error().code != Errc::kStale) return differ(text(id) + " is gone, but getattr finds it");
    return true;
  }
  if (!reply) return differ("getattr of " + text(id) + ": " + stoa::describe(reply.error()));
  const core::Attributes& now = reply->attr;
  const TwinInode& inode = twin_.at(id);
  if (inode.is_bin) touch = Touch::kMaybe;
  const std::string who = "attributes of " + text(id) + ": ";
  if (now.id != id || now.type != inode.type) return differ(who + "id or type");
  if (now.mode != inode.mode) {
    return differ(who + "mode " + std::to_string(now.mode) + ", right is " + std::to_string(inode.mode));
  }
  if (now.uid != inode.uid || now.gid != inode.gid) return differ(who + "owner");
  if (now.device != inode.device) return differ(who + "device");
  if (!inode.is_directory() && now.size != inode.size()) {
    return differ(who + "size " + std::to_string(now.size) + ", right is " + std::to_string(inode.size()));
  }
  std::size_t links = inode.links.size();
  if (inode.is_directory()) {
    links = 2;
    for (const auto& [stored, child] : inode.names) links += stored.ends_with('/') ? 1 : 0;
  }
  if (now.links != links) {
    return differ(who + "links " + std::to_string(now.links) + ", right is " + std::to_string(links));
  }
  const auto before = seen_.find(id);
  if (before != seen_.end()) {
    const core::Attributes& old = before->second;
    if (now.generation != old.generation || now.btime != old.btime)
      return differ(who + "generation or birth time changed");
    // A file that was being written in place may have been so until the end: its versions jump at the next start.
    const bool jumped = reopened_ && now.change > old.change && now.ctime == old.ctime && now.mtime == old.mtime;
    if (jumped) {
      seen_[id] = now;
      return true;
    }
    const bool changed = now.change != old.change;
    if (now.change < old.change || now.ctime < old.ctime) return differ(who + "change or ctime went back");
    if (changed != (now.ctime != old.ctime)) {
      return differ(who + "change and ctime do not go together: change " + std::to_string(old.change) + " -> " +
                    std::to_string(now.change) + ", ctime " + std::to_string(old.ctime.ns) + " -> " +
                    std::to_string(now.ctime.ns));
    }
    if (changed && touch == Touch::kNone) return differ(who + "changed, although nothing happened to it");
    if (!changed && (touch == Touch::kAttributes || touch == Touch::kContent))
      return differ(who + "change stands still");
    const bool content = now.data_version != old.data_version;
    if (now.data_version < old.data_version) return differ(who + "data_version went back");
    if (inode.type == FileType::kRegular && content != (touch == Touch::kContent) && touch != Touch::kMaybe) {
      return differ(who + (content ? "data_version changed without a change of content" : "data_version stands still"));
    }
    if (touch == Touch::kContent && now.mtime == old.mtime) return differ(who + "mtime stands still");
    if (touch == Touch::kNone && now.mtime != old.mtime) return differ(who + "mtime changed");
  }
  seen_[id] = now;
  return true;
}

bool Driver::verify_touched(const Verdict& verdict) {
  if (verdict.ok()) {
    for (const auto& [id, touch] : verdict.touched) {
      if (!verify(id, touch)) return false;
    }
  }
  for (const FileId id : {any_inode(), any_inode()}) {
    const auto it = verdict.ok() ? verdict.touched.find(id) : verdict.touched.end();
    if (it == verdict.touched.end() && !verify(id, Touch::kNone)) return false;
  }
  return true;
}

bool Driver::learn(FileId placeholder, FileId real) {
  if (!ever_.insert(real).second) return differ("id " + text(real) + " was given out before");
  twin_.adopt(placeholder, real);
  return true;
}

bool Driver::learn_new_directories() {
  for (bool found = true; found;) {
    found = false;
    for (const auto& [id, inode] : twin_.inodes) {
      const bool placeholder = static_cast<std::uint64_t>(id) > 1ull << 63 && inode.is_directory();
      if (!placeholder || static_cast<std::uint64_t>(inode.parent) > 1ull << 63) continue;
      const TwinInode& parent = twin_.at(inode.parent);
      for (const auto& [stored, child] : parent.names) {
        if (child != id) continue;
        const auto reply = ns().lookup(context(), {inode.parent, twin_.shown(parent, stored)});
        if (!reply)
          return differ("look-up of the implied directory " + in_quotes(stored) + ": " + stoa::describe(reply.error()));
        twin_.at(id).mode = reply->attr.mode;
        twin_.at(id).uid = reply->attr.uid;
        twin_.at(id).gid = reply->attr.gid;
        if (!learn(id, reply->attr.id)) return false;
        found = true;
        break;
      }
      if (found) break;
    }
  }
  return true;
}

bool Driver::after_create(const Verdict& verdict, const Result<core::CreateReply>& reply, FileId parent) {
  if (!same_outcome(verdict, reply)) return false;
  if (!verdict.ok()) return verify_touched(verdict);
  if (reply->created != verdict.created) return differ("`created` is wrong");
  if (!verify_before(reply->parent_before, parent)) return false;
  if (verdict.subject == Twin::kPlaceholder) {
    if (!learn(Twin::kPlaceholder, reply->attr.id)) return false;
    if (!verify(reply->attr.id, Touch::kNone)) return false;
  } else if (reply->attr.id != verdict.subject) {
    return differ("gives " + text(reply->attr.id) + ", right is " + text(verdict.subject));
  }
  return verify_reply(reply->attr, reply->attr.id) && verify_reply(reply->parent, parent) && verify_touched(verdict);
}

bool Driver::step(std::uint64_t operation_seed) {
  random_ = Random(operation_seed);
  struct Choice {
    unsigned weight;
    bool (Driver::*perform)();
  };
  static constexpr Choice kChoices[] = {
      {10, &Driver::do_create},       {4, &Driver::do_open},         {8, &Driver::do_mkdir},
      {3, &Driver::do_symlink},       {2, &Driver::do_mknod},        {5, &Driver::do_link},
      {8, &Driver::do_unlink},        {5, &Driver::do_rmdir},        {14, &Driver::do_rename},
      {4, &Driver::do_hold},          {2, &Driver::do_close},        {3, &Driver::do_lookup},
      {6, &Driver::do_readdir},       {1, &Driver::do_access},       {1, &Driver::do_readlink},
      {6, &Driver::do_setattr},       {6, &Driver::do_truncate},     {16, &Driver::do_write},
      {6, &Driver::do_read},          {4, &Driver::do_punch},        {3, &Driver::do_allocate},
      {3, &Driver::do_seek},          {5, &Driver::do_copy_range},   {2, &Driver::do_commit},
      {3, &Driver::do_set_xattr},     {1, &Driver::do_remove_xattr}, {1, &Driver::do_get_xattr},
      {10, &Driver::do_put_key},      {5, &Driver::do_remove_key},   {4, &Driver::do_list_keys},
      {3, &Driver::do_lookup_key},    {1, &Driver::do_set_meta},     {3, &Driver::do_concatenate},
      {2, &Driver::do_set_quota},     {2, &Driver::do_usage},        {1, &Driver::do_path},
      {1, &Driver::do_statfs},        {1, &Driver::do_background},   {2, &Driver::do_set_policy},
      {1, &Driver::do_export},        {1, &Driver::do_remove_tree},  {5, &Driver::do_restore},
      {1, &Driver::do_purge},         {1, &Driver::do_age},          {1, &Driver::do_recycle_status},
      {1, &Driver::do_list_recycled},
  };
  unsigned total = 0;
  for (const Choice& choice : kChoices) total += choice.weight;
  if (twin_.items.size() > kItemsWanted && random_.percent(10)) return do_purge();
  if (twin_.inodes.size() > kInodesWanted && random_.percent(60)) {
    return random_.percent(60) ? do_unlink() : random_.percent(50) ? do_rmdir() : do_remove_key();
  }
  std::uint64_t at = random_.below(total);
  for (const Choice& choice : kChoices) {
    if (at < choice.weight) return (this->*choice.perform)();
    at -= choice.weight;
  }
  return true;
}

}  // namespace stoa::model
