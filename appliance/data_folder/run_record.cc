#include "appliance/data_folder/run_record.h"

#include <unistd.h>

#include <cstdlib>
#include <map>

#include "appliance/data_folder/small_file.h"

namespace stoa::appliance {

Status write_run_record(const DataFolder& folder, const RunRecord& record) {
  std::string text;
  const auto add = [&](std::string_view key, const std::string& value) {
    text.append(key).append("=").append(value).append("\n");
  };
  add("pid", std::to_string(record.pid));
  add("version", record.version);
  add("admin_url", record.admin_url);
  add("admin_pin", record.admin_pin);
  add("admin_socket", record.admin_socket);
  add("nfs", record.nfs);
  add("mount", record.mount);
  add("native", record.native);
  add("s3_url", record.s3_url);
  add("log_file", record.log_file);
  return write_small_file(folder.run_record(), text, 0644);
}

Result<RunRecord> read_run_record(const DataFolder& folder) {
  STOA_TRY(text, read_small_file(folder.run_record()));
  std::map<std::string, std::string, std::less<>> values;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) values.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  RunRecord record;
  record.pid = static_cast<pid_t>(std::strtol(values["pid"].c_str(), nullptr, 10));
  record.version = values["version"];
  record.admin_url = values["admin_url"];
  record.admin_pin = values["admin_pin"];
  record.admin_socket = values["admin_socket"];
  record.nfs = values["nfs"];
  record.mount = values["mount"];
  record.native = values["native"];
  record.s3_url = values["s3_url"];
  record.log_file = values["log_file"];
  return record;
}

void remove_run_record(const DataFolder& folder) {
  unlink(folder.run_record().c_str());
}

}  // namespace stoa::appliance
