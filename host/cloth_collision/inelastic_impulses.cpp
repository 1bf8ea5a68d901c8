#include "host/cloth_collision/inelastic_impulses.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cloth_contact/pair_geometry.hpp"

namespace isocloth {
namespace {

/// Two points that meet.
struct Impact {
  std::array<std::size_t, 4> nodes{};
  std::array<double, 4> weights{};
  Vec3d normal;
  double inertia = 0;  ///< inertia of the points along the normal [kg]

  double approach(const std::vector<Vec3d>& velocities) const {
    double speed = 0;
    for (std::size_t i = 0; i < 4; ++i) speed -= weights[i] * dot(normal, velocities[nodes[i]]);
    return speed;
  }
};

}  // namespace

std::vector<Index> apply_inelastic_impulses(const SurfaceFeatures& features,
                                            const std::vector<FeaturePair>& pairs,
                                            const std::vector<double>& thicknesses,
                                            const NodesOnWays& nodes) {
  constexpr double least_share = 0.1, end = 1e-6;
  constexpr int most_sweeps = 200;
  std::vector<Impact> impacts;
  double fastest = 0;
  for (const FeaturePair& pair : pairs) {
    Impact impact;
    cpu::PointPair from, to;
    from.first_count = to.first_count = pair.is_edges != 0 ? 2 : 1;
    const std::array<Index, 4> own = features.nodes_of(pair);
    for (std::size_t i = 0; i < 4; ++i) {
      impact.nodes[i] = static_cast<std::size_t>(own[i]);
      from.points[i] = nodes.from[impact.nodes[i]];
      to.points[i] = nodes.to[impact.nodes[i]];
    }
    const cpu::NearestPoints start = cpu::nearest_points(from);
    const auto [one, other] = features.surfaces_of(pair);
    const double thickness = (thicknesses[one] + thicknesses[other]) / 2;
    const double least = least_share * std::min(start.distance, thickness);
    if (!(least > 0) || start.distance - cpu::relative_way(from, to) > least) continue;
    const double time = cpu::time_apart(from, to, least);
    if (!(time < 1)) continue;
    const cpu::NearestPoints meeting = cpu::nearest_points(cpu::between(from, to, time));
    std::copy_n(meeting.weights, 4, impact.weights.begin());
    impact.normal = meeting.normal;
    double inverse = 0;
    for (std::size_t i = 0; i < 4; ++i)
      inverse += impact.weights[i] * impact.weights[i] * nodes.inverse_masses[impact.nodes[i]];
    if (!(inverse > 0)) continue;
    impact.inertia = 1 / inverse;
    fastest = std::max(fastest, impact.approach(nodes.velocities));
    impacts.push_back(impact);
  }
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double left = 0;
    for (const Impact& impact : impacts) {
      const double speed = impact.approach(nodes.velocities);
      if (!(speed > 0)) continue;
      left = std::max(left, speed);
      for (std::size_t i = 0; i < 4; ++i)
        nodes.velocities[impact.nodes[i]] +=
            (speed * impact.inertia * impact.weights[i] * nodes.inverse_masses[impact.nodes[i]]) *
            impact.normal;
    }
    if (left <= end * fastest) break;
  }
  std::vector<Index> touched;
  for (const Impact& impact : impacts)
    for (const std::size_t node : impact.nodes) touched.push_back(static_cast<Index>(node));
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  return touched;
}

}  // namespace isocloth
