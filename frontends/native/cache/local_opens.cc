#include "frontends/native/cache/local_opens.h"

#include "base/log.h"

namespace stoa::native {

OpenNumber LocalOpens::add(core::FileId file, const core::Credentials& cred, std::uint32_t access) {
  const OpenNumber number = calls_.new_open();
  const std::lock_guard lock(mutex_);
  opens_.emplace(number, Open{.file = file, .cred = cred, .access = access});
  of_file_[file].insert(number);
  return number;
}

std::vector<LocalOpen> LocalOpens::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<LocalOpen> all;
  for (const auto& [number, open] : opens_) all.push_back({number, open.file, open.cred, open.access});
  return all;
}

void LocalOpens::restore(const LocalOpen& open) {
  const std::lock_guard lock(mutex_);
  opens_.emplace(open.number, Open{.file = open.file, .cred = open.cred, .access = open.access});
  of_file_[open.file].insert(open.number);
}

OpenNumber LocalOpens::at_server(OpenNumber open) const {
  const std::lock_guard lock(mutex_);
  return opens_.contains(open) ? 0 : open;
}

void LocalOpens::erase(OpenNumber open) {
  const auto found = opens_.find(open);
  const auto others = of_file_.find(found->second.file);
  others->second.erase(open);
  if (others->second.empty()) of_file_.erase(others);
  opens_.erase(found);
}

bool LocalOpens::close(OpenNumber open) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto found = opens_.find(open);
    if (found == opens_.end()) return false;
    if (!found->second.making) {
      erase(open);
      return true;
    }
    made_.wait(lock);
  }
}

std::vector<NumberedOpen> LocalOpens::take_together(std::span<const core::FileId> files,
                                                    std::unordered_set<OpenNumber>& tried, core::Credentials& cred,
                                                    bool& waits) {
  std::vector<NumberedOpen> together;
  for (const core::FileId file : files) {
    const auto found = of_file_.find(file);
    if (found == of_file_.end()) continue;
    for (const OpenNumber number : found->second) {
      Open& open = opens_.at(number);
      waits |= open.making;
      if (open.making || tried.contains(number) || (!together.empty() && open.cred != cred)) continue;
      cred = open.cred;
      open.making = true;
      tried.insert(number);
      together.push_back({number, file, open.access});
    }
  }
  return together;
}

void LocalOpens::make_real(std::span<const core::FileId> files) {
  std::unique_lock lock(mutex_);
  std::unordered_set<OpenNumber> tried;
  for (;;) {
    core::Credentials cred;
    bool waits = false;
    const std::vector<NumberedOpen> together = take_together(files, tried, cred, waits);
    if (together.empty()) {
      if (!waits) return;
      made_.wait(lock);
      continue;
    }
    lock.unlock();
    const auto results = calls_.open_numbered(cred, together);
    lock.lock();
    for (std::size_t i = 0; i < together.size(); ++i) {
      opens_.at(together[i].number).making = false;
      if (results[i]) {
        erase(together[i].number);
        continue;
      }
      log_warning("native", "an open could not be made at the server",
                  {{"file", static_cast<std::uint64_t>(together[i].file)}, {"cause", describe(results[i].error())}});
    }
    made_.notify_all();
  }
}

bool LocalOpens::any(core::FileId file) const {
  const std::lock_guard lock(mutex_);
  return of_file_.contains(file);
}

std::size_t LocalOpens::size() const {
  const std::lock_guard lock(mutex_);
  return opens_.size();
}

}  // namespace stoa::native
