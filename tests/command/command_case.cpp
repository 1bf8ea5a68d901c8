#include "tests/command/command_case.hpp"

namespace isocloth {

Process CommandTest::start(std::vector<std::string> arguments, ProcessOptions options) const {
  arguments.insert(arguments.begin(), ISOCLOTH_COMMAND);
  options.folder = folder_.path();
  // A sanitizer's finding must not look like an exit code of the command; the HDF5 library leaks when it
  // refuses a damaged file or meets a full disk.
  options.environment = {{"ASAN_OPTIONS", "exitcode=99"},
                         {"LSAN_OPTIONS", "print_suppressions=0:suppressions=" ISOCLOTH_SOURCE_DIR
                                          "/tests/support/leak_suppressions.txt"}};
  return Process(arguments, options);
}

}  // namespace isocloth
