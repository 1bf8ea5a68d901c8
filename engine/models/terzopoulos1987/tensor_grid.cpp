#include "engine/models/terzopoulos1987/tensor_grid.hpp"

#include <cmath>

#include "engine/models/grids/particle_grid.hpp"

namespace isocloth {
namespace {

/// What a stencil is made of, node by node.
class StencilMaker {
 public:
  StencilMaker(TensorStencil::Component component, double weight) {
    stencil_.component = component;
    stencil_.weight = weight;
  }
  enum Part { along_1, along_2, second };
  void add(Part part, Index node, double factor) {
    int at = 0;
    while (at < stencil_.node_count && stencil_.nodes[at] != node) ++at;
    if (at == stencil_.node_count) stencil_.nodes[stencil_.node_count++] = node;
    (part == along_1 ? stencil_.d1 : part == along_2 ? stencil_.d2 : stencil_.d12)[at] += factor;
  }
  /// (x_b - x_a) factor
  void add_difference(Part part, Index a, Index b, double factor) {
    add(part, b, factor);
    add(part, a, -factor);
  }
  TensorStencil stencil() const { return stencil_; }

 private:
  TensorStencil stencil_;
};

Vec3d sum(const TensorStencil& s, const std::array<double, TensorStencil::most_nodes>& factors,
          const std::vector<Vec3d>& x) {
  // Relative to a node: factors sum to zero, and places may be far from the origin.
  Vec3d total;
  const Vec3d& base = x[static_cast<std::size_t>(s.nodes[0])];
  for (int i = 1; i < s.node_count; ++i)
    total += factors[i] * (x[static_cast<std::size_t>(s.nodes[i])] - base);
  return total;
}

}  // namespace

TensorGrid::TensorGrid(const Mesh& mesh, const std::string& key) {
  const RectangularGrid grid = rectangular_grid(mesh, key);
  columns_ = grid.columns, rows_ = grid.rows;
  const double h1 = spacing_[0] = grid.spacing[0], h2 = spacing_[1] = grid.spacing[1], cell = h1 * h2;
  const auto node = [this](Index i, Index j) { return j * columns_ + i; };
  const auto share = [](Index at, Index count) { return at == 0 || at + 1 == count ? 0.5 : 1.0; };
  // Central where both neighbours are there, else one-sided.
  const auto add_tangent = [&](StencilMaker& maker, bool along_columns, Index i, Index j) {
    const Index at = along_columns ? i : j, count = along_columns ? columns_ : rows_;
    const Index low = at == 0 ? 0 : at - 1, high = at + 1 == count ? at : at + 1;
    const double h = along_columns ? h1 : h2;
    maker.add_difference(along_columns ? StencilMaker::along_1 : StencilMaker::along_2,
                         along_columns ? node(low, j) : node(i, low),
                         along_columns ? node(high, j) : node(i, high), 1 / (h * (high - low)));
  };
  const auto keep = [this](const StencilMaker& maker) { stencils_.push_back(maker.stencil()); };
  for (Index j = 0; j < rows_; ++j)
    for (Index i = 0; i < columns_; ++i) {
      const bool has_right = i + 1 < columns_, has_upper = j + 1 < rows_;
      const Index here = node(i, j), right = here + 1, upper = here + columns_;
      if (has_right) {
        StencilMaker maker(TensorStencil::warp, cell * share(j, rows_) / 4);
        for (const auto part : {StencilMaker::along_1, StencilMaker::along_2})
          maker.add_difference(part, here, right, 1 / h1);
        keep(maker);
      }
      if (has_upper) {
        StencilMaker maker(TensorStencil::weft, cell * share(i, columns_) / 4);
        for (const auto part : {StencilMaker::along_1, StencilMaker::along_2})
          maker.add_difference(part, here, upper, 1 / h2);
        keep(maker);
      }
      if (has_right && has_upper) {
        StencilMaker shear(TensorStencil::shear, cell);
        shear.add_difference(StencilMaker::along_1, here, right, 1 / h1);
        shear.add_difference(StencilMaker::along_2, here, upper, 1 / h2);
        keep(shear);
        StencilMaker twist(TensorStencil::twist, 2 * cell);
        twist.add_difference(StencilMaker::second, here, right, -1 / cell);
        twist.add_difference(StencilMaker::second, upper, upper + 1, 1 / cell);
        twist.add_difference(StencilMaker::along_1, here, right, 0.5 / h1);
        twist.add_difference(StencilMaker::along_1, upper, upper + 1, 0.5 / h1);
        twist.add_difference(StencilMaker::along_2, here, upper, 0.5 / h2);
        twist.add_difference(StencilMaker::along_2, right, upper + 1, 0.5 / h2);
        keep(twist);
      }
      for (const bool along_columns : {true, false}) {
        const Index at = along_columns ? i : j, count = along_columns ? columns_ : rows_;
        if (at == 0 || at + 1 == count) continue;
        StencilMaker maker(along_columns ? TensorStencil::bend_warp : TensorStencil::bend_weft,
                           cell * (along_columns ? share(j, rows_) : share(i, columns_)));
        const Index way = along_columns ? 1 : columns_;
        const double h = along_columns ? h1 : h2;
        maker.add_difference(StencilMaker::second, here, here + way, 1 / (h * h));
        maker.add_difference(StencilMaker::second, here, here - way, 1 / (h * h));
        add_tangent(maker, true, i, j);
        add_tangent(maker, false, i, j);
        keep(maker);
      }
    }
}

TensorValue TensorGrid::value(const TensorStencil& s, const std::vector<Vec3d>& x) const {
  TensorValue result;
  const Vec3d t1 = sum(s, s.d1, x), t2 = sum(s, s.d2, x);
  if (s.is_metric()) {
    result.value = dot(t1, t2) - (s.component == TensorStencil::shear ? 0 : 1);
    for (int i = 0; i < s.node_count; ++i) result.gradients[i] = s.d1[i] * t2 + s.d2[i] * t1;
    return result;
  }
  const Vec3d normal = cross(t1, t2);
  const double length = norm(normal);
  if (!(length > 1e-12 * norm(t1) * norm(t2))) return result;
  const Vec3d n = (1 / length) * normal, second = sum(s, s.d12, x);
  result.value = dot(n, second);
  // dn = (I - n n^T) (dt1 x t2 + t1 x dt2) / |t1 x t2|, so that dn . second = dt1 . (t2 x q) + dt2 . (q x
  // t1).
  const Vec3d q = (1 / length) * (second - result.value * n), of_t1 = cross(t2, q), of_t2 = cross(q, t1);
  for (int i = 0; i < s.node_count; ++i)
    result.gradients[i] = s.d12[i] * n + s.d1[i] * of_t1 + s.d2[i] * of_t2;
  return result;
}

std::array<double, TensorStencil::component_count> TensorGrid::stiffness(const Fabric& fabric) {
  const double ratio = fabric.bending_ratio();
  return {fabric.stretch_stiffness,         fabric.weft_stiffness(),
          fabric.shear_stiffness,           fabric.bending_stiffness,
          ratio * fabric.bending_stiffness, std::sqrt(ratio) * fabric.bending_stiffness};
}

double TensorGrid::energy(const Fabric& fabric, const std::vector<Vec3d>& x) const {
  const auto k = stiffness(fabric);
  double sum = 0;
  for (const TensorStencil& s : stencils_) {
    const double c = value(s, x).value;
    sum += k[s.component] * s.weight / 2 * c * c;
  }
  return sum;
}

std::vector<Vec3d> TensorGrid::forces(const Fabric& fabric, const std::vector<Vec3d>& x) const {
  const auto k = stiffness(fabric);
  std::vector<Vec3d> f(x.size());
  for (const TensorStencil& s : stencils_) {
    const TensorValue c = value(s, x);
    const double tension = -k[s.component] * s.weight * c.value;
    for (int i = 0; i < s.node_count; ++i)
      f[static_cast<std::size_t>(s.nodes[i])] += tension * c.gradients[i];
  }
  return f;
}

std::array<std::vector<double>, 3> TensorGrid::metric_rows() const {
  std::vector<Vec3d> flat;
  for (Index j = 0; j < rows_; ++j)
    for (Index i = 0; i < columns_; ++i) flat.push_back({i * spacing_[0], j * spacing_[1], 0});
  std::array<std::vector<double>, 3> rows;
  for (auto& row : rows) row.assign(2 * flat.size(), 0.0);
  for (const TensorStencil& s : stencils_) {
    if (!s.is_metric()) continue;
    const TensorValue c = value(s, flat);
    double all = 0;
    for (int i = 0; i < s.node_count; ++i) all += std::abs(c.gradients[i].x) + std::abs(c.gradients[i].y);
    for (int i = 0; i < s.node_count; ++i) {
      double* const own = rows[s.component].data() + 2 * static_cast<std::size_t>(s.nodes[i]);
      own[0] += s.weight * std::abs(c.gradients[i].x) * all;
      own[1] += s.weight * std::abs(c.gradients[i].y) * all;
    }
  }
  return rows;
}

}  // namespace isocloth
