#include "host/validation/surroundings_check.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "engine/core/errors.hpp"
#include "engine/core/standard_gravity.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/model/contact_thickness.hpp"
#include "engine/model/recipe.hpp"
#include "host/orchestrator/garment_solvers.hpp"
#include "host/reference/garment_nodes.hpp"
#include "host/reference/integrator_formula.hpp"
#include "host/validation/comparison.hpp"
#include "kernels/contact/compression_law.hpp"

namespace isocloth {
namespace {

using reference::MatrixX3d;
using reference::VectorXd;

/// A rigid hold of the projection is a stiffness 1e14 times that of inertia; of impulses it is exact.
constexpr double projected_hold = 1e-7;

Vec3d vector_at(const std::vector<double>& values, std::size_t at) {
  return {values[at], values[at + 1], values[at + 2]};
}
std::vector<Vec3d> as_vectors(const std::vector<double>& flat) {
  std::vector<Vec3d> vectors;
  for (std::size_t i = 0; i < flat.size(); i += 3) vectors.push_back(vector_at(flat, i));
  return vectors;
}
Vec3d to_local(const Pose& pose, Vec3d x) {
  const Vec3d r = x - pose.center;
  return {dot(pose.axes[0], r), dot(pose.axes[1], r), dot(pose.axes[2], r)};
}

}  // namespace

SurroundingsCheck::SurroundingsCheck(const Device& device, const ExecutionOptions& options,
                                     const ResolvedScene& resolved, const Garment& garment)
    : resolved_(resolved),
      scene_(resolved.scene),
      garment_(garment),
      precision_(options.precision),
      solver_(make_garment_solver(device, options.precision, garment, resolved, options.solver)),
      is_free_(reference::node_kinds(garment).is_free),
      masses_(reference::lumped_areas(garment.mesh, reference::surface_points(garment.mesh),
                                      &FabricFactors::density)),
      holds_(is_free_.size()),
      length_(diagonal(garment)),
      sums_(tolerance_of_sums(options.precision, garment.mesh.node_count())) {
  for (const Obstacle& obstacle : scene_.obstacles) obstacles_.emplace_back(obstacle);
  for (const Gripper& gripper : garment.grippers)
    regions_.emplace_back(std::visit([](const auto& shape) { return ObstacleShape(shape); }, gripper.region));
  const Topology topology = build_topology(garment.mesh);
  VectorXd inverse_masses = VectorXd::Zero(masses_.size());
  for (std::size_t i = 0; i < is_free_.size(); ++i)
    inverse_masses[static_cast<Eigen::Index>(i)] = is_free_[i];
  if (resolved.holds_edges && !resolved_.projects)
    edges_.emplace(
        reference::distance_rows(reference::distance_constraints(garment.mesh, topology, inverse_masses),
                                 resolved.recipe, garment.fabric));
  else
    rows_ = reference::garment_rows(resolved.recipe, garment.mesh, topology, garment.fabric, is_free_);
  laws_ = reference::RowResponse(resolved.recipe, garment.fabric, rows_);
  shortest_ = length_;
  for (const auto& [a, b] : topology.edges)
    shortest_ = std::min(shortest_, norm(garment.mesh.positions[b] - garment.mesh.positions[a]));
  result_.garment = garment.name;
}

void SurroundingsCheck::compare(const char* quantity, double difference, double scale, double tolerance,
                                std::int64_t index) {
  VectorXd all = VectorXd::Zero(index + 1);
  all[index] = difference;
  keep_worst(result_, quantity, all, scale, tolerance, step_);
}

void SurroundingsCheck::step(std::int64_t step_index) {
  step_ = step_index;
  const double t = garment_.time_offset + static_cast<double>(step_index) * scene_.step;
  const GarmentState before = solver_->state(0);
  const StepReport report = solver_->step(t, scene_.step);
  if (has_failed(report.status))
    throw NumericalError(
        "garment \"" + garment_.name + "\": step " + std::to_string(step_) +
        ": found a step that is not finite or diverges, expected one that can be kept; shorten scene.step");
  const GarmentState after = solver_->state(0);
  laws_.set_plastic(before.plastic_strains);
  ++result_.steps;
  result_.stalled_steps += report.status == StepStatus::stalled;
  result_.iterations += report.iterations;
  check_residual(report, before, after);
  check_penetration(report, before, after, t);
  check_holds(before, after, t);
  check_momentum(report, before, after, t);
}

double SurroundingsCheck::row_residual(const StepReport& report, const GarmentState& before,
                                       const GarmentState& after) const {
  const MatrixX3d positions = as_matrix(after.positions);
  if (edges_) return edges_->residual(positions);
  const auto strains = [this](const MatrixX3d& x) -> VectorXd { return rows_.values(x) - rows_.bounds; };
  VectorXd values = strains(positions);
  const VectorXd started = strains(as_matrix(before.positions));
  // Compliant rows end where stress and strain agree, bounded ones where a spring a thousand times as stiff
  // does; those count in tenths of the bound, and for 15 iterations. Differences of triangles count a tenth.
  for (Eigen::Index row = 0; row < values.size(); ++row) {
    const double spring = scene_.step * scene_.step * rows_.stiffness[row], bound = rows_.bounds[row];
    if (spring == 0) continue;
    const double lambda = after.multipliers[static_cast<std::size_t>(row)];
    if (bound == 0) {
      const auto [stress, slope] = laws_.at(row, values[row], started[row], scene_.step, lambda);
      values[row] = (stress - lambda / spring) / slope;
      if (rows_.is_difference(row)) values[row] *= 0.1;
      continue;
    }
    values[row] -= lambda / (1000 * spring);
    const double weight =
        report.iterations < 15 ? std::max(1.0, 10 * scene_.projection.tolerance / bound) : 0;
    values[row] = weight * std::max(values[row], 0.0);
  }
  return values.size() == 0 ? 0 : values.lpNorm<Eigen::Infinity>();
}

// In parts of a step the projection reports the worst of them.
void SurroundingsCheck::check_residual(const StepReport& report, const GarmentState& before,
                                       const GarmentState& after) {
  if (resolved_.projects && report.substeps > 1) return;
  const double found = row_residual(report, before, after);
  compare("residual", std::abs(report.residual - found), 1, sums_ * length_ / shortest_);
}

double SurroundingsCheck::deepest(const GarmentState& state, double t) const {
  const std::vector<Vec3d> positions = as_vectors(state.positions);
  const double thickness = 2 * contact_offset(garment_, scene_),
               give = compression_of(garment_, scene_).give() / 2;
  double depth = 0;
  for (const reference::ObstacleDistance& obstacle : obstacles_)
    depth = std::max(depth, reference::deepest_penetration(garment_.mesh, positions, obstacle, t, thickness));
  return std::max(0.0, depth - give);
}

// What a step reports, and no deeper; what began deeper may take its time.
void SurroundingsCheck::check_penetration(const StepReport& report, const GarmentState& before,
                                          const GarmentState& after, double t) {
  if (obstacles_.empty()) return;
  const double tolerance = scene_.contact.tolerance, depth = deepest(after, t + scene_.step),
               depth_before = deepest(before, t);
  if (!squeezes(scene_) && report.status == StepStatus::converged && depth_before <= tolerance)
    compare("penetration [m]", depth, 1, tolerance + sums_ * length_);
  compare("depth not told [m]", std::max(0.0, depth - std::max(report.penetration, depth_before)), 1,
          tolerance + sums_ * length_);
}

void SurroundingsCheck::check_holds(const GarmentState& before, const GarmentState& after, double t) {
  const double h = scene_.step, middle = t + h / 2;
  for (std::size_t i = 0; i < holds_.size() && !garment_.grippers.empty(); ++i) {
    Hold& hold = holds_[i];
    const auto index = static_cast<std::int64_t>(i);
    const Vec3d start = vector_at(before.positions, 3 * i), end = vector_at(after.positions, 3 * i);
    const auto found = after.holds[i].gripper;
    if (hold.gripper >= 0 && !is_closed(garment_.grippers[static_cast<std::size_t>(hold.gripper)], middle))
      hold.gripper = -1;
    bool is_decided = true;
    for (std::size_t g = 0; g < regions_.size() && hold.gripper < 0 && is_free_[i] != 0; ++g) {
      const Gripper& gripper = garment_.grippers[g];
      if (!is_closed(gripper, middle) || (step_ > 0 && is_closed(gripper, middle - h))) continue;
      const Vec3d local_position = to_local(gripper_pose(gripper, t), start);
      const double distance = regions_[g].at(local_position).value;
      // On the border either side is right.
      is_decided = is_decided && std::abs(distance) > 10 * sums_ * length_;
      if (is_decided ? distance <= 0 : found == static_cast<int>(g))
        hold = {static_cast<int>(g), local_position};
    }
    if (is_decided) compare("holder", found == hold.gripper ? 0 : 1, 1, 0, index);
    if (hold.gripper < 0) continue;
    const Gripper& gripper = garment_.grippers[static_cast<std::size_t>(hold.gripper)];
    if (gripper.stiffness > 0) continue;
    const Pose pose = gripper_pose(gripper, t + h);
    const Vec3d position = pose.center + hold.local_position.x * pose.axes[0] +
                           hold.local_position.y * pose.axes[1] + hold.local_position.z * pose.axes[2];
    // Single precision rounds the way of the last step and, in the projection, the place itself.
    const double of_float =
        precision_ == Precision::float32
            ? unit_rounding(precision_) * (resolved_.projects ? norm(position) + length_ : norm(end - start))
            : 0;
    compare("hold off its frame [m]", norm(end - position), 1,
            (resolved_.projects ? projected_hold : 1e-9) + 4 * of_float, index);
  }
}

Vec3d SurroundingsCheck::drag(const GarmentState& before, const GarmentState& after, Vec3d wind) const {
  Vec3d force;
  for (Index f = 0; f < garment_.mesh.face_count(); ++f) {
    const auto face = garment_.mesh.face(f);
    Vec3d area;
    for (std::size_t c = 0; c < face.size(); ++c)
      area +=
          0.5 * cross(vector_at(before.positions, 3 * static_cast<std::size_t>(face[c])),
                      vector_at(before.positions, 3 * static_cast<std::size_t>(face[(c + 1) % face.size()])));
    if (!(norm(area) > 0)) continue;
    const Vec3d n = normalized(area);
    const double part = norm(area) / static_cast<double>(face.size());
    for (const Index node : face) {
      const Vec3d w = wind - vector_at(after.velocities, 3 * static_cast<std::size_t>(node));
      force += part * drag_per_area(garment_.fabric.drag, scene_.wind.density, n, w);
    }
  }
  return force;
}

// (rate rho + h alpha) sum m v_{n+1} = rate rho sum m v^ + h (weight + contacts + grippers + drag + given
// forces), see IntegratorFormula: rows, bending and springs cancel. Nobody tells the forces of pins. In
// several parts air acts on velocities that are not kept.
void SurroundingsCheck::check_momentum(const StepReport& report, const GarmentState& before,
                                       const GarmentState& after, double t) {
  const Fabric& fabric = garment_.fabric;
  const bool has_pins = std::any_of(is_free_.begin(), is_free_.end(), [](char is_free) { return !is_free; });
  const bool has_air = fabric.mass_damping > 0 || fabric.drag.exists();
  if (garment_.pressure != 0) return;  // acts where the last iterate was
  if (has_pins || (has_air && report.substeps > 1) || (resolved_.projects && report.substeps > 1)) return;
  const double h = scene_.step;
  const bool is_per_mass = resolved_.projects && resolved_.metric == Metric::mass;
  const bool remembers = before.previous_step > 0 && after.previous_step > 0;  // else an impact
  if (remembers && before.previous_step != h) return;
  const reference::IntegratorFormula formula(resolved_.integrator, h, remembers ? h : 0);
  const double rho = formula.rate * fabric.density,
               inertia = rho + (report.substeps > 1 ? 0 : h * fabric.mass_damping);
  Vec3d change, external;
  double size = 0;
  for (std::size_t i = 0; i < is_free_.size(); ++i) {
    const double m = masses_[static_cast<Eigen::Index>(i)];
    const Vec3d v1 = vector_at(after.velocities, 3 * i);
    Vec3d v0 = vector_at(before.velocities, 3 * i);
    if (remembers) v0 += formula.memory * (v0 - vector_at(before.previous_velocities, 3 * i));
    change += m * (inertia * v1 - rho * v0);
    size += m * rho * (norm(v1) + norm(v0));
    external += Vec3d{0, 0, -h * m * fabric.gravity_density * garment_.gravity.value_or(scene_.gravity)};
    if (!garment_.forces.empty()) external += h * garment_.forces[i];
    size += norm(external) / static_cast<double>(is_free_.size());
  }
  const auto add = [&](const Vec3d& force, double factor) {
    const Vec3d impulse = factor / h * force;
    external += impulse;
    size += norm(impulse);
  };
  // What a contact's force may differ by from the one that was solved for; contacts of fast projection may
  // still move the garment by their tolerance, and friction by as much along them.
  double loose = 0;
  for (const ContactState& contact : after.contacts) {
    if (contact.obstacle < 0) continue;
    add(contact.force, is_per_mass ? inertia : 1);
    if (squeezes(scene_))
      loose += std::max(accepted_share / h * norm(contact.force),
                        accepted_weights(report.iterations) * standard_gravity * h * rho * masses_.mean());
    else
      loose = inertia * masses_.sum() * 2 * scene_.contact.tolerance / h;
  }
  for (const HoldState& hold : after.holds)
    if (hold.gripper >= 0) add(hold.force, 1);
  if (fabric.drag.exists())
    external += h * drag(before, after, wind_velocity(scene_.wind, scene_.seed, t + h));
  compare("balance of momentum", norm(change - external), size,
          10 * sums_ + (resolved_.projects ? loose / size : 0));
}

}  // namespace isocloth
