#include "bench/load/block_stamp.h"
#include "bench/load/nfs_call.h"
#include "bench/load/nfs_phases.h"

namespace stoa::bench {
namespace {

class Blocks : public Phase {
 public:
  explicit Blocks(const BlockWork& work) : work_(work) {}

 protected:
  void choose(Slot& slot) {
    const std::uint64_t block = work_.random ? mix(work_.seed + slot.index) % work_.blocks : slot.index;
    slot.offset = block * work_.bytes;
  }
  BlockWork work_;
};

class WriteBlocks final : public Blocks {
 public:
  explicit WriteBlocks(const BlockWork& work) : Blocks(work), data_(work.bytes, 'x') {}
  void begin(Slot& slot) override {
    choose(slot);
    stamp(data_.data(), data_.size(), slot.offset);  // libnfs copies the bytes when it encodes the call
    WRITE3args args{};
    args.file = to_fh(work_.file);
    args.offset = slot.offset;
    args.count = work_.bytes;
    args.stable = work_.file_sync ? FILE_SYNC : UNSTABLE;
    args.data.data_len = work_.bytes;
    args.data.data_val = data_.data();
    queued(slot,
           rpc_nfs3_write_async(slot.rpc, nfs_callback<WriteBlocks, WRITE3res, &WriteBlocks::written>, &args, &slot));
  }

 private:
  void written(Slot& slot, WRITE3res& res) {
    const auto& ok = res.WRITE3res_u.resok;
    if (ok.count != work_.bytes) return slot.session->failed(slot, "short WRITE");
    if (work_.file_sync && ok.committed != FILE_SYNC) return slot.session->failed(slot, "not FILE_SYNC as asked");
    slot.session->done(slot, work_.bytes);
  }
  std::string data_;
};

class ReadBlocks final : public Blocks {
 public:
  using Blocks::Blocks;
  void begin(Slot& slot) override {
    choose(slot);
    READ3args args{};
    args.file = to_fh(work_.file);
    args.offset = slot.offset;
    args.count = work_.bytes;
    queued(slot, rpc_nfs3_read_async(slot.rpc, nfs_callback<ReadBlocks, READ3res, &ReadBlocks::read>, &args, &slot));
  }

 private:
  void read(Slot& slot, READ3res& res) {
    const auto& ok = res.READ3res_u.resok;
    if (ok.count != work_.bytes || ok.data.data_len != work_.bytes) return slot.session->failed(slot, "short READ");
    if (!is_stamped(ok.data.data_val, work_.bytes, slot.offset)) return slot.session->failed(slot, "wrong bytes");
    slot.session->done(slot, work_.bytes);
  }
};

class CommitFile final : public Phase {
 public:
  explicit CommitFile(const Handle& file) : file_(file) {}
  void begin(Slot& slot) override {
    COMMIT3args args{};
    args.file = to_fh(file_);
    queued(slot,
           rpc_nfs3_commit_async(slot.rpc, nfs_callback<CommitFile, COMMIT3res, &CommitFile::committed>, &args, &slot));
  }

 private:
  void committed(Slot& slot, COMMIT3res&) { slot.session->done(slot, 0); }
  Handle file_;
};

}  // namespace

std::unique_ptr<Phase> write_blocks(const BlockWork& work) {
  return std::make_unique<WriteBlocks>(work);
}
std::unique_ptr<Phase> read_blocks(const BlockWork& work) {
  return std::make_unique<ReadBlocks>(work);
}
std::unique_ptr<Phase> commit_file(const Handle& file) {
  return std::make_unique<CommitFile>(file);
}

}  // namespace stoa::bench
