#include "host/reference/tensor_sheet.hpp"

#include <Eigen/Geometry>
#include <Eigen/SparseLU>
#include <cmath>
#include <functional>

namespace isocloth::reference {
namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;

/// Differences of neighbours in a row of `count` nodes [1/m]: forward ones at the first count - 1 of them.
SparseMatrix forward(Eigen::Index count, double h) {
  Triplets entries;
  for (Eigen::Index i = 0; i + 1 < count; ++i) {
    entries.emplace_back(i, i, -1 / h);
    entries.emplace_back(i, i + 1, 1 / h);
  }
  SparseMatrix d(count - 1, count);
  d.setFromTriplets(entries.begin(), entries.end());
  return d;
}
/// Central ones at every node, one-sided at both ends.
SparseMatrix central(Eigen::Index count, double h) {
  const SparseMatrix d = forward(count, h);
  Triplets entries;
  for (Eigen::Index i = 0; i < count; ++i) {
    const bool has_left = i > 0, has_right = i + 1 < count;
    const double share = has_left && has_right ? 0.5 : 1;
    if (has_left) entries.emplace_back(i, i - 1, share);
    if (has_right) entries.emplace_back(i, i, share);
  }
  SparseMatrix mean(count, count - 1);
  mean.setFromTriplets(entries.begin(), entries.end());
  return mean * d;
}
/// Second ones at the inner nodes.
SparseMatrix second_difference(Eigen::Index count, double h) {
  return forward(count - 1, h) * forward(count, h);
}
SparseMatrix identity(Eigen::Index count) {
  SparseMatrix one(count, count);
  one.setIdentity();
  return one;
}
/// Means of neighbours.
SparseMatrix mean(Eigen::Index count) {
  Triplets entries;
  for (Eigen::Index i = 0; i + 1 < count; ++i)
    for (const Eigen::Index j : {i, i + 1}) entries.emplace_back(i, j, 0.5);
  SparseMatrix m(count - 1, count);
  m.setFromTriplets(entries.begin(), entries.end());
  return m;
}
SparseMatrix first_nodes(Eigen::Index count) { return identity(count).topRows(count - 1); }
SparseMatrix inner(const SparseMatrix& all) { return all.middleRows(1, all.rows() - 2); }

/// Rows of a operator along the columns of the grid and one along its rows: node j * columns + i.
SparseMatrix both(const SparseMatrix& along_rows, const SparseMatrix& along_columns) {
  Triplets entries;
  for (Eigen::Index jc = 0; jc < along_columns.outerSize(); ++jc)
    for (SparseMatrix::InnerIterator a(along_columns, jc); a; ++a)
      for (Eigen::Index ic = 0; ic < along_rows.outerSize(); ++ic)
        for (SparseMatrix::InnerIterator b(along_rows, ic); b; ++b)
          entries.emplace_back(a.row() * along_rows.rows() + b.row(), a.col() * along_rows.cols() + b.col(),
                               a.value() * b.value());
  SparseMatrix product(along_rows.rows() * along_columns.rows(), along_rows.cols() * along_columns.cols());
  product.setFromTriplets(entries.begin(), entries.end());
  return product;
}

/// Length that each of `count` nodes in a row stands for [m], half at the ends.
VectorXd lengths(Eigen::Index count, double h) {
  VectorXd all = VectorXd::Constant(count, h);
  all[0] = all[count - 1] = h / 2;
  return all;
}
VectorXd products(const VectorXd& along_rows, const VectorXd& along_columns) {
  VectorXd all(along_rows.size() * along_columns.size());
  for (Eigen::Index j = 0; j < along_columns.size(); ++j)
    all.segment(j * along_rows.size(), along_rows.size()) = along_columns[j] * along_rows;
  return all;
}

}  // namespace

TensorSheet::TensorSheet(const Garment& garment)
    : rho_(garment.fabric.density), alpha_(garment.fabric.mass_damping) {
  const Mesh& mesh = garment.mesh;
  columns_ = mesh.face_nodes[3];
  rows_ = mesh.node_count() / columns_;
  const auto distance = [&](Index node) {
    return norm(mesh.positions[static_cast<std::size_t>(node)] - mesh.positions[0]);
  };
  const double h1 = spacing_[0] = distance(1), h2 = spacing_[1] = distance(static_cast<Index>(columns_));
  const Fabric& f = garment.fabric;
  const double weft_stretch = f.weft_stretch_stiffness > 0 ? f.weft_stretch_stiffness : f.stretch_stiffness;
  const double weft_bend = f.weft_bending_stiffness > 0 ? f.weft_bending_stiffness : f.bending_stiffness;
  const SparseMatrix one_1 = identity(columns_), one_2 = identity(rows_);
  const VectorXd edges_1 = VectorXd::Constant(columns_ - 1, h1), edges_2 = VectorXd::Constant(rows_ - 1, h2);
  const VectorXd nodes_1 = lengths(columns_, h1), nodes_2 = lengths(rows_, h2);
  const auto metric = [&](const SparseMatrix& d, const SparseMatrix& e, double rest,
                          const VectorXd& weights) {
    components_.push_back({true, rest, d, e, {}, weights});
  };
  const auto curvature = [&](const SparseMatrix& t1, const SparseMatrix& t2, const SparseMatrix& d,
                             const VectorXd& weights) {
    components_.push_back({false, 0, t1, t2, d, weights});
  };
  // (G_ii - 1) / 2 is strain: k / 2 strain^2 = k / 4 C^2 / 2.
  const SparseMatrix d1 = both(forward(columns_, h1), one_2), d2 = both(one_1, forward(rows_, h2));
  metric(d1, d1, 1, f.stretch_stiffness / 4 * products(edges_1, nodes_2));
  metric(d2, d2, 1, weft_stretch / 4 * products(nodes_1, edges_2));
  metric(both(forward(columns_, h1), first_nodes(rows_)), both(first_nodes(columns_), forward(rows_, h2)), 0,
         f.shear_stiffness * products(edges_1, edges_2));
  const SparseMatrix c1 = central(columns_, h1), c2 = central(rows_, h2);
  const SparseMatrix inner_1 = inner(one_1), inner_2 = inner(one_2);
  curvature(both(inner(c1), one_2), both(inner_1, c2), both(second_difference(columns_, h1), one_2),
            f.bending_stiffness * products(nodes_1.segment(1, columns_ - 2), nodes_2));
  curvature(both(c1, inner_2), both(one_1, inner(c2)), both(one_1, second_difference(rows_, h2)),
            weft_bend * products(nodes_1, nodes_2.segment(1, rows_ - 2)));
  curvature(both(forward(columns_, h1), mean(rows_)), both(mean(columns_), forward(rows_, h2)),
            both(forward(columns_, h1), forward(rows_, h2)),
            2 * std::sqrt(f.bending_stiffness * weft_bend) * products(edges_1, edges_2));
}

VectorXd TensorSheet::values(const Component& c, const MatrixX3d& positions) const {
  const MatrixX3d t1 = c.first * positions, t2 = c.second * positions;
  if (c.is_metric) return t1.cwiseProduct(t2).rowwise().sum().array() - c.rest;
  const MatrixX3d second = c.curvature * positions;
  VectorXd all(second.rows());
  for (Eigen::Index p = 0; p < all.size(); ++p) {
    const Eigen::RowVector3d a = t1.row(p), b = t2.row(p);
    all[p] = a.cross(b).normalized().dot(second.row(p));
  }
  return all;
}

SparseMatrix TensorSheet::jacobian(const Component& c, const MatrixX3d& positions) const {
  const MatrixX3d t1 = c.first * positions, t2 = c.second * positions;
  Triplets entries;
  const auto add = [&](const SparseMatrix& d, const std::function<Eigen::RowVector3d(Eigen::Index)>& factor) {
    for (Eigen::Index column = 0; column < d.outerSize(); ++column)
      for (SparseMatrix::InnerIterator entry(d, column); entry; ++entry)
        for (int k = 0; k < 3; ++k)
          entries.emplace_back(entry.row(), 3 * entry.col() + k, entry.value() * factor(entry.row())[k]);
  };
  if (c.is_metric) {
    add(c.first, [&](Eigen::Index p) { return Eigen::RowVector3d(t2.row(p)); });
    add(c.second, [&](Eigen::Index p) { return Eigen::RowVector3d(t1.row(p)); });
  } else {
    // n . s = det(t1, t2, s) / |t1 x t2|; the derivative of the length is along n.
    const MatrixX3d s = c.curvature * positions;
    const auto parts = [&](Eigen::Index p, Eigen::RowVector3d& a, Eigen::RowVector3d& b,
                           Eigen::RowVector3d& third) {
      a = t1.row(p), b = t2.row(p), third = s.row(p);
      return a.cross(b);
    };
    add(c.curvature, [&](Eigen::Index p) {
      Eigen::RowVector3d a, b, third;
      return Eigen::RowVector3d(parts(p, a, b, third).normalized());
    });
    add(c.first, [&](Eigen::Index p) {
      Eigen::RowVector3d a, b, third;
      const Eigen::RowVector3d normal = parts(p, a, b, third), n = normal.normalized();
      return Eigen::RowVector3d((b.cross(third) - n.dot(third) * b.cross(n)) / normal.norm());
    });
    add(c.second, [&](Eigen::Index p) {
      Eigen::RowVector3d a, b, third;
      const Eigen::RowVector3d normal = parts(p, a, b, third), n = normal.normalized();
      return Eigen::RowVector3d((third.cross(a) - n.dot(third) * n.cross(a)) / normal.norm());
    });
  }
  SparseMatrix j(c.weights.size(), 3 * positions.rows());
  j.setFromTriplets(entries.begin(), entries.end());
  return j;
}

double TensorSheet::energy(const MatrixX3d& positions) const {
  double sum = 0;
  for (const Component& c : components_) sum += 0.5 * c.weights.dot(values(c, positions).cwiseAbs2());
  return sum;
}

MatrixX3d TensorSheet::forces(const MatrixX3d& positions) const {
  VectorXd flat = VectorXd::Zero(3 * positions.rows());
  for (const Component& c : components_)
    flat -= jacobian(c, positions).transpose() * c.weights.cwiseProduct(values(c, positions));
  MatrixX3d forces(positions.rows(), 3);
  for (Eigen::Index i = 0; i < positions.rows(); ++i) forces.row(i) = flat.segment<3>(3 * i).transpose();
  return forces;
}

void TensorSheet::step(double h, const MatrixX3d& positions, const MatrixX3d& velocities,
                       const MatrixX3d& forces, const VectorXd& masses, const std::vector<char>& is_free,
                       MatrixX3d& displacements) const {
  const Eigen::Index nodes = positions.rows();
  SparseMatrix metric(nodes, nodes), k(3 * nodes, 3 * nodes);
  for (const Component& c : components_) {
    if (c.is_metric) {
      const SparseMatrix half =
          c.first.transpose() * c.weights.cwiseProduct(values(c, positions)).asDiagonal() * c.second;
      metric += half + SparseMatrix(half.transpose());
    } else {
      const SparseMatrix j = jacobian(c, positions);
      k += SparseMatrix(j.transpose() * c.weights.asDiagonal() * j);
    }
  }
  Triplets entries;
  for (Eigen::Index column = 0; column < nodes; ++column) {
    for (SparseMatrix::InnerIterator entry(metric, column); entry; ++entry)
      for (int d = 0; d < 3; ++d) entries.emplace_back(3 * entry.row() + d, 3 * column + d, entry.value());
    for (int d = 0; d < 3; ++d)
      entries.emplace_back(3 * column + d, 3 * column + d,
                           masses[column] * (rho_ / (h * h) + alpha_ / (2 * h)));
  }
  SparseMatrix rest(3 * nodes, 3 * nodes);
  rest.setFromTriplets(entries.begin(), entries.end());
  k += rest;
  const MatrixX3d side =
      forces + this->forces(positions) + ((rho_ / h - alpha_ / 2) * masses).asDiagonal() * velocities;
  // Rows and columns of the free nodes.
  std::vector<Eigen::Index> free;
  for (Eigen::Index i = 0; i < nodes; ++i)
    if (is_free[static_cast<std::size_t>(i)] != 0)
      for (int d = 0; d < 3; ++d) free.push_back(3 * i + d);
  VectorXd given = VectorXd::Zero(3 * nodes);
  for (Eigen::Index i = 0; i < nodes; ++i)
    if (is_free[static_cast<std::size_t>(i)] == 0) given.segment<3>(3 * i) = displacements.row(i).transpose();
  const VectorXd of_given = k * given;
  Triplets chosen;
  for (std::size_t i = 0; i < free.size(); ++i) chosen.emplace_back(free[i], i, 1.0);
  SparseMatrix choice(3 * nodes, static_cast<Eigen::Index>(free.size()));
  choice.setFromTriplets(chosen.begin(), chosen.end());
  VectorXd right(3 * nodes);
  for (Eigen::Index i = 0; i < nodes; ++i) right.segment<3>(3 * i) = side.row(i).transpose();
  SparseMatrix matrix = choice.transpose() * k * choice;
  matrix.makeCompressed();
  Eigen::SparseLU<SparseMatrix> factor(matrix);
  const VectorXd u = choice * factor.solve(VectorXd(choice.transpose() * (right - of_given)));
  for (Eigen::Index i = 0; i < nodes; ++i)
    if (is_free[static_cast<std::size_t>(i)] != 0) displacements.row(i) = u.segment<3>(3 * i).transpose();
}

double TensorSheet::stretch_rate(const VectorXd& masses, const std::vector<char>& is_free) const {
  MatrixX3d flat = MatrixX3d::Zero(columns_ * rows_, 3);
  for (Eigen::Index i = 0; i < flat.rows(); ++i)
    flat.row(i) << spacing_[0] * static_cast<double>(i % columns_),
        spacing_[1] * static_cast<double>(i / columns_), 0;
  VectorXd sums = VectorXd::Zero(3 * flat.rows());
  for (const Component& c : components_) {
    if (!c.is_metric) continue;
    const SparseMatrix j = jacobian(c, flat).cwiseAbs();
    sums += j.transpose() * c.weights.cwiseProduct(VectorXd(j * VectorXd::Ones(j.cols())));
  }
  double most = 0;
  for (Eigen::Index i = 0; i < flat.rows(); ++i)
    if (is_free[static_cast<std::size_t>(i)] != 0)
      most = std::max(most, sums.segment<3>(3 * i).maxCoeff() / (rho_ * masses[i]));
  constexpr double stretched = 1.5;  // h^2 s^2 K < 4 + h^2 (s^2 - 1) / 2 K
  return std::sqrt(most * (1 + stretched * stretched) / 2) / 2;
}

}  // namespace isocloth::reference
