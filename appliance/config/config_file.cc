#include "appliance/config/config_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include <toml++/toml.h>

#include "appliance/config/byte_size.h"
#include "appliance/config/endpoint.h"
#include "appliance/config/keys.h"

namespace stoa::appliance {
namespace {

class Problems {
 public:
  explicit Problems(const std::string& origin) : origin_(origin) {}
  void add(std::uint32_t line, const std::string& what) {
    if (!text_.empty()) text_ += '\n';
    text_ += origin_ + ":" + std::to_string(line) + ": " + what;
  }
  Status status() const { return text_.empty() ? Status{} : fail(Errc::kInvalid, text_); }

 private:
  const std::string& origin_;
  std::string text_;
};

std::string_view wanted_form(KeyForm form) {
  switch (form) {
    case KeyForm::kFlag:
      return "true or false";
    case KeyForm::kNumber:
      return "a whole number";
    case KeyForm::kBytes:
      return "a number of bytes or a size in quotes, such as \"64MiB\"";
    case KeyForm::kText:
      return "text in quotes";
    case KeyForm::kTexts:
      return "a list of texts, such as [\"/a\", \"/b\"]";
  }
  return "";
}

Result<KeyValue> to_value(const ConfigKey& key, const toml::node& node) {
  const auto wrong = [&] { return fail(Errc::kInvalid, "must be " + std::string(wanted_form(key.form))); };
  switch (key.form) {
    case KeyForm::kFlag:
      if (const auto* flag = node.as_boolean()) return KeyValue(flag->get());
      return wrong();
    case KeyForm::kNumber:
    case KeyForm::kBytes:
      if (const auto* number = node.as_integer()) {
        if (number->get() < 0) return fail(Errc::kInvalid, "must not be negative");
        return KeyValue(static_cast<std::uint64_t>(number->get()));
      }
      if (const auto* text = node.as_string(); text != nullptr && key.form == KeyForm::kBytes) {
        return parse_value(key, text->get());
      }
      return wrong();
    case KeyForm::kText:
      if (const auto* text = node.as_string()) return KeyValue(text->get());
      return wrong();
    case KeyForm::kTexts: {
      const auto* list = node.as_array();
      if (list == nullptr) return wrong();
      std::vector<std::string> texts;
      for (const toml::node& item : *list) {
        const auto* text = item.as_string();
        if (text == nullptr) return wrong();
        texts.push_back(text->get());
      }
      return KeyValue(std::move(texts));
    }
  }
  return wrong();
}

std::string unknown_key(const std::string& full) {
  std::string text = "there is no key '" + full + "'";
  if (const ConfigKey* close = closest_key(full)) text += "; did you mean '" + close->full_name() + "'?";
  return text + " (all keys: stoad --print-example-config)";
}

void read_table(const toml::table& table, const std::string& section, Config& config, Problems& problems) {
  for (const auto& [name, node] : table) {
    const std::string full = section.empty() ? std::string(name.str()) : section + "." + std::string(name.str());
    const std::uint32_t line = name.source().begin.line;
    const ConfigKey* key = find_key(full);
    if (key == nullptr && section.empty() && node.is_table()) {
      if (section_help(full).empty()) {
        problems.add(line, "there is no section [" + full + "]; the sections are log, volume, nfs, s3 and admin");
      } else {
        read_table(*node.as_table(), full, config, problems);
      }
      continue;
    }
    if (key == nullptr) {
      problems.add(line, unknown_key(full));
      continue;
    }
    auto value = to_value(*key, node);
    const Status set = value ? key->set(config, *std::move(value)) : fail(value.error());
    if (!set) problems.add(line, full + ": " + set.error().detail);
  }
}

}  // namespace

Status read_config_text(std::string_view text, const std::string& origin, Config& config) {
  Problems problems(origin);
  try {
    read_table(toml::parse(text, origin), "", config, problems);
  } catch (const toml::parse_error& error) {
    problems.add(error.source().begin.line, "not TOML: " + std::string(error.description()));
  }
  return problems.status();
}

Status read_config_file(const std::string& path, Config& config) {
  struct stat info{};
  if (stat(path.c_str(), &info) == 0) {
    // An unreadable configuration would mean all defaults, on all addresses. Not a regular file: a slip; an empty
    // one: a disk that was full.
    if (!S_ISREG(info.st_mode))
      return fail(Errc::kInvalid,
                  "the configuration " + path + " is no file; name one such as " + path + "/stoad.toml");
    if (info.st_size == 0)
      return fail(Errc::kInvalid,
                  "the configuration file " + path +
                      " is empty; put back what was in it, or start without --config to have all defaults");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail_errno(errno == 0 ? EIO : errno, "cannot read the configuration file " + path);
  return read_config_text(text.str(), path, config);
}

Status apply_settings(const Settings& settings, Config& config) {
  for (const auto& [name, text] : settings) {
    const ConfigKey* key = find_key(name);
    if (key == nullptr) return fail(Errc::kInvalid, unknown_key(name));
    auto value = parse_value(*key, text);
    const Status set = value ? key->set(config, *std::move(value)) : fail(value.error());
    if (!set) return fail(Errc::kInvalid, key->flag() + ": " + set.error().detail);
  }
  return {};
}

namespace {

// Two that would listen on one port: the second could not start.
Status check_ports(const Config& config) {
  struct Protocol {
    const char* key;
    Endpoint endpoint;
  };
  std::vector<Protocol> protocols;
  const auto add = [&](const char* key, bool open, const std::string& listen) -> Status {
    if (!open || listen.empty()) return {};
    STOA_TRY(endpoint, parse_endpoint(listen));
    if (endpoint.port == 0) return {};
    for (const Protocol& other : protocols) {
      const auto any = [](const std::string& host) { return host == "0.0.0.0" || host == "::"; };
      const bool meet = endpoint.host == other.endpoint.host || any(endpoint.host) || any(other.endpoint.host);
      if (endpoint.port == other.endpoint.port && meet)
        return fail(Errc::kInvalid, std::string(other.key) + " and " + key + " are both port " +
                                        std::to_string(endpoint.port) + "; choose another for one of them");
    }
    protocols.push_back({key, std::move(endpoint)});
    return {};
  };
  STOA_CHECK_OK(add("nfs.listen", config.nfs.enabled, config.nfs.listen));
  STOA_CHECK_OK(add("native.listen", true, config.native.listen));
  STOA_CHECK_OK(add("s3.listen", config.s3.enabled, config.s3.listen));
  return add("admin.listen", true, config.admin.listen);
}

}  // namespace

Status check_config(const Config& config) {
  if (config.s3.tls_certificate.empty() != config.s3.tls_key.empty()) {
    return fail(Errc::kInvalid, "s3.tls_certificate and s3.tls_key belong together; set both or neither");
  }
  if (config.admin.tls_certificate.empty() != config.admin.tls_key.empty()) {
    return fail(Errc::kInvalid, "admin.tls_certificate and admin.tls_key belong together; set both or neither");
  }
  if (config.native.tls_certificate.empty() != config.native.tls_key.empty()) {
    return fail(Errc::kInvalid, "native.tls_certificate and native.tls_key belong together; set both or neither");
  }
  if (config.native.tls == "required" && config.native.tls_certificate.empty()) {
    return fail(Errc::kInvalid,
                "native.tls = required needs a certificate; set native.tls_certificate and native.tls_key");
  }
  if (!config.admin.listen.empty() && config.admin.tls_certificate.empty()) {
    STOA_TRY(endpoint, parse_endpoint(config.admin.listen));
    if (!endpoint.is_loopback()) {
      return fail(Errc::kInvalid, "admin.listen = " + config.admin.listen +
                                      " is open to the network, and tokens would go over it in plain; set "
                                      "admin.tls_certificate and admin.tls_key, or "
                                      "listen on 127.0.0.1");
    }
  }
  STOA_CHECK_OK(check_ports(config));
  if (config.admin.socket.size() > kSocketPathMax)
    return fail(Errc::kInvalid, "admin.socket: the path is longer than 107 bytes");
  if (config.volume_name.empty()) return fail(Errc::kInvalid, "volume_name must not be empty");
  return {};
}

std::vector<std::string> changed_keys(const Config& before, const Config& after, bool reloadable) {
  std::vector<std::string> names;
  for (const ConfigKey& key : config_keys()) {
    if (key.reloadable == reloadable && key.get(before) != key.get(after)) names.push_back(key.full_name());
  }
  return names;
}

}  // namespace stoa::appliance
