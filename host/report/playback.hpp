// The part of a run that the report page can play, quantised.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "host/report/report.hpp"

namespace isocloth {

/// Which frames and garments the page keeps.
struct PlaybackSelection {
  std::size_t garment_count = 0;  ///< number of the first garments, which are kept
  std::vector<std::uint32_t>
      frames;  ///< ascending; the first and, if two or more, the last of the run among them
};

/// The selection's motion. A signed error e is stored as round(127 sign(e) sqrt(|e| / scale)): fine near
/// zero.
struct Playback {
  std::array<double, 3> box_min{}, box_size{};  ///< lower corner and size of the box of all positions [m]
  /// Positions, box_min + box_size * value / 65535, shape [frame, node, 3].
  std::vector<std::uint16_t> positions;
  std::vector<std::int8_t> area_errors;      ///< area errors of the faces, shape [frame, face]
  std::vector<std::int8_t> edge_strains;     ///< strains of edges at the nodes, shape [frame, node]
  std::vector<std::int8_t> element_strains;  ///< strains of the elements, shape [frame, face]
  /// Membrane stress along warp, along weft and in shear, each of shape [frame, face]; empty: no garment has
  /// a law.
  std::array<std::vector<std::int8_t>, 3> stresses;
  /// Load of contacts over the rest area of a node, shape [frame, node]; empty: frames have no loads.
  std::vector<std::int8_t> contact_pressures;
  double contact_scale = 0;               ///< largest load of contacts over area [N/m^2], never 0
  std::array<double, 3> stress_scales{};  ///< largest magnitude of each stress [N/m], never 0
  /// Largest |e| of area errors, edge strains and element strains, never 0.
  double area_scale = 0, strain_scale = 0, element_scale = 0;
};

PlaybackSelection select_playback(const ReportData& data);

/// Poses of one obstacle in the selection's frames.
struct ObstacleWay {
  bool is_moving = false;
  /// Poses of the obstacle, shape [frame, clock, 7] (PackedPose), or the one of all frames, shape [7].
  std::vector<float> poses;
};
/// One per obstacle. Throws ShapeError when a frame has another number of poses, NumericalError when one is
/// not finite.
std::vector<ObstacleWay> read_obstacle_ways(const ReportData& data, const PlaybackSelection& selection);

/// Reads the selected frames. Throws ShapeError on a frame of the wrong size, NumericalError on a position
/// that is not finite.
Playback read_playback(const ReportData& data, const PlaybackSelection& selection);

}  // namespace isocloth
