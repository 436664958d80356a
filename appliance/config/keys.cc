#include "appliance/config/keys.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

#include "appliance/config/byte_size.h"
#include "appliance/config/endpoint.h"

namespace stoa::appliance {
namespace {

using Check = Status (*)(const std::string&);

Status any_text(const std::string&) {
  return {};
}

Status endpoint_text(const std::string& text) {
  STOA_TRY(parsed, parse_endpoint(text));
  static_cast<void>(parsed);
  return {};
}
Status endpoint_or_empty(const std::string& text) {
  return text.empty() ? Status{} : endpoint_text(text);
}

Status absolute_or_empty(const std::string& text) {
  if (text.empty() || text.front() == '/') return {};
  return fail(Errc::kInvalid, "'" + text + "' must be an absolute path");
}

Status absolute_path(const std::string& text) {
  return text.empty() ? fail(Errc::kInvalid, "must not be empty; write an absolute path") : absolute_or_empty(text);
}

Status log_level_text(const std::string& text) {
  if (text == "debug" || text == "info" || text == "warning" || text == "error") return {};
  return fail(Errc::kInvalid, "'" + text + "' is not a log level; the levels are debug, info, warning and error");
}

Status engine_text(const std::string& text) {
  if (text == "rocksdb" || text == "memory") return {};
  return fail(Errc::kInvalid, "'" + text + "' is not a metadata engine; the engines are rocksdb and memory");
}

Status signature_v2_text(const std::string& text) {
  if (text == "presigned" || text == "all" || text == "off") return {};
  return fail(Errc::kInvalid, "'" + text + "' is not one of presigned, all and off");
}

Status native_tls_text(const std::string& text) {
  if (text == "offered" || text == "required") return {};
  return fail(Errc::kInvalid, "'" + text + "' is not one of offered and required");
}

Status mode_text(const std::string& text) {
  const bool octal =
      text.size() >= 3 && text.size() <= 4 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '7'; });
  if (octal) return {};
  return fail(Errc::kInvalid,
              "'" + text + "' is not a file mode; write three or four octal digits in quotes, such as \"0660\"");
}

Status domain_or_empty(const std::string& text) {
  const auto legal = [](char c) { return c > ' ' && c != '@' && c != 0x7f; };
  if (std::ranges::all_of(text, legal)) return {};
  return fail(Errc::kInvalid, "'" + text + "' is not a domain such as example.org");
}

Status syslog_text(const std::string& text) {
  if (text.empty() || text == "local") return {};
  STOA_CHECK_OK(parse_endpoint(text));
  return {};
}

template <class Member>
ConfigKey text(std::string_view section, std::string_view name, Member member, Check check, std::string_view help,
               bool reloadable = false) {
  return {section,
          name,
          KeyForm::kText,
          reloadable,
          help,
          [member](const Config& c) -> KeyValue { return member(const_cast<Config&>(c)); },
          [member, check](Config& c, KeyValue value) -> Status {
            STOA_CHECK_OK(check(std::get<std::string>(value)));
            member(c) = std::move(std::get<std::string>(value));
            return {};
          }};
}

template <class Member>
ConfigKey flag(std::string_view section, std::string_view name, Member member, std::string_view help) {
  return {section,
          name,
          KeyForm::kFlag,
          false,
          help,
          [member](const Config& c) -> KeyValue { return member(const_cast<Config&>(c)); },
          [member](Config& c, KeyValue value) -> Status {
            member(c) = std::get<bool>(value);
            return {};
          }};
}

struct Range {
  std::uint64_t low;
  std::uint64_t high;
};

template <class Member>
ConfigKey number(std::string_view section, std::string_view name, KeyForm form, Member member, Range range,
                 std::string_view help) {
  return {section,
          name,
          form,
          false,
          help,
          [member](const Config& c) -> KeyValue { return member(const_cast<Config&>(c)); },
          [member, range, form](Config& c, KeyValue value) -> Status {
            const std::uint64_t n = std::get<std::uint64_t>(value);
            const auto show = [form](std::uint64_t v) {
              return form == KeyForm::kBytes ? exact_bytes(v) : std::to_string(v);
            };
            if (n < range.low || n > range.high) {
              return fail(Errc::kInvalid, show(n) + " is out of range; it must lie between " + show(range.low) +
                                              " and " + show(range.high));
            }
            member(c) = n;
            return {};
          }};
}

ConfigKey blob_directories_key() {
  return {"",
          "blob_directories",
          KeyForm::kTexts,
          false,
          "Folders that hold file content, each best on a disk of its own; new content goes where there is most room. "
          "Empty: the folder `blobs` in the data folder. Folders may be added later, never taken away.",
          [](const Config& c) -> KeyValue { return c.blob_directories; },
          [](Config& c, KeyValue value) -> Status {
            auto& folders = std::get<std::vector<std::string>>(value);
            for (const std::string& folder : folders) {
              if (folder.empty()) return fail(Errc::kInvalid, "a folder's name is empty");
              STOA_CHECK_OK(absolute_or_empty(folder));
            }
            c.blob_directories = std::move(folders);
            return {};
          }};
}

// Accessors are lambdas because a pointer to a member of a nested struct has no short form.
#define STOA_MEMBER(path) [](Config& c) -> auto& { return c.path; }

// A client needs a whole lease to notice that the server has started anew, so the two follow each other.
ConfigKey grace_key() {
  ConfigKey key = number(
      "volume", "grace_ms", KeyForm::kNumber, STOA_MEMBER(volume.grace_ms), {0, 3'600'000},
      "How long a start waits for clients that had files open or locked, in milliseconds. Nobody waits longer than "
      "for the last of them, nor at all when there were none. Left out, it is as long as nfs.lease_seconds.");
  key.set = [set = key.set](Config& c, KeyValue value) -> Status {
    STOA_CHECK_OK(set(c, std::move(value)));
    c.volume.grace_is_set = true;
    return {};
  };
  return key;
}

ConfigKey lease_key() {
  ConfigKey key = number("nfs", "lease_seconds", KeyForm::kNumber, STOA_MEMBER(nfs.lease_seconds), {1, 3600},
                         "How long an NFSv4 client may be silent before others may take what it has open or locked. "
                         "Linux clients speak up "
                         "every 5 s at most, so less than 15 is for tests.");
  key.set = [set = key.set](Config& c, KeyValue value) -> Status {
    STOA_CHECK_OK(set(c, std::move(value)));
    if (!c.volume.grace_is_set) c.volume.grace_ms = c.nfs.lease_seconds * 1000;
    return {};
  };
  return key;
}

std::vector<ConfigKey> make_keys() {
  constexpr std::uint64_t kMiB = 1u << 20;
  constexpr std::uint64_t kTiB = std::uint64_t{1} << 40;
  return {
      text("", "data", STOA_MEMBER(data), absolute_or_empty,
           "The data folder: metadata, content, the admin token and the lock. Empty: `stoa` in the user's XDG data "
           "folder."),
      blob_directories_key(),
      text("", "engine", STOA_MEMBER(engine), engine_text,
           "Where metadata lives: `rocksdb`, or `memory`, which forgets everything at the end and is for tests only."),
      text("", "volume_name", STOA_MEMBER(volume_name), any_text,
           "The name of the volume that is made when the data folder is empty."),

      text("log", "level", STOA_MEMBER(log.level), log_level_text,
           "The least important lines that are written: debug, info, warning or error.", true),
      text("log", "file", STOA_MEMBER(log.file), absolute_or_empty,
           "The file that log lines are appended to; opened again on SIGHUP. Empty: standard error, which systemd "
           "hands to "
           "the journal.",
           true),

      number("volume", "inline_bytes_max", KeyForm::kBytes, STOA_MEMBER(volume.inline_bytes_max), {0, 64u << 10},
             "Files up to this size are kept inside the metadata: one write and one sync make them durable."),
      number("volume", "cached_inodes_max", KeyForm::kNumber, STOA_MEMBER(volume.cached_inodes_max),
             {1000, 100'000'000}, "How many inodes stay in memory. Each takes about 600 bytes."),
      number("volume", "block_cache_bytes", KeyForm::kBytes, STOA_MEMBER(volume.block_cache_bytes), {kMiB, kTiB},
             "Memory for the metadata engine's cache of uncompressed blocks."),
      number("volume", "lazy_attributes_ms", KeyForm::kNumber, STOA_MEMBER(volume.lazy_attributes_ms), {10, 600'000},
             "Sizes and times of writes that asked for no durability reach the disk within this many milliseconds."),
      number("volume", "scrub_bytes_per_second", KeyForm::kBytes, STOA_MEMBER(volume.scrub_bytes_per_second),
             {0, 4095 * kMiB}, "How fast stored checksums are verified in the background. 0: not at all."),
      number(
          "volume", "lease_recall_ms", KeyForm::kNumber, STOA_MEMBER(volume.lease_recall_ms), {100, 3'600'000},
          "How long a client may keep a caching lease (an NFSv4 delegation) that somebody else's request needs back, "
          "in milliseconds; then it is revoked."),
      grace_key(),

      flag("nfs", "enabled", STOA_MEMBER(nfs.enabled), "Whether NFS is served at all."),
      text("nfs", "listen", STOA_MEMBER(nfs.listen), endpoint_text,
           "Address and TCP port of NFS (and of MOUNT, unless mount_port is set). Port 0: any free one."),
      number("nfs", "mount_port", KeyForm::kNumber, STOA_MEMBER(nfs.mount_port), {0, 65535},
             "A second TCP port for clients that expect MOUNT on one of its own. 0: the port of NFS serves both."),
      flag("nfs", "portmapper", STOA_MEMBER(nfs.portmapper),
           "Whether to register with the portmapper (rpcbind) of this machine; locks of NFSv3 need it. NLM and NSM are "
           "then "
           "answered over UDP, too, at the port of NFS. Without it clients mount with `port=`, `mountport=` and "
           "`nolock`."),
      number("nfs", "workers", KeyForm::kNumber, STOA_MEMBER(nfs.workers), {0, 1024},
             "Threads that serve NFS. 0: chosen by the number of processors."),
      number("nfs", "connections_max", KeyForm::kNumber, STOA_MEMBER(nfs.connections_max), {1, 1'000'000},
             "Connections at one time. A new one takes the place of one on which nothing is under way."),

      lease_key(),
      text("nfs", "keytab", STOA_MEMBER(nfs.keytab), absolute_or_empty,
           "A file with the Kerberos keys of nfs/HOST@REALM, readable by stoad; clients may then mount with "
           "`sec=krb5`, `krb5i` or "
           "`krb5p`, and native ones with `sec=krb5`, for which stoa/HOST@REALM will do, too. Empty: no Kerberos."),
      text("nfs", "id_domain", STOA_MEMBER(nfs.id_domain), domain_or_empty,
           "The domain of owners and groups in NFSv4, user@domain; the clients' idmapd.conf must name the same. Empty: "
           "what "
           "follows the first dot of this machine's name, else localdomain."),

      text("native", "listen", STOA_MEMBER(native.listen), endpoint_or_empty,
           "Address and TCP port of the native protocol, as 0.0.0.0:2052. Port 0: any free one. Empty: it is not "
           "served."),
      text("native", "tls", STOA_MEMBER(native.tls), native_tls_text,
           "With a certificate: whether TLS is `offered`, so that clients that do not turn it off use it, or "
           "`required` of all. An export can require it for itself."),
      text("native", "tls_certificate", STOA_MEMBER(native.tls_certificate), absolute_or_empty,
           "A PEM file with the certificate chain, for TLS 1.3. Needs tls_key. The files are read again on reload. "
           "Empty: no TLS."),
      text("native", "tls_key", STOA_MEMBER(native.tls_key), absolute_or_empty,
           "A PEM file with the private key, without a passphrase."),

      flag("s3", "enabled", STOA_MEMBER(s3.enabled), "Whether S3 is served at all."),
      text("s3", "listen", STOA_MEMBER(s3.listen), endpoint_text, "Address and TCP port of S3. Port 0: any free one."),
      text("s3", "region", STOA_MEMBER(s3.region), any_text,
           "The region that buckets are in and that requests must be signed for."),
      text("s3", "signature_v2", STOA_MEMBER(s3.signature_v2), signature_v2_text,
           "Which requests with Signature Version 2 are accepted: `presigned` URLs, as boto3 and `aws s3 presign` make "
           "them by default, "
           "`all`, or none (`off`). It signs no content, and only some headers."),
      text("s3", "domain", STOA_MEMBER(s3.domain), any_text,
           "With `s3.example.org` here, http://BUCKET.s3.example.org/KEY works beside "
           "http://s3.example.org/BUCKET/KEY."),
      text("s3", "tls_certificate", STOA_MEMBER(s3.tls_certificate), absolute_or_empty,
           "A PEM file with the certificate chain; S3 is then HTTPS. Needs tls_key. The files are read again on "
           "reload."),
      text("s3", "tls_key", STOA_MEMBER(s3.tls_key), absolute_or_empty, "A PEM file with the private key."),
      text("s3", "bucket_directory", STOA_MEMBER(s3.bucket_directory), absolute_path,
           "The directory of the volume in which CreateBucket makes directories."),
      number("s3", "connections_max", KeyForm::kNumber, STOA_MEMBER(s3.connections_max), {1, 1'000'000},
             "Connections at one time. Then an idle one is closed for each that comes."),

      text("admin", "listen", STOA_MEMBER(admin.listen), endpoint_or_empty,
           "Address and TCP port of the admin interface, of the console and of /metrics. Empty: no TCP port, the Unix "
           "socket only. Other "
           "addresses than those of the loopback need tls_certificate and tls_key, because tokens must not go over a "
           "network in plain."),
      text("admin", "tls_certificate", STOA_MEMBER(admin.tls_certificate), absolute_or_empty,
           "A PEM file with the certificate chain; the TCP port then speaks HTTPS. Needs tls_key. The files are read "
           "again on reload."),
      text("admin", "tls_key", STOA_MEMBER(admin.tls_key), absolute_or_empty, "A PEM file with the private key."),
      text("admin", "socket", STOA_MEMBER(admin.socket), absolute_or_empty,
           "A Unix socket of the admin interface, which the command stoa prefers: it answers however busy the port is. "
           "Empty: `admin.socket` in the data folder."),
      text("admin", "socket_mode", STOA_MEMBER(admin.socket_mode), mode_text, "The file mode of that socket."),

      number("audit", "keep_days", KeyForm::kNumber, STOA_MEMBER(audit.keep_days), {1, 36'500},
             "Days of the audit log that are kept."),
      number("audit", "bytes_max", KeyForm::kBytes, STOA_MEMBER(audit.bytes_max), {kMiB, 1024 * kTiB},
             "The oldest days of the audit log go when all together are larger than this."),
      text("audit", "syslog", STOA_MEMBER(audit.syslog), syslog_text,
           "Where lines of the audit log are sent, too: `local` (/dev/log), or an address and UDP port such as "
           "192.0.2.7:514. "
           "Empty: nowhere. Lines that syslog does not take are dropped and counted; the log itself has them all."),
  };
}
#undef STOA_MEMBER

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string ConfigKey::full_name() const {
  return section.empty() ? std::string(name) : std::string(section) + "." + std::string(name);
}

std::string ConfigKey::flag() const {
  std::string text = "--" + full_name();
  for (char& c : text) {
    if (c == '.' || c == '_') c = '-';
  }
  return text;
}

std::span<const ConfigKey> config_keys() {
  static const std::vector<ConfigKey> keys = make_keys();
  return keys;
}

const ConfigKey* find_key(std::string_view full_name) {
  for (const ConfigKey& key : config_keys()) {
    if (key.full_name() == full_name) return &key;
  }
  return nullptr;
}

const ConfigKey* closest_key(std::string_view full_name) {
  const ConfigKey* best = nullptr;
  std::size_t best_distance = 4;  // more edits than three, and it is another word
  for (const ConfigKey& key : config_keys()) {
    // A key in the wrong section is as close as a slip of one letter.
    const std::string_view bare = full_name.substr(full_name.rfind('.') + 1);
    const std::size_t distance = std::min(edit_distance(full_name, key.full_name()), edit_distance(bare, key.name) + 1);
    if (distance < best_distance) {
      best_distance = distance;
      best = &key;
    }
  }
  return best;
}

std::string_view section_help(std::string_view section) {
  if (section == "log") return "What stoad writes about itself.";
  if (section == "volume") return "How the volume uses memory and disks.";
  if (section == "nfs") return "The NFS server.";
  if (section == "native") return "The server of the native protocol.";
  if (section == "s3") return "The S3 server.";
  if (section == "admin") return "The interface that the command stoa talks to.";
  if (section == "audit") return "The log of who did what (stoa audit).";
  return {};
}

Result<KeyValue> parse_value(const ConfigKey& key, std::string_view text) {
  switch (key.form) {
    case KeyForm::kFlag:
      if (text == "true" || text == "yes" || text == "on") return KeyValue(true);
      if (text == "false" || text == "no" || text == "off") return KeyValue(false);
      return fail(Errc::kInvalid, "'" + std::string(text) + "' is neither true nor false");
    case KeyForm::kNumber: {
      std::uint64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
        return fail(Errc::kInvalid, "'" + std::string(text) + "' is not a whole number of 0 or more");
      }
      return KeyValue(number);
    }
    case KeyForm::kBytes: {
      STOA_TRY(bytes, parse_bytes(text));
      return KeyValue(bytes);
    }
    case KeyForm::kText:
      return KeyValue(std::string(text));
    case KeyForm::kTexts: {
      std::vector<std::string> texts;
      while (!text.empty()) {
        const std::size_t comma = text.find(',');
        texts.emplace_back(text.substr(0, comma));
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
      }
      return KeyValue(std::move(texts));
    }
  }
  return fail(Errc::kInvalid);
}

namespace {
std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}
}  // namespace

std::string to_toml(const ConfigKey& key, const KeyValue& value) {
  switch (key.form) {
    case KeyForm::kFlag:
      return std::get<bool>(value) ? "true" : "false";
    case KeyForm::kNumber:
      return std::to_string(std::get<std::uint64_t>(value));
    case KeyForm::kBytes:
      return quote(exact_bytes(std::get<std::uint64_t>(value)));
    case KeyForm::kText:
      return quote(std::get<std::string>(value));
    case KeyForm::kTexts: {
      std::string out = "[";
      for (const std::string& text : std::get<std::vector<std::string>>(value)) {
        if (out.size() > 1) out += ", ";
        out += quote(text);
      }
      return out + "]";
    }
  }
  return {};
}

}  // namespace stoa::appliance
