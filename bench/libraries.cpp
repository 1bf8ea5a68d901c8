#include "bench/libraries.hpp"

#include <algorithm>

#include "bench/commands.hpp"
#include "bench/runner.hpp"

namespace isocloth::bench {

std::vector<Table> measure_libraries(const LibrariesRequest& request) {
  ExecutionOptions options = one_thread();
  options.backend = request.backend;
  const Device device(options);
  Contests contests(device, device_libraries(request.backend), request.budget);
  const auto is_asked = [&](const char* part) {
    return request.parts.empty() ||
           std::find(request.parts.begin(), request.parts.end(), part) != request.parts.end();
  };
  for (const int side : request.sides) {
    const MovingSheet sheet = moving_sheet(side);
    const NodalSystem system = next_system(sheet, request.eps, true);
    const std::string name = grid_name(side);
    if (is_asked("products")) contest_products(contests, name, system);
    if (is_asked("meshes")) contest_sparse_factors(contests, name, system);
    if (is_asked("fronts")) {
      const Index front = largest_front(system);
      contest_fronts(contests, std::to_string(3 * front) + ", as in " + name, front);
    }
    const auto& batched = request.batch_sides;
    if (is_asked("batches") && std::find(batched.begin(), batched.end(), side) != batched.end())
      contest_batches(contests, name, system, request.counts);
  }
  for (const int length : request.lengths) {
    if (is_asked("reductions")) contest_reductions(contests, length);
    if (is_asked("scans")) contest_scans(contests, length);
    if (is_asked("sorts")) contest_sorts(contests, length);
    if (is_asked("selections")) contest_selections(contests, length);
  }
  return contests.tables();
}

std::vector<std::string> library_parts() {
  return {"products", "meshes", "fronts", "batches", "reductions", "scans", "sorts", "selections"};
}

}  // namespace isocloth::bench
