#include "tests/model/driver.h"

namespace stoa::model {

bool Driver::do_setattr() {
  const FileId id = any_inode();
  core::SetattrRequest request{.id = id, .set = {}};
  core::OpContext ctx = context();
  if (random_.percent(40)) request.set.mode = any_attributes().mode;
  if (random_.percent(15)) request.set.uid = random_.percent(50) ? 0 : 1000;
  if (random_.percent(15)) request.set.gid = random_.percent(50) ? 0 : 100;
  if (random_.percent(30))
    request.set.mtime =
        core::SetTime{random_.percent(30), Timestamp{static_cast<std::int64_t>(random_.below(1ull << 60))}};
  if (random_.percent(20))
    request.set.atime =
        core::SetTime{random_.percent(30), Timestamp{static_cast<std::int64_t>(random_.below(1ull << 60))}};
  bool guard_fails = false;
  if (random_.percent(15) && seen_.contains(id)) {
    guard_fails = random_.percent(50);
    request.guard_ctime = guard_fails ? Timestamp{12345} : seen_[id].ctime;
  }
  if (random_.percent(10)) ctx.cred = {.uid = 1000, .gid = 100};
  const core::SetAttributes& set = request.set;
  const bool nothing = !set.mode && !set.uid && !set.gid && !set.mtime && !set.atime;
  describe("setattr " + text(id) + (set.mode ? " mode" : "") + (set.uid ? " uid" : "") + (set.gid ? " gid" : "") +
           (set.mtime ? " mtime" : "") + (set.atime ? " atime" : "") + (request.guard_ctime ? " guard" : "") +
           " by uid " + std::to_string(ctx.cred.uid));
  Verdict verdict;
  if (guard_fails && twin_.exists(id)) {
    Twin copy = twin_;
    verdict = copy.setattr(request, ctx.cred);
    verdict.errors.push_back(Errc::kGuardMismatch);
  } else {
    verdict = twin_.setattr(request, ctx.cred);
  }
  if (nothing && verdict.ok()) verdict.touched[id] = Touch::kMaybe;
  const auto reply = ns().setattr(ctx, request);
  if (!same_outcome(verdict, reply)) return false;
  if (!reply) return verify_touched(verdict);
  if (!verify_before(reply->before, id) || !verify_reply(reply->attr, id)) return false;
  if (set.mtime && !set.mtime->server_time && reply->attr.mtime != set.mtime->time) return differ("mtime was not set");
  if (set.atime && !set.atime->server_time && reply->attr.atime != set.atime->time) return differ("atime was not set");
  return verify_touched(verdict);
}

bool Driver::do_truncate() {
  const FileId id = any_file();
  std::uint64_t size = any_offset();
  if (random_.percent(20)) size = 0;
  if (random_.percent(2)) size = core::kFileBytesMax + 1;
  describe("truncate " + text(id) + " to " + std::to_string(size));
  const core::OpContext ctx = context();
  const core::SetattrRequest request{.id = id, .set = {.size = size}};
  const Verdict verdict = twin_.setattr(request, ctx.cred);
  const auto reply = ns().setattr(ctx, request);
  if (!same_outcome(verdict, reply)) return false;
  if (reply && (!verify_before(reply->before, id) || !verify_reply(reply->attr, id))) return false;
  if (!verify_touched(verdict)) return false;
  return !twin_.exists(id) || twin_.at(id).type != FileType::kRegular ||
         compare_range(id, size > 20'000 ? size - 20'000 : 0, 40'000, random_.percent(50));
}

bool Driver::do_write() {
  const FileId id = any_file();
  std::uint64_t offset = any_offset();
  if (random_.percent(30) && twin_.exists(id)) offset = twin_.at(id).size();
  const bool append = random_.percent(15);
  if (append) offset = twin_.exists(id) ? twin_.at(id).size() : 0;
  if (!append && random_.percent(1)) offset = core::kFileBytesMax - random_.below(100);
  const std::string data = random_.bytes(any_length());
  describe((append ? "append " : "write ") + std::to_string(data.size()) + " at " + std::to_string(offset) + " of " +
           text(id));
  core::OpContext ctx = context();
  const auto bytes = std::as_bytes(std::span(data));
  const std::size_t cut = random_.below(data.size() + 1);
  const std::span<const std::byte> pieces[] = {bytes.first(cut), bytes.subspan(cut)};
  Verdict verdict;
  if (offset > 1ull << 50) {
    // The last bytes of the largest file are a test of their own; here such a write would only fill the usage.
    verdict = Verdict{.errors = {Errc::kFileTooBig}};
    offset = core::kFileBytesMax - data.size() / 2 + 1;
    if (!twin_.exists(id) || data.size() < 4 || twin_.at(id).type != FileType::kRegular) return true;
  } else {
    verdict = twin_.write(id, offset, data, ctx.cred);
  }
  const auto reply =
      ns().write(ctx, {.id = id, .offset = append ? random_.below(100'000) : offset, .data = pieces, .append = append});
  if (!same_outcome(verdict, reply)) return false;
  if (reply) {
    if (reply->offset != offset) return differ("wrote at " + std::to_string(reply->offset));
    if (reply->length != data.size()) return differ("wrote " + std::to_string(reply->length));
    if (!verify_before(reply->before, id) || !verify_reply(reply->attr, id)) return false;
    const std::uint64_t begin = offset - std::min<std::uint64_t>(offset, random_.below(10'000));
    if (!compare_range(id, begin, data.size() + random_.below(20'000), random_.percent(50))) return false;
  }
  return verify_touched(verdict);
}

bool Driver::do_read() {
  const FileId id = any_file();
  const std::uint64_t offset = any_offset(), length = any_length();
  describe("read " + std::to_string(length) + " at " + std::to_string(offset) + " of " + text(id));
  if (!twin_.exists(id) || twin_.at(id).type != FileType::kRegular) {
    std::string into(100, '\0');
    const auto reply = ns().read(context(), {id, 0, std::as_writable_bytes(std::span(into))});
    Verdict verdict{.errors = {Errc::kStale}};
    if (twin_.exists(id)) verdict = {.errors = {Errc::kIsDirectory, Errc::kWrongType, Errc::kInvalid}};
    return same_outcome(verdict, reply);
  }
  return random_.percent(20) ? compare_content(id) : compare_range(id, offset, length, random_.percent(50));
}

bool Driver::do_punch() {
  const FileId id = any_file();
  const core::RangeRequest request{id, any_offset(), 1 + any_length() * (random_.percent(10) ? 100 : 1)};
  describe("punch " + std::to_string(request.length) + " at " + std::to_string(request.offset) + " of " + text(id));
  const core::OpContext ctx = context();
  const Verdict verdict = twin_.punch(request);
  const auto reply = ns().punch(ctx, request);
  if (!same_outcome(verdict, reply)) return false;
  if (!reply) return true;
  return verify_before(reply->before, id) && verify_reply(reply->attr, id) && verify_touched(verdict) &&
         compare_range(id, request.offset - std::min<std::uint64_t>(request.offset, 5000), request.length + 10'000,
                       false);
}

bool Driver::do_allocate() {
  const FileId id = any_file();
  const bool zeroes = random_.percent(50);
  core::RangeRequest request{id, any_offset(), 1 + any_length(), random_.percent(30)};
  if (request.offset > 10'000'000) request.offset = 0;
  describe((zeroes ? "zero " : "allocate ") + std::to_string(request.length) + " at " + std::to_string(request.offset) +
           " of " + text(id) + (request.keep_size ? " in its size" : ""));
  const core::OpContext ctx = context();
  const Verdict verdict = zeroes ? twin_.zero(request) : twin_.allocate(request);
  const auto reply = zeroes ? ns().zero(ctx, request) : ns().allocate(ctx, request);
  if (!same_outcome(verdict, reply)) return false;
  if (!reply) return true;
  return verify_before(reply->before, id) && verify_reply(reply->attr, id) && verify_touched(verdict) &&
         compare_range(id, request.offset, request.length, true);
}

bool Driver::do_seek() {
  const FileId id = any_file();
  const bool data = random_.percent(50);
  std::uint64_t offset = any_offset();
  if (twin_.exists(id) && random_.percent(70)) offset = random_.below(twin_.at(id).size() + 2);
  describe("seek " + std::string(data ? "data" : "hole") + " from " + std::to_string(offset) + " of " + text(id));
  const auto reply = ns().seek(context(), {id, offset, data ? core::SeekWhat::kData : core::SeekWhat::kHole});
  if (!twin_.exists(id) || twin_.at(id).type != FileType::kRegular) {
    return !reply || differ("seek of what is no file succeeded");
  }
  const TwinContent& content = twin_.at(id).content;
  if (!reply) {
    if (reply.error().code != Errc::kNoMoreData) return differ("seek: " + stoa::describe(reply.error()));
    const bool nothing = offset >= content.size() || (data && content.next_nonzero(offset) == content.size());
    return nothing || differ("seek found nothing, but there is");
  }
  if (reply->offset < offset || reply->offset > content.size()) return differ("seek: offset out of range");
  if (data) {
    return reply->offset <= content.next_nonzero(offset) ||
           differ("seek skipped data, to " + std::to_string(reply->offset));
  }
  return content.next_nonzero(reply->offset) != reply->offset || reply->offset == content.size() ||
         differ("seek calls data a hole at " + std::to_string(reply->offset));
}

bool Driver::do_copy_range() {
  core::CopyRangeRequest request{any_file(), any_offset(), any_file(), any_offset(), any_length(), random_.percent(50)};
  if (random_.percent(40)) request.from_offset = request.to_offset = 0;
  if (random_.percent(30)) request.length = 0;
  if (request.length == 0 && twin_.exists(request.from) && twin_.at(request.from).size() > 10'000'000)
    request.length = 70'000;
  describe("copy " + std::to_string(request.length) + " from " + std::to_string(request.from_offset) + " of " +
           text(request.from) + " to " + std::to_string(request.to_offset) + " of " + text(request.to) +
           (request.share ? " shared" : ""));
  const core::OpContext ctx = context();
  const std::uint64_t source_size = twin_.exists(request.from) ? twin_.at(request.from).size() : 0;
  const auto reply = ns().copy_range(ctx, request);
  Verdict verdict;
  if (!reply && reply.error().code == Errc::kInvalid && request.from_offset + request.length > source_size) {
    // Whether a range behind the end of the source is refused or cut short, the contract leaves open.
    verdict.errors = {Errc::kInvalid};
  } else {
    verdict = twin_.copy_range(request);
  }
  if (!same_outcome(verdict, reply)) return false;
  if (!reply) return verify_touched(verdict);
  const std::uint64_t left = source_size > request.from_offset ? source_size - request.from_offset : 0;
  const std::uint64_t right = request.length == 0 ? left : std::min(left, request.length);
  if (reply->length != right)
    return differ("copied " + std::to_string(reply->length) + ", right is " + std::to_string(right));
  return verify_reply(reply->attr, request.to) && verify_touched(verdict) &&
         compare_range(request.to, request.to_offset - std::min<std::uint64_t>(request.to_offset, 5000),
                       std::min<std::uint64_t>(right, 1'000'000) + 10'000, random_.percent(50)) &&
         compare_content(request.from);
}

bool Driver::do_commit() {
  const FileId id = any_file();
  describe("commit " + text(id));
  const auto reply = ns().commit(context(), {id});
  if (!twin_.exists(id)) return same_outcome(Verdict{.errors = {Errc::kStale}}, reply);
  if (twin_.at(id).type != FileType::kRegular) return true;
  if (!same_outcome(Verdict{}, reply)) return false;
  return verify_before(reply->before, id) && verify_reply(reply->attr, id) && verify(id, Touch::kNone);
}

namespace {

const std::string kXattrs[] = {"user.a", "user.b", "trusted.c", std::string(255, 'x'), std::string(256, 'x')};

}  // namespace

bool Driver::do_set_xattr() {
  const FileId id = any_inode();
  const std::string name = random_.pick(kXattrs);
  const std::string value = random_.bytes(random_.percent(3) ? 65536 + random_.below(2) : random_.below(300));
  const core::SetXattrRequest request{id, name, value, static_cast<core::XattrMode>(random_.below(3))};
  describe("set_xattr " + in_quotes(name) + " of " + text(id));
  const core::OpContext ctx = context();
  const Verdict verdict = twin_.set_xattr(request);
  const auto reply = ns().set_xattr(ctx, request);
  if (!same_outcome(verdict, reply)) return false;
  if (!reply) return verify_touched(verdict);
  return verify_before(reply->before, id) && verify_reply(reply->attr, id) && verify_touched(verdict) &&
         compare_xattrs(id);
}

bool Driver::do_remove_xattr() {
  const FileId id = any_inode();
  const std::string name = random_.pick(kXattrs);
  describe("remove_xattr " + in_quotes(name) + " of " + text(id));
  const core::OpContext ctx = context();
  Verdict verdict = twin_.remove_xattr({id, name});
  if (name.size() > core::kXattrNameBytesMax) {
    verdict.errors.insert(verdict.errors.end(), {Errc::kTooLarge, Errc::kNameTooLong, Errc::kInvalid});
  }
  const auto reply = ns().remove_xattr(ctx, {id, name});
  if (!same_outcome(verdict, reply)) return false;
  return !reply || (verify_before(reply->before, id) && verify_touched(verdict) && compare_xattrs(id));
}

bool Driver::do_get_xattr() {
  const FileId id = any_inode();
  const std::string name = kXattrs[random_.below(3)];
  describe("get_xattr " + in_quotes(name) + " of " + text(id));
  const auto reply = ns().get_xattr(context(), {id, name});
  if (!twin_.exists(id)) return same_outcome(Verdict{.errors = {Errc::kStale}}, reply);
  const auto it = twin_.at(id).xattrs.find(name);
  if (it == twin_.at(id).xattrs.end()) return same_outcome(Verdict{.errors = {Errc::kNoAttribute}}, reply);
  return same_outcome(Verdict{}, reply) && (reply->value == it->second || differ("value of the attribute"));
}

}  // namespace stoa::model
