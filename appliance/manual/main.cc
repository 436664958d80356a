// Writes manual pages and shell completions into a folder: stoa-manual FOLDER.
#include <cstdio>
#include <fstream>
#include <string>

#include "appliance/cli/session.h"
#include "appliance/daemon/command_line.h"
#include "appliance/manual/completion.h"
#include "appliance/manual/man_page.h"

namespace {

using stoa::appliance::ManSection;

const std::vector<ManSection> kStoaMore = {
    {"EXIT STATUS",
     ".TP\n0\nDone.\n.TP\n1\nThe request was refused, or failed; the message says why.\n.TP\n2\nThe command line is "
     "wrong.\n"
     ".TP\n3\nNo stoad could be reached.\n.TP\n4\nWhat was named does not exist.\n.TP\n5\nWhat should be made exists "
     "already.\n"
     ".TP\n6\nThe admin token was refused, or a file may not be read.\n.TP\n7\ncheck: the volume has problems.\n"},
    {"ENVIRONMENT",
     ".TP\nSTOA_DATA\nThe data folder, when neither \\-\\-data nor \\-\\-config is given.\n"
     ".TP\nSTOA_TOKEN\nThe token, when \\-\\-token\\-file is not given.\n"},
    {"FILES",
     ".TP\n/etc/stoa/stoad.toml\nThe configuration that names the data folder, when it "
     "exists.\n.TP\nDATA/admin.token\nThe token of the admin "
     "interface.\n.TP\nDATA/stoad.run\nWhere the running stoad listens.\n"},
    {"EXAMPLES",
     ".nf\nstoa user create ann \\-\\-key\nstoa export create team \\-\\-create \\-\\-owner ann \\-\\-client "
     "10.0.0.0/8,rw\nstoa quota set /team "
     "\\-\\-bytes 10GiB\nstoa du /team\nstoa check\n.fi\n"},
    {"SEE ALSO", ".BR stoad (8),\n.BR stoad.toml (5)\n"},
};

const std::vector<ManSection> kStoadMore = {
    {"SIGNALS",
     ".TP\nSIGTERM, SIGINT\nStop: requests under way are finished, then the volume is closed.\n.TP\nSIGHUP\nReload: "
     "log level and file (opened "
     "again, for rotation) and the TLS certificate are taken over. Users, exports and quotas never need a reload.\n"},
    {"EXIT STATUS",
     ".TP\n0\nStopped in good order.\n.TP\n1\nDid not start, or the last flush failed.\n.TP\n2\nThe command line or "
     "the configuration is wrong.\n.TP\n3\nDid not start, and would not if it were tried again: metadata or content "
     "are missing, damaged, of another volume or "
     "of another time. The message names them and says what to do; nothing was changed.\n"},
    {"FILES",
     ".TP\nDATA/volume\nThe mark that a volume was made here, and its id.\n.TP\nDATA/meta\nThe "
     "metadata.\n.TP\nDATA/blobs\nThe content, unless blob_directories names other "
     "folders.\n.TP\nDATA/admin.token\nThe token "
     "of the admin interface.\n.TP\nDATA/stoad.lock\nKeeps a second stoad out.\n.TP\nDATA/stoad.log\nThe log, with "
     "\\-\\-background.\n"},
    {"SEE ALSO", ".BR stoa (1),\n.BR stoad.toml (5)\n"},
};

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "stoa-manual: cannot write %s\n", path.c_str());
  return static_cast<bool>(file);
}

bool write_program(const std::string& folder, const CLI::App& app, int section, const std::string& summary,
                   const std::vector<ManSection>& more) {
  const std::string name = app.get_name();
  return write(folder + "/" + name + "." + std::to_string(section),
               stoa::appliance::man_page(app, section, summary, more)) &&
         write(folder + "/" + name + ".bash", stoa::appliance::completion_script(app, "bash")) &&
         write(folder + "/_" + name, stoa::appliance::completion_script(app, "zsh")) &&
         write(folder + "/" + name + ".fish", stoa::appliance::completion_script(app, "fish"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: stoa-manual FOLDER\n");
    return 2;
  }
  CLI::App stoa;
  stoa::cli::Session session;
  stoa::cli::build_app(stoa, session);
  CLI::App stoad;
  stoa::appliance::StoadOptions options;
  stoa::appliance::build_stoad_app(stoad, options);
  const std::string folder = argv[1];
  const bool done = write_program(folder, stoa, 1, "control a Stoa storage server", kStoaMore) &&
                    write_program(folder, stoad, 8, "Stoa storage server", kStoadMore) &&
                    write(folder + "/stoad.toml.5", stoa::appliance::config_man_page());
  return done ? 0 : 1;
}
