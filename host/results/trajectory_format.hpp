// Names and marks in trajectory.h5 that its writer and its reader share.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "engine/core/text.hpp"
#include "host/results/trajectory_layout.hpp"

namespace isocloth::trajectory_format {

inline constexpr const char* format_name = "isocloth trajectory";
inline constexpr std::uint64_t format_version = 3;
/// Attribute of files that have the dataset of that name.
inline constexpr const char* contact_loads_name = "contact_loads";
/// What a part that is not in the file reads as.
inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::int32_t no_integer = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int64_t no_step = std::numeric_limits<std::int64_t>::min();
/// Most bytes of frames that are kept back or read at once.
inline constexpr std::uint64_t block_bytes = 1 << 17;
/// Most that the library adds to the file for a dataset when a block is written: nodes of its trees.
inline constexpr std::uint64_t dataset_bytes = 1 << 12;

struct RangeColumn {
  const char* name;
  Index TrajectoryGarment::*member;
};
inline constexpr RangeColumn garment_columns[] = {{"garments/node_begin", &TrajectoryGarment::node_begin},
                                                  {"garments/node_count", &TrajectoryGarment::node_count},
                                                  {"garments/face_begin", &TrajectoryGarment::face_begin},
                                                  {"garments/face_count", &TrajectoryGarment::face_count},
                                                  {"garments/clock", &TrajectoryGarment::clock}};

inline std::string obstacle_dataset(std::size_t obstacle, const char* array) {
  return text("obstacles/", obstacle, "/", array);
}

}  // namespace isocloth::trajectory_format
