#include "appliance/console/console.h"

namespace stoa::appliance {

std::span<const admin::ConsoleFile> console_files() {
  static constexpr admin::ConsoleFile kFiles[] = {
      {.path = "/",
       .content_type = "text/html; charset=utf-8",
       .bytes = "<!doctype html><html lang=\"en\"><title>Stoa</title><h1>Stoa</h1><p>This stoad was built without the "
                "web console. "
                "To have it, install nodejs and npm, configure with -DSTOA_CONSOLE=ON and build again. "
                "The command stoa does all that the console does.</p></html>\n",
       .etag = "\"no-console\""}};
  return kFiles;
}

}  // namespace stoa::appliance
