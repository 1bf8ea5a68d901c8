// What a user measures of cloth from positions alone.
#pragma once

#include "host/state/quantity.hpp"

namespace isocloth {

/// How far a cloth is stretched against its rest shape, on every edge and in every element: what a user
/// measures from positions, whatever the rows of the recipe bound. Principal stretches s1 >= s2, the singular
/// values of the deformation gradient, are those of the 2 x 2 Gauss points of quads and the centres of
/// triangles. Percentiles are rounded up by at most the largest value / 4096.
struct Strain {
  double max = 0, p95 = 0, mean = 0;
  double stretch_max = 0, stretch_p95 = 0, compression_max = 0;
  double thread_max = 0, thread_p95 = 0;
  double shear_max = 0, shear_p95 = 0;
  double pinned_max = 0;

  static constexpr auto fields() {
    using enum Rule;
    constexpr auto of = [](const char* name, const char* plot, const char* label, const char* doc,
                           bool is_optional = false) {
      return About{most, "1", doc, {name, name, is_optional}, {label, plot, "Strain, worst of all steps"}};
    };
    constexpr const char *edges = "Strain of edges", *elements = "Elements";
    return std::tuple{
        Quantity("max", &Strain::max,
                 of("strain_max", edges, "edges, largest",
                    "largest ``|l / l0 - 1|`` of all edges, those between pinned nodes included")),
        Quantity("p95", &Strain::p95,
                 of("strain_p95", edges, "edges, 95th percentile", "95th percentile of the same")),
        Quantity("mean", &Strain::mean, of("strain_mean", edges, "edges, mean", "mean of the same")),
        Quantity("stretch_max", &Strain::stretch_max,
                 of("stretch_max", elements, "stretch",
                    "largest ``s1 - 1`` of the elements, 0: none is stretched")),
        Quantity("stretch_p95", &Strain::stretch_p95,
                 of("stretch_p95", "", "stretch, 95th percentile",
                    "95th percentile of ``max(|s1 - 1|, |s2 - 1|)``")),
        Quantity("compression_max", &Strain::compression_max,
                 of("compression_max", elements, "compression",
                    "largest ``1 - s2`` of the elements, 0: none is compressed")),
        Quantity("thread_max", &Strain::thread_max,
                 of("thread_strain_max", elements, "warp and weft",
                    "largest ``|s - 1|`` along warp and weft of the cloth, s^2 the mean of ``|F_u|^2`` or "
                    "``|F_v|^2`` over a pair of triangles",
                    true)),
        Quantity("thread_p95", &Strain::thread_p95,
                 of("thread_strain_p95", "", "warp and weft, 95th percentile",
                    "95th percentile of the larger of both", true)),
        Quantity(
            "shear_max", &Strain::shear_max,
            of("shear_max", elements, "shear (sine of the angle)",
               "largest sine of the angle by which warp and weft of an element are off a right one", true)),
        Quantity("shear_p95", &Strain::shear_p95,
                 of("shear_p95", "", "shear, 95th percentile", "95th percentile of the same", true)),
        Quantity("pinned_max", &Strain::pinned_max, most, "1",
                 "largest ``|l^2 / l0^2 - 1|`` of edges between two pinned nodes, which no step can change",
                 {nullptr, ""})};
  }
};
/// Takes the worse of both, number by number.
inline void keep_worst(const Strain& other, Strain& worst) { add_by_rule(Further::garment, other, worst); }

}  // namespace isocloth
