#include "host/simulation.hpp"

#include <algorithm>

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
  std::vector<std::int64_t> clocks;  ///< steps of each garment since its last reset
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
  m.clocks.assign(m.solvers.size(), 0);
  m.options.threads = m.device.threads();
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

std::vector<StepReport> Simulation::advance(int steps) {
  if (steps < 0) throw ShapeError("steps: found " + std::to_string(steps) + ", expected >= 0");
  std::vector<StepReport> total(garment_count());
  for (StepReport& r : total) r.substeps = 0;
  for (int i = 0; i < steps; ++i) {
    const std::vector<StepReport> reports = step();
    for (std::size_t g = 0; g < reports.size(); ++g) {
      total[g].status = std::max(total[g].status, reports[g].status);
      total[g].iterations += reports[g].iterations;
      total[g].substeps += reports[g].substeps;
      total[g].residual = std::max(total[g].residual, reports[g].residual);
      total[g].wall_seconds += reports[g].wall_seconds;
    }
  }
  return total;
}

std::vector<StepReport> Simulation::step() {
  Members& m = *members_;
  std::vector<StepReport> reports(m.solvers.size());
  for (std::size_t i = 0; i < m.solvers.size(); ++i) {
    if (m.frozen[i])
      reports[i] = {
          .status = StepStatus::non_finite, .iterations = 0, .substeps = 0, .residual = 0, .wall_seconds = 0};
    else
      reports[i] = m.solvers[i]->step(time(i), m.scene.step);
    if (reports[i].status == StepStatus::non_finite)
      m.frozen[i] = 1;
    else
      ++m.clocks[i];
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
std::size_t Simulation::garment_count() const { return members_->solvers.size(); }
double Simulation::time(std::size_t garment) const {
  members_->solver(garment);  // checks the index
  return members_->scene.garments[garment].time_offset +
         static_cast<double>(members_->clocks[garment]) * members_->scene.step;
}
bool Simulation::frozen(std::size_t garment) const {
  members_->solver(garment);
  return members_->frozen[garment] != 0;
}
GarmentState Simulation::state(std::size_t garment) const {
  GarmentState state = members_->solver(garment).state();
  state.step_index = members_->clocks[garment];
  state.frozen = members_->frozen[garment] != 0;
  return state;
}

namespace {

void read_vectors(const Simulation& simulation, const std::vector<std::size_t>& garments,
                  ArrayView<Vec3d> out, std::vector<Vec3d> (Simulation::*get)(std::size_t) const) {
  std::size_t expected = 0;
  for (const std::size_t g : garments) expected += simulation.info(g).node_count;
  if (out.size() != expected)
    throw ShapeError("out: found " + std::to_string(out.size()) + " nodes, expected " +
                     std::to_string(expected));
  Vec3d* next = out.data();
  for (const std::size_t g : garments) {
    const std::vector<Vec3d> values = (simulation.*get)(g);
    next = std::copy(values.begin(), values.end(), next);
  }
}

}  // namespace

void Simulation::read_positions(const std::vector<std::size_t>& garments, ArrayView<Vec3d> out) const {
  read_vectors(*this, garments, out, &Simulation::positions);
}
void Simulation::read_velocities(const std::vector<std::size_t>& garments, ArrayView<Vec3d> out) const {
  read_vectors(*this, garments, out, &Simulation::velocities);
}

void Simulation::set_state(std::size_t garment, const GarmentState& state) {
  members_->solver(garment).set_state(state);
  members_->frozen[garment] = state.frozen;
  members_->clocks[garment] = state.step_index;
}
void Simulation::set_step_index(std::int64_t step_index) { members_->step_index = step_index; }

void Simulation::reset() {
  for (std::size_t i = 0; i < members_->solvers.size(); ++i) set_state(i, members_->start[i]);
  set_step_index(0);
}
void Simulation::reset(const std::vector<std::size_t>& garments) {
  for (const std::size_t g : garments) {
    members_->solver(g);
    set_state(g, members_->start[g]);
  }
}

}  // namespace isocloth
