// The web console: files that were built into the program, served under their exact names.
#pragma once

#include <string_view>

#include "frontends/admin/request.h"

namespace stoa::admin {

struct Service;

struct ConsoleFile {
  std::string_view path;  // "/", "/assets/index-4f2a.js"
  std::string_view content_type;
  std::string_view bytes;  // as sent
  std::string_view etag;   // with its quotation marks
  bool gzip = false;       // the encoding of `bytes`
  bool immutable = false;  // the name changes with the content, so that a browser never has to ask again
};

// GET and HEAD, without a token: there is nothing in the files that is not in the package. 304 when the client has the
// file, 404 for every name that was not built in; nothing is looked for on a disk.
Reply get_console(Service& service, const Request& request);

}  // namespace stoa::admin
