#include "host/results/run_record.hpp"

#include <fstream>

namespace isocloth {

std::string machine_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

const char* version() { return ISOCLOTH_VERSION; }

}  // namespace isocloth
