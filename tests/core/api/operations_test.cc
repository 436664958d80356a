// The list of operations: routing to shards, and operations that change nothing.
#include "core/api/operations.h"

#include <gtest/gtest.h>

#include <set>

namespace stoa::core::test {
namespace {

constexpr FileId kFile{7}, kOther{8};

struct Listed {
  std::string_view name;
  OperationKind kind;
};
constexpr Listed kListed[] = {
#define STOA_OPERATION(kind, name, reply, request, routing) {operations::name::kName, operations::name::kKind},
#include "core/api/operations.def"
};

TEST(OperationsTest, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Listed& one : kListed) EXPECT_TRUE(names.insert(one.name).second) << one.name;
}

TEST(OperationsTest, OnlyCommitMakesDurableWithoutAChange) {
  std::vector<std::string_view> found;
  for (const Listed& one : kListed) {
    if (one.kind == OperationKind::kPersists) found.push_back(one.name);
  }
  EXPECT_EQ(found, std::vector<std::string_view>{"commit"});
}

TEST(OperationsTest, GoToTheShardOfTheDirectoryWhoseNamesTheyChange) {
  EXPECT_EQ(operations::create::routing_id({.parent = kFile, .name = "a"}), kFile);
  EXPECT_EQ(operations::link::routing_id({.id = kOther, .parent = kFile, .name = "a"}), kFile);
  EXPECT_EQ(operations::unlink::routing_id({.parent = kFile, .name = "a"}), kFile);
  EXPECT_EQ(
      operations::rename::routing_id({.from_parent = kFile, .from_name = "a", .to_parent = kOther, .to_name = "b"}),
      kFile);
  EXPECT_EQ(operations::put_key::routing_id({.root = kFile, .key = "a/b"}), kFile);
}

TEST(OperationsTest, GoToTheShardOfTheFileThatTheyChange) {
  EXPECT_EQ(operations::setattr::routing_id({.id = kFile, .set = {}}), kFile);
  EXPECT_EQ(
      operations::copy_range::routing_id({.from = kOther, .from_offset = 0, .to = kFile, .to_offset = 0, .length = 1}),
      kFile);
  EXPECT_EQ(operations::restore::routing_id({.item = {.bin = kFile, .serial = 1}}), kFile);
}

TEST(OperationsTest, GoToAnyShardWhenTheyNameNoFile) {
  EXPECT_EQ(operations::upload_begin::routing_id({}), kNoFile);
  EXPECT_EQ(operations::list_quotas::routing_id({}), kNoFile);
  EXPECT_EQ(operations::resolve_path::routing_id({.path = "/a"}), kRootId);
}

}  // namespace
}  // namespace stoa::core::test
