#include "tests/model/driver.h"

namespace stoa::model {

bool Driver::do_create() {
  const FileId parent = any_directory();
  const std::string name = random_.percent(30) ? name_in(parent) : new_name();
  core::CreateRequest request{.parent = parent, .name = name, .set = any_attributes()};
  request.mode = static_cast<core::CreateMode>(random_.below(3));
  request.verifier = random_.next();
  if (request.mode == core::CreateMode::kExclusive) {
    request.set = {};
  } else if (random_.percent(30)) {
    request.set.size = 0;
  }
  describe("create " + in_quotes(name) + " in " + text(parent) + " mode " +
           std::to_string(static_cast<int>(request.mode)) + (request.set.size ? " size 0" : ""));
  const core::OpContext ctx = context();
  const Verdict verdict = twin_.create(request, ctx.cred);
  const auto reply = ns().create(ctx, request);
  if (reply && reply->created && request.mode == core::CreateMode::kExclusive && twin_.exists(Twin::kPlaceholder)) {
    twin_.at(Twin::kPlaceholder).mode = reply->attr.mode;  // The contract leaves the mode open until SETATTR.
  }
  if (!after_create(verdict, reply, parent)) return false;
  if (!reply || !reply->created || request.mode != core::CreateMode::kExclusive) return true;
  // A client that did not see the reply asks again, and must be told of the same file.
  return after_create(twin_.create(request, ctx.cred), ns().create(ctx, request), parent);
}

bool Driver::do_open() {
  const FileId parent = any_directory();
  const std::string name = random_.percent(60) ? name_in(parent) : new_name();
  core::OpenRequest request{.parent = parent, .name = name, .set = any_attributes()};
  request.disposition = static_cast<core::OpenDisposition>(random_.below(5));
  request.access = random_.percent(50) ? core::kShareRead : core::kShareBoth;
  describe("open " + in_quotes(name) + " in " + text(parent) + " disposition " +
           std::to_string(static_cast<int>(request.disposition)));
  core::OpContext ctx = context();
  core::StateTable& state = engine_.volume().state();
  ctx.holder = state.add_holder(core::Protocol::kSmb, nullptr);
  FileId found = core::kNoFile;
  (void)twin_.lookup(parent, name, ctx.cred, &found);
  // What opening a device or a symlink means, the front ends decide.
  if (found != core::kNoFile && !twin_.at(found).is_directory() && twin_.at(found).type != FileType::kRegular)
    return true;
  const Verdict verdict = twin_.open(request, ctx.cred);
  const auto opened = ns().open(ctx, request);
  if (state.holds_state(ctx.holder) != opened.has_value()) return differ("an open that failed holds something");
  state.remove_holder(ctx.holder);
  if (!opened) return after_create(verdict, fail(opened.error()), parent);
  return after_create(verdict, core::CreateReply{opened->created, opened->attr, opened->parent_before, opened->parent},
                      parent);
}

bool Driver::do_mkdir() {
  const FileId parent = any_directory();
  const std::string name = new_name();
  describe("mkdir " + in_quotes(name) + " in " + text(parent));
  const core::OpContext ctx = context();
  const core::MkdirRequest request{.parent = parent, .name = name, .set = any_attributes()};
  TwinInode fresh;
  fresh.type = FileType::kDirectory;
  fresh.mode = *request.set.mode;
  const Verdict verdict = twin_.make(parent, name, fresh, ctx.cred);
  return after_create(verdict, ns().mkdir(ctx, request), parent);
}

bool Driver::do_symlink() {
  const FileId parent = any_directory();
  const std::string name = new_name();
  const std::string target = random_.percent(5) ? random_.bytes(4090 + random_.below(10)) : "../" + new_name();
  describe("symlink " + in_quotes(name) + " in " + text(parent) + " to " + in_quotes(target));
  const core::OpContext ctx = context();
  const core::SymlinkRequest request{.parent = parent, .name = name, .target = target};
  TwinInode fresh;
  fresh.type = FileType::kSymlink;
  fresh.mode = 0777;
  fresh.target = target;
  Verdict verdict;
  if (target.size() > core::kSymlinkBytesMax || target.find('\0') != std::string::npos) {
    Twin copy = twin_;
    verdict = copy.make(parent, name, fresh, ctx.cred);
    verdict.errors.insert(verdict.errors.end(), {Errc::kNameTooLong, Errc::kTooLarge, Errc::kInvalid});
  } else {
    verdict = twin_.make(parent, name, fresh, ctx.cred);
  }
  return after_create(verdict, ns().symlink(ctx, request), parent);
}

bool Driver::do_mknod() {
  static constexpr FileType kTypes[] = {FileType::kFifo, FileType::kSocket, FileType::kCharDevice,
                                        FileType::kBlockDevice};
  const FileId parent = any_directory();
  const std::string name = new_name();
  const FileType type = random_.pick(kTypes);
  describe("mknod " + in_quotes(name) + " in " + text(parent));
  const core::OpContext ctx = context();
  core::MknodRequest request{.parent = parent, .name = name, .type = type, .set = any_attributes()};
  if (type == FileType::kCharDevice || type == FileType::kBlockDevice) {
    request.device = {static_cast<std::uint32_t>(random_.below(300)), static_cast<std::uint32_t>(random_.below(300))};
  }
  TwinInode fresh;
  fresh.type = type;
  fresh.mode = *request.set.mode;
  fresh.device = request.device;
  const Verdict verdict = twin_.make(parent, name, fresh, ctx.cred);
  return after_create(verdict, ns().mknod(ctx, request), parent);
}

bool Driver::do_link() {
  const FileId id = any_inode();
  const FileId parent = any_directory();
  const std::string name = new_name();
  describe("link " + text(id) + " as " + in_quotes(name) + " in " + text(parent));
  const core::OpContext ctx = context();
  const core::LinkRequest request{.id = id, .parent = parent, .name = name};
  const Verdict verdict = twin_.link(request, ctx.cred);
  return after_create(verdict, ns().link(ctx, request), parent);
}

bool Driver::do_unlink() {
  const FileId parent = any_directory();
  const std::string name = name_in(parent);
  describe("unlink " + in_quotes(name) + " in " + text(parent));
  const core::OpContext ctx = context();
  const Verdict verdict = twin_.unlink(parent, name, ctx.cred);
  const auto reply = ns().unlink(ctx, {parent, name});
  if (!same_outcome(verdict, reply)) return false;
  if (!verdict.ok()) return verify_touched(verdict);
  if (reply->removed != verdict.subject) return differ("removed " + text(reply->removed));
  if (!twin_.exists(verdict.subject)) gone_.push_back(verdict.subject);
  return verify_before(reply->parent_before, parent) && verify_reply(reply->parent, parent) &&
         verify_touched(verdict) && verify(verdict.subject, Touch::kNone) && compare_usage(parent);
}

bool Driver::do_rmdir() {
  const FileId parent = any_directory();
  const std::string name = name_in(parent);
  describe("rmdir " + in_quotes(name) + " in " + text(parent));
  const core::OpContext ctx = context();
  const Verdict verdict = twin_.rmdir(parent, name, ctx.cred);
  const auto reply = ns().rmdir(ctx, {parent, name});
  if (!same_outcome(verdict, reply)) return false;
  if (!verdict.ok()) return verify_touched(verdict);
  if (reply->removed != verdict.subject) return differ("removed " + text(reply->removed));
  if (!twin_.exists(verdict.subject)) {
    gone_.push_back(verdict.subject);
    directories_.erase(verdict.subject);
  }
  return verify_before(reply->parent_before, parent) && verify_reply(reply->parent, parent) &&
         verify_touched(verdict) && verify(verdict.subject, Touch::kNone);
}

bool Driver::do_rename() {
  const FileId from = any_directory();
  const FileId to = random_.percent(40) ? from : any_directory();
  const std::string from_name = name_in(from);
  const std::string to_name_there = name_in(to);
  const std::string to_name = random_.percent(50) ? to_name_there : new_name();
  core::RenameRequest request{from, from_name, to, to_name, random_.percent(10)};
  if (random_.percent(20)) {
    request.no_replace = false;
    request.exchange = true;
    request.to_name = to_name_there;
  }
  describe("rename " + in_quotes(from_name) + " in " + text(from) + " to " + in_quotes(std::string(request.to_name)) +
           " in " + text(to) +
           (request.no_replace ? " no_replace"
            : request.exchange ? " exchange"
                               : ""));
  const core::OpContext ctx = context();
  FileId victim = core::kNoFile;
  (void)twin_.lookup(to, request.to_name, ctx.cred, &victim);
  const Verdict verdict = request.exchange ? twin_.exchange(request, ctx.cred) : twin_.rename(request, ctx.cred);
  const auto reply = ns().rename(ctx, request);
  if (!same_outcome(verdict, reply)) return false;
  if (!verdict.ok()) return verify_touched(verdict);
  if (reply->moved != verdict.subject) return differ("moved " + text(reply->moved));
  if (victim != core::kNoFile && !twin_.exists(victim)) gone_.push_back(victim);
  return verify_before(reply->from_before, from) && verify_before(reply->to_before, to) &&
         verify_reply(reply->from, from) && verify_reply(reply->to, to) && verify_touched(verdict) &&
         compare_usage(from) && compare_usage(to);
}

bool Driver::do_hold() {
  const FileId id = any_file();
  if (held_.contains(id) || (twin_.exists(id) && twin_.at(id).type != FileType::kRegular)) return true;
  describe("hold " + text(id) + " open");
  auto& state = engine_.volume().state();
  const auto opened =
      state.open({id, state.add_holder(core::Protocol::kNfs, nullptr), core::kShareBoth, core::kShareNone});
  const Verdict verdict = twin_.exists(id) ? Verdict{} : Verdict{.errors = {Errc::kStale}};
  if (!same_outcome(verdict, opened)) return false;
  if (!opened) return true;
  held_[id] = *opened;
  twin_.at(id).open = true;
  return verify(id, Touch::kNone);
}

bool Driver::close_held(FileId id) {
  describe("close " + text(id));
  engine_.volume().state().close(held_.extract(id).mapped());
  const FileId charged_in = twin_.at(id).charged_in;
  twin_.close(id);
  if (!twin_.exists(id)) gone_.push_back(id);
  return verify(id, Touch::kNone) && compare_usage(charged_in);
}

bool Driver::do_close() {
  if (held_.empty()) return true;
  auto it = held_.begin();
  std::advance(it, random_.below(held_.size()));
  return close_held(it->first);
}

bool Driver::do_lookup() {
  const FileId parent = any_directory();
  const std::string name = random_.percent(10) ? "." : random_.percent(10) ? ".." : name_in(parent);
  describe("lookup " + in_quotes(name) + " in " + text(parent));
  const core::OpContext ctx = context();
  FileId found = core::kNoFile;
  const Verdict verdict = twin_.lookup(parent, name, ctx.cred, &found);
  const auto reply = ns().lookup(ctx, {parent, name});
  if (!same_outcome(verdict, reply)) return false;
  if (!reply) return true;
  if (reply->attr.id != found) return differ("finds " + text(reply->attr.id) + ", right is " + text(found));
  return verify_reply(reply->attr, found) && verify_reply(reply->parent, parent) && verify(found, Touch::kNone);
}

bool Driver::do_access() {
  const FileId id = any_inode();
  core::OpContext ctx = context();
  ctx.cred = {.uid = 1000, .gid = 100};
  describe("access " + text(id));
  const auto reply = ns().access(ctx, {id, 0x3f});
  if (!twin_.exists(id)) return same_outcome(Verdict{.errors = {Errc::kStale}}, reply);
  if (!same_outcome(Verdict{}, reply)) return false;
  if (twin_.at(id).type == FileType::kSymlink) return true;  // The mode of a symlink means nothing.
  const bool read = (reply->granted & core::kAccessRead) != 0;
  const bool modify = (reply->granted & core::kAccessModify) != 0;
  if (read == denied(ctx.cred, twin_.at(id), 4)) return differ("access: read");
  if (reply->read_only != twin_.recycled(id)) return differ("access: read_only");
  if (modify == (reply->read_only || denied(ctx.cred, twin_.at(id), 2))) return differ("access: modify");
  return true;
}

bool Driver::do_readlink() {
  const FileId id = any_inode();
  describe("readlink " + text(id));
  const auto reply = ns().readlink(context(), {id});
  if (!twin_.exists(id)) return same_outcome(Verdict{.errors = {Errc::kStale}}, reply);
  if (twin_.at(id).type != FileType::kSymlink) {
    return same_outcome(Verdict{.errors = {Errc::kWrongType, Errc::kInvalid, Errc::kIsDirectory}}, reply);
  }
  if (!same_outcome(Verdict{}, reply)) return false;
  return reply->target == twin_.at(id).target || differ("readlink: " + in_quotes(reply->target));
}

bool Driver::do_readdir() {
  const FileId id = any_directory();
  describe("readdir " + text(id));
  if (!twin_.exists(id) || !twin_.at(id).is_directory()) {
    const Errc right = twin_.exists(id) ? Errc::kNotDirectory : Errc::kStale;
    return same_outcome(Verdict{.errors = {right}}, ns().readdir(context(), {.dir = id}));
  }
  if (random_.percent(10)) {
    const auto it = directories_.find(id);
    const std::uint64_t never = (it == directories_.end() ? 0 : it->second.highest) + (1ull << 40);
    const auto reply = ns().readdir(context(), {.dir = id, .cookie = never});
    return same_outcome(Verdict{.errors = {Errc::kBadCookie}}, reply);
  }
  return compare_directory(id);
}

}  // namespace stoa::model
