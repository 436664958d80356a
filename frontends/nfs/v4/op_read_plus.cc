// RFC 7862 15.10
#include <algorithm>

#include "frontends/nfs/v4/data_content.h"
#include "frontends/nfs/v4/io_price.h"
#include "frontends/nfs/v4/object_type.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {
namespace {

constexpr std::size_t kDataHeadBytes = 4 + 8 + 4;  // its kind, offset and length
constexpr std::size_t kHoleBytes = 4 + 8 + 8;
constexpr std::uint32_t kSegmentsMax = 64;

// The contents of one reply, piece by piece. They take no more room than the requested bytes and the heads of one hole
// and one piece of data: the client's buffer has that size.
class Contents {
 public:
  Contents(Compound& c, core::FileId file, std::uint64_t offset, std::uint64_t end)
      : c_(c), file_(file), at_(offset), end_(end), room_(end - offset + kDataHeadBytes + kHoleBytes) {}

  Nfs4Status run() {
    for (; at_ < end_ && count_ < kSegmentsMax; ++count_) {
      const auto data = seek(core::SeekWhat::kData);
      if (!data) return data_status(c_, file_, data.error());
      if (*data > at_) {
        if (room_ < kHoleBytes) break;
        put_hole(*data);
        continue;
      }
      const auto hole = seek(core::SeekWhat::kHole);
      if (!hole) return data_status(c_, file_, hole.error());
      // It was punched between the two looks: the next look sees the hole.
      if (*hole == at_) continue;
      if (room_ <= kDataHeadBytes + 3) break;
      if (const Nfs4Status bad = put_data(*hole); bad != Nfs4Status::kOk) return bad;
    }
    return Nfs4Status::kOk;
  }
  std::uint64_t at() const { return at_; }
  std::uint32_t written() const { return written_; }

 private:
  // The position of the next data or hole from here on; not behind the requested range.
  Result<std::uint64_t> seek(core::SeekWhat what) {
    const auto found = c_.ns.seek(c_.ctx, {.id = file_, .offset = at_, .what = what});
    if (found) return std::min(found->offset, end_);
    if (found.error().code == Errc::kNoMoreData) return end_;
    return fail(found.error());
  }
  void put_hole(std::uint64_t until) {
    c_.out.u32(kContentHole);
    c_.out.u64(at_);
    c_.out.u64(until - at_);
    at_ = until;
    room_ -= kHoleBytes;
    ++written_;
  }
  Nfs4Status put_data(std::uint64_t until) {
    const std::size_t room = (room_ - kDataHeadBytes) & ~std::size_t{3};
    const std::size_t wanted = std::min<std::uint64_t>(until - at_, room);
    auto place = c_.out.reserve(kDataHeadBytes, wanted);
    const auto reply = c_.ns.read(c_.ctx, {.id = file_, .offset = at_, .into = place.content()});
    if (!reply) {
      place.drop();
      return data_status(c_, file_, reply.error());
    }
    if (reply->length == 0) {  // cut off meanwhile
      end_ = at_;
      return Nfs4Status::kOk;
    }
    place.commit(reply->length, [&] {
      c_.out.u32(kContentData);
      c_.out.u64(at_);
      c_.out.u32(static_cast<std::uint32_t>(reply->length));
    });
    at_ += reply->length;
    room_ -= kDataHeadBytes + rpc::padded(reply->length);
    ++written_;
    return Nfs4Status::kOk;
  }

  Compound& c_;
  const core::FileId file_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::size_t room_;
  std::uint32_t count_ = 0;    // looks
  std::uint32_t written_ = 0;  // pieces
};

}  // namespace

Nfs4Status op_read_plus(Compound& c) {
  const Stateid stateid = read_stateid(c.in);
  const std::uint64_t offset = c.in.u64();
  const std::uint32_t count = std::min(c.in.u32(), kIoBytesMax);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto file = c.file(Nfs4Status::kIsDir);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (const Nfs4Status bad = check_io_stateid(c, stateid, file.id, false); bad != Nfs4Status::kOk) return bad;
  if (const Nfs4Status later = pay_for_io(c, qos::Price::read(count)); later != Nfs4Status::kOk) return later;

  // A read of nothing: whether the client may, and the size that all that follows is measured by.
  const auto now = c.ns.read(c.ctx, {.id = file.id, .offset = offset, .into = {}});
  if (!now) return data_status(c, file.id, now.error());
  const std::uint64_t size = now->attr.size;
  const std::size_t begin = c.out.size();
  c.out.boolean(true);
  c.out.u32(0);
  if (offset >= size) return Nfs4Status::kOk;
  Contents contents(c, file.id, offset, offset + std::min<std::uint64_t>(count, size - offset));
  if (const Nfs4Status bad = contents.run(); bad != Nfs4Status::kOk) return bad;
  c.out.patch_u32(begin, contents.at() >= size ? 1 : 0);
  c.out.patch_u32(begin + 4, contents.written());
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4
