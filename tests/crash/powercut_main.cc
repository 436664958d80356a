// powercut ROOTS JOURNAL nothing|everything|random [SEED]: see powercut.h.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/crash/powercut.h"

int main(int argc, char** argv) {
  using stoa::crash::PowerCut;
  const std::string_view word = argc > 3 ? argv[3] : "";
  if (word != "nothing" && word != "everything" && word != "random") {
    std::fprintf(stderr, "usage: %s ROOTS JOURNAL nothing|everything|random [SEED]\n", argv[0]);
    return 2;
  }
  const PowerCut how = word == "nothing"  ? PowerCut::kNothing
                       : word == "random" ? PowerCut::kRandom
                                          : PowerCut::kEverything;
  const auto report = stoa::crash::cut_power(argv[1], argv[2], how, argc > 4 ? std::strtoull(argv[4], nullptr, 0) : 1);
  if (!report) {
    std::fprintf(stderr, "powercut: %s\n", stoa::describe(report.error()).c_str());
    return 1;
  }
  std::printf("%llu files lost something, %llu ranges and %llu names taken back\n",
              static_cast<unsigned long long>(report->files), static_cast<unsigned long long>(report->blocks),
              static_cast<unsigned long long>(report->names));
  return 0;
}
