#include "host/results/run_record.hpp"

#include <fstream>

namespace isocloth {

std::string machine_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const std::size_t colon = line.find(": "); line.starts_with("model name") && colon < line.size() - 2)
      return line.substr(colon + 2);
  return "unknown processor";
}

const char* version() { return ISOCLOTH_VERSION; }

}  // namespace isocloth
