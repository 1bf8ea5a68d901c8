#include "host/energy/air_work.hpp"

namespace isocloth::energy {
namespace {

/// visit(nodes of a face, how many, its vector area).
template <class Visit>
void for_each_area(const Mesh& mesh, const MatrixX3d& positions, const Visit& visit) {
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    const auto at = [&](std::size_t i) { return vector(positions.row(nodes[i])); };
    const Vec3d twice =
        nodes.size() == 3 ? cross(at(1) - at(0), at(2) - at(0)) : cross(at(2) - at(0), at(3) - at(1));
    visit(nodes, 0.5 * twice);
  }
}

Vec3d multiplied(const SymmetricTensor& m, const Vec3d& v) {
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[1] * v.x + m[3] * v.y + m[4] * v.z,
          m[2] * v.x + m[4] * v.y + m[5] * v.z};
}

}  // namespace

void add_air_work(const GarmentPart& part, MatrixX3d& force, EnergySums& sums) {
  const Mesh& mesh = part.garment.mesh;
  MatrixX3d own = MatrixX3d::Zero(part.to.rows(), 3);
  if (const Drag& drag = part.garment.fabric.drag; drag.exists()) {
    const Vec3d wind = wind_velocity(part.scene.wind, part.scene.seed, part.step_end_time);
    for_each_area(mesh, part.from, [&](const auto& nodes, const Vec3d& area) {
      const double size = norm(area);
      if (!(size > 0)) return;
      const Vec3d n = 1 / size * area;
      for (const Index node : nodes) {
        const Vec3d slip = wind - vector(part.speed.row(node));
        own.row(node) += size / static_cast<double>(nodes.size()) *
                         row(drag_per_area(drag, part.scene.wind.density, n, slip));
      }
    });
  }
  if (part.garment.pressure != 0)
    for_each_area(mesh, part.to, [&](const auto& nodes, const Vec3d& area) {
      for (const Index node : nodes)
        own.row(node) += part.garment.pressure / static_cast<double>(nodes.size()) * row(area);
    });
  const std::vector<double>& loads = part.end.state.air.loads;
  for (std::size_t i = 0; i + 2 < loads.size(); i += 3)
    own.row(static_cast<Eigen::Index>(i / 3)) += Eigen::RowVector3d(loads[i], loads[i + 1], loads[i + 2]);
  force += own;
  sums.work_air += work_of(own, part.move);
}

void add_load_work(const GarmentPart& part, ArrayView<const Vec3d> forces, ArrayView<const ForceSlope> slopes,
                   MatrixX3d& force, EnergySums& sums) {
  for (std::size_t i = 0; i < forces.size(); ++i) {
    const auto node = static_cast<Eigen::Index>(i);
    Vec3d own = forces[i];
    if (!slopes.empty())
      own -= multiplied(slopes[i].stiffness, vector(part.to.row(node)) - slopes[i].position) +
             multiplied(slopes[i].damping, vector(part.speed.row(node)) - slopes[i].velocity);
    force.row(node) += row(own);
    sums.work_forces += row(own).dot(part.move.row(node));
  }
}

}  // namespace isocloth::energy
