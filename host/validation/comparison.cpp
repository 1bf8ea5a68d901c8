#include "host/validation/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isocloth {

using reference::MatrixX3d;
using reference::VectorXd;

MatrixX3d as_matrix(const std::vector<double>& flat) {
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>(
      flat.data(), static_cast<Eigen::Index>(flat.size() / 3), 3);
}

VectorXd distances(const MatrixX3d& a, const MatrixX3d& b) { return (a - b).rowwise().norm(); }

MatrixX3d prescribed_positions(const Garment& garment, const std::vector<Index>& pinned, double t) {
  MatrixX3d positions(static_cast<Eigen::Index>(pinned.size()), 3);
  for (const Pin& pin : garment.pins)
    for (std::size_t i = 0; i < pin.nodes.size(); ++i) {
      const Vec3d p = pin_position(garment, pin, i, t);
      const auto at = std::lower_bound(pinned.begin(), pinned.end(), pin.nodes[i]);
      positions.row(at - pinned.begin()) << p.x, p.y, p.z;
    }
  return positions;
}

double diagonal(const Garment& garment) {
  const MatrixX3d rest = reference::to_matrix(garment.mesh.positions);
  return (rest.colwise().maxCoeff() - rest.colwise().minCoeff()).norm();
}

double unit_rounding(Precision precision) {
  return precision == Precision::float32 ? std::numeric_limits<float>::epsilon()
                                         : std::numeric_limits<double>::epsilon();
}

double tolerance_of_sums(Precision precision, Index node_count) {
  return std::max(1e-9, 10 * unit_rounding(precision) * std::sqrt(node_count));
}

void keep_worst(GarmentValidation& result, const char* quantity, const VectorXd& difference, double scale,
                double tolerance, std::int64_t step) {
  auto it = std::find_if(result.differences.begin(), result.differences.end(),
                         [&](const Difference& d) { return d.quantity == quantity; });
  if (it == result.differences.end())
    it = result.differences.insert(it, {.quantity = quantity, .worst = -1, .tolerance = tolerance});
  if (difference.size() == 0) return;
  Eigen::Index index = 0;
  double worst = difference.maxCoeff<Eigen::PropagateNaN>(&index);
  if (worst > 0) worst /= scale;
  if (it->worst * tolerance < worst * it->tolerance || it->step < 0 || !(worst == worst))
    *it = {.quantity = quantity, .worst = worst, .tolerance = tolerance, .step = step, .index = index};
}

}  // namespace isocloth
