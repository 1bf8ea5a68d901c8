#include "host/surroundings/contact_points.hpp"

#include "host/surroundings/host_shapes.hpp"
#include "kernels/contact/contact_arrays.hpp"

namespace isocloth {

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
