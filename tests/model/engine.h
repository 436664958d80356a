// The stores of a model run: everything in memory, or RocksDB and host files in a folder of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/metrics.h"
#include "core/volume/volume.h"

namespace stoa::model {

class Engine {
 public:
  virtual ~Engine() = default;
  // Opens the volume, formatting it first when there is none.
  virtual Status open(const core::VolumeOptions& options) = 0;
  // Closes it in good order; its content is there after the next open().
  virtual void close() = 0;
  virtual core::Volume& volume() = 0;
};

using MakeEngine = std::function<std::unique_ptr<Engine>()>;
std::unique_ptr<Engine> make_memory_engine();
std::unique_ptr<Engine> make_rocksdb_engine();  // content in memory
std::unique_ptr<Engine> make_local_engine();    // content in host files

}  // namespace stoa::model
