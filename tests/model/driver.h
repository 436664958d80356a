// The driver: performs operations on a volume and on the twin and compares the results.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/model/engine.h"
#include "tests/model/model_run.h"
#include "tests/model/random.h"
#include "tests/model/twin.h"

namespace stoa::model {

class Driver {
 public:
  Driver(Engine& engine, const ModelOptions& options) : engine_(engine), options_(options) {}

  // Performs the operation of this seed. False: something differs, see failure().
  bool step(std::uint64_t operation_seed);
  // Compares everything there is: the whole tree, usage of every directory, listings, check(); reopens the volume.
  bool compare_all();
  bool start();

  const std::string& failure() const { return *failure_; }
  std::vector<std::string> tail() const { return {tail_.begin(), tail_.end()}; }

 private:
  // Entries of a directory as readdir showed them, to hold the promise that cookies are stable for ever.
  struct SeenDirectory {
    std::map<Stored, std::pair<FileId, std::uint64_t>> cookies;
    std::uint64_t highest = 2;
  };

  core::Namespace& ns() { return engine_.volume().ns(); }
  core::OpContext context();
  void describe(std::string text);
  bool differ(std::string what);  // records the first failure; always false
  core::VolumeOptions volume_options();

  // Whether the volume's answer is one that the twin allows.
  template <class Reply>
  bool same_outcome(const Verdict& verdict, const Result<Reply>& reply);
  // Attributes after the operation against the twin and against those seen before.
  bool verify(FileId id, Touch touch);
  bool verify_touched(const Verdict& verdict);
  bool verify_before(const core::BeforeAttributes& before, FileId id);
  bool verify_reply(const core::Attributes& attr, FileId id);
  bool learn(FileId placeholder, FileId real);
  bool learn_new_directories();
  // Learns the bins, and the serials of items of the last operation.
  bool settle_bins();
  bool settle_bin(FileId recycle_root);
  bool settle_item(TwinItem& waiting, const std::vector<core::RecycledItem>& listed);
  bool forgive_pruned_directories(FileId root);
  bool forgive_all();  // after an operation that touched more than the twin says
  std::set<FileId> present() const;
  bool verify_gone(const std::set<FileId>& before);  // those of these that the twin has no more
  bool after_create(const Verdict& verdict, const Result<core::CreateReply>& reply, FileId parent);

  bool close_held(FileId id);

  // Whole comparisons (compare.cc).
  bool compare_content(FileId id);
  bool compare_directory(FileId id);
  bool compare_listing(FileId root, std::string_view prefix, std::string_view delimiter, std::string start_after,
                       std::uint32_t limit);
  bool compare_usage(FileId id);
  bool compare_xattrs(FileId id);
  bool compare_items(FileId dir);
  bool compare_meta(FileId root, const std::string& key);
  bool compare_range(FileId id, std::uint64_t offset, std::uint64_t length, bool slices);

  // Choices (choose.cc).
  FileId any_directory();
  FileId any_file();
  FileId any_inode();
  std::string name_in(FileId dir);
  std::string new_name();
  std::string key_in(FileId root);
  std::uint64_t any_offset();
  std::uint64_t any_length();
  core::SetAttributes any_attributes();
  std::vector<FileId> all(bool directories, bool files) const;

  // Operations (operations_names.cc, operations_data.cc, operations_keys.cc).
  bool do_create();
  bool do_open();
  bool do_mkdir();
  bool do_symlink();
  bool do_mknod();
  bool do_link();
  bool do_unlink();
  bool do_rmdir();
  bool do_rename();
  bool do_hold();
  bool do_close();
  bool do_lookup();
  bool do_readdir();
  bool do_access();
  bool do_readlink();
  bool do_setattr();
  bool do_truncate();
  bool do_write();
  bool do_read();
  bool do_punch();
  bool do_allocate();
  bool do_seek();
  bool do_copy_range();
  bool do_commit();
  bool do_set_xattr();
  bool do_remove_xattr();
  bool do_get_xattr();
  bool do_put_key();
  bool do_remove_key();
  bool do_list_keys();
  bool do_lookup_key();
  bool do_set_meta();
  bool begin_upload(FileId* dir);
  bool do_concatenate();
  bool do_set_quota();
  bool do_usage();
  bool do_path();
  bool do_statfs();
  bool do_background();

  // Recycle bins (operations_recycle.cc).
  bool do_set_policy();
  bool do_export();
  bool do_remove_tree();
  bool do_restore();
  bool do_purge();
  bool do_age();
  bool do_recycle_status();
  bool do_list_recycled();

  Engine& engine_;
  ModelOptions options_;
  Twin twin_;
  Random random_{0};
  std::map<FileId, core::Attributes> seen_;
  std::map<FileId, SeenDirectory> directories_;
  std::map<FileId, core::ObjectVersion> described_;  // the version that the object meta of a file describes
  bool reopened_ = false;                            // comparing for the first time after the volume was opened again
  std::vector<FileId> gone_;
  std::uint64_t last_serial_ = 0;          // of deletions
  std::map<FileId, std::string> exports_;  // by root
  std::uint64_t exports_made_ = 0;
  std::map<FileId, core::OpenId> held_;  // open, until closed or the volume is opened again
  std::set<FileId> ever_;                // every id that was given out: none may come again
  std::deque<std::string> tail_;
  std::optional<std::string> failure_;
};

// Short texts for messages.
std::string text(FileId id);
std::string in_quotes(std::string_view bytes);
std::string text(const Verdict& verdict);

}  // namespace stoa::model
