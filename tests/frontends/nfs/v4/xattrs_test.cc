// GETXATTR, SETXATTR, LISTXATTRS, REMOVEXATTR.
#include "tests/frontends/nfs/v4/operation_fixture.h"

namespace stoa::test {
namespace {

class Nfs4Xattrs : public OperationTest {
 protected:
  Nfs4Xattrs() {
    file = make_file("a");
    EXPECT_EQ(put_root(), Nfs4Status::kOk);
    EXPECT_EQ(lookup("a"), Nfs4Status::kOk);
  }
  Nfs4Status set(std::string_view key, std::string_view value, std::uint32_t option = 0) {
    return run(nfs4::op_setxattr, Xdr().u32(option).string(key).string(value));
  }
  Nfs4Status get(std::string_view key) { return run(nfs4::op_getxattr, Xdr().string(key)); }
  Nfs4Status list(std::uint64_t cookie, std::uint32_t maxcount) {
    return run(nfs4::op_listxattrs, Xdr().u64(cookie).u32(maxcount));
  }
  core::FileId file;
};

TEST_F(Nfs4Xattrs, AValueComesBackUnderItsName) {
  ASSERT_EQ(set("color", "blue"), Nfs4Status::kOk);
  EXPECT_TRUE(in.boolean());
  EXPECT_LT(in.u64(), attributes(file).change);
  EXPECT_EQ(in.u64(), attributes(file).change);
  ASSERT_EQ(get("color"), Nfs4Status::kOk);
  EXPECT_EQ(in.string(100), "blue");
  const auto kept = volume->ns().get_xattr({}, {file, "user.color"});
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->value, "blue");
  ASSERT_EQ(run(nfs4::op_removexattr, Xdr().string("color")), Nfs4Status::kOk);
  EXPECT_TRUE(in.boolean());
  EXPECT_EQ(get("color"), Nfs4Status::kNoXattr);
  EXPECT_EQ(run(nfs4::op_removexattr, Xdr().string("color")), Nfs4Status::kNoXattr);
}

TEST_F(Nfs4Xattrs, CreateAndReplaceKeepTheirWord) {
  EXPECT_EQ(set("k", "v", 2), Nfs4Status::kNoXattr);
  EXPECT_EQ(set("k", "v", 1), Nfs4Status::kOk);
  EXPECT_EQ(set("k", "w", 1), Nfs4Status::kExist);
  EXPECT_EQ(set("k", "w", 2), Nfs4Status::kOk);
  EXPECT_EQ(set("k", "w", 3), Nfs4Status::kBadXdr);
  EXPECT_EQ(set("", "w"), Nfs4Status::kInval);
  EXPECT_EQ(set(std::string_view("a\0b", 3), "w"), Nfs4Status::kInval);
  EXPECT_EQ(set(std::string(250, 'k'), "w"), Nfs4Status::kOk);
  EXPECT_EQ(set(std::string(251, 'k'), "w"), Nfs4Status::kNameTooLong);
  EXPECT_EQ(set("k", std::string(core::kXattrValueBytesMax + 1, 'v')), Nfs4Status::kXattr2Big);
}

TEST_F(Nfs4Xattrs, NamesAreListedPageByPageWithoutTheirNamespace) {
  ASSERT_TRUE(volume->ns().set_xattr({}, {file, "acl.private", "x"}));
  for (const char* key : {"one", "three", "two"}) ASSERT_EQ(set(key, "v"), Nfs4Status::kOk);
  std::vector<std::string> seen;
  std::uint64_t cookie = 0;
  bool end = false;
  while (!end) {
    ASSERT_EQ(list(cookie, 30), Nfs4Status::kOk);
    EXPECT_LE(in.left(), 30u);
    cookie = in.u64();
    for (std::uint32_t left = in.u32(); left > 0; --left) seen.emplace_back(in.string(100));
    end = in.boolean();
    EXPECT_TRUE(in.ok() && in.left() == 0);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "three", "two"}));
  EXPECT_EQ(list(4, 1000), Nfs4Status::kBadCookie);
  EXPECT_EQ(list(0, 15), Nfs4Status::kTooSmall);
  EXPECT_EQ(list(0, 20), Nfs4Status::kTooSmall);
}

TEST_F(Nfs4Xattrs, PermissionsAndThePseudoRoot) {
  ASSERT_TRUE(volume->ns().setattr({}, {.id = file, .set = {.mode = 0600}}));
  begin(2, 1000);
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(lookup("a"), Nfs4Status::kOk);
  EXPECT_EQ(set("k", "v"), Nfs4Status::kAccess);
  EXPECT_EQ(get("k"), Nfs4Status::kAccess);
  EXPECT_EQ(list(0, 1000), Nfs4Status::kAccess);
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  EXPECT_EQ(set("k", "v"), Nfs4Status::kRoFs);
  EXPECT_EQ(get("k"), Nfs4Status::kNoXattr);
  ASSERT_EQ(list(0, 1000), Nfs4Status::kOk);
  EXPECT_EQ(in.u64(), 0u);
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_TRUE(in.boolean());
}

}  // namespace
}  // namespace stoa::test
