// What the software device was asked for, to be counted where a GPU would spend time on it.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace isocloth::software {

/// Launches of one kernel.
struct KernelCount {
  std::size_t launches = 0, in_graphs = 0, blocks = 0, barriers = 0;
  std::size_t most_blocks = 0, threads = 0, shared = 0, argument_bytes = 0;  ///< the largest of a launch
};

struct Counters {
  std::size_t uploads = 0, uploaded_bytes = 0, downloads = 0, downloaded_bytes = 0;
  std::size_t waits = 0;
  std::size_t launches = 0, graph_launches = 0, graphs = 0, allocations = 0;
  std::map<std::string, KernelCount> kernels;  ///< by name
  /// The calls in their order: U upload, D download, L launch, R launch of a graph, W a wait for anything but
  /// a copy that was begun just before.
  std::string calls;
};

Counters& counters();
/// All of it as JSON.
std::string counters_as_json();

}  // namespace isocloth::software
