#include "tests/crash/worker.h"

namespace stoa::crash {

using clients::NfsClient;
using clients::NfsReply;
using clients::S3Client;
using clients::S3Reply;

void Worker::promised() {
  ++promises_;
  for (auto& [path, expected] : *doubt_) {
    if (expected) {
      files_[path] = std::move(*expected);
    } else {
      files_.erase(path);
      handles_.erase(path);
    }
  }
  doubt_.reset();
}

void Worker::refused(const std::string& what, const std::string& why) {
  doubt_.reset();
  problem(what + " was refused: " + why);
}

std::string Worker::any_bytes() {
  switch (random_.below(5)) {
    case 0:
      return random_.bytes(random_.below(100));
    case 1:
      return random_.bytes(4096);
    case 2:
      return random_.bytes(random_.below(40'000));
    case 3:
      return random_.bytes(16'384 - 2 + random_.below(5));
    default:
      return random_.bytes(random_.percent(20) ? random_.below(3'000'000) : random_.below(300'000));
  }
}

std::string Worker::existing_name() {
  if (files_.empty()) return {};
  auto it = files_.begin();
  std::advance(it, random_.below(files_.size()));
  return it->first;
}

namespace {

// Every file below `dir`, by path.
bool collect(NfsClient& client, const clients::NfsHandle& dir, const std::string& prefix,
             std::map<std::string, clients::NfsHandle>& files, std::string* why) {
  NfsReply listing = client.list(dir);
  if (!listing.ok()) {
    *why = "READDIRPLUS of " + prefix + ": " + listing.text();
    return false;
  }
  for (const clients::NfsEntry& entry : listing.entries) {
    const NfsReply found = client.lookup(dir, entry.name);
    if (!found.ok() || !found.attr) {
      *why = "LOOKUP of " + prefix + entry.name + ", which READDIRPLUS shows: " + found.text();
      return false;
    }
    if (found.attr->type == NF3DIR) {
      if (!collect(client, found.handle, prefix + entry.name + "/", files, why)) return false;
    } else {
      files[prefix + entry.name] = found.handle;
    }
  }
  return true;
}

}  // namespace

bool Worker::matches(const std::string& path, const ExpectedFile* expected, std::map<std::string, std::string>& found,
                     std::string* why) {
  const auto it = found.find(path);
  if (expected == nullptr) {
    if (it != found.end()) *why = path + " is there, and should not be";
    return it == found.end();
  }
  if (it == found.end()) {
    *why = path + " is lost";
    return false;
  }
  const std::string difference = expected->difference(it->second);
  if (!difference.empty()) *why = path + ": " + difference;
  return difference.empty();
}

void Worker::verify(const Protocols& protocols) {
  std::string why;
  const auto client = NfsClient::connect(protocols.nfs, 0, &why);
  if (client == nullptr) return problem("cannot connect: " + why);
  std::map<std::string, clients::NfsHandle> there;
  const NfsReply folder = client->lookup(client->root(), name_);
  if (folder.ok() && !collect(*client, folder.handle, "", there, &why)) return problem(why);
  if (!folder.ok() && (folder.lost || folder.status != NFS3ERR_NOENT)) return problem("the folder: " + folder.text());

  std::map<std::string, std::string> found;
  for (const auto& [path, handle] : there) {
    // By the handle of before the crash, where there is one: it must still be good.
    const auto old = handles_.find(path);
    const bool same = old != handles_.end() && !doubt_;
    NfsReply content = client->read_all(same ? old->second : handle);
    if (!content.ok()) {
      problem("READ of " + path + (same ? " by its old handle: " : ": ") + content.text());
      continue;
    }
    found[path] = std::move(content.data);
  }
  // The operation in doubt happened wholly or not at all.
  bool before_fits = true, after_fits = doubt_.has_value();
  std::string before_why, after_why;
  if (doubt_) {
    for (const auto& [path, after] : *doubt_) {
      const auto before = files_.find(path);
      before_fits =
          matches(path, before == files_.end() ? nullptr : &before->second, found, &before_why) && before_fits;
      after_fits = matches(path, after ? &*after : nullptr, found, &after_why) && after_fits;
    }
    if (!before_fits && !after_fits) {
      problem("an operation was done by half: neither the state before (" + before_why + ") nor after (" + after_why +
              ")");
    }
  }
  for (const auto& [path, expected] : files_) {
    if (doubt_ && doubt_->contains(path)) continue;
    if (!matches(path, &expected, found, &why)) problem(why);
  }
  for (const auto& [path, bytes] : found) {
    if (!files_.contains(path) && !(doubt_ && doubt_->contains(path))) problem(path + " appeared from nowhere");
  }
  // The other protocol must see the same, byte for byte.
  S3Client s3(protocols.s3);
  const clients::S3Listing listing = s3.list_all(name_ + "/");
  if (!listing.reply.ok()) return problem("LIST: " + listing.reply.text());
  if (listing.keys.size() != found.size()) {
    problem("S3 lists " + std::to_string(listing.keys.size()) + " keys, NFS shows " + std::to_string(found.size()) +
            " files");
  }
  for (const auto& [path, bytes] : found) {
    const S3Reply got = s3.get(name_ + "/" + path);
    if (!got.ok() || got.body != bytes) problem("GET of " + path + " differs from READ: " + got.text());
  }
  files_.clear();
  for (auto& [path, bytes] : found) files_.emplace(path, ExpectedFile(std::move(bytes)));
  handles_ = std::move(there);
  doubt_.reset();
}

void Worker::work(const Protocols& protocols) {
  std::string why;
  if (!connect(protocols, &why)) return;  // killed already
  while (problems_.empty() && step()) {
  }
}

}  // namespace stoa::crash
