#include <limits>

#include "tests/model/twin.h"

namespace stoa::model {
namespace {

using core::Credentials;

Verdict need_file(const Twin& twin, FileId id) {
  if (!twin.exists(id)) return {.errors = {Errc::kStale}};
  const TwinInode& inode = twin.at(id);
  if (inode.is_directory()) return {.errors = {Errc::kIsDirectory, Errc::kWrongType, Errc::kInvalid}};
  if (inode.type != FileType::kRegular) return {.errors = {Errc::kWrongType, Errc::kInvalid}};
  return {};
}

void content_changed(Verdict& verdict, TwinInode& inode, Touch touch = Touch::kContent) {
  verdict.touched[inode.id] = touch;
  if (touch == Touch::kContent && inode.meta) inode.meta->current = false;
}

}  // namespace

Verdict Twin::setattr(const core::SetattrRequest& request, const Credentials& cred) {
  return within_quota([&](Twin& twin) -> Verdict {
    if (!twin.exists(request.id)) return {.errors = {Errc::kStale}};
    TwinInode& inode = twin.at(request.id);
    const core::SetAttributes& set = request.set;
    Verdict verdict;
    const bool owner = cred.is_superuser() || cred.uid == inode.uid;
    if (set.mode && !owner) verdict.errors.push_back(Errc::kNotOwner);
    if ((set.uid || set.gid) && !owner) verdict.errors.push_back(Errc::kNotOwner);
    if (set.uid && *set.uid != inode.uid && !cred.is_superuser()) verdict.errors.push_back(Errc::kNotOwner);
    if (set.gid && *set.gid != inode.gid && !(owner && (cred.is_superuser() || cred.in_group(*set.gid)))) {
      verdict.errors.push_back(Errc::kNotOwner);
    }
    for (const auto& time : {set.atime, set.mtime}) {
      if (!time || owner) continue;
      if (!time->server_time) verdict.errors.push_back(Errc::kNotOwner);
      if (time->server_time && denied(cred, inode, 2))
        verdict.errors.insert(verdict.errors.end(), {Errc::kAccess, Errc::kNotOwner});
    }
    if (set.size) {
      const Verdict file = need_file(twin, request.id);
      verdict.errors.insert(verdict.errors.end(), file.errors.begin(), file.errors.end());
      if (denied(cred, inode, 2)) verdict.errors.push_back(Errc::kAccess);
      if (*set.size > core::kFileBytesMax) verdict.errors.push_back(Errc::kFileTooBig);
    }
    if (twin.recycled(request.id)) verdict.errors.push_back(Errc::kReadOnly);
    if (!verdict.ok()) return verdict;
    verdict.touched[inode.id] = Touch::kAttributes;
    inode.verifier.reset();
    inode.implied = false;  // it was changed explicitly
    if (set.mode) inode.mode = *set.mode & 07777;
    if (set.uid) inode.uid = *set.uid;
    if (set.gid) inode.gid = *set.gid;
    if (set.size) {
      // ftruncate() to the present size may or may not count as a change of content.
      content_changed(verdict, inode, *set.size == inode.size() ? Touch::kMaybe : Touch::kContent);
      inode.content.truncate(*set.size);
    }
    return verdict;
  });
}

Verdict Twin::write(FileId id, std::uint64_t offset, std::string_view data, const Credentials& cred) {
  return within_quota([&](Twin& twin) -> Verdict {
    Verdict verdict = need_file(twin, id);
    if (!twin.exists(id)) return verdict;
    if (denied(cred, twin.at(id), 2)) verdict.errors.push_back(Errc::kAccess);
    if (offset > core::kFileBytesMax || data.size() > core::kFileBytesMax - offset) {
      verdict.errors.push_back(Errc::kFileTooBig);
    }
    if (twin.recycled(id)) verdict.errors.push_back(Errc::kReadOnly);
    if (!verdict.ok()) return verdict;
    TwinInode& inode = twin.at(id);
    content_changed(verdict, inode, data.empty() ? Touch::kMaybe : Touch::kContent);
    if (!data.empty()) inode.content.write(offset, data);
    return verdict;
  });
}

// What `change` says of the file if it grew, without growing it.
Verdict Twin::in_its_size(core::RangeRequest request, Verdict (Twin::*change)(const core::RangeRequest&)) const {
  request.keep_size = false;
  Twin grown = *this;
  Verdict verdict = (grown.*change)(request);
  if (verdict.ok()) verdict.touched = {{request.id, Touch::kMaybe}};
  return verdict;
}

Verdict Twin::zero(const core::RangeRequest& request) {
  if (request.keep_size) {
    Verdict verdict = in_its_size(request, &Twin::zero);
    if (!verdict.ok()) return verdict;
    TwinInode& inode = at(request.id);
    content_changed(verdict, inode);
    inode.content.zero(request.offset, request.length);
    return verdict;
  }
  Verdict verdict = allocate(request);
  if (!verdict.ok()) return verdict;
  TwinInode& inode = at(request.id);
  content_changed(verdict, inode);
  inode.content.zero(request.offset, request.length);
  return verdict;
}

Verdict Twin::allocate(const core::RangeRequest& request) {
  if (request.keep_size) return in_its_size(request, &Twin::allocate);
  return within_quota([&](Twin& twin) -> Verdict {
    Verdict verdict = need_file(twin, request.id);
    if (twin.exists(request.id) && twin.recycled(request.id)) verdict.errors.push_back(Errc::kReadOnly);
    if (!verdict.ok()) return verdict;
    TwinInode& inode = twin.at(request.id);
    const bool grows = request.offset + request.length > inode.size();
    content_changed(verdict, inode, grows ? Touch::kContent : Touch::kMaybe);
    if (grows) inode.content.truncate(request.offset + request.length);
    return verdict;
  });
}

Verdict Twin::punch(const core::RangeRequest& request) {
  Verdict verdict = need_file(*this, request.id);
  if (exists(request.id) && recycled(request.id)) verdict.errors.push_back(Errc::kReadOnly);
  if (!verdict.ok()) return verdict;
  TwinInode& inode = at(request.id);
  const bool inside = request.offset < inode.size() && request.length > 0;
  content_changed(verdict, inode, inside ? Touch::kContent : Touch::kMaybe);
  inode.content.zero(request.offset, request.length);
  return verdict;
}

Verdict Twin::copy_range(const core::CopyRangeRequest& request) {
  return within_quota([&](Twin& twin) -> Verdict {
    Verdict verdict = need_file(twin, request.from);
    const Verdict target = need_file(twin, request.to);
    verdict.errors.insert(verdict.errors.end(), target.errors.begin(), target.errors.end());
    if (!verdict.ok()) return verdict;
    const TwinContent source = twin.at(request.from).content;
    const std::uint64_t left = source.size() > request.from_offset ? source.size() - request.from_offset : 0;
    const std::uint64_t length = request.length == 0 ? left : std::min(request.length, left);
    if (request.from == request.to && request.from_offset < request.to_offset + length &&
        request.to_offset < request.from_offset + length) {
      return {.errors = {Errc::kInvalid}};
    }
    if (request.to_offset > core::kFileBytesMax || length > core::kFileBytesMax - request.to_offset) {
      return {.errors = {Errc::kFileTooBig}};
    }
    if (length > 0 && twin.recycled(request.to)) return {.errors = {Errc::kReadOnly}};
    TwinInode& inode = twin.at(request.to);
    content_changed(verdict, inode, length == 0 ? Touch::kMaybe : Touch::kContent);
    if (length > 0) {
      inode.content.zero(request.to_offset, length);
      if (inode.size() < request.to_offset + length) inode.content.truncate(request.to_offset + length);
      for (const auto& [offset, count] : source.ranges()) {
        const std::uint64_t begin = std::max(offset, request.from_offset);
        const std::uint64_t end = std::min(offset + count, request.from_offset + length);
        if (begin < end)
          inode.content.write(request.to_offset + (begin - request.from_offset), source.read(begin, end - begin));
      }
    }
    return verdict;
  });
}

Verdict Twin::set_xattr(const core::SetXattrRequest& request) {
  return within_quota([&](Twin& twin) -> Verdict {
    Verdict verdict;
    if (!twin.exists(request.id)) verdict.errors.push_back(Errc::kStale);
    if (request.name.size() > core::kXattrNameBytesMax) {
      verdict.errors.insert(verdict.errors.end(), {Errc::kTooLarge, Errc::kNameTooLong, Errc::kInvalid});
    }
    if (request.name.empty()) verdict.errors.push_back(Errc::kInvalid);
    if (request.value.size() > core::kXattrValueBytesMax) verdict.errors.push_back(Errc::kTooLarge);
    if (!twin.exists(request.id)) return verdict;
    if (twin.recycled(request.id)) verdict.errors.push_back(Errc::kReadOnly);
    TwinInode& inode = twin.at(request.id);
    const bool present = inode.xattrs.contains(std::string(request.name));
    if (request.mode == core::XattrMode::kCreate && present) verdict.errors.push_back(Errc::kExists);
    if (request.mode == core::XattrMode::kReplace && !present) verdict.errors.push_back(Errc::kNoAttribute);
    if (!verdict.ok()) return verdict;
    inode.xattrs[std::string(request.name)] = request.value;
    inode.implied = false;
    verdict.touched[request.id] = Touch::kAttributes;
    return verdict;
  });
}

Verdict Twin::remove_xattr(const core::RemoveXattrRequest& request) {
  if (!exists(request.id)) return {.errors = {Errc::kStale}};  // The driver adds errors of the name.
  TwinInode& inode = at(request.id);
  if (recycled(request.id)) return {.errors = {Errc::kReadOnly, Errc::kInvalid}};
  if (inode.xattrs.erase(std::string(request.name)) == 0) return {.errors = {Errc::kNoAttribute, Errc::kInvalid}};
  inode.implied = false;
  return {.touched = {{request.id, Touch::kAttributes}}};
}

}  // namespace stoa::model
