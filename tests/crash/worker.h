// One client of the crash test: works in a folder of its own, records the promises that it got, and checks them after
// a crash.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/clients/nfs_client.h"
#include "tests/clients/s3_client.h"
#include "tests/crash/expected_file.h"
#include "tests/model/random.h"

namespace stoa::crash {

struct Protocols {
  clients::NfsTarget nfs;
  clients::S3Target s3;
  std::vector<std::string> cli{};  // the command line that speaks to the server
};

class Worker {
 public:
  Worker(std::string name, std::uint64_t seed) : name_(std::move(name)), random_(seed) {}
  virtual ~Worker() = default;

  // Connects to the restarted server, and compares its state with the promises, through the protocol of the writes
  // and through the other. Problems go to `problems()`.
  virtual void verify(const Protocols& protocols);
  // Works until the connection breaks.
  void work(const Protocols& protocols);

  const std::vector<std::string>& problems() const { return problems_; }
  std::uint64_t promises() const { return promises_; }
  virtual std::string summary() const { return {}; }  // other events, to be read by people

 protected:
  // Names below the worker's folder. nullopt in a change: the name is gone.
  using Files = std::map<std::string, ExpectedFile>;
  using Change = std::map<std::string, std::optional<ExpectedFile>>;

  // One operation. False: the connection broke; then the operation is in doubt().
  virtual bool step() = 0;
  virtual bool connect(const Protocols& protocols, std::string* why) = 0;

  void problem(std::string what) { problems_.push_back(name_ + ": " + std::move(what)); }
  // The effect of the operation about to be sent.
  void begin(Change change) { doubt_ = std::move(change); }
  // It was acknowledged.
  void promised();
  void kept_promise() { ++promises_; }  // for workers with records of their own
  // It was refused: nothing changed.
  void refused(const std::string& what, const std::string& why);
  std::string any_bytes();
  std::string existing_name();

  std::string name_;
  model::Random random_;
  Files files_;
  std::optional<Change> doubt_;
  std::map<std::string, clients::NfsHandle> handles_;  // given out before, and good for ever

 private:
  bool matches(const std::string& path, const ExpectedFile* expected, std::map<std::string, std::string>& found,
               std::string* why);
  std::vector<std::string> problems_;
  std::uint64_t promises_ = 0;
};

std::unique_ptr<Worker> make_nfs_worker(int number, std::uint64_t seed);
std::unique_ptr<Worker> make_s3_worker(int number, std::uint64_t seed);
std::unique_ptr<Worker> make_bin_worker(int number,
                                        std::uint64_t seed);  // even ones count kept files, odd ones do not
std::unique_ptr<Worker> make_owner_worker(int number, std::uint64_t seed);

}  // namespace stoa::crash
