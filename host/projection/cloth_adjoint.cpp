#include "host/projection/cloth_adjoint.hpp"

#include <Eigen/Sparse>
#include <algorithm>
#include <utility>

#include "engine/core/flat_vectors.hpp"
#include "host/linear/gmres.hpp"

namespace isocloth {
namespace {

using Nodes = std::vector<Vec3d>;

/// Garments and contacts as one system, its vectors flat: free nodes of all garments, then nu.
class Together {
 public:
  Together(std::vector<StepAdjoint>& garments, const ClothContactAdjoint& contacts,
           const SurfaceFeatures& features)
      : garments_(garments), contacts_(contacts), features_(features), stiffness_(contacts.stiffness()) {
    factorise();
  }

  std::vector<double> right_side() const {
    std::vector<double> side;
    for (const StepAdjoint& garment : garments_) {
      const Nodes own = garment.right_side();
      const std::vector<double> flat = as_numbers(own.data(), own.size());
      side.insert(side.end(), flat.begin(), flat.end());
    }
    side.resize(side.size() + contacts_.force_count());
    return side;
  }
  /// Of garment g on free nodes.
  Nodes part(const std::vector<double>& flat, std::size_t g) const {
    std::size_t first = 0;
    for (std::size_t i = 0; i < g; ++i) first += 3 * garments_[i].pattern().free_nodes.size();
    const auto begin = flat.begin() + static_cast<std::ptrdiff_t>(first);
    return as_vectors(std::vector<double>(
        begin, begin + static_cast<std::ptrdiff_t>(3 * garments_[g].pattern().free_nodes.size())));
  }
  std::vector<double> multiply(const std::vector<double>& flat) {
    Nodes all(features_.node_surfaces.size()), more(all.size()), held(all.size());
    std::vector<double> product;
    for (std::size_t g = 0; g < garments_.size(); ++g) {
      const Nodes own = part(flat, g);
      each_free(g, [&](std::size_t i, std::size_t node) { all[node] = own[i]; });
    }
    std::vector<double> along(contacts_.force_count());
    const std::vector<double> no_nu(along.size());
    contacts_.multiply(all, no_nu.data(), held, along.data());
    contacts_.multiply(all, flat.data() + (flat.size() - along.size()), more, along.data());
    double curvature = 0;  // of A and of what holds contacts
    for (std::size_t g = 0; g < garments_.size(); ++g) {
      bool is_own = true;  // which contacts may make up for
      Nodes own = garments_[g].multiply(part(flat, g), is_own);
      each_free(g, [&](std::size_t i, std::size_t node) {
        curvature += dot(own[i] + held[node], all[node]);
        own[i] += more[node];
      });
      const std::vector<double> numbers = as_numbers(own.data(), own.size());
      product.insert(product.end(), numbers.begin(), numbers.end());
    }
    product.insert(product.end(), along.begin(), along.end());
    is_convex = is_convex && !(curvature < 0);
    return product;
  }
  std::vector<double> precondition(const std::vector<double>& flat) const {
    const auto free = static_cast<Eigen::Index>(flat.size() - stiffness_.size());
    std::vector<double> found(flat.size());
    Eigen::Map<Eigen::VectorXd>(found.data(), free) =
        factor_.solve(Eigen::Map<const Eigen::VectorXd>(flat.data(), free));
    for (std::size_t k = 0; k < stiffness_.size(); ++k) {
      const std::size_t at = static_cast<std::size_t>(free) + k;
      found[at] = stiffness_[k] * flat[at];
    }
    return found;
  }

  bool is_convex = true;

 private:
  /// The matrices of the garments and what is symmetric of C^T k E, as one.
  void factorise() {
    std::vector<Eigen::Triplet<double>> entries;  // of the lower triangle
    const auto add = [&](Index row, Index column, const auto& entry) {
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          if (3 * row + i >= 3 * column + j) entries.emplace_back(3 * row + i, 3 * column + j, entry(i, j));
    };
    std::vector<Index> numbers(features_.node_surfaces.size(), -1);
    Index first = 0;
    for (std::size_t g = 0; g < garments_.size(); ++g) {
      const NodalPattern& pattern = garments_[g].pattern();
      const double* const blocks = std::as_const(garments_[g].system().blocks()).view().data();
      for (std::size_t b = 0; b < pattern.block_rows.size(); ++b)
        add(first + pattern.block_rows[b], first + pattern.block_columns[b],
            [&](int i, int j) { return blocks[9 * b + static_cast<std::size_t>(3 * i + j)]; });
      each_free(g, [&](std::size_t i, std::size_t node) { numbers[node] = first + static_cast<Index>(i); });
      first += pattern.free_count();
    }
    contacts_.each_block([&](Index i, Index j, const std::array<Vec3d, 3>& rows) {
      add(std::max(numbers[i], numbers[j]), std::min(numbers[i], numbers[j]),
          [&](int row, int column) { return (&rows[static_cast<std::size_t>(row)].x)[column]; });
    });
    Eigen::SparseMatrix<double> matrix(3 * first, 3 * first);
    matrix.setFromTriplets(entries.begin(), entries.end());
    factor_.compute(matrix);
    if (factor_.info() != Eigen::Success) garments_.front().refuse_factor();
  }
  template <class Visit>
  void each_free(std::size_t g, const Visit& visit) const {
    const std::vector<Index>& free = garments_[g].pattern().free_nodes;
    for (std::size_t i = 0; i < free.size(); ++i)
      visit(i, static_cast<std::size_t>(features_.node_begin[g] + free[i]));
  }

  std::vector<StepAdjoint>& garments_;
  const ClothContactAdjoint& contacts_;
  const SurfaceFeatures& features_;
  const std::vector<double> stiffness_;
  Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> factor_;
};

}  // namespace

std::vector<StepGradient> gradients_of_cloths(std::vector<StepAdjoint>& garments,
                                              const ClothContactAdjoint& contacts,
                                              const SurfaceFeatures& features,
                                              const std::vector<StateGradient>& losses) {
  constexpr double rtol = 1e-10;
  constexpr int most = 300;
  for (std::size_t g = 0; g < garments.size(); ++g) garments[g].begin(losses[g]);
  Together together(garments, contacts, features);
  std::vector<double> solution;
  for (int round = 0; round < StepAdjoint::most_rounds; ++round) {
    const std::vector<double> side = together.right_side();
    const auto solve = [&] {
      together.is_convex = true;
      return gmres([&](const std::vector<double>& x) { return together.multiply(x); },
                   [&](const std::vector<double>& r) { return together.precondition(r); }, side, rtol, most);
    };
    GmresSolution found = solve();
    if (!together.is_convex) {
      for (StepAdjoint& garment : garments) garment.buckle();
      found = solve();
    }
    if (!found.is_met) garments.front().refuse_solution(rtol, found.iterations);
    solution = std::move(found.x);
    bool is_held = true;
    for (std::size_t g = 0; g < garments.size(); ++g)
      is_held = garments[g].take(together.part(solution, g)) && is_held;
    if (is_held) break;
  }
  Nodes all, pulled(features.node_surfaces.size()), by_start(pulled.size());
  for (const StepAdjoint& garment : garments)
    all.insert(all.end(), garment.adjoint().begin(), garment.adjoint().end());
  const double by_friction = contacts.add_derivatives(
      all, solution.data() + (solution.size() - contacts.force_count()), pulled, by_start);
  std::vector<StepGradient> results;
  for (std::size_t g = 0; g < garments.size(); ++g) {
    const auto own = [&](const Nodes& nodes) {
      return Nodes(nodes.begin() + features.node_begin[g], nodes.begin() + features.node_begin[g + 1]);
    };
    results.push_back(garments[g].end(own(pulled), own(by_start)));
  }
  results.front().cloth_friction = by_friction;
  return results;
}

}  // namespace isocloth
