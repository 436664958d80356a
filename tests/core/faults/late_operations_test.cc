// Every operation with a deadline that has passed when it begins (OpContext::deadline), and with a lock in its way.
#include <thread>

#include "core/api/operations.h"
#include "tests/core/faults/fault_world.h"

namespace stoa::core::test {
namespace {

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// For each operation a request that would succeed, and would be seen.
class Requests {
 public:
  explicit Requests(FaultWorld& world) : world_(world) {
    const auto begun = world.ns().upload_begin({}, {});
    EXPECT_TRUE(begun);
    upload_ = *begun;
  }

  template <class Operation>
  typename Operation::Request of() {
    typename Operation::Request req{};
    fill(req);
    if constexpr (std::is_same_v<typename Operation::Request, RemoveRequest>) {
      if (Operation::kName == "unlink") req.name = "Big";
      if (Operation::kName == "remove_tree") req.name = "Sub";
    }
    return req;
  }

 private:
  FileId dir() const { return world_.id("/dir"); }
  FileId big() const { return world_.id("/dir/Big"); }

  void fill(LookupRequest& r) { r = {.parent = dir(), .name = "Big"}; }
  void fill(GetattrRequest& r) { r.id = big(); }
  void fill(GetAclRequest& r) { r.id = big(); }
  void fill(SetattrRequest& r) { r = {.id = big(), .set = {.mode = 0600, .size = 5}}; }
  void fill(AccessRequest& r) { r = {.id = big(), .wanted = kAccessRead}; }
  void fill(ReadlinkRequest& r) { r.id = world_.id("/dir/sym"); }
  void fill(StatfsRequest& r) { r.id = dir(); }
  void fill(OpenRequest& r) { r = {.parent = dir(), .name = "Big", .disposition = OpenDisposition::kOverwrite}; }
  void fill(CreateRequest& r) { r = {.parent = dir(), .name = "new"}; }
  void fill(MkdirRequest& r) { r = {.parent = dir(), .name = "new"}; }
  void fill(SymlinkRequest& r) { r = {.parent = dir(), .name = "new", .target = "x"}; }
  void fill(MknodRequest& r) { r = {.parent = dir(), .name = "new", .type = FileType::kFifo}; }
  void fill(LinkRequest& r) { r = {.id = big(), .parent = dir(), .name = "new"}; }
  void fill(RemoveRequest& r) { r = {.parent = dir(), .name = "empty"}; }
  void fill(RenameRequest& r) {
    r = {.from_parent = dir(), .from_name = "Big", .to_parent = world_.id("/other"), .to_name = "moved"};
  }
  void fill(ReaddirRequest& r) { r = {.dir = dir(), .want_attributes = true}; }
  void fill(ReadRequest& r) { r = {.id = big(), .offset = 0, .into = buffer_}; }
  void fill(ReadSlicesRequest& r) { r = {.id = big(), .offset = 0, .length = 10}; }
  void fill(WriteRequest& r) { r = {.id = big(), .offset = 0, .data = pieces_}; }
  void fill(CommitRequest& r) { r.id = big(); }
  void fill(RangeRequest& r) { r = {.id = big(), .offset = 100'000, .length = 300'000}; }
  void fill(SeekRequest& r) { r = {.id = big(), .offset = 0, .what = SeekWhat::kData}; }
  void fill(CopyRangeRequest& r) {
    r = {.from = big(), .from_offset = 0, .to = world_.id("/dir/Sub/deep"), .to_offset = 0, .length = 10};
  }
  void fill(GetXattrRequest& r) { r = {.id = big(), .name = "user.one"}; }
  void fill(SetXattrRequest& r) { r = {.id = big(), .name = "user.two", .value = "2"}; }
  void fill(ListXattrsRequest& r) { r.id = big(); }
  void fill(RemoveXattrRequest& r) { r = {.id = big(), .name = "user.one"}; }
  void fill(LookupKeyRequest& r) { r = {.root = dir(), .key = "Big"}; }
  void fill(UploadBeginRequest&) {}
  void fill(UploadWriteRequest& r) { r = {.upload = upload_, .data = pieces_}; }
  void fill(UploadDiscardRequest& r) { r.upload = upload_; }
  void fill(PutKeyRequest& r) { r = {.root = dir(), .key = "implied/key", .bytes = as_bytes("text")}; }
  void fill(ConcatenateRequest& r) { r = {.root = dir(), .key = "implied/key", .parts = {{.id = big()}}}; }
  void fill(RemoveKeyRequest& r) { r = {.root = dir(), .key = "Big"}; }
  void fill(SetMetaRequest& r) {
    r = {.id = big(), .meta = "meta", .described = world_.ns().getattr({}, {big()})->attr.version()};
  }
  void fill(ListKeysRequest& r) { r.root = dir(); }
  void fill(UsageRequest& r) { r.dir = dir(); }
  void fill(SetQuotaRequest& r) { r = {.dir = dir(), .limits = {.files = 500}}; }
  void fill(CountOwnersRequest& r) { r = {.dir = dir(), .on = true}; }
  void fill(ListOwnerQuotasRequest& r) { r.dir = dir(); }
  void fill(ListQuotasRequest&) {}
  void fill(SetSealedRequest& r) { r = {.dir = dir(), .sealed = true}; }
  void fill(SealedRequest& r) { r.id = big(); }
  void fill(ResolvePathRequest& r) { r.path = "/dir/Big"; }
  void fill(PathOfRequest& r) { r.id = big(); }
  void fill(AncestorsRequest& r) { r.id = big(); }
  void fill(ListRecycledRequest& r) { r.dir = world_.id("/bin"); }
  void fill(RestoreRequest& r) { r.item = world_.deleted(); }
  void fill(PurgeRequest& r) { r.dir = world_.id("/bin"); }
  void fill(RecycleStatusRequest& r) { r.dir = world_.id("/bin"); }

  FaultWorld& world_;
  UploadId upload_{};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(10);
  const std::span<const std::byte> pieces_[1] = {as_bytes("other bytes")};
};

OpContext in_time(FaultWorld& world) {
  return {.holder = world.volume().state().add_holder(Protocol::kInternal, nullptr)};
}
OpContext late() {
  return {.deadline = Deadline(Deadline::Clock::now() - std::chrono::seconds(1))};
}

template <class Operation, class Reply>
void expect_late(const Result<Reply>& reply) {
  constexpr bool kMayFinish =
      Operation::kKind == OperationKind::kReads || std::is_same_v<Operation, operations::upload_discard>;
  if (reply) {
    EXPECT_TRUE(kMayFinish) << Operation::kName << " was done";
  } else if (!kMayFinish) {
    EXPECT_EQ(reply.error().code, Errc::kTimeout) << Operation::kName << ": " << describe(reply.error());
  }
}

TEST(LateOperations, WhatBeginsTooLateLeavesNoTrace) {
  FaultWorld world;
  Requests requests(world);
  const std::string before = world.dump();
#define STOA_OPERATION(kind, name, reply, request, routing)                                \
  expect_late<operations::name>(world.ns().name(late(), requests.of<operations::name>())); \
  EXPECT_EQ(world.dump(), before) << #name;
#include "core/api/operations.def"
  world.reopen();
  EXPECT_EQ(world.dump(), before);
  world.expect_consistent();
}

// The requests above are such that only the deadline is in their way.
TEST(LateOperations, WhatHasNoDeadlineIsDone) {
#define STOA_OPERATION(kind, name, reply, request, routing)                                                   \
  {                                                                                                           \
    FaultWorld world;                                                                                         \
    Requests requests(world);                                                                                 \
    const auto done = world.ns().name(in_time(world), requests.of<operations::name>());                       \
    EXPECT_TRUE(done || done.error().code == Errc::kNotSupported) << #name << ": " << describe(done.error()); \
  }
#include "core/api/operations.def"
}

}  // namespace
}  // namespace stoa::core::test
