// The recycle bin as NFSv4 clients meet it.
#include "tests/frontends/nfs/v4/operation_fixture.h"

namespace stoa::test {
namespace {

class Nfs4Recycle : public OperationTest {
 protected:
  Nfs4Recycle() {
    EXPECT_TRUE(volume->registry().set_recycle({.dir = root}));
    file_ = make_file("a", "text");
    EXPECT_EQ(put_root(), Nfs4Status::kOk);
    EXPECT_EQ(run(nfs4::op_remove, Xdr().string("a")), Nfs4Status::kOk);
    const auto items = volume->ns().list_recycled({}, {.dir = root});
    EXPECT_TRUE(items && items->items.size() == 1);
    const auto path = volume->ns().path_of({}, {file_});
    EXPECT_TRUE(path);
    if (path) name_ = path->path.substr(path->path.rfind('/') + 1);
  }
  void enter_user_bin() {
    ASSERT_EQ(put_root(), Nfs4Status::kOk);
    ASSERT_EQ(lookup(".recycle"), Nfs4Status::kOk);
    ASSERT_EQ(lookup("0"), Nfs4Status::kOk);
  }
  core::FileId file_{};
  std::string name_;
};

TEST_F(Nfs4Recycle, ItIsEnteredAndLeft) {
  enter_user_bin();
  ASSERT_EQ(run(nfs4::op_lookupp), Nfs4Status::kOk);
  ASSERT_EQ(run(nfs4::op_lookupp), Nfs4Status::kOk);
  EXPECT_EQ(c->current->ref.id, root);
}

TEST_F(Nfs4Recycle, WhatIsInItIsReadOnly) {
  enter_user_bin();
  EXPECT_EQ(run(nfs4::op_remove, Xdr().string(name_)), Nfs4Status::kRoFs);
  EXPECT_EQ(run(nfs4::op_create, Xdr().u32(2).string("d").raw(no_attributes())), Nfs4Status::kRoFs);
  ASSERT_EQ(lookup(name_), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_write, Xdr().raw(good_stateid()).u64(0).u32(2).string("x")), Nfs4Status::kRoFs);
  EXPECT_EQ(content(file_), "text");
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_create, Xdr().u32(2).string(".recycle").raw(no_attributes())), Nfs4Status::kExist);
}

TEST_F(Nfs4Recycle, MovingItOutRestoresIt) {
  enter_user_bin();
  save();
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  enter_user_bin();
  save();
  ASSERT_EQ(run(nfs4::op_lookupp), Nfs4Status::kOk);
  ASSERT_EQ(run(nfs4::op_lookupp), Nfs4Status::kOk);
  ASSERT_EQ(run(nfs4::op_rename, Xdr().string(name_).string("back")), Nfs4Status::kOk);
  EXPECT_EQ(lookup("back"), Nfs4Status::kOk);
  EXPECT_EQ(c->current->ref.id, file_);
}

}  // namespace
}  // namespace stoa::test
