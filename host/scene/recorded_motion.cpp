#include "host/scene/recorded_motion.hpp"

#include "engine/core/text.hpp"
#include "host/files/number_rows.hpp"

namespace isocloth {

RecordedMotion read_recorded_motion(const std::filesystem::path& path, const std::string& name,
                                    std::size_t node_count) {
  const NumberRows rows = read_number_rows(
      path, 1 + 3 * node_count, text("t and x, y, z of each of the ", node_count, " driven nodes"));
  RecordedMotion motion{name, ascending_times(rows, path), {}};
  for (std::size_t row = 0; row < rows.lines.size(); ++row) {
    const double* const values = &rows.values[row * rows.columns];
    for (std::size_t i = 1; i < rows.columns; i += 3)
      motion.positions.push_back({values[i], values[i + 1], values[i + 2]});
  }
  return motion;
}

}  // namespace isocloth
