#include "host/reference/garment_nodes.hpp"

#include <string>

#include "engine/core/errors.hpp"

namespace isocloth::reference {

namespace {

MatrixX3d given_or(const char* name, const std::vector<Vec3d>& given, const MatrixX3d& otherwise) {
  if (given.empty()) return otherwise;
  check_rows(name, static_cast<Eigen::Index>(given.size()), otherwise.rows());
  return to_matrix(given);
}

}  // namespace

void check_rows(const char* name, Eigen::Index found, Eigen::Index expected) {
  if (found != expected)
    throw ShapeError(std::string(name) + ": found " + std::to_string(found) + " rows, expected " +
                     std::to_string(expected) + "; pass one row per node (or row)");
}

NodeKinds node_kinds(const Garment& garment) {
  NodeKinds kinds;
  kinds.is_free.assign(static_cast<std::size_t>(garment.mesh.node_count()), 1);
  for (const Pin& pin : garment.pins) {
    for (const Index node : pin.nodes) {
      if (node < 0 || node >= garment.mesh.node_count())
        throw ShapeError("pin '" + pin.name + "': found node " + std::to_string(node) + ", expected 0 to " +
                         std::to_string(garment.mesh.node_count() - 1) + "; correct pins.nodes");
      kinds.is_free[node] = 0;
    }
  }
  for (Index node = 0; node < garment.mesh.node_count(); ++node)
    (kinds.is_free[node] ? kinds.free : kinds.pinned).push_back(node);
  return kinds;
}

MatrixX3d initial_positions(const Garment& garment) {
  return given_or("initial_positions", garment.initial_positions, to_matrix(garment.mesh.positions));
}

MatrixX3d initial_velocities(const Garment& garment) {
  return given_or("initial_velocities", garment.initial_velocities,
                  MatrixX3d::Zero(garment.mesh.node_count(), 3));
}

}  // namespace isocloth::reference
