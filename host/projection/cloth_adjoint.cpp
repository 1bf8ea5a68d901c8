#include "host/projection/cloth_adjoint.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/flat_vectors.hpp"
#include "host/linear/gmres.hpp"

namespace isocloth {
namespace {

using Nodes = std::vector<Vec3d>;

/// Block of two free numbers in the lower triangle by columns, rows ascending.
std::size_t block_of(const NodalPattern& pattern, Index a, Index b) {
  const Index column = std::min(a, b), row = std::max(a, b);
  const auto [begin, end] = std::ranges::equal_range(pattern.block_columns, column);
  const auto rows = pattern.block_rows.begin(), from = rows + (begin - pattern.block_columns.begin()),
             to = rows + (end - pattern.block_columns.begin());
  return static_cast<std::size_t>(std::lower_bound(from, to, row) - rows);
}

/// Garments and contacts as one system, its vectors flat: free nodes of all garments, then nu.
class Together {
 public:
  Together(std::vector<StepAdjoint>& garments, const ClothContactAdjoint& contacts,
           const SurfaceFeatures& features)
      : garments_(garments), contacts_(contacts), features_(features), stiffness_(contacts.stiffness()) {}

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
  std::vector<double> precondition(const std::vector<double>& flat) {
    std::vector<double> found;
    for (std::size_t g = 0; g < garments_.size(); ++g) {
      const Nodes own = garments_[g].precondition(part(flat, g));
      const std::vector<double> numbers = as_numbers(own.data(), own.size());
      found.insert(found.end(), numbers.begin(), numbers.end());
    }
    const std::size_t first = found.size();
    for (std::size_t k = 0; k < stiffness_.size(); ++k) found.push_back(stiffness_[k] * flat[first + k]);
    return found;
  }

  bool is_convex = true;

 private:
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
};

void add_own_sides(std::vector<StepAdjoint>& garments, const ClothContactAdjoint& contacts,
                   const SurfaceFeatures& features) {
  contacts.each_own_side([&](Index i, Index j, const std::array<Vec3d, 3>& rows) {
    const auto g = static_cast<std::size_t>(features.node_surfaces[i]);
    const NodalPattern& pattern = garments[g].pattern();
    const auto number = [&](Index node) { return pattern.free_number[node - features.node_begin[g]]; };
    double* const block =
        garments[g].system().blocks().view().data() + 9 * block_of(pattern, number(i), number(j));
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column) block[3 * row + column] += (&rows[row].x)[column];
  });
}

}  // namespace

std::vector<StepGradient> gradients_of_cloths(std::vector<StepAdjoint>& garments,
                                              const ClothContactAdjoint& contacts,
                                              const SurfaceFeatures& features,
                                              const std::vector<StateGradient>& losses) {
  constexpr double rtol = 1e-10;
  constexpr int most = 600;
  for (std::size_t g = 0; g < garments.size(); ++g) garments[g].begin(losses[g]);
  add_own_sides(garments, contacts, features);
  for (StepAdjoint& garment : garments) garment.factor();
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
