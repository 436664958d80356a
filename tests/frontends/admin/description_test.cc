// The OpenAPI description and the table of routes agree.
#include <fstream>
#include <set>

#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// "get /v1/version get_version 200" for each operation. The file keeps one key a line, paths at indent 2.
std::set<std::string> described() {
  std::ifstream file(STOA_SOURCE_DIR "/frontends/admin/openapi.yaml");
  std::set<std::string> operations;
  std::string path;
  std::string method;
  std::string operation;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("  /")) path = line.substr(2, line.size() - 3);
    if (line.starts_with("    ") && line[4] != ' ' && line.ends_with(':')) method = line.substr(4, line.size() - 5);
    if (line.starts_with("      operationId: ")) operation = line.substr(19);
    if (line.starts_with("        '2"))
      operations.insert(method + " " + path + " " + operation + " " + line.substr(9, 3));
  }
  return operations;
}

TEST(DescriptionTest, EveryRouteIsDescribedAndNothingElseIs) {
  std::set<std::string> served;
  for (const Route& route : routes()) {
    served.insert(lower(std::string(to_string(route.method))) + " " + std::string(route.pattern) + " " +
                  lower(std::string(route.name)) + " " + std::to_string(route.success));
  }
  EXPECT_EQ(described(), served);
}

TEST(DescriptionTest, RouteNamesAreUnique) {
  std::set<std::string_view> names;
  for (const Route& route : routes()) EXPECT_TRUE(names.insert(route.name).second) << route.name;
}

}  // namespace
}  // namespace stoa::admin
