// Elastic cloth whose forces balance, and how that balance goes with what it is made of.
#pragma once

#include <Eigen/SparseCholesky>
#include <array>
#include <memory>
#include <vector>

#include "engine/mesh/topology.hpp"
#include "engine/model/scene.hpp"
#include "host/reference/rows.hpp"
#include "host/reference/stress_laws.hpp"

namespace isocloth {

struct BalanceSettings {
  /// Largest force on a node that nothing balances, over the largest sum of sizes of forces on one.
  double tolerance = 1e-10;
  int most_iterations = 200;
  double longest_step = 0.5;  ///< longest step of any node in an iteration [mean element sizes]
};

struct Balance {
  bool is_at_rest = false;  ///< within the tolerance
  bool is_stable = false;   ///< the stiffness is positive definite at the end
  int iterations = 0;       ///< number of factorised systems
};

/// A garment by the energy of its elastic rows, its bending and its weight,
///   U(x) = sum_r K_r Phi_r(C_r(x)) + kappa / 2 x^T K x + sum_i delta m_i g z_i,
/// with the rows, laws and bending of the equations (host/reference), Phi' the stress of a law. Held nodes
/// are where x has them. Vectors are x, y, z of each node, shape [3 node_count].
class StaticSheet {
 public:
  using Vector = Eigen::VectorXd;

  /// `is_held`: shape [node_count]. Throws SceneError for a recipe without energies, limits of strain,
  /// seams, buttons, bands and pressure, which are not in U.
  StaticSheet(const Garment& garment, const Recipe& recipe, double gravity, std::vector<char> is_held);
  /// The cloth of `like` with another fabric. Throws SceneError as the other constructor.
  StaticSheet(const StaticSheet& like, const Fabric& fabric);

  double energy(const Vector& x) const;
  /// dU/dx [N], of held nodes, too: what holds them pulls with that force.
  Vector gradient(const Vector& x) const;

  /// Newton's method with the whole second derivative of U: (H + mu I) d = -dU/dx, mu raised until it is
  /// positive definite (Levenberg, Marquardt; Miguel et al. 2012, section 5.1) and lowered again by steps
  /// that Armijo's rule accepts; no node moves by more than longest_step. x: where it begins and ends.
  Balance settle(Vector& x, const BalanceSettings& settings = {});

  /// Factorises H at x; mu as in settle() where it is not positive definite. Returns whether it is.
  bool linearise(const Vector& x);
  /// Returns y of H y = side on free nodes, 0 on held ones, after linearise() or settle().
  Vector solve(const Vector& side) const;
  /// Returns H y on all nodes, after linearise() or settle().
  Vector times_stiffness(const Vector& y) const;

  /// Strains of all rows of a law at x by the model's own measure (Miguel et al. 2012, (1), (3), (4)).
  std::vector<double> strains(const Vector& x, Index law) const;

 private:
  struct Row {
    int count = 0;
    std::array<Index, 4> nodes{};
    std::array<double, 16> tensor{};  ///< T: C = sum T_ij p_i . p_j - rest
    double rest = 0, stiffness = 0;
    Index law = -1;
    StrainMeasure measure{};               ///< of its law
    std::array<std::size_t, 16> blocks{};  ///< of each pair of nodes
  };
  struct Shape;

  void set_rows(const Fabric& fabric);
  void start_system();
  reference::ElasticResponse response(const Row& row, double strain) const;
  double strain(const Row& row, const Vector& x, std::array<Eigen::Vector3d, 4>& gradient) const;
  void assemble(const Vector& x);
  void factorise(double& mu);
  double largest_free(const Vector& forces) const;

  std::shared_ptr<const Shape> shape_;      ///< what does not depend on the fabric
  std::vector<Row> rows_;                   ///< rows of the energy
  std::vector<reference::StressLaw> laws_;  ///< laws of the rows; empty: all are linear in C
  std::shared_ptr<const reference::SparseMatrix> bending_;
  /// Numbers of the blocks of bending_'s entries on and below the diagonal.
  std::vector<std::size_t> bending_blocks_;
  Bending model_;
  double kappa_ = 0, weight_ = 0;  ///< stiffness of bending [N m], and weight per area delta g [N/m^2]
  std::vector<Eigen::Matrix3d> blocks_;
  Vector gradient_;
  double scale_ = 0;  ///< largest sum of sizes of forces on a node [N]
  Eigen::SparseMatrix<double> system_;
  std::shared_ptr<Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>>> factor_;
};

}  // namespace isocloth
