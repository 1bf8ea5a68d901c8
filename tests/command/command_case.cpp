#include "tests/command/command_case.hpp"

namespace isocloth {

Process CommandTest::start(std::vector<std::string> arguments, ProcessOptions options) const {
  arguments.insert(arguments.begin(), ISOCLOTH_COMMAND);
  options.folder = folder_.path();
  return Process(arguments, options);
}

}  // namespace isocloth
