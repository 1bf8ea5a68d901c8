#include "host/energy/row_work.hpp"

namespace isocloth::energy {
namespace {

/// x, y and z of each node, one after another.
using Coordinates = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;

VectorXd products(const MatrixX3d& a, const MatrixX3d& b) { return a.cwiseProduct(b).rowwise().sum(); }

}  // namespace

RowWork::RowWork(const Recipe& recipe, const Garment& garment, const std::vector<char>& is_free)
    : rows_(reference::garment_rows(recipe, garment.mesh, build_topology(garment.mesh), garment.fabric,
                                    is_free)),
      laws_(rows_.curves.begin(), rows_.curves.end()),
      memory_(garment.fabric),
      viscosity_(viscosity_laws(garment.fabric, 1)) {}

reference::ElasticResponse RowWork::law(Eigen::Index row, double c,
                                        const std::vector<double>& plastic) const {
  const Index law = rows_.law_of(row);
  const StrainMeasure measure = rows_.measure_of(row);
  const double curvature = rows_.curvature(row);
  const reference::ElasticResponse elastic = reference::elastic_response(laws_, law, measure, c, curvature);
  if (!memory_.is_of(law)) return elastic;
  reference::ElasticResponse held;
  const double x = reference::law_strain(law, measure, c, curvature).x;
  for (std::size_t i = 0; i < 2; ++i) {
    const double stiffness = memory_.sliders(law)[i].stiffness,
                 strain = x - plastic[2 * static_cast<std::size_t>(row) + i];
    held.energy += stiffness * strain * strain / 2;
    held.stress += stiffness * strain;
    held.slope += stiffness;
  }
  held = reference::by_row(law, measure, c, curvature, held);
  const double share = memory_.elastic_share(law);
  return {share * elastic.energy + held.energy, share * elastic.stress + held.stress,
          share * elastic.slope + held.slope};
}

double RowWork::hysteresis(Eigen::Index row, double c, const std::vector<double>& before,
                           const std::vector<double>& after) const {
  const Index law = rows_.law_of(row);
  if (!memory_.is_of(law)) return 0;
  const auto [x, unit] = reference::law_strain(law, rows_.measure_of(row), c, rows_.curvature(row));
  double lost = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t at = 2 * static_cast<std::size_t>(row) + i;
    lost += memory_.sliders(law)[i].stiffness * (x - after[at]) * (after[at] - before[at]);
  }
  return unit * lost;
}

double RowWork::viscous(Eigen::Index row, double rate) const {
  const Index number = rows_.law_of(row);
  if (number < 0 || number >= RowLaw::count) return 0;
  const std::size_t count = viscosity_.size() / RowLaw::count;
  return response({viscosity_.data() + count * static_cast<std::size_t>(number), count}, rate);
}

double& RowWork::energy_of(Eigen::Index row, EnergySums& sums) const {
  const Index number = rows_.law_of(row);
  const bool bends = number == RowLaw::flexion || number == RowLaw::bend || number == RowLaw::large_angle ||
                     number == RowLaw::fold;
  return bends ? sums.bending_energy : number == RowLaw::shear ? sums.shear_energy : sums.stretch_energy;
}

void RowWork::add_energies(const MatrixX3d& positions, const std::vector<double>& plastic,
                           EnergySums& sums) const {
  const VectorXd values = rows_.values(positions);
  for (Eigen::Index row = 0; row < values.size(); ++row)
    if (is_compliant(row))
      energy_of(row, sums) += rows_.stiffness[row] * law(row, values[row], plastic).energy;
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
  const Eigen::Index hinges = rows_.hinges.count();
  reference::SparseMatrix by_nodes;  // of hinges, at the end
  if (hinges > 0) {
    by_nodes = rows_.hinges.jacobian(part.to, hinges);
    end.tail(hinges) = rows_.hinges.values(part.to);
    start.tail(hinges) = rows_.hinges.values(part.from);
    const Coordinates move = part.move;
    curved.tail(hinges) =
        by_nodes * Eigen::Map<const VectorXd>(move.data(), move.size()) - (end - start).tail(hinges);
  }
  VectorXd stress(rows.row_count());
  for (Eigen::Index row = 0; row < stress.size(); ++row) {
    stress[row] = part.end.state.multipliers[static_cast<std::size_t>(row)] / square;
    const double change = end[row] - start[row], way = change + curved[row];
    if (!is_compliant(row)) {
      sums.loss_integrator += stress[row] * curved[row];
      sums.error_rows -= stress[row] * change;
      continue;
    }
    const double stiffness = rows_.stiffness[row];
    const std::vector<double>& plastic = part.end.state.plastic_strains;
    const reference::ElasticResponse before = law(row, start[row], part.plastic_before),
                                     after = law(row, end[row], plastic);
    const double lost = stiffness * hysteresis(row, end[row], part.plastic_before, plastic);
    const double elastic = stiffness * after.stress, damping = stiffness * viscous(row, change / part.step);
    sums.loss_integrator += elastic * way - stiffness * (after.energy - before.energy) - lost;
    sums.loss_hysteresis += lost;
    sums.loss_damping += damping * way;
    sums.error_rows -= (stress[row] - elastic - damping) * way;
  }
  if (hinges > 0) {
    const VectorXd pull = by_nodes.transpose() * stress.tail(hinges);
    force -= Eigen::Map<const Coordinates>(pull.data(), force.rows(), 3);
  }
  if (rows_.strain.exists()) stress = by_rows.transpose() * stress;
  const VectorXd at_samples = rows.weights.transpose() * stress;
  force -= rows.left.transpose() * (at_samples.asDiagonal() * right);
  force -= rows.right.transpose() * (at_samples.asDiagonal() * left);
}

}  // namespace isocloth::energy
