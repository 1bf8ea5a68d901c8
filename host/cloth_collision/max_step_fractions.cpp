#include "host/cloth_collision/max_step_fractions.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cloth_contact/pair_geometry.hpp"

namespace isocloth {

std::vector<double> max_step_fractions(const SurfaceFeatures& features, const std::vector<FeaturePair>& pairs,
                                       const std::vector<Vec3d>& from, const std::vector<Vec3d>& to,
                                       const std::vector<double>& thicknesses) {
  constexpr double least_share = 0.1, most_of_way = 0.9, least_part = 0.05, least_distance = 0.02;
  std::vector<double> shares(to.size(), 1);
  for (const FeaturePair& pair : pairs) {
    const std::array<Index, 4> nodes = features.nodes_of(pair);
    cpu::PointPair begins;
    begins.first_count = pair.is_edges != 0 ? 2 : 1;
    for (std::size_t i = 0; i < 4; ++i) begins.points[i] = from[nodes[i]];
    const cpu::NearestPoints near = cpu::nearest_points(begins);
    double begin[4], end[4];  // heights along the normal
    double low = HUGE_VAL, high = -HUGE_VAL, lowest = HUGE_VAL, highest = -HUGE_VAL;
    for (std::size_t i = 0; i < 4; ++i) {
      begin[i] = dot(near.normal, begins.points[i]);
      end[i] = dot(near.normal, to[nodes[i]]);
      if (begins.side(static_cast<int>(i)) == 0) {
        low = std::min(low, begin[i]);
        lowest = std::min({lowest, begin[i], end[i]});
      } else {
        high = std::max(high, begin[i]);
        highest = std::max({highest, begin[i], end[i]});
      }
    }
    const auto [one, other] = features.surfaces_of(pair);
    const double thickness = (thicknesses[one] + thicknesses[other]) / 2;
    // Again and again in a jam: below the floor no side comes nearer at all.
    const double floor = least_distance * thickness,
                 wanted = 2 * least_share * std::min(near.distance, thickness);
    const bool is_jammed = near.distance <= floor;
    const double apart = is_jammed ? near.distance : std::max(wanted, floor);
    if (lowest > highest + apart) continue;
    // A plane between them, the nearer to a side the less that side comes on.
    const double down = std::max(0.0, low - lowest), up = std::max(0.0, highest - high);
    const double part =
        down + up > 0 && !is_jammed ? std::clamp(up / (down + up), least_part, 1 - least_part) : 0.5;
    const double plane = high + part * (low - high);
    for (std::size_t i = 0; i < 4; ++i) {
      const double sign = begins.side(static_cast<int>(i)) == 0 ? 1 : -1, limit = apart / 2;
      const double above = sign * (begin[i] - plane), above_at_end = sign * (end[i] - plane);
      if (above_at_end >= limit) continue;
      double& share = shares[nodes[i]];
      share = std::min(share, above > limit ? most_of_way * (above - limit) / (above - above_at_end) : 0.0);
    }
  }
  return shares;
}

}  // namespace isocloth
