// Load cases: the cloth of an experiment at rest at the time of every sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/minimise/static_sheet.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

class RestCases {
 public:
  /// The cloth in a load case, or a derivative of it.
  struct Case {
    std::vector<Vec3d> positions;  ///< positions of all nodes [m], shape [node_count]
    std::vector<Vec3d> forces;     ///< force of each gripper on the garment [N], shape [gripper]
  };
  struct Result {
    /// The cloth at each time up to the end that was asked for.
    std::vector<Case> cases;
    /// Derivatives of the cases by each side, shape [side, case].
    std::vector<std::vector<Case>> derivatives;
    bool has_failed = false;  ///< whether no rest was found in one of the cases
    /// Number of factorisations, and of cases where the cloth may buckle.
    std::int64_t factorisations = 0, unstable = 0;
  };
  /// Two fabrics whose difference over `width` is a derivative of fabrics.
  struct Side {
    Fabric below, above;
    double width = 0;
  };

  /// `scene`: one garment, held by pins and by grippers that take hold of it in the first step. `times`:
  /// ascending, of the garment's clock [s]. `measured`: where a case begins, shape [case][node]; empty:
  /// where the case before ended. Throws SceneError for what forces or holds cloth at rest otherwise:
  /// obstacles, bodies, wind, contact between cloths, grippers on springs or that open within the times; and
  /// as StaticSheet does.
  RestCases(const Scene& scene, std::vector<double> times, std::vector<std::vector<Vec3d>> measured,
            const ExecutionOptions& options, const std::string& source);

  /// Follows the motions from case to case: nodes that are held go to their next places, the others by the
  /// tangent -H_ff^-1 H_fh dx_h, then StaticSheet::settle; where that finds no rest, by halves of the way.
  ///
  /// The derivatives are those of the balance (implicit function theorem; Miguel et al. 2012, (7), (8)):
  ///   dx/dp = -H^-1 d(dU/dx)/dp,   dF/dp = H_h dx/dp + d(dU/dx_h)/dp,
  /// with the factor of the solve, and d/dp of dU/dx at the same x by the difference of two fabrics.
  Result solve(const Fabric& fabric, const std::vector<Side>& sides, double until,
               Monitor* monitor = nullptr) const;

  /// 1 % and 99 % quantiles of the sizes of a law's strains over all cases, as Miguel et al., section 5.2.
  std::array<double, 2> strain_range(const Fabric& fabric, Index law, double until) const;

  const std::vector<double>& times() const { return times_; }

 private:
  struct Held {
    Index node = 0;
    int gripper = -1;  ///< gripper that holds the node; -1: a pin does
    std::size_t pin = 0, i = 0;
    Vec3d local_position;  ///< local_position of the node in the gripper's frame [m]
  };
  class Path;

  Garment garment_;
  std::vector<double> times_;
  std::vector<std::vector<Vec3d>> measured_;
  std::vector<Held> held_;
  std::vector<StaticSheet> sheet_;  ///< a single sheet, with the fabric of the scene
};

}  // namespace isocloth
