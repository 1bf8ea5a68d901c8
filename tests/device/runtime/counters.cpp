#include "tests/device/runtime/counters.hpp"

#include <cstdlib>
#include <fstream>

namespace isocloth::software {
namespace {

/// Writes what was counted when the process ends, where somebody wants it.
struct CountersToFile {
  Counters counters;
  ~CountersToFile() {
    if (const char* path = std::getenv("ISOCLOTH_TEST_DEVICE_COUNTS"))
      std::ofstream(path) << counters_as_json() << '\n';
  }
};

std::string pair(const char* key, std::size_t value) {
  return '"' + std::string(key) + "\": " + std::to_string(value);
}

}  // namespace

Counters& counters() {
  static CountersToFile result;
  return result.counters;
}

std::string counters_as_json() {
  const Counters& c = counters();
  std::string text = "{" + pair("launches", c.launches) + ", " + pair("graph_launches", c.graph_launches) +
                     ", " + pair("graphs", c.graphs) + ", " + pair("graph_changes", c.graph_changes) + ", " +
                     pair("waits", c.waits) + ", " + pair("uploads", c.uploads) + ", " +
                     pair("uploaded_bytes", c.uploaded_bytes) + ", " + pair("downloads", c.downloads) + ", " +
                     pair("downloaded_bytes", c.downloaded_bytes) + ", " +
                     pair("allocations", c.allocations) + ",\n \"kernels\": {";
  const char* separator = "\n  ";
  for (const auto& [name, k] : c.kernels) {
    text += separator + ('"' + name + "\": {") + pair("launches", k.launches) + ", " +
            pair("in_graphs", k.in_graphs) + ", " + pair("graph_changes", k.graph_changes) + ", " +
            pair("blocks", k.blocks) + ", " + pair("barriers", k.barriers) + ", " +
            pair("warp_barriers", k.warp_barriers) + ", " + pair("most_blocks", k.most_blocks) + ", " +
            pair("threads", k.threads) + ", " + pair("shared", k.shared) + ", " +
            pair("argument_bytes", k.argument_bytes) + ", " + "\"path\": [";
    for (std::size_t i = 0; i < k.path.size(); ++i)
      text += (i > 0 ? ", " : "") + std::to_string(static_cast<long long>(k.path[i]));
    text += "]}";
    separator = ",\n  ";
  }
  return text + "\n }}";
}

}  // namespace isocloth::software
