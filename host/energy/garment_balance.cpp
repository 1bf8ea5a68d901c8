#include "host/energy/garment_balance.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/core/standard_gravity.hpp"
#include "engine/rows/row_families.hpp"
#include "host/energy/air_work.hpp"
#include "host/garment/rest_shape.hpp"
#include "host/reference/bending.hpp"
#include "host/reference/garment_nodes.hpp"
#include "host/reference/integrator_formula.hpp"
#include "host/reference/stitches.hpp"

namespace isocloth::energy {
namespace {

MatrixX3d matrix(const std::vector<double>& coordinates) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(coordinates.data(), static_cast<Eigen::Index>(coordinates.size() / 3), 3);
}

/// The energy E of K; 0 of a matrix that is empty.
double quadratic_form(const reference::SparseMatrix& k, const MatrixX3d& x) {
  return k.nonZeros() > 0 ? work_of(k * x, x) / 2 : 0;
}

std::vector<double> limits_of(const Fabric& fabric) {
  std::vector<double> all;
  for_each_limit([&](const StrainLimit& limit) { all.push_back(fabric.*limit.number); });
  return all;
}

double gravity_of(const Scene& scene, const Garment& garment) {
  return garment.fabric.gravity_density * garment.gravity.value_or(scene.gravity);
}

}  // namespace

GarmentModel::GarmentModel(const Recipe& recipe, const Scene& scene, const Garment& garment)
    : is_free(reference::node_kinds(garment).is_free),
      masses(reference::lumped_areas(garment.mesh, reference::surface_points(garment.mesh),
                                     &FabricFactors::density)),
      rows(recipe, garment, is_free),
      contacts(scene, garment),
      mesh_(garment.mesh),
      fabric_(garment.fabric) {
  if (has_bending_matrix(recipe, garment.fabric))
    bending = reference::bending_matrix(garment.mesh, build_topology(garment.mesh),
                                        bending_of(recipe, garment.fabric), is_free);
}

bool GarmentModel::is_of(const Garment& garment) const {
  return fits(garment.fabric) && same_rest_shape(garment.mesh, mesh_) &&
         reference::node_kinds(garment).is_free == is_free;
}

bool GarmentModel::fits(const Fabric& fabric) const {
  const auto numbers = [](const Fabric& f) {
    return std::tuple{f.bending_stiffness > 0 || f.stiffness_damping > 0,
                      f.bending,
                      f.large_angles,
                      f.bending_stiffness,
                      f.weft_bending_stiffness,
                      f.stiffness_damping,
                      f.stretch_stiffness,
                      f.weft_stretch_stiffness,
                      f.shear_stiffness,
                      f.poisson_ratio,
                      f.curves,
                      f.viscosity.stretch,
                      f.viscosity.shear,
                      f.viscosity.curves,
                      memory_laws(f),
                      limits_of(f),
                      f.bend_spring.stiffness,
                      f.bend_spring.damping};
  };
  return numbers(fabric) == numbers(fabric_);
}

void GarmentBalance::refresh(const Recipe& recipe) {
  if (!model_->fits(garment_.fabric)) model_ = std::make_shared<const GarmentModel>(recipe, scene_, garment_);
}

GarmentBalance::GarmentBalance(const Scene& scene, const Garment& garment,
                               std::shared_ptr<const GarmentModel> model, const GarmentState& state)
    : scene_(scene), garment_(garment), model_(std::move(model)) {
  go_on({}, state);
}

void GarmentBalance::go_on(const EnergySums& sums, const GarmentState& state) {
  last_ = energies(matrix(state.positions), matrix(state.velocities), state.plastic_strains);
  set_sums(sums);
}

void GarmentBalance::set_sums(const EnergySums& sums) {
  sums_ = sums;
  sums_.gravity_energy = last_.sums.gravity_energy;
  sums_.bending_energy = last_.sums.bending_energy;
  sums_.stretch_energy = last_.sums.stretch_energy;
  sums_.shear_energy = last_.sums.shear_energy;
}

void GarmentBalance::note_unbalanced(const MatrixX3d& forces, const std::vector<char>& is_moved) {
  const double own = std::fabs(gravity_of(scene_, garment_)),
               weight = own > 0 ? own : standard_gravity * garment_.fabric.density;
  for (Eigen::Index i = 0; i < forces.rows(); ++i)
    if (is_moved[static_cast<std::size_t>(i)] == 0)
      sums_.unbalanced_force =
          std::max(sums_.unbalanced_force, forces.row(i).norm() / (weight * model_->masses[i]));
}

StateEnergies GarmentBalance::energies(const MatrixX3d& positions, const MatrixX3d& velocities,
                                       const std::vector<double>& plastic) const {
  StateEnergies found;
  const Fabric& fabric = garment_.fabric;
  found.kinetic = fabric.density / 2 * model_->masses.dot(velocities.rowwise().squaredNorm());
  found.sums.gravity_energy = gravity_of(scene_, garment_) * model_->masses.dot(positions.col(2));
  // K has no part in rigid motions: far from the origin only rounding would.
  found.sums.bending_energy =
      fabric.bending_stiffness * quadratic_form(model_->bending, positions.rowwise() - positions.row(0));
  model_->rows.add_energies(positions, plastic, found.sums);
  return found;
}

void GarmentBalance::add(const StepRecord& step, const GarmentState& before, const Moment& begin,
                         Integrator integrator, const std::vector<BodyState>& bodies_before,
                         const std::vector<BodyState>& bodies_after) {
  MatrixX3d positions = matrix(before.positions), velocities = matrix(before.velocities);
  // Bands may have been drawn in or let out since the step before.
  if (!garment_.drawstrings.empty() && !model_->is_of(garment_))
    model_ = std::make_shared<const GarmentModel>(find_recipe(scene_.recipe), scene_, garment_);
  const StateEnergies start = energies(positions, velocities, before.plastic_strains);
  sums_.work_commands += start.inner() - last_.inner();
  History history{matrix(before.previous_positions), matrix(before.previous_velocities),
                  before.previous_step};
  const EnergySums sums_before = sums_;
  sums_.unbalanced_force = 0;
  double done = 0;
  const std::vector<double>* plastic = &before.plastic_strains;
  for (const SubstepRecord& end : step.parts) {
    const double h = end.step;
    const reference::IntegratorFormula formula(integrator, h, end.forgets ? 0 : history.step);
    const bool remembers = formula.memory > 0;
    const MatrixX3d base =
                        remembers ? positions + formula.memory * (positions - history.positions) : positions,
                    base_velocity = remembers
                                        ? velocities + formula.memory * (velocities - history.velocities)
                                        : velocities;
    const MatrixX3d now = matrix(end.state.positions), velocities_now = matrix(end.state.velocities);
    const GarmentPart part{.scene = scene_,
                           .garment = garment_,
                           .end = end,
                           .from = positions,
                           .to = now,
                           .move = now - positions,
                           .speed = formula.rate / h * (now - base),
                           .step = h,
                           .begin_time = begin.of_garment + done,
                           .lead = begin.of_garment - begin.of_simulation,
                           .step_end_time = begin.of_garment + scene_.step,
                           .share = h / scene_.step,
                           .plastic_before = *plastic,
                           .bodies_before = bodies_before,
                           .bodies_after = bodies_after};
    const MatrixX3d acceleration = formula.rate / h * (velocities_now - base_velocity);
    const MatrixX3d inertia = (garment_.fabric.density * model_->masses).asDiagonal() * acceleration;
    const auto kinetic = [&](const MatrixX3d& v) {
      return garment_.fabric.density / 2 * model_->masses.dot(v.rowwise().squaredNorm());
    };
    sums_.loss_integrator += work_of(inertia, part.move) - (kinetic(velocities_now) - kinetic(velocities));
    add_part(part, inertia, step);
    history = {std::move(positions), std::move(velocities), end.state.previous_step};
    positions = now;
    velocities = velocities_now;
    done += h;
    plastic = &end.state.plastic_strains;
  }
  last_ = energies(positions, velocities, *plastic);
  set_sums(EnergySums(sums_));
  sums_.energy_error += last_.inner() - start.inner() - (sums_.works() - sums_before.works()) +
                        (sums_.losses() - sums_before.losses()) - (sums_.error_rows - sums_before.error_rows);
  sums_.energy_scale = std::max(sums_.energy_scale, last_.kinetic + sums_.turnover());
}

void GarmentBalance::add_part(const GarmentPart& part, const MatrixX3d& inertia, const StepRecord& step) {
  const Fabric& fabric = garment_.fabric;
  const VectorXd& masses = model_->masses;
  MatrixX3d force = MatrixX3d::Zero(part.to.rows(), 3);
  const double gravity = gravity_of(scene_, garment_);
  force.col(2) -= gravity * masses;
  sums_.work_gravity -= gravity * masses.dot(part.move.col(2));
  force -= (fabric.mass_damping * masses).asDiagonal() * part.speed;
  sums_.loss_damping += fabric.mass_damping * masses.dot(part.speed.cwiseProduct(part.move).rowwise().sum());
  if (model_->bending.nonZeros() > 0) {
    const MatrixX3d bent =
                        fabric.bending_stiffness * (model_->bending * (part.to.rowwise() - part.to.row(0))),
                    damped = fabric.stiffness_damping * (model_->bending * part.speed);
    force -= bent + damped;
    sums_.loss_damping += work_of(damped, part.move);
    sums_.loss_integrator += fabric.bending_stiffness * quadratic_form(model_->bending, part.move);
  }
  model_->rows.act(part, force, sums_);
  if (!garment_.mesh.stitches.empty() || !garment_.mesh.buttons.empty()) {
    const reference::Threads threads =
        reference::threads_of(garment_.mesh, garment_.sewing, part.from, part.step);
    const MatrixX3d pulls = 1 / (part.step * part.step) * (threads.of_rests - threads.laplacian * part.to);
    force += pulls;
    sums_.work_seams += work_of(pulls, part.move);
  }
  add_air_work(part, force, sums_);
  add_load_work(part, garment_.forces, garment_.force_slopes, force, sums_);
  add_load_work(part, step.asked.forces, step.asked.slopes, force, sums_);
  add_hold_work(part, force, sums_);
  model_->contacts.act(part, force, sums_);
  add_cloth_work(part, force, sums_);
  // What moves a node that forces do not.
  const MatrixX3d left = inertia - force;
  const VectorXd reactions = left.cwiseProduct(part.move).rowwise().sum();
  const auto& holds = part.end.state.holds;
  std::vector<char> is_ccd_stopped(static_cast<std::size_t>(reactions.size()));
  for (const Index node : part.end.ccd_stopped_nodes) is_ccd_stopped[static_cast<std::size_t>(node)] = 1;
  std::vector<char> is_moved = is_ccd_stopped;  // by what is no force
  for (Eigen::Index i = 0; i < reactions.size(); ++i) {
    const auto node = static_cast<std::size_t>(i);
    const Index gripper = node < holds.size() ? holds[node].gripper : -1;
    const bool is_gripped =
        gripper >= 0 && !(garment_.grippers[static_cast<std::size_t>(gripper)].stiffness > 0);
    is_moved[node] = is_moved[node] != 0 || model_->is_free[node] == 0 || is_gripped;
    if (model_->is_free[node] == 0)
      sums_.work_pins += reactions[i];
    else if (is_gripped)
      sums_.work_grippers += reactions[i];
    else if (is_ccd_stopped[node] != 0)
      sums_.work_cloth += reactions[i];
  }
  note_unbalanced(left, is_moved);
}

}  // namespace isocloth::energy
