#include <Eigen/LU>
#include <algorithm>

#include "host/models/air/ring_system.hpp"

namespace isocloth {
namespace {

class DenseRingSystem final : public RingSystem {
 public:
  explicit DenseRingSystem(const SheetRings& rings) : rings_(rings) {}

  InducedVelocities induce(const std::vector<double>& circulations,
                           const std::vector<double>& wake) override {
    const std::size_t rows = static_cast<std::size_t>(rings_.grid.rows);
    const std::size_t columns = static_cast<std::size_t>(rings_.grid.columns);
    const std::size_t count = rows * columns;
    matrix_.setZero(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(count));
    InducedVelocities induced{std::vector<Vec3d>(count), std::vector<Vec3d>(count)};
    RingVelocities velocities(rings_.grid.columns, rings_.core);
    for (std::size_t c = 0; c < count; ++c) {
      const VortexPanel& panel = rings_.lattice.panels[c];
      velocities(panel.collocation, rings_.lines, [&](std::size_t r, std::size_t j, const Vec3d& u) {
        if (r <= rows) {
          const std::size_t ring = std::min(r, rows - 1) * columns + j;
          add(c, ring, dot(panel.wash_normal, u));
          induced.by_sheet[c] += circulations[ring] * u;
        } else {
          induced.by_wake[c] += wake[(r - rows - 1) * columns + j] * u;
        }
      });
    }
    return induced;
  }

  void add(std::size_t row, std::size_t panel, double value) override {
    matrix_(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(panel)) += value;
  }

  Eigen::VectorXd solve(const Eigen::VectorXd& right, const std::vector<double>&) override {
    return matrix_.partialPivLu().solve(right);
  }

 private:
  SheetRings rings_;
  Eigen::MatrixXd matrix_;
};

}  // namespace

std::unique_ptr<RingSystem> dense_ring_system(const SheetRings& rings) {
  return std::make_unique<DenseRingSystem>(rings);
}

}  // namespace isocloth
