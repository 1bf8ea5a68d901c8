#include "host/energy/row_work.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth::energy {
namespace {

VectorXd products(const MatrixX3d& a, const MatrixX3d& b) { return a.cwiseProduct(b).rowwise().sum(); }

}  // namespace

RowWork::RowWork(const Recipe& recipe, const Garment& garment, const std::vector<char>& is_free)
    : rows_(reference::garment_rows(recipe, garment.mesh, build_topology(garment.mesh), garment.fabric,
                                    is_free)),
      relaxation_(relaxation_times(garment.fabric)),
      is_engineering_(recipe.strain == StrainMeasure::engineering) {}

RowWork::Law RowWork::law(Eigen::Index row, double c) const {
  const Index number = law_of(row);
  if (number < 0 || rows_.curves.empty()) return {c * c / 2, c};
  const bool is_spring = row >= rows_.rows.row_count() - static_cast<Eigen::Index>(rows_.rows.edges.size()),
             is_length = is_engineering_ && (is_spring || number != RowLaw::shear);
  const double stretch = is_length ? std::sqrt(c > -0.9999 ? 1 + c : 1e-4) : 1,
               x = is_length ? 2 * (stretch - 1) : c, size = std::fabs(x);
  const std::vector<CurvePiece>& pieces = rows_.curves[static_cast<std::size_t>(number)];
  Law found{0, 0};
  for (std::size_t i = 0; i < pieces.size() && size >= pieces[i].begin; ++i) {
    const CurvePiece& p = pieces[i];
    const bool is_last = i + 1 == pieces.size() || size < pieces[i + 1].begin;
    const double t = (is_last ? size : pieces[i + 1].begin) - p.begin;
    found.energy += t * (p.value + t * (p.slope / 2 + t * (p.square / 3 + t * p.cube / 4)));
    found.stress = p.value + t * (p.slope + t * (p.square + t * p.cube));
  }
  found.stress = std::copysign(found.stress, x) / stretch;
  return found;
}

double& RowWork::energy_of(Eigen::Index row, EnergySums& sums) const {
  const Index number = law_of(row);
  return number == RowLaw::flexion ? sums.bending_energy
         : number == RowLaw::shear ? sums.shear_energy
                                   : sums.stretch_energy;
}

void RowWork::add_energies(const MatrixX3d& positions, EnergySums& sums) const {
  const VectorXd values = rows_.strain.of(rows_.rows.values(positions));
  for (Eigen::Index row = 0; row < values.size(); ++row)
    if (is_compliant(row)) energy_of(row, sums) += rows_.stiffness[row] * law(row, values[row]).energy;
}

void RowWork::act(const GarmentPart& part, MatrixX3d& force, EnergySums& sums) const {
  const reference::QuadraticRows& rows = rows_.rows;
  if (rows.row_count() == 0) return;
  const MatrixX3d left = rows.left * part.to, right = rows.right * part.to;
  VectorXd end = rows.weights * products(left, right) - rows.rest, start = rows.values(part.from),
           curved = rows.weights * products(rows.left * part.move, rows.right * part.move);
  reference::SparseMatrix by_rows;  // dC / d(rows) at the end
  if (rows_.strain.exists()) {
    by_rows = rows_.strain.derivative(end);
    const VectorXd way = by_rows * (end - start + curved);  // J dx
    end = rows_.strain.of(end);
    start = rows_.strain.of(start);
    curved = way - (end - start);
  }
  const double square = part.step * part.step;
  VectorXd stress(rows.row_count());
  for (Eigen::Index row = 0; row < stress.size(); ++row) {
    stress[row] = part.end.state.multipliers[static_cast<std::size_t>(row)] / square;
    const double change = end[row] - start[row], way = change + curved[row];
    if (!is_compliant(row)) {
      sums.loss_integrator += stress[row] * curved[row];
      sums.loss_rows += stress[row] * change;
      continue;
    }
    const double stiffness = rows_.stiffness[row];
    const Law before = law(row, start[row]), after = law(row, end[row]);
    const double elastic = stiffness * after.stress,
                 viscous = law_of(row) < 0 ? 0
                                           : stiffness * relaxation_[static_cast<std::size_t>(law_of(row))] /
                                                 part.step * change;
    sums.loss_integrator += elastic * way - stiffness * (after.energy - before.energy);
    sums.loss_damping += viscous * way;
    sums.loss_rows += (stress[row] - elastic - viscous) * way;
  }
  if (rows_.strain.exists()) stress = by_rows.transpose() * stress;
  const VectorXd at_samples = rows.weights.transpose() * stress;
  force -= rows.left.transpose() * (at_samples.asDiagonal() * right);
  force -= rows.right.transpose() * (at_samples.asDiagonal() * left);
}

}  // namespace isocloth::energy
