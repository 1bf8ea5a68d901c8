// The linear system of garments whose factors leave couplings out: within a garment, or between several.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "host/linear/nodal_solver.hpp"
#include "host/linear/pcg_rows.hpp"
#include "host/memory/recording.hpp"
#include "host/memory/transfers.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {

/// Whole rows of a garment's matrix in the device's memory, see SymmetricBlocksView.
struct MatrixRows {
  Buffer<Index> begin, columns, blocks;

  MatrixRows() = default;
  MatrixRows(const Device& device, const BlockPattern& pattern);
  std::size_t bytes() const { return begin.bytes() + columns.bytes() + blocks.bytes(); }
};

/// A garment's part of the system.
template <class Real>
struct CoupledMember {
  /// Factor of P, perhaps in less precision, after factorize(); null: the garment stands still.
  NodalSolver<Real>* factor = nullptr;
  Couplings<Real> couplings;                 ///< within the garment, or none
  Buffer<Vec3<Real>>* right_side = nullptr;  ///< b, shape [free_count]
  Buffer<Vec3<Real>>* solution = nullptr;    ///< P^-1 b, then x; shape [free_count]
  SymmetricBlocksView<Real> matrix;          ///< the matrix P of the garment
};

/// (P + E) x = b by conjugate gradients, preconditioned by the factors of P, one block per member; see
/// conjugate_gradients(). Several right sides are solved for side by side, each with the steps and the bits
/// that it has alone: what is read of factors, matrices and contacts is read for all of them. Products are
/// taken with P itself: the factors may be of less precision. E are couplings within members and, if there
/// are any, contacts between cloths. Their vectors are those of all members, one after another.
///
/// Where all factors are a device's, iterations are a recording that repeats itself on the device, and the
/// host waits once; where none can (Recording), it asks now and then whether to go on: what is done changes
/// no more, so that no bit depends on when.
template <class Real>
class CoupledSystem {
 public:
  using Members = std::vector<CoupledMember<Real>>;
  using Contacts = std::optional<MultiplyClothContacts<Real>>;

  CoupledSystem() = default;
  /// sizes: free_count of each member.
  CoupledSystem(const Device& device, const std::vector<std::size_t>& sizes);

  bool exists() const { return device_ != nullptr; }
  /// Returns the iterations, -1: a factor met something that is not finite, and the solutions are worth
  /// nothing. more: what else is to be fetched with the first wait, if there is one; or null.
  int solve(const Members& members, const Contacts& contacts, double rtol, Downloads* more = nullptr);
  /// Solves A X = C with the matrix of the last solve(). right_sides, solutions: shape [at least count, all
  /// free nodes]; contacts: with pulls for most_columns of them, or for all. is_deflated: each solution is as
  /// correct() leaves it. Returns the most iterations of a column, or -1.
  int solve_block(const Members& members, const Contacts& contacts, const Buffer<Vec3<Real>>& right_sides,
                  Buffer<Vec3<Real>>& solutions, std::size_t count, double rtol, bool is_deflated = false);
  /// What correct() solves exactly with the matrix of solve(), after or before it: Z, shape [at most
  /// most_columns, all free nodes], for each island by itself. islands: of each member, -1: none; nothing
  /// couples two.
  void set_modes(const Members& members, const Contacts& contacts, const Buffer<Vec3<Real>>& modes,
                 const std::vector<int>& islands);
  /// Takes the part of the residual of the last solve() away that lies along these: x += Z (Z^T A Z)^-1 Z^T
  /// r. Where Z^T A Z is not positive definite it does nothing.
  void correct(const Members& members);
  /// x of all members after the last solve() [m], shape [all free nodes].
  const Buffer<Vec3<Real>>& solution() const { return solution_; }
  Buffer<Vec3<Real>>& solution() { return solution_; }
  /// Copies the solution to the members.
  void scatter(const Members& members);
  std::size_t memory_bytes() const;

 private:
  struct Iteration;
  /// Iterations that repeat, and the arrays that they work on.
  struct Repeated {
    explicit Repeated(const Device& device) : recording(device) {}
    Recording recording;
    std::vector<std::uint64_t> arguments;
    int iterations = 0;  ///< of the solve before
  };
  /// Solves for columns one after another in residual_; has_solved: z of the first iteration is there.
  int iterate(const Members& members, const Contacts& contacts, std::size_t count, bool has_solved,
              ArrayView<Vec3<Real>> solutions, double rtol, Downloads* more);
  int iterate_on_device(const Members& members, const Contacts& contacts, std::size_t count, bool has_solved,
                        ArrayView<Vec3<Real>> solutions, double rtol, Downloads* more);
  /// What tells whether iterations are those that were recorded.
  static std::vector<std::uint64_t> arguments_of(const Members& members, const Contacts& contacts);
  /// Makes room for so many right sides at once.
  void reserve(std::size_t columns);
  std::size_t size() const { return begin_.empty() ? 0 : begin_.back(); }
  void clear(ArrayView<Vec3<Real>> values) const;
  const StepKernels<Real>& kernels() const { return step_kernels<Real>(device_->backend()); }
  /// Products of Z with columns, of each member by itself, shape [member, mode_count, right_count].
  struct IslandProducts {
    Buffer<Real> on_device;
    std::vector<Real> staging;
    const Real* at = nullptr;  ///< where the host can read them
    std::size_t count = 0;     ///< of a member
  };
  void launch_products(IslandProducts& products, const Buffer<Vec3<Real>>& right, std::size_t right_count,
                       Downloads& downloads);
  /// Sums over the members of each island.
  std::vector<std::vector<double>> sums(const IslandProducts& products) const;
  /// Launches the products that deflate() takes for so many columns, and asks for them.
  void fetch_products(std::size_t count, Downloads& downloads);
  void invert_modes();
  /// Corrects the first `count` columns as correct() does.
  void deflate(std::size_t count, ArrayView<Vec3<Real>> solutions);
  /// Computes y = P x + E x for the columns that begin at `begins`.
  void multiply(const Members& members, const Contacts& contacts, const std::vector<std::size_t>& begins,
                ArrayView<const Vec3<Real>> x, ArrayView<Vec3<Real>> y) const;

  const Device* device_ = nullptr;
  std::vector<std::size_t> begin_;   ///< first free node of each member, shape [member_count + 1]
  std::vector<std::size_t> widths_;  ///< widths of the members' columns, see side_by_side()
  Buffer<Vec3<Real>> solution_;
  Buffer<Vec3<Real>> residual_, preconditioned_, direction_, product_;  ///< columns, one after another
  std::vector<int> islands_;  ///< island of each member, -1: none; see set_modes()
  /// Inverse of Z^T A Z for each island; empty: the island is left alone.
  std::vector<std::vector<double>> inverses_;
  const Buffer<Vec3<Real>>* modes_ = nullptr;          ///< Z
  Buffer<Vec3<Real>> images_;                          ///< A Z
  IslandProducts of_modes_, of_residuals_;             ///< Z^T A Z, Z^T r
  bool are_modes_new_ = false, has_products_ = false;  ///< inverses_ are to follow; the products are there
  Buffer<double> partials_;
  Buffer<CgColumn> numbers_;
  Buffer<CgProgress> progress_;
  std::map<std::size_t, std::unique_ptr<Repeated>> repeated_;  ///< by the number of columns
};

}  // namespace isocloth
