#include "frontends/native/client/overtaking.h"

namespace stoa::native {

std::vector<Overtaking> changes_of(const Batch& batch) {
  std::vector<Overtaking> found;
  const auto add = [&](File file) { found.push_back({.file = is_result(file) ? 0 : static_cast<U64>(file)}); };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    switch (batch.code(i)) {
      case operations::close::kCode:
        found.push_back({.open = batch.arguments<operations::close>(i).open});
        break;
      case operations::setattr::kCode: {
        const auto in = batch.arguments<operations::setattr>(i);
        if ((in.set.which & kSetSize) != 0) add(in.file);
        break;
      }
      case operations::create::kCode:
        if ((batch.arguments<operations::create>(i).set.which & kSetSize) != 0) add(File{});
        break;
      case operations::open::kCode: {
        const auto in = batch.arguments<operations::open>(i);
        if (in.disposition == kOpenTruncate || in.disposition == kOpenTruncateOrCreate) add(in.file);
        break;
      }
      case operations::punch::kCode:
        add(batch.arguments<operations::punch>(i).file);
        break;
      case operations::zero::kCode:
        add(batch.arguments<operations::zero>(i).file);
        break;
      case operations::copy_range::kCode:
        add(batch.arguments<operations::copy_range>(i).to);
        break;
      case operations::write::kCode: {
        const auto in = batch.arguments<operations::write>(i);
        if (in.stable == 0) break;
        add(in.file);
        found.back().stable_write = true;
        break;
      }
      default:
        break;
    }
  }
  return found;
}

}  // namespace stoa::native
