#include "host/reference/impulse_cloth.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "engine/core/errors.hpp"
#include "host/reference/bending.hpp"
#include "host/reference/impulse_system.hpp"

namespace isocloth::reference {

namespace {

constexpr double newton_diagonal = 1e-2;  ///< part of diag(A) that regularises A
constexpr double longest_correction = 1;  ///< longest correction by A alone, in edges

void check_recipe(const Recipe& recipe) {
  const bool by_sweeps = recipe.solver == SolverFamily::impulse;
  const bool by_system = recipe.solver == SolverFamily::impulse_system && recipe.holds_edges();
  const bool by_tensors = recipe.name == "terzopoulos1987";
  if (!by_sweeps && !by_system && !by_tensors)
    throw SceneError("recipe: found \"" + std::string(recipe.name) +
                     "\", expected one that impulses solve, as \"bender_iterative\", or terzopoulos1987: the "
                     "reference knows no "
                     "other implicit steps than those of projections");
}

void check_settings(const ImpulseSettings& settings) {
  const auto check = [](const char* key, bool is_good, const std::string& found, const char* expected) {
    if (!is_good)
      throw SceneError(std::string("impulse.") + key + ": found " + found + ", expected " + expected +
                       "; take the settings of ResolvedScene::impulse");
  };
  check("tolerance", settings.tolerance > 0, std::to_string(settings.tolerance), "more than 0");
  check("substeps", settings.substeps >= 1, std::to_string(settings.substeps), "1 or more");
  check("max_sweeps", settings.max_sweeps >= 1, std::to_string(settings.max_sweeps), "1 or more");
  check("max_solves", settings.max_solves >= 1, std::to_string(settings.max_solves), "1 or more");
  check("relaxation", settings.relaxation >= 0 && settings.relaxation < 2,
        std::to_string(settings.relaxation), "0 to under 2");
  check("velocity_pass", settings.velocity_pass != VelocityPass::automatic, "automatic", "on or off");
}

}  // namespace

ImpulseCloth::ImpulseCloth(const Garment& garment, const Recipe& recipe, const ImpulseSettings& settings,
                           double gravity)
    : fabric_(garment.fabric),
      solver_(recipe.solver),
      settings_(settings),
      gravity_(gravity),
      nodes_(node_kinds(garment)) {
  check_recipe(recipe);
  check_settings(settings);
  const Mesh& mesh = garment.mesh;
  const Topology topology = build_topology(mesh);
  masses_ = lumped_areas(mesh, surface_points(mesh));
  inverse_masses_ = VectorXd::Zero(masses_.size());
  for (const Index node : nodes_.free) inverse_masses_[node] = 1 / (fabric_.density * masses_[node]);
  bending_ = bending_matrix(mesh, topology, bending_of(recipe, fabric_), nodes_.is_free);
  if (recipe.solver == SolverFamily::semi_implicit) sheet_ = std::make_unique<TensorSheet>(garment);
  springs_ = garment_springs(garment, topology);
  if (recipe.yields())
    for (const Spring& spring : springs_) spring_lengths_.push_back(spring.length);
  if (recipe.holds_edges()) {
    auto rows = std::make_unique<DistanceRows>(
        distance_rows(distance_constraints(mesh, topology, inverse_masses_), recipe, fabric_));
    constraints_ = rows->constraints();
    rows_ = std::move(rows);
  } else {
    rows_ = std::make_unique<BlockRows>(isometry_rows(mesh, topology, nodes_.is_free), inverse_masses_);
  }
  order_.resize(static_cast<std::size_t>(rows_->count()));
  std::iota(order_.begin(), order_.end(), 0);
  positions_ = initial_positions(garment);
  velocities_ = initial_velocities(garment);
}

void ImpulseCloth::set_positions(const MatrixX3d& positions) {
  check_rows("positions", positions.rows(), positions_.rows());
  positions_ = positions;
}

std::vector<double> ImpulseCloth::plastic_strains() const {
  std::vector<double> strains;
  for (std::size_t s = 0; s < spring_lengths_.size(); ++s)
    if (has_free_end(springs_[s])) strains.push_back(springs_[s].length / spring_lengths_[s] - 1);
  return strains;
}

void ImpulseCloth::set_plastic_strains(const std::vector<double>& strains) {
  check_rows("plastic strains", static_cast<Eigen::Index>(strains.size()),
             static_cast<Eigen::Index>(plastic_strains().size()));
  std::size_t next = 0;
  for (std::size_t s = 0; s < spring_lengths_.size(); ++s)
    if (has_free_end(springs_[s])) springs_[s].length = spring_lengths_[s] * (1 + strains[next++]);
}

void ImpulseCloth::flow(double h, const MatrixX3d& positions) {
  const auto& [yield_strain, flow_time] = fabric_.plasticity;
  if (spring_lengths_.empty() || yield_strain == 0) return;
  for (std::size_t s = 0; s < springs_.size(); ++s) {
    Spring& spring = springs_[s];
    const double distance = (positions.row(spring.b) - positions.row(spring.a)).norm();
    spring.length = plastic_length(spring.length, distance, yield_strain * spring_lengths_[s], flow_time, h);
  }
}

void ImpulseCloth::set_velocities(const MatrixX3d& velocities) {
  check_rows("velocities", velocities.rows(), velocities_.rows());
  velocities_ = velocities;
}

void ImpulseCloth::set_order(const std::vector<Index>& order) {
  check_rows("order", static_cast<Eigen::Index>(order.size()), rows_->count());
  std::vector<char> is_taken(order.size(), 0);
  for (const Index row : order) {
    if (row < 0 || row >= rows_->count() || is_taken[row] != 0)
      throw ShapeError("order: found row " + std::to_string(row) +
                       (row < 0 || row >= rows_->count() ? "" : " twice") + ", expected each of 0 to " +
                       std::to_string(rows_->count() - 1) + " once");
    is_taken[row] = 1;
  }
  order_ = order;
}

void ImpulseCloth::set_obstacles(const std::vector<Obstacle>& obstacles, double offset, double tolerance) {
  if (solver_ == SolverFamily::impulse_system)
    throw SceneError("obstacles: found some with a linear system, expected none: it knows no contact");
  contact_ = std::make_unique<ImpulseContact>(obstacles, offset, tolerance, inverse_masses_);
}

void ImpulseCloth::set_push_out(double time) { contact_->set_push_out(time); }

MatrixX3d ImpulseCloth::forces(const MatrixX3d& positions, const MatrixX3d& velocities) const {
  MatrixX3d forces = spring_forces(springs_, positions, velocities);
  forces -= fabric_.bending_stiffness * (bending_ * positions) +
            fabric_.stiffness_damping * (bending_ * velocities);
  forces.col(2) -= fabric_.gravity_density * gravity_ * masses_;
  return forces;
}

double ImpulseCloth::force_rate() const {
  if (sheet_) return sheet_->stretch_rate(masses_, nodes_.is_free);
  const VectorXd of_bending = bending_.cwiseAbs() * VectorXd::Ones(masses_.size());
  VectorXd stiffness = fabric_.bending_stiffness * of_bending,
           damping = fabric_.stiffness_damping * of_bending;
  for (const Spring& spring : springs_) {
    for (const Index node : {spring.a, spring.b}) {
      stiffness[node] += 2 * spring.stiffness;
      damping[node] += 2 * spring.damping;
    }
  }
  double rate = 0;
  for (const Index node : nodes_.free) {
    const double k = stiffness[node] * inverse_masses_[node], c = damping[node] * inverse_masses_[node];
    rate = std::max(rate, c / 4 + std::sqrt(c * c / 16 + k / 4));
  }
  return rate;
}

bool ImpulseCloth::is_converging() const {
  return solver_ == SolverFamily::impulse_system || settings_.mode == ImpulseMode::converge;
}

double ImpulseCloth::threshold() const { return is_converging() ? settings_.tolerance : 0; }

std::vector<double> ImpulseCloth::sweep(const Correction& correct, const std::function<double()>& touch,
                                        double scale, bool watched, double& margin) const {
  constexpr int window = 16;  // sweeps of the kernels between looks at what edges and faces touch
  bool settles = false;
  ImpulseRelaxation relaxation(settings_.relaxation);
  std::vector<double> errors;
  for (int sweep = 0; sweep < settings_.max_sweeps; ++sweep) {
    double largest = 0, largest_change = 0;
    const bool looks = sweep % window == 0 || settles;
    bool corrected = contact_ && is_converging() && touch() > 0.1 * contact_->tolerance();
    for (const Index row : order_) {
      const Visit visit = correct(row, relaxation.factor());
      largest = std::max(largest, visit.error);
      largest_change = std::max(largest_change, visit.change);
      corrected = corrected || visit.corrected;
      if (is_converging()) margin = std::min(margin, std::abs(scale * visit.error - threshold()));
    }
    if (contact_ && !is_converging()) touch();
    errors.push_back(largest);
    settles = !corrected;
    if (settles && is_converging() && (looks || !contact_)) return errors;
    relaxation.end_sweep(watched && is_converging() ? std::optional(largest_change) : std::nullopt);
  }
  if (contact_ && is_converging()) touch();
  return errors;
}

bool ImpulseCloth::solve(ImpulseSystem& system, const MatrixX3d& positions, MatrixX3d& displacements,
                         ImpulseStepResult& result) const {
  const MatrixX3d preview = displacements;
  const auto linearise = [&](double relative_diagonal) {
    const bool is_regular = system.linearise(positions + displacements, relative_diagonal);
    result.pivots.push_back({system.least_eigenvalue(), system.least_regular_pivot()});
    return is_regular;
  };
  bool is_newton = !linearise(0);
  for (int solve = 1; solve <= settings_.max_solves; ++solve) {
    if (is_newton && !linearise(newton_diagonal)) return false;
    ++result.solves;
    const double moved = system.apply(system.errors(positions + displacements), displacements);
    if (!is_newton) result.choices.push_back({moved, longest_correction});
    if (!is_newton && !(moved <= longest_correction)) {
      is_newton = true;
      displacements = preview;
      continue;
    }
    if (!std::isfinite(moved)) return false;
    const double residual = rows_->residual(positions + displacements);
    result.choices.push_back({residual, settings_.tolerance});
    if (residual <= settings_.tolerance) return true;
    is_newton = is_newton || solve == 2;
  }
  return false;
}

void ImpulseCloth::part(double h, const MatrixX3d& pinned_positions, MatrixX3d& positions,
                        MatrixX3d& velocities, ImpulseStepResult& result) const {
  const MatrixX3d accelerations = inverse_masses_.asDiagonal() * forces(positions, velocities);
  const MatrixX3d freely =
      (velocities + h * accelerations) / (1 + h * fabric_.mass_damping / fabric_.density);
  MatrixX3d preview = h * freely;
  for (std::size_t i = 0; i < nodes_.pinned.size(); ++i) {
    const Index node = nodes_.pinned[i];
    preview.row(node) = pinned_positions.row(static_cast<Eigen::Index>(i)) - positions.row(node);
  }

  MatrixX3d displacements = preview;
  if (sheet_) {
    MatrixX3d weight = MatrixX3d::Zero(positions.rows(), 3);
    weight.col(2) = -fabric_.gravity_density * gravity_ * masses_;
    sheet_->step(h, positions, velocities, weight, masses_, nodes_.is_free, displacements);
    ++result.solves;
    positions += displacements;
    velocities = displacements / h;
    return;
  }
  std::optional<ImpulseSystem> system;
  if (solver_ == SolverFamily::impulse_system) {
    system.emplace(constraints_, inverse_masses_, unit_rounding_);
    if (!solve(*system, positions, displacements, result)) {
      // Where the failed solves ended may be anywhere.
      displacements = preview;
      system.reset();
      ++result.fallbacks;
    }
  }
  if (!system) {
    const std::vector<double> errors = sweep(
        [&](Index row, double relaxation) {
          return rows_->correct_position(row, positions, relaxation, threshold(), displacements);
        },
        [&] { return contact_->correct_positions(positions, displacements); }, 1, true, result.margin);
    result.sweeps += static_cast<int>(errors.size());
    result.strain_trace.insert(result.strain_trace.end(), errors.begin(), errors.end());
  }
  positions += displacements;
  velocities = displacements / h;

  if (settings_.velocity_pass == VelocityPass::off) return;
  if (system) {
    const MatrixX3d before = velocities;
    const double moved = h * system->apply(system->rates(velocities), velocities);
    result.choices.push_back({moved, longest_correction});
    if (moved <= longest_correction) return;
    velocities = before;
    ++result.fallbacks;
  }
  const std::vector<double> rates = sweep(
      [&](Index row, double relaxation) {
        return rows_->correct_velocity(row, positions, relaxation, threshold() / h, velocities);
      },
      [&] {
        displacements = h * velocities;
        const double moved = contact_->correct_velocities(positions, displacements);
        velocities = displacements / h;
        return moved;
      },
      h, false, result.margin);
  result.velocity_sweeps += static_cast<int>(rates.size());
}

ImpulseStepResult ImpulseCloth::step(double step, const MatrixX3d& prescribed, double time) {
  const auto pinned_count = static_cast<Eigen::Index>(nodes_.pinned.size());
  check_rows("prescribed", prescribed.rows(), pinned_count);
  MatrixX3d start(pinned_count, 3);
  for (Eigen::Index i = 0; i < pinned_count; ++i)
    start.row(i) = positions_.row(nodes_.pinned[static_cast<std::size_t>(i)]);

  MatrixX3d positions = positions_, velocities = velocities_;
  const std::vector<Spring> before = springs_;
  ImpulseStepResult result;
  if (contact_)
    contact_->begin_step(positions, time, step, settings_.substeps,
                         1 + step / settings_.substeps * fabric_.mass_damping / fabric_.density);
  for (int s = 1; s <= settings_.substeps; ++s) {
    if (contact_) contact_->begin_substep(s - 1);
    const MatrixX3d pinned = start + (prescribed - start) * s / settings_.substeps;
    flow(step / settings_.substeps, positions);
    part(step / settings_.substeps, pinned, positions, velocities, result);
    if (contact_) contact_->end_part();
    if (!positions.allFinite() || !velocities.allFinite()) {
      springs_ = before;
      throw NumericalError("step: found a coordinate that is not finite in part " + std::to_string(s) +
                           " of " + std::to_string(settings_.substeps) +
                           ", expected finite positions; shorten the step");
    }
  }
  result.residual = rows_->residual(positions);
  result.converged = result.residual <= settings_.tolerance &&
                     (!contact_ || contact_->penetration(positions) <= contact_->tolerance());
  positions_ = positions;
  velocities_ = velocities;
  return result;
}

}  // namespace isocloth::reference
