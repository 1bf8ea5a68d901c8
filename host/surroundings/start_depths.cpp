#include "host/surroundings/start_depths.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/core/errors.hpp"
#include "engine/core/members.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/topology.hpp"
#include "host/surroundings/obstacle_table.hpp"
#include "host/surroundings/shape_views.hpp"
#include "kernels/contact/contact_arrays.hpp"
#include "kernels/contact/signed_distance.hpp"

namespace isocloth {
namespace {

/// "3 nodes: 7, 8, 12", the first of many.
template <class Nodes>
std::string name_nodes(const Nodes& nodes) {
  constexpr std::size_t most = 8;
  std::string line = text(nodes.size(), nodes.size() == 1 ? " node: " : " nodes: ");
  std::size_t named = 0;
  for (const auto node : nodes) {
    if (named == most) return line + ", ...";
    line += text(named++ == 0 ? "" : ", ", node);
  }
  return line;
}

/// Whether a garment starts where the other does, as obstacles have it: a replica.
bool starts_as(const Garment& garment, const Garment& other) {
  return garment.time_offset == other.time_offset && start_positions(garment) == start_positions(other) &&
         alike(garment.mesh, other.mesh) && alike(garment.fabric, other.fabric);
}

}  // namespace

template <class Real>
StartDepths<Real>::StartDepths(const Scene& scene) : scene_(scene), depths_(scene.garments.size()) {
  for (const Garment& garment : scene.garments)
    counts_.emplace_back(eases_out(scene) ? garment.mesh.positions.size() : 0);
}

template <class Real>
void StartDepths<Real>::add(const std::string& what, const std::function<Pose(double)>& pose_at,
                            const ShapeView<Real>& shape, const std::array<Vec3d, 2>& box) {
  const auto& [low, high] = box;
  double before = 0;         // depth of the garment before
  bool was_outside = false;  // of all nodes of it
  for (std::size_t g = 0; g < scene_.garments.size(); ++g) {
    const Garment& garment = scene_.garments[g];
    if (was_outside && starts_as(garment, scene_.garments[g - 1])) {
      depths_[g] = std::max(depths_[g], before);
      continue;
    }
    const Pose pose = pose_at(garment.time_offset);
    const std::vector<Vec3d>& start = start_positions(garment);
    const double reach = contact_offset(garment, scene_), room = reach - scene_.contact.margin,
                 give = squeezes(scene_) ? compression_of(garment, scene_).give() / 2 : 0,
                 most = std::max(scene_.contact.tolerance, give);
    const auto local = [&](const Vec3d& x) {
      const Vec3d r = x - pose.center;
      return Vec3d{dot(pose.axes[0], r), dot(pose.axes[1], r), dot(pose.axes[2], r)};
    };
    /// How deep the surface of the cloth is at x; nothing is asked far away.
    const auto depth_at = [&](const Vec3d& x) {
      if (x.x < low.x - reach || x.x > high.x + reach || x.y < low.y - reach || x.y > high.y + reach ||
          x.z < low.z - reach || x.z > high.z + reach)
        return -reach;
      return room - static_cast<double>(cpu::signed_distance(shape, narrow<Real>(x)).value);
    };
    Inside inside;
    before = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
      const Vec3d position = local(start[i]);
      const double depth = depth_at(position);
      if (std::isnan(depth))
        throw SceneError(text("garments[", g, "] \"", garment.name, "\": found no distance of node ", i,
                              " from ", what, ", expected a number; check the sizes of both"));
      if (depth > inside.deepest) {
        inside.deepest = depth;
        inside.deepest_node = i;
      }
      if (!(depth > most)) continue;
      inside.nodes.push_back(i);
      inside.positions.push_back(position);
    }
    // As in the steps: with the margin, and between the nodes.
    const auto keep_deepest = [&](const Vec3d& x) {
      before = std::max(before, depth_at(local(x)) + scene_.contact.margin);
    };
    constexpr int parts = 4;  // of an edge
    for (Index f = 0; f < garment.mesh.face_count(); ++f) {
      const ArrayView<const Index> n = garment.mesh.face(f);
      const Vec3d &x0 = start[n[0]], &x1 = start[n[1]], &x2 = start[n[2]], &x3 = start[n[n.size() - 1]];
      for (int i = 0; i <= parts; ++i)
        for (int j = 0; j <= (n.size() == 3 ? parts - i : parts); ++j) {
          const double u = static_cast<double>(i) / parts, v = static_cast<double>(j) / parts;
          keep_deepest(n.size() == 3 ? x0 + u * (x1 - x0) + v * (x2 - x0)
                                     : (1 - v) * (x0 + u * (x1 - x0)) + v * (x3 + u * (x2 - x3)));
        }
    }
    depths_[g] = std::max(depths_[g], before);
    was_outside = inside.nodes.empty();
    if (was_outside) continue;
    if (!scene_.contact.resolve_initial_penetration) require_outside(g, what, inside);
    if (eases_out(scene_)) require_way_out(g, what, shape, inside);
  }
}

template <class Real>
void StartDepths<Real>::require_outside(std::size_t g, const std::string& what, const Inside& inside) const {
  const Garment& garment = scene_.garments[g];
  throw SceneError(text("garments[", g, "] \"", garment.name, "\": found node ", inside.deepest_node, " ",
                        inside.deepest, " m inside of ", what, " at the start, the deepest of ",
                        inside.nodes.size(), " of ", garment.mesh.positions.size(),
                        " nodes there, expected all nodes outside; move one of them, or set "
                        "contact.resolve_initial_penetration to have the cloth moved out within "
                        "contact.initial_penetration_time"));
}

template <class Real>
void StartDepths<Real>::require_way_out(std::size_t g, const std::string& what, const ShapeView<Real>& shape,
                                        const Inside& inside) {
  const Garment& garment = scene_.garments[g];
  const auto refuse = [&](const auto& nodes, const std::string& why) {
    throw SceneError(text("garments[", g, "] \"", garment.name, "\": found ", name_nodes(nodes), " of ",
                          garment.mesh.positions.size(), ", up to ", inside.deepest, " m inside of ", what,
                          ", ", why));
  };
  std::vector<Vec3<Real>> normals(garment.mesh.positions.size());  // zero: outside
  std::vector<std::size_t> lost, crowded;
  for (std::size_t k = 0; k < inside.nodes.size(); ++k) {
    const std::size_t node = inside.nodes[k];
    if (++counts_[g][node] > most_contacts_per_node) crowded.push_back(node);
    const Vec3<Real> position = narrow<Real>(inside.positions[k]);
    const cpu::Distance<Real> here = cpu::signed_distance(shape, position);
    if (!(here.value < 0)) continue;  // only its thickness is
    normals[node] = here.normal;
    const Real left = cpu::signed_distance(shape, position - here.value * here.normal).value;
    if (left < Real(0.5) * here.value) lost.push_back(node);
  }
  if (!lost.empty())
    refuse(lost, "where no direction leads out; expected a start nearer to one side; move the garment");
  if (!crowded.empty())
    refuse(crowded, text("and of ", most_contacts_per_node,
                         " others; expected at most so many at a node; move the garment, or make one "
                         "obstacle of several"));
  std::set<Index> torn;
  for (const auto& [a, b] : build_topology(garment.mesh).edges)
    if (dot(normals[a], normals[b]) < 0) torn.insert({a, b});
  if (!torn.empty())
    refuse(torn,
           "that neighbours would leave by opposite sides; expected all on one side of its middle; "
           "move the garment, or make the obstacle thicker");
}

template class StartDepths<float>;
template class StartDepths<double>;

}  // namespace isocloth
