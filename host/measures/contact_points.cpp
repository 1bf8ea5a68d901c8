#include "host/measures/contact_points.hpp"

#include <algorithm>

#include "engine/mesh/topology.hpp"
#include "host/surroundings/host_shapes.hpp"
#include "kernels/contact/contact_arrays.hpp"

namespace isocloth {

std::array<double, 4> ContactSamples::Sample::weights(const Vec2d& uv) const {
  const double u = uv.x, v = uv.y;
  if (count == 1) return {1};
  if (count == 4) return {(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v};
  return {1 - u - v, u, v, 0};
}

ContactSamples::ContactSamples(const Scene& scene, const Garment& garment) {
  const std::size_t obstacles = scene.obstacles.size() + scene.bodies.size();
  if (obstacles == 0) return;
  const Mesh& mesh = garment.mesh;
  const auto of_node = std::min<std::size_t>(obstacles, most_contacts_per_node);
  for (Index node = 0; node < mesh.node_count(); ++node)
    samples_.insert(samples_.end(), of_node, Sample{{node}, 1});
  const auto edges = build_topology(mesh).edges;
  for (Index k = 0; k < (scene.bodies.empty() ? 2 : most_contacts_per_element); ++k) {
    for (const auto& [a, b] : edges) samples_.push_back({{a, b, b, b}, 2});
    for (Index f = 0; f < mesh.face_count(); ++f) {
      Sample sample{{}, mesh.face_size(f)};
      for (std::size_t i = 0; i < 4; ++i)
        sample.nodes[i] = mesh.face(f)[std::min(i, static_cast<std::size_t>(sample.count) - 1)];
      samples_.push_back(sample);
    }
  }
}

std::vector<ContactPoint> contact_points(const ResolvedScene& resolved, const Garment& garment,
                                         const ContactSamples& samples, const GarmentState& state,
                                         const std::vector<double>& areas, const std::vector<Pose>& poses,
                                         const HostShapes& shapes) {
  const double h = resolved.scene.step, unit = resolved.contact_unit(garment.fabric, h) / (h * h);
  std::vector<ContactPoint> points;
  for_each_push(state, samples,
                [&](const ContactState& contact, const Vec3d& position, const ContactSamples::Sample& sample,
                    const std::array<double, 4>& weights) {
                  ContactPoint point{.body = contact.obstacle,
                                     .position = position,
                                     .normal = {},
                                     .force = unit * contact.force,
                                     .slip = contact.slip};
                  double area = 0;
                  for (std::size_t i = 0; i < static_cast<std::size_t>(sample.count); ++i)
                    area += weights[i] * areas[static_cast<std::size_t>(sample.nodes[i])];
                  const Pose& pose = poses[static_cast<std::size_t>(contact.obstacle)];
                  const Vec3d r = point.position - pose.center;
                  const Vec3d n =
                      shapes.normal(static_cast<std::size_t>(contact.obstacle),
                                    {dot(pose.axes[0], r), dot(pose.axes[1], r), dot(pose.axes[2], r)});
                  point.normal = n.x * pose.axes[0] + n.y * pose.axes[1] + n.z * pose.axes[2];
                  point.pressure = area > 0 ? dot(point.force, point.normal) / area : 0;
                  point.is_sticking = contact.mode == ContactMode::stick;
                  points.push_back(point);
                });
  return points;
}

}  // namespace isocloth
