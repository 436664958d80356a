#include "appliance/cli/explain_remedies.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace stoa::cli {
namespace {

// Parameters that are missing or of another type are empty, zero and false: the server may be of another version.
std::string fact_text(const Json& of, const char* name) {
  const auto found = of.find(name);
  return found != of.end() && found->is_string() ? found->get<std::string>() : std::string();
}
std::uint64_t fact_number(const Json& of, const char* name) {
  const auto found = of.find(name);
  return found != of.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}
bool fact_flag(const Json& of, const char* name) {
  const auto found = of.find(name);
  return found != of.end() && found->is_boolean() && found->get<bool>();
}

// As one word of a shell.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-:@%+=,";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

constexpr std::string_view kEvict = "; stoa client evict ID takes away all that a client has open and locked";

std::string for_rights(const Json& of) {
  const std::string path = shell_word(fact_text(of, "path"));
  const std::string change = fact_flag(of, "list")
                                 ? "see who may with stoa acl get " + path + ", and change it with stoa acl set " + path
                                 : "change its mode or owner (chmod, chown), or give it a list: stoa acl set " + path;
  return change + " FILE; or put the user into a group that may: stoa user set " + shell_word(fact_text(of, "user")) +
         " --group GROUP, with all groups that it is to have";
}

std::string for_export(const Json& of, std::string_view before, std::string_view options) {
  return std::string(before) + "stoa export set " + shell_word(fact_text(of, "export")) + std::string(options);
}

std::string for_client(const Json& of) {
  return for_export(of, "give all its rules anew, with one for it: ", " --client " + fact_text(of, "client") + ",rw");
}

std::string set_quota(const Json& of) {
  std::string set = "stoa quota set " + shell_word(fact_text(of, "path"));
  for (const char* const kind : {"user", "group"}) {
    if (const std::string name = fact_text(of, kind); !name.empty())
      set += std::string(" --") + kind + " " + shell_word(name);
  }
  return set;
}

std::string make_room(const Json& of) {
  std::string room = "; or remove something below it";
  if (const auto kept = fact_number(of, "recycled_bytes"); kept != 0)
    room += "; its recycle bin alone keeps " + std::to_string(kept) + " bytes: stoa recycle purge " +
            shell_word(fact_text(of, "path")) + " --all";
  if (const auto uploads = fact_number(of, "upload_bytes"); uploads != 0)
    room +=
        "; S3 multipart uploads that have not ended take " + std::to_string(uploads) + " bytes: complete or abort them";
  return room;
}

std::string for_full_quota(const Json& of) {
  return "raise it: " + set_quota(of) + " --" + fact_text(of, "resource") + " MORE" + make_room(of);
}

std::string for_soft_limit(const Json& of) {
  const std::string set = set_quota(of);
  return "raise it: " + set + " --soft-" + fact_text(of, "resource") + " MORE, or give more time: " + set +
         " --grace TIME" + make_room(of);
}

std::string for_qos_limit(const Json& of) {
  constexpr std::pair<std::string_view, std::string_view> kOptions[] = {{"read_bytes", "--read"},
                                                                        {"write_bytes", "--write"},
                                                                        {"read_ops", "--read-iops"},
                                                                        {"write_ops", "--write-iops"},
                                                                        {"metadata_ops", "--metadata"}};
  std::string limits;
  if (const auto set = of.find("limits"); set != of.end()) {
    for (const auto& [name, option] : kOptions) {
      if (std::find(set->begin(), set->end(), Json(name)) == set->end()) continue;
      limits.append(limits.empty() ? "" : " or ").append(option).append(" MORE");
    }
  }
  if (limits.empty())
    return "stoa qos top shows who uses how much; the limit is of a QoS class above this one: stoa qos list";
  return "stoa qos top shows who uses how much; raise the limit: stoa qos set " + shell_word(fact_text(of, "target")) +
         " " + limits + ", or that of a QoS class above it";
}

struct ExplainRemedy {
  std::string_view code;
  std::string (*text)(const Json& parameters);
};

constexpr ExplainRemedy kExplainRemedies[] = {
    {"no_way", for_rights},
    {"denied", for_rights},
    {"recycled",
     [](const Json&) -> std::string {
       return "take it out: stoa recycle list shows its ITEM, then stoa recycle restore ITEM";
     }},
    {"sealed", [](const Json& of) { return "stoa unseal " + shell_word(fact_text(of, "path")); }},
    {"no_export", [](const Json& of) { return "stoa export create NAME --path " + shell_word(fact_text(of, "path")); }},
    {"export_read_only", [](const Json& of) { return for_export(of, "", " --read-write"); }},
    {"networks_read_only",
     [](const Json& of) {
       return for_export(of, "give all its rules anew, with rw for these: ", " --client NETWORK,rw");
     }},
    {"client_refused", for_client},
    {"client_read_only", [](const Json& of) { return for_client(of) + " before that one"; }},
    {"no_kerberos",
     [](const Json& of) {
       return for_export(of, "give the server its keytab, or take the demand away: ", " --sec default");
     }},
    {"quota_full", for_full_quota},
    {"soft_limit", for_soft_limit},
    {"open_denied", [](const Json&) { return "close it there" + std::string(kEvict); }},
    {"locked", [](const Json&) { return "end the program that holds it" + std::string(kEvict); }},
    {"lock_wanted",
     [](const Json&) { return "they get it when those before them give it back" + std::string(kEvict); }},
    {"lease_recalled",
     [](const Json&) -> std::string {
       return "wait: what is not given back in time is taken away; from a dead client, stoa client evict ID takes it "
              "at "
              "once";
     }},
    {"limit", for_qos_limit},
    {"volume_full",
     [](const Json&) -> std::string {
       return "remove something, purge recycle bins (stoa recycle purge / --all), or give it another disk "
              "(blob_directories in stoad.toml, then start stoad again)";
     }},
    {"disk_full",
     [](const Json&) -> std::string { return "make room on its disk; files that are written anew go to the others"; }},
    {"disk_failed",
     [](const Json&) -> std::string {
       return "see that its disk is there, mounted and writable, then start stoad again; stoa check tells what is "
              "missing";
     }},
    {"damaged",
     [](const Json&) -> std::string { return "put the file back from a copy; stoa check --read-data looks for more"; }},
    {"damaged_below",
     [](const Json&) -> std::string { return "stoa status names the files; put them back from a copy"; }},
};

}  // namespace

std::string explain_remedy(const Json& cause) {
  const auto found = std::ranges::find(kExplainRemedies, fact_text(cause, "code"), &ExplainRemedy::code);
  if (found == std::end(kExplainRemedies)) return {};
  const auto parameters = cause.find("parameters");
  return found->text(parameters == cause.end() ? Json::object() : *parameters);
}

}  // namespace stoa::cli
