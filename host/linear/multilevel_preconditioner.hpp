// Two-level overlapping Schwarz preconditioner of the nodal system.
#pragma once

#include <memory>

#include "host/linear/linear_solver.hpp"
#include "host/linear/multilevel_subdomains.hpp"
#include "kernels/linear/multilevel.hpp"

namespace isocloth {

/// Sizes of the method; cell_size 1, overlap 0 and no coarse space is block-Jacobi.
struct MultilevelOptions {
  Index cell_size = 256;  ///< block rows per cell, >= 1
  int overlap = 1;  ///< layers of the matrix graph, >= 0; one layer of a quad mesh is two rings of nodes
  bool coarse_space = true;  ///< translations of the cells
};
constexpr MultilevelOptions block_jacobi{.cell_size = 1, .overlap = 0, .coarse_space = false};

/// z = Q r + (I - Q A) S (I - A Q) r with S = sum_s R_s^T A_s^-1 R_s over overlapping subdomains and
/// Q = P (P^T A P)^-1 P^T over the translations of disjoint cells (Mandel 1993, "balancing"; Toselli and
/// Widlund 2005, section 2.5.2). A_s is factorised in single precision, scaled to a unit diagonal; symmetric
/// positive definite in any case. With about n/256 cells the coarse system is solved directly: no third
/// level.
template <class Real>
class MultilevelPreconditioner {
 public:
  /// `rows` must outlive this. Throws ShapeError for options out of range.
  MultilevelPreconditioner(const SymmetricRows& rows, const MultilevelOptions& options);

  /// Returns the block row at which the matrix is seen not to be positive definite or finite, -1: none; when
  /// the coarse space shows it, the first row of the cell. A matrix that is only slightly indefinite passes.
  Index factorize(const Queue& queue, const SymmetricBlocksView<Real>& matrix);
  /// z = M^-1 r. r, scaled by diag(A)^-1/2, must fit single precision.
  void apply(const Queue& queue, ArrayView<const Vec3<Real>> r, ArrayView<Vec3<Real>> z);

  const std::vector<Vec3<Real>>& scales() const { return scales_; }  ///< diag(A)^-1/2, shape [size]
  std::size_t memory_bytes() const;

 private:
  SubdomainsView subdomains_view() const;
  CellProductView<Real> product_view() const;
  void analyze_coarse_space(const SymmetricRows& rows);
  Index factorize_coarse_space(const Queue& queue, const SymmetricBlocksView<Real>& matrix);
  void solve_coarse_system(std::vector<Vec3<Real>>& values);

  Cells cells_;
  Subdomains subdomains_;
  std::vector<Index> diagonals_;  ///< stored block of each diagonal
  std::vector<Vec3<Real>> scales_;
  std::vector<float> factor_, local_;
  std::vector<Index> failed_;

  bool has_coarse_space_ = false;
  std::vector<Index> product_begin_, product_cells_, product_entries_;                ///< W by rows
  std::vector<Index> cell_product_begin_, cell_product_rows_, cell_product_entries_;  ///< W by cells
  std::vector<Real> product_;
  BlockPattern coarse_pattern_;
  std::vector<double> coarse_values_, coarse_vector_;
  std::unique_ptr<LinearSolver<double>> coarse_solver_;
  std::vector<Vec3<Real>> before_, after_, deflated_;
};

}  // namespace isocloth
