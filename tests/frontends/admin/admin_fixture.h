// A volume in memory behind the admin routes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "frontends/admin/router.h"
#include "frontends/admin/service.h"

namespace stoa::admin {

using Json = nlohmann::json;

// Disks below a volume that can be declared full.
class TightBlobs final : public blob::MemoryBlobs {
 public:
  Result<core::BlobId> reserve(std::uint64_t bytes) override {
    if (full) return fail(Errc::kNoSpace, "no room");
    return MemoryBlobs::reserve(bytes);
  }
  Space space() const override { return full ? Space{1 << 30, 1 << 20} : MemoryBlobs::space(); }
  std::vector<DirectoryHealth> health() const override { return disks; }

  std::atomic<bool> full{false};
  std::vector<DirectoryHealth> disks{};
};

struct Answer {
  unsigned status = 0;
  Json json{};
  std::string text{};
  std::string message() const {
    return json.is_object() && json.contains("error") ? json["error"].value("message", "") : "";
  }
  std::string code() const { return json.is_object() && json.contains("error") ? json["error"].value("code", "") : ""; }
};

class AdminTest : public testing::Test {
 protected:
  explicit AdminTest(const ThrottleLimits& limits = {});

  // With the right token, from this machine. `target` may hold a query.
  Answer call(Method method, const std::string& target, const std::string& body = {});
  Answer call_json(Method method, const std::string& target, const Json& body) {
    return call(method, target, body.dump());
  }
  Answer get(const std::string& target) { return call(Method::kGet, target); }
  // With another secret than the admin's.
  Answer call_as(const std::string& secret, Method method, const std::string& target, const std::string& body = {});
  Answer send(Request request);

  core::FileId make_directory(const std::string& name);
  void make_file(core::FileId parent, std::string_view name, std::size_t bytes);

  kv::MemoryKv kv_;
  TightBlobs blobs_;
  MetricRegistry metrics_;
  std::unique_ptr<core::Volume> volume_;
  std::unique_ptr<CheckJob> check_;
  std::unique_ptr<WatchHub> watch_;
  std::vector<ClientStatus> clients_;
  bool evict_fails_ = false;
  std::unique_ptr<Service> service_;
};

}  // namespace stoa::admin
