// Cloth that hangs from points as geometry alone has it (engine/models/drape): what a scene says of it.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

struct HangingPoint {
  Index node = 0;
  Vec3d position;  ///< where the node hangs [m]
  bool operator==(const HangingPoint&) const = default;
};

enum class DrapeMethod { weil, laplace };

/// What shapes a sheet from nothing but its rest shape and the points that it hangs from.
struct DrapeSettings {
  DrapeMethod method = DrapeMethod::weil;
  /// laplace: catenaries across the sheet are held, too, not only those along its rim.
  bool diagonals = false;
  /// weil: triangles are divided down to this [m]; 0: half the mean size of the elements; no finer
  /// than a thousandth of it.
  double resolution = 0;
  /// weil: least angle between the two edges of a thread that meet at a node [degrees], 0 to 180; 0: any.
  double least_angle = 0;
  /// weil: diagonals of quads are relaxed to their rest lengths, too, and with them the angles between
  /// threads.
  bool angles = false;
  /// weil: passes of the relaxation end where no node moves by more than this share of the mean size of the
  /// elements, or after most_passes.
  double relaxation_tolerance = 1e-4;
  int most_passes = 20'000;
  bool operator==(const DrapeSettings&) const = default;
};

}  // namespace isocloth
