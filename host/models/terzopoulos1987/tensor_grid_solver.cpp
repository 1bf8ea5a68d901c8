#include "host/models/terzopoulos1987/tensor_grid_solver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace isocloth {
namespace {

/// m_i [m^2]: a quarter of each cell at its corners, as in the kernels.
std::vector<double> lumped_masses(const Mesh& mesh) {
  std::vector<double> masses(mesh.positions.size());
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    const auto p = [&](int corner) { return mesh.positions[static_cast<std::size_t>(face[corner])]; };
    const double area = norm(cross(p(2) - p(0), p(3) - p(1))) / 2;
    for (const Index node : face) masses[static_cast<std::size_t>(node)] += area / 4;
  }
  return masses;
}

/// Goes on to the implicit step, by Newton's method.
bool is_implicit(const Recipe& recipe) { return recipe.name == "terzopoulos1987_implicit"; }

std::string mesh_of(const Garment& garment) { return "garment \"" + garment.name + '"'; }

/// Stretching alone is explicit, and nothing where steps are implicit: with the metric of the beginning of a
/// step, central differences of x'' = -K x are stable for h^2 K <= 4, damped or not, and the rate is that of
/// threads which are stretched by half of their length.
OwnForceRate stretch_rate(const Garment& garment, bool iterates) {
  if (iterates) return [](const Fabric&, const std::vector<double>&) { return 0.0; };
  return [&garment](const Fabric& fabric, const std::vector<double>& inverse_masses) {
    const auto metric = TensorGrid(garment.mesh, mesh_of(garment)).metric_rows();
    // Threads stretched to s times their length: s^2 K is explicit and (s^2 - 1) / 2 K of tension implicit,
    // stable for h^2 K (1 + s^2) / 2 <= 4.
    constexpr double longest = 1.5;
    const double strained = std::sqrt((1 + longest * longest) / 2);
    const double stiffness[3] = {fabric.stretch_stiffness, fabric.weft_stiffness(), fabric.shear_stiffness};
    double most = 0;
    for (std::size_t row = 0; row < metric[0].size(); ++row) {
      double k = 0;
      for (std::size_t c = 0; c < 3; ++c) k += stiffness[c] * metric[c][row];
      most = std::max(most, strained * std::sqrt(k * inverse_masses[row / 2] / fabric.density) / 2);
    }
    return most;
  };
}

std::vector<char> free_nodes(const Garment& garment) {
  std::vector<char> is_free = pinned_nodes(garment);
  for (char& free : is_free) free = free == 0 ? 1 : 0;
  return is_free;
}

template <class Real>
void read(const Buffer<Vec4<Real>>& buffer, std::vector<Vec4<Real>>& staging, std::vector<Vec3d>& values) {
  const Vec4<Real>* const own = buffer.read(staging);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = {own[i].x, own[i].y, own[i].z};
}

}  // namespace

template <class Real>
TensorGridSolver<Real>::TensorGridSolver(const Device& device, const Garment& garment,
                                         const ResolvedScene& resolved,
                                         const std::shared_ptr<const ObstacleShapes<Real>>& obstacles)
    : Base(device, garment, resolved, obstacles, stretch_rate(garment, is_implicit(resolved.recipe))),
      iterates_(is_implicit(resolved.recipe)),
      grid_(garment.mesh, mesh_of(garment)),
      step_(grid_, lumped_masses(garment.mesh), free_nodes(garment)),
      positions_of_part_(garment.mesh.positions.size()),
      before_(positions_of_part_.size()),
      moves_of_part_(positions_of_part_.size()) {}

template <class Real>
void TensorGridSolver<Real>::enter(Index step, int part) {
  Base::enter(step, part);
  read(this->moves_, staging_, before_);
}

template <class Real>
int TensorGridSolver<Real>::hold_lengths(Step& step) {
  read(this->relative_positions_, staging_, positions_of_part_);
  read(this->moves_, staging_, moves_of_part_);
  const TensorGridPart part{.fabric = this->garments_.front()->fabric,
                            .h = this->parameters_.front().part,
                            .positions = positions_of_part_,
                            .before = before_,
                            .moves = moves_of_part_,
                            .monitor = this->device_.monitor()};
  int solves = 1;
  if (iterates_) {
    solves = step_.implicit(part);
    missed_ = missed_ || solves > TensorGridStep::most_solves;
  } else {
    step_.semi_implicit(part);
  }
  this->moves_.edit(0, moves_of_part_.size(), [&](Vec4<Real>* moves) {
    for (std::size_t i = 0; i < moves_of_part_.size(); ++i) {
      const Vec3d& u = moves_of_part_[i];
      moves[i] = {static_cast<Real>(u.x), static_cast<Real>(u.y), static_cast<Real>(u.z), Real(0)};
    }
  });
  if (!this->here_.contacts.exist()) return solves;
  return solves + this->sweep(step, true, step.control()).count;
}

template <class Real>
std::vector<AdvanceReport> TensorGridSolver<Real>::finish() {
  missed_ = false;
  std::vector<AdvanceReport> reports = Base::finish();
  StepReport& total = reports.front().total;
  if (missed_) total.status = std::max(total.status, StepStatus::stalled);
  return reports;
}

template <class Real>
std::string TensorGridSolver<Real>::solver_name() const {
  return std::string(iterates_ ? "Newton's method" : "semi-implicit") + ", sparse Cholesky, " +
         this->instructions();
}

template class TensorGridSolver<float>;
template class TensorGridSolver<double>;

}  // namespace isocloth
