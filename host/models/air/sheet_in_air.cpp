#include "host/models/air/sheet_in_air.hpp"

#include <algorithm>

#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

std::vector<double> free_areas(const Garment& garment) {
  const Mesh& mesh = garment.mesh;
  std::vector<double> areas(mesh.positions.size(), 0);
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const ArrayView<const Index> face = mesh.face(f);
    const auto at = [&](std::size_t corner) {
      return mesh.positions[static_cast<std::size_t>(face[corner])];
    };
    const double area = 0.5 * norm(cross(at(2) - at(0), at(3) - at(1)));
    for (const Index node : face) areas[static_cast<std::size_t>(node)] += area / 4;
  }
  for (const Pin& pin : garment.pins)
    for (const Index node : pin.nodes) areas[static_cast<std::size_t>(node)] = 0;
  return areas;
}

}  // namespace

SheetInAir::SheetInAir(const Garment& garment, const Wind& wind, const std::string& key)
    : garment_(garment),
      flow_(panel_grid(garment.mesh, start_positions(garment), wind.velocity, key), wind),
      wake_rows_(static_cast<std::size_t>(wind.wake_rows)),
      areas_(free_areas(garment)) {}

AirState SheetInAir::advance(const std::vector<double>& positions, const std::vector<double>& velocities,
                             const Vec3d& wind, double step, const AirState& state) const {
  const std::size_t count = areas_.size();
  std::vector<double> inverse_masses(count);
  for (std::size_t i = 0; i < count; ++i)
    inverse_masses[i] = areas_[i] > 0 ? 1 / (garment_.fabric.density * areas_[i]) : 0;
  std::vector<Vec3d> x(count), v(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d now = vector_at(velocities.data(), i);
    x[i] = vector_at(positions.data(), i) + step * now;
    v[i] = now;
    if (state.velocities.empty()) continue;
    v[i] += now - vector_at(state.velocities.data(), i) -
            step * inverse_masses[i] * vector_at(state.loads.data(), i);
  }
  AirState next = state;
  flow_.advance({x, v, inverse_masses}, wind, step, next);
  next.velocities = velocities;
  return next;
}

void SheetInAir::check(const AirState& state) const {
  const auto require = [this](const char* name, std::size_t found, std::size_t expected) {
    if (found != expected)
      throw ShapeError(text("garment \"", garment_.name, "\": air.", name, ": found ", found,
                            " values, expected ", expected));
  };
  const std::size_t columns = static_cast<std::size_t>(flow_.grid().columns);
  const bool is_at_rest = state == AirState{};
  const std::size_t rows = state.wake_circulations.size() / columns;
  const std::size_t panels = is_at_rest ? 0 : static_cast<std::size_t>(flow_.grid().panel_count());
  const std::size_t coordinates = is_at_rest ? 0 : 3 * areas_.size();
  require("circulations", state.circulations.size(), panels);
  require("wake_circulations", state.wake_circulations.size(), std::min(rows, wake_rows_) * columns);
  require("wake_points", state.wake_points.size(), 3 * rows * (columns + 1));
  require("pressures", state.pressures.size(), panels);
  require("loads", state.loads.size(), coordinates);
  require("velocities", state.velocities.size(), coordinates);
}

}  // namespace isocloth
