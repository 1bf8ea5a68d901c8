#include "host/simulation.hpp"

#include "engine/core/errors.hpp"
#include "host/memory/device.hpp"
#include "host/solver/garment_solver.hpp"

namespace isocloth {

struct Simulation::Members {
  Scene scene;
  ExecutionOptions options;
  Device device;
  std::vector<std::unique_ptr<GarmentSolver>> solvers;
  std::vector<GarmentState> start;
  std::vector<char> frozen;
  std::int64_t step_index = 0;

  Members(Scene s, ExecutionOptions o) : scene(std::move(s)), options(std::move(o)), device(options) {}
  GarmentSolver& solver(std::size_t garment) const {
    if (garment >= solvers.size())
      throw ShapeError("garment: found index " + std::to_string(garment) + ", expected less than " +
                       std::to_string(solvers.size()));
    return *solvers[garment];
  }
};

namespace {

std::vector<Vec3d> as_vectors(const std::vector<double>& flat) {
  std::vector<Vec3d> result(flat.size() / 3);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = {flat[3 * i], flat[3 * i + 1], flat[3 * i + 2]};
  return result;
}

}  // namespace

Simulation::Simulation(Scene scene, ExecutionOptions options) {
  validate_scene(scene);
  members_ = std::make_unique<Members>(std::move(scene), std::move(options));
  Members& m = *members_;
  for (const Garment& garment : m.scene.garments) {
    m.solvers.push_back(make_garment_solver(m.device, m.options.precision, garment, m.scene));
    m.start.push_back(m.solvers.back()->state());
  }
  m.frozen.assign(m.solvers.size(), 0);
  m.options.threads = m.device.threads();
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

std::vector<StepReport> Simulation::step() {
  Members& m = *members_;
  std::vector<StepReport> reports(m.solvers.size());
  for (std::size_t i = 0; i < m.solvers.size(); ++i) {
    if (m.frozen[i])
      reports[i] = {
          .status = StepStatus::non_finite, .iterations = 0, .substeps = 0, .residual = 0, .wall_seconds = 0};
    else
      reports[i] = m.solvers[i]->step(time(), m.scene.step);
    if (reports[i].status == StepStatus::non_finite) m.frozen[i] = 1;
  }
  ++m.step_index;
  return reports;
}

const Scene& Simulation::scene() const { return members_->scene; }
const ExecutionOptions& Simulation::options() const { return members_->options; }
std::int64_t Simulation::step_index() const { return members_->step_index; }
double Simulation::time() const { return static_cast<double>(members_->step_index) * members_->scene.step; }
GarmentInfo Simulation::info(std::size_t garment) const { return members_->solver(garment).info(); }
std::vector<Vec3d> Simulation::positions(std::size_t garment) const {
  return as_vectors(state(garment).positions);
}
std::vector<Vec3d> Simulation::velocities(std::size_t garment) const {
  return as_vectors(state(garment).velocities);
}
Measures Simulation::measure(std::size_t garment) const { return members_->solver(garment).measure(); }
GarmentState Simulation::state(std::size_t garment) const { return members_->solver(garment).state(); }

void Simulation::set_state(std::size_t garment, const GarmentState& state) {
  members_->solver(garment).set_state(state);
  members_->frozen[garment] = 0;
}
void Simulation::set_step_index(std::int64_t step_index) { members_->step_index = step_index; }

void Simulation::reset() {
  for (std::size_t i = 0; i < members_->solvers.size(); ++i) set_state(i, members_->start[i]);
  set_step_index(0);
}

}  // namespace isocloth
