// What the data path keeps in memory for one volume.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/metrics.h"
#include "core/inode/node.h"

namespace stoa::core {

struct Upload;

class DataState {
 public:
  explicit DataState(MetricRegistry& metrics);
  ~DataState();

  // Uploads in progress.
  std::mutex uploads_mutex;  // guards the two below
  std::unordered_map<UploadId, std::shared_ptr<Upload>> uploads;
  std::uint64_t next_upload = 1;

  // Files with lazy attributes, for the periodic flush.
  std::mutex lazy_mutex;  // guards lazy
  std::vector<NodeRef> lazy;
};

}  // namespace stoa::core
