#include "tests/support/subprocess.hpp"

namespace isocloth {

std::vector<std::pair<std::string, std::string>> sanitizer_environment() {
  return {{"ASAN_OPTIONS", "exitcode=99"},
          {"LSAN_OPTIONS",
           "print_suppressions=0:suppressions=" ISOCLOTH_SOURCE_DIR "/tests/support/leak_suppressions.txt"}};
}

}  // namespace isocloth
