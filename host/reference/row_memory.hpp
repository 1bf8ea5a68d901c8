// Memory of rows (engine/material/memory.hpp): what friction and plastic flow add to their laws.
#pragma once

#include <array>
#include <vector>

#include "engine/material/fabric.hpp"
#include "host/reference/stress_laws.hpp"

namespace isocloth::reference {

/// A spring in series with friction: it slides where |x - plastic| > limit + growth |x|.
struct Slider {
  double stiffness = 0, limit = 0, growth = 0, flow_time = 0;

  /// Its elastic strain at the end of a step of h at x, and its derivative.
  std::array<double, 2> strain(double x, double plastic, double h) const;
};

/// The memory of all laws of a fabric, in the strains x of the laws and over the stiffness of their rows.
class RowMemory {
 public:
  RowMemory() = default;
  explicit RowMemory(const Fabric& fabric);

  bool exists() const { return exists_; }
  /// Whether a law remembers anything.
  bool is_of(Index law) const { return exists_ && law >= 0 && law < RowLaw::count; }
  /// Share of the law itself that does not yield.
  double elastic_share(Index law) const { return shares_[static_cast<std::size_t>(law)]; }
  const std::array<Slider, 2>& sliders(Index law) const { return sliders_[static_cast<std::size_t>(law)]; }

 private:
  bool exists_ = false;
  std::array<double, RowLaw::count> shares_{};
  std::array<std::array<Slider, 2>, RowLaw::count> sliders_{};
};

/// The x of a row of a law, and the K of its energy over that of x: of a hinge, whose angle of 1 has the
/// curvature `curvature` [1/m], 1 over its square.
struct LawStrain {
  double x = 0, unit = 1;
};
LawStrain law_strain(Index law, StrainMeasure measure, double c, double curvature);

/// Of the energy by x, which is the integral of stress, and its derivatives by x: those by C.
ElasticResponse by_row(Index law, StrainMeasure measure, double c, double curvature,
                       const ElasticResponse& by_x);

}  // namespace isocloth::reference
