#include "bench/load/nfs_call.h"
#include "bench/load/nfs_phases.h"

namespace stoa::bench {
namespace {

void set_name(Slot& slot, std::uint64_t index) {
  *write_file_name(slot.name, index) = '\0';
}

bool take_handle(Slot& slot, const nfs_fh3& fh) {
  if (fh.data.data_len > sizeof(slot.handle.bytes)) return false;
  slot.handle.size = fh.data.data_len;
  std::memcpy(slot.handle.bytes, fh.data.data_val, fh.data.data_len);
  return true;
}

class DirectoryPhase : public Phase {
 public:
  explicit DirectoryPhase(const Handle& dir) : dir_(dir) {}

 protected:
  LOOKUP3args lookup_args(Slot& slot) {
    LOOKUP3args args{};
    args.what.dir = to_fh(dir_);
    args.what.name = slot.name;
    return args;
  }
  Handle dir_;
};

class CreateFiles final : public Phase {
 public:
  explicit CreateFiles(const CreateWork& work) : work_(work), data_(work.bytes, 'x') {}

  void begin(Slot& slot) override {
    // An index belongs to one directory, so no name comes twice.
    std::memcpy(slot.name, work_.prefix.data(), work_.prefix.size());
    *write_file_name(slot.name + work_.prefix.size(), slot.index) = '\0';
    CREATE3args args{};
    args.where.dir = to_fh(work_.dirs[work_.dirs.size() == 1 ? 0 : mix(work_.seed + slot.index) % work_.dirs.size()]);
    args.where.name = slot.name;
    args.how.mode = UNCHECKED;
    args.how.createhow3_u.obj_attributes.mode.set_it = 1;
    args.how.createhow3_u.obj_attributes.mode.set_mode3_u.mode = 0644;
    queued(slot,
           rpc_nfs3_create_async(slot.rpc, nfs_callback<CreateFiles, CREATE3res, &CreateFiles::created>, &args, &slot));
  }

 private:
  void created(Slot& slot, CREATE3res& res) {
    if (work_.bytes == 0) return slot.session->done(slot, 0);
    const auto& obj = res.CREATE3res_u.resok.obj;
    if (!obj.handle_follows || !take_handle(slot, obj.post_op_fh3_u.handle)) {
      return slot.session->failed(slot, "CREATE without a handle");
    }
    WRITE3args args{};
    args.file = to_fh(slot.handle);
    args.count = work_.bytes;
    args.stable = UNSTABLE;
    args.data.data_len = work_.bytes;
    args.data.data_val = data_.data();
    queued(slot,
           rpc_nfs3_write_async(slot.rpc, nfs_callback<CreateFiles, WRITE3res, &CreateFiles::written>, &args, &slot));
  }
  void written(Slot& slot, WRITE3res& res) {
    const auto& ok = res.WRITE3res_u.resok;
    if (ok.count != work_.bytes) return slot.session->failed(slot, "short WRITE");
    if (!work_.commit) return slot.session->done(slot, work_.bytes);
    std::memcpy(slot.cookie_verifier, ok.verf, sizeof(ok.verf));
    COMMIT3args args{};
    args.file = to_fh(slot.handle);
    queued(slot, rpc_nfs3_commit_async(slot.rpc, nfs_callback<CreateFiles, COMMIT3res, &CreateFiles::committed>, &args,
                                       &slot));
  }
  void committed(Slot& slot, COMMIT3res& res) {
    // Another verifier means that the server lost uncommitted data (RFC 1813 3.3.21).
    if (std::memcmp(slot.cookie_verifier, res.COMMIT3res_u.resok.verf, sizeof(slot.cookie_verifier)) != 0) {
      return slot.session->failed(slot, "the write verifier changed");
    }
    slot.session->done(slot, work_.bytes);
  }
  CreateWork work_;
  std::string data_;
};

class CollectHandles final : public DirectoryPhase {
 public:
  CollectHandles(const Handle& dir, std::vector<Handle>* handles) : DirectoryPhase(dir), handles_(handles) {}
  void begin(Slot& slot) override {
    set_name(slot, slot.index);
    auto args = lookup_args(slot);
    queued(slot, rpc_nfs3_lookup_async(slot.rpc, nfs_callback<CollectHandles, LOOKUP3res, &CollectHandles::found>,
                                       &args, &slot));
  }

 private:
  void found(Slot& slot, LOOKUP3res& res) {
    if (!take_handle(slot, res.LOOKUP3res_u.resok.object)) return slot.session->failed(slot, "handle too long");
    if (handles_->size() <= slot.index) handles_->resize(slot.index + 1);
    (*handles_)[slot.index] = slot.handle;
    slot.session->done(slot, 0);
  }
  std::vector<Handle>* handles_;
};

class Getattrs final : public Phase {
 public:
  Getattrs(const std::vector<Handle>& handles, ftype3 type, std::uint64_t seed)
      : handles_(handles), type_(type), seed_(seed) {}
  void begin(Slot& slot) override {
    GETATTR3args args{};
    args.object = to_fh(handles_[mix(seed_ + slot.index) % handles_.size()]);
    queued(slot, rpc_nfs3_getattr_async(slot.rpc, nfs_callback<Getattrs, GETATTR3res, &Getattrs::got>, &args, &slot));
  }

 private:
  void got(Slot& slot, GETATTR3res& res) {
    if (res.GETATTR3res_u.resok.obj_attributes.type != type_) return slot.session->failed(slot, "wrong type");
    slot.session->done(slot, 0);
  }
  std::vector<Handle> handles_;
  ftype3 type_;
  std::uint64_t seed_;
};

// LOOKUP, and then by purpose: nothing, GETATTR (stat) or READ of the whole small file.
class LookupFiles final : public DirectoryPhase {
 public:
  enum class Then { kNothing, kGetattr, kRead };
  LookupFiles(const Handle& dir, std::uint64_t files, std::uint64_t seed, Then then, std::uint32_t bytes = 0)
      : DirectoryPhase(dir), files_(files), seed_(seed), then_(then), bytes_(bytes) {}
  void begin(Slot& slot) override {
    set_name(slot, mix(seed_ + slot.index) % files_);
    auto args = lookup_args(slot);
    queued(slot,
           rpc_nfs3_lookup_async(slot.rpc, nfs_callback<LookupFiles, LOOKUP3res, &LookupFiles::found>, &args, &slot));
  }

 private:
  void found(Slot& slot, LOOKUP3res& res) {
    if (then_ == Then::kNothing) return slot.session->done(slot, 0);
    if (!take_handle(slot, res.LOOKUP3res_u.resok.object)) return slot.session->failed(slot, "handle too long");
    if (then_ == Then::kGetattr) {
      GETATTR3args args{};
      args.object = to_fh(slot.handle);
      queued(slot,
             rpc_nfs3_getattr_async(slot.rpc, nfs_callback<LookupFiles, GETATTR3res, &LookupFiles::got>, &args, &slot));
    } else {
      READ3args args{};
      args.file = to_fh(slot.handle);
      args.count = bytes_;
      queued(slot,
             rpc_nfs3_read_async(slot.rpc, nfs_callback<LookupFiles, READ3res, &LookupFiles::read>, &args, &slot));
    }
  }
  void got(Slot& slot, GETATTR3res&) { slot.session->done(slot, 0); }
  void read(Slot& slot, READ3res& res) {
    const auto& ok = res.READ3res_u.resok;
    if (ok.count != bytes_ || ok.data.data_len != bytes_) return slot.session->failed(slot, "short READ");
    if (ok.data.data_val[0] != 'x' || ok.data.data_val[bytes_ - 1] != 'x')
      return slot.session->failed(slot, "wrong bytes");
    slot.session->done(slot, bytes_);
  }
  std::uint64_t files_;
  std::uint64_t seed_;
  Then then_;
  std::uint32_t bytes_;
};

class RemoveFiles final : public DirectoryPhase {
 public:
  explicit RemoveFiles(const Handle& dir) : DirectoryPhase(dir) {}
  void begin(Slot& slot) override {
    set_name(slot, slot.index);
    REMOVE3args args{};
    args.object.dir = to_fh(dir_);
    args.object.name = slot.name;
    queued(slot,
           rpc_nfs3_remove_async(slot.rpc, nfs_callback<RemoveFiles, REMOVE3res, &RemoveFiles::removed>, &args, &slot));
  }

 private:
  void removed(Slot& slot, REMOVE3res&) { slot.session->done(slot, 0); }
};

class MakeDirectories final : public DirectoryPhase {
 public:
  explicit MakeDirectories(const Handle& dir) : DirectoryPhase(dir) {}
  void begin(Slot& slot) override {
    set_name(slot, slot.index);
    MKDIR3args args{};
    args.where.dir = to_fh(dir_);
    args.where.name = slot.name;
    args.attributes.mode.set_it = 1;
    args.attributes.mode.set_mode3_u.mode = 0755;
    queued(slot, rpc_nfs3_mkdir_async(slot.rpc, nfs_callback<MakeDirectories, MKDIR3res, &MakeDirectories::made>, &args,
                                      &slot));
  }

 private:
  void made(Slot& slot, MKDIR3res&) { slot.session->done(slot, 0); }
};

class RemoveDirectories final : public DirectoryPhase {
 public:
  explicit RemoveDirectories(const Handle& dir) : DirectoryPhase(dir) {}
  void begin(Slot& slot) override {
    set_name(slot, slot.index);
    RMDIR3args args{};
    args.object.dir = to_fh(dir_);
    args.object.name = slot.name;
    queued(slot, rpc_nfs3_rmdir_async(slot.rpc, nfs_callback<RemoveDirectories, RMDIR3res, &RemoveDirectories::removed>,
                                      &args, &slot));
  }

 private:
  void removed(Slot& slot, RMDIR3res&) { slot.session->done(slot, 0); }
};

}  // namespace

std::string file_name(std::uint64_t index) {
  Slot slot;
  set_name(slot, index);
  return slot.name;
}
std::unique_ptr<Phase> create_files(const CreateWork& work) {
  return std::make_unique<CreateFiles>(work);
}
std::unique_ptr<Phase> collect_handles(const Handle& dir, std::vector<Handle>* handles) {
  return std::make_unique<CollectHandles>(dir, handles);
}
std::unique_ptr<Phase> getattr_files(const std::vector<Handle>& handles, std::uint64_t seed) {
  return std::make_unique<Getattrs>(handles, NF3REG, seed);
}
std::unique_ptr<Phase> getattr_directories(const std::vector<Handle>& handles, std::uint64_t seed) {
  return std::make_unique<Getattrs>(handles, NF3DIR, seed);
}
std::unique_ptr<Phase> lookup_files(const Handle& dir, std::uint64_t files, std::uint64_t seed) {
  return std::make_unique<LookupFiles>(dir, files, seed, LookupFiles::Then::kNothing);
}
std::unique_ptr<Phase> stat_files(const Handle& dir, std::uint64_t files, std::uint64_t seed) {
  return std::make_unique<LookupFiles>(dir, files, seed, LookupFiles::Then::kGetattr);
}
std::unique_ptr<Phase> read_small_files(const Handle& dir, std::uint64_t files, std::uint32_t bytes,
                                        std::uint64_t seed) {
  return std::make_unique<LookupFiles>(dir, files, seed, LookupFiles::Then::kRead, bytes);
}
std::unique_ptr<Phase> remove_files(const Handle& dir) {
  return std::make_unique<RemoveFiles>(dir);
}
std::unique_ptr<Phase> make_directories(const Handle& dir) {
  return std::make_unique<MakeDirectories>(dir);
}
std::unique_ptr<Phase> remove_directories(const Handle& dir) {
  return std::make_unique<RemoveDirectories>(dir);
}

}  // namespace stoa::bench
