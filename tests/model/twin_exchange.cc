#include "tests/model/twin.h"

namespace stoa::model {

// By the superuser.
Verdict Twin::exchange(const core::RenameRequest& request, const core::Credentials& cred) {
  return within_quota([&](Twin& twin) {
    FileId moved = core::kNoFile, back = core::kNoFile;
    Verdict verdict = twin.lookup(request.from_parent, request.from_name, cred, &moved);
    const Verdict other = twin.lookup(request.to_parent, request.to_name, cred, &back);
    verdict.errors.insert(verdict.errors.end(), other.errors.begin(), other.errors.end());
    if (!verdict.ok()) return verdict;
    verdict.subject = moved;
    const bool same_parent = request.from_parent == request.to_parent;
    const Stored from = *twin.find(twin.at(request.from_parent), request.from_name);
    const Stored to = *twin.find(twin.at(request.to_parent), request.to_name);
    const auto look = [&](FileId id, FileId parent, FileId onto) {
      const bool directory = twin.at(id).is_directory();
      if (twin.recycled(parent)) verdict.errors.push_back(Errc::kReadOnly);
      if (directory && twin.is_below(onto, id)) verdict.errors.push_back(Errc::kInvalid);
      if (directory && !same_parent && (twin.is_of_upload(id) || twin.is_of_upload(onto)))
        verdict.errors.push_back(Errc::kInvalid);
    };
    look(moved, request.from_parent, request.to_parent);
    look(back, request.to_parent, request.from_parent);
    if (!verdict.ok() || moved == back) return verdict;
    const auto other_form = [](const Stored& stored) {
      return stored.ends_with('/') ? stored.substr(0, stored.size() - 1) : stored + "/";
    };
    const bool same_kind = twin.at(moved).is_directory() == twin.at(back).is_directory();
    if (!same_kind && (twin.at(request.from_parent).names.contains(other_form(from)) ||
                       twin.at(request.to_parent).names.contains(other_form(to)))) {
      return Verdict{.errors = {Errc::kExists}};
    }
    twin.at(request.from_parent).names.erase(from);
    twin.at(request.to_parent).names.erase(to);
    const auto put = [&](FileId id, FileId parent, const Stored& was, FileId onto, const Stored& name) {
      TwinInode& inode = twin.at(id);
      const Stored now = same_kind ? name : other_form(name);
      twin.at(onto).names[now] = id;
      verdict.touched[id] = Touch::kMaybe;
      if (inode.is_directory()) {
        inode.parent = onto;
        return;
      }
      inode.links.erase({parent, was});
      inode.links.emplace(onto, now);
      if (inode.charged_in == parent) inode.charged_in = onto;
    };
    put(moved, request.from_parent, from, request.to_parent, to);
    put(back, request.to_parent, to, request.from_parent, from);
    verdict.touched[request.from_parent] = Touch::kContent;
    verdict.touched[request.to_parent] = Touch::kContent;
    return verdict;
  });
}

}  // namespace stoa::model
