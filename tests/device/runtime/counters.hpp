// What the software device was asked for, to be counted where a GPU would spend time on it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace isocloth::software {

/// Launches of one kernel.
struct KernelCount {
  std::size_t launches = 0, in_graphs = 0, graph_changes = 0, blocks = 0;
  std::size_t barriers = 0, warp_barriers = 0;  ///< of blocks of more than one warp, and of one
  std::size_t most_blocks = 0, threads = 0, shared = 0, argument_bytes = 0;  ///< the largest of a launch
  /// Time of the slowest thread between one barrier and the next, the least of all blocks that have as many
  /// barriers as the first [cycles of the CPU's clock]; where ISOCLOTH_TEST_DEVICE_PATHS asks for it.
  std::vector<double> path;
};

struct Counters {
  std::size_t uploads = 0, uploaded_bytes = 0, downloads = 0, downloaded_bytes = 0;
  std::size_t waits = 0;
  std::size_t launches = 0, graph_launches = 0, graphs = 0, allocations = 0;
  std::size_t graph_changes = 0;               ///< kernels of a graph whose arguments were set anew
  std::map<std::string, KernelCount> kernels;  ///< by name
  /// The calls in their order: U upload, D download, L launch, R launch of a graph, W a wait for anything but
  /// a copy that was begun just before.
  std::string calls;
};

Counters& counters();
/// All of it as JSON.
std::string counters_as_json();

}  // namespace isocloth::software
