// Constant matrices of bending, and hinges, against thin plates.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <numbers>

#include "engine/core/text.hpp"
#include "host/reference/bending.hpp"
#include "tests/reference/clamped_strip.hpp"

namespace isocloth::reference {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;

std::vector<char> all_free(const Mesh& mesh) { return std::vector<char>(mesh.positions.size(), 1); }

MatrixXd matrix_of(BendingModel model, const Mesh& mesh, const std::vector<char>& is_free, double ratio = 1) {
  if (model == BendingModel::discrete_shells) {  // of deflections out of a flat sheet
    const HingeRows hinges(mesh, is_free);
    const MatrixXd by_nodes = hinges.jacobian(to_matrix(mesh.positions), hinges.count());
    MatrixXd out(hinges.count(), mesh.node_count());
    for (Eigen::Index node = 0; node < out.cols(); ++node) out.col(node) = by_nodes.col(3 * node + 2);
    return out.transpose() * hinges.stiffness().asDiagonal() * out;
  }
  return bending_matrix(mesh, build_topology(mesh), {model, ratio}, is_free);
}

VectorXd areas_of(const Mesh& mesh) { return lumped_areas(mesh, surface_points(mesh)); }

/// Deflections of the free nodes, 0 of others, under a load on each node.
VectorXd deflections(const MatrixXd& matrix, const VectorXd& loads, const std::vector<char>& is_free) {
  std::vector<Eigen::Index> free;
  for (Eigen::Index i = 0; i < loads.size(); ++i)
    if (is_free[static_cast<std::size_t>(i)]) free.push_back(i);
  VectorXd found = VectorXd::Zero(loads.size());
  const MatrixXd of_free = matrix(free, free);
  const VectorXd load = loads(free), moved = of_free.llt().solve(load);
  found(free) = moved;
  return found;
}

/// Squares of side 1 with elements of 1 / n.
std::vector<NamedMesh> squares(Index n) {
  const auto across = static_cast<Index>(n + 1), inner = static_cast<Index>((n - 1) * (n - 1));
  return {{"parallel", triangle_grid(across, across, 1, 1, Diagonals::parallel)},
          {"alternating", triangle_grid(across, across, 1, 1, Diagonals::alternating)},
          {"irregular", irregular_triangles(n, inner, 1, 1, 1)},
          {"irregular too", irregular_triangles(n, inner, 1, 1, 2)}};
}

/// Nodes that are moved by up to this where `moves`, in the plane.
void jitter(Mesh& mesh, double amplitude, const std::function<bool(const Vec3d&)>& moves) {
  const MatrixX3d by = noise(mesh.node_count(), amplitude, 5);
  for (Index i = 0; i < mesh.node_count(); ++i)
    if (moves(mesh.positions[static_cast<std::size_t>(i)]))
      mesh.positions[static_cast<std::size_t>(i)] += {by(i, 0), by(i, 1), 0};
  mesh.corner_uvs.clear();
}

// Two rows of nodes around a square are held on a surface of constant second derivatives: the others stay on
// it, bent along seven directions and twisted. A plate moves them by up to 0.08 h^2 on irregular triangles.
TEST(BendingAccuracy, ConstantCurvatureIsInBalance) {
  const Index n = 12;
  const double h = 1.0 / n;
  std::vector<Vector3d> fields{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}};
  for (const double degrees : {30.0, 45.0, 135.0}) {
    const double c = std::cos(degrees * std::numbers::pi / 180),
                 s = std::sin(degrees * std::numbers::pi / 180);
    fields.push_back({c * c, s * s, c * s});
  }
  std::vector<NamedMesh> meshes = squares(n);
  meshes.push_back({"quads", quad_grid(n + 1, n + 1, 1, 1)});
  jitter(meshes.back().mesh, 0.15 * h,
         [](const Vec3d& p) { return p.x > 0.01 && p.x < 0.99 && p.y > 0.01 && p.y < 0.99; });
  for (const auto& [name, mesh] : meshes)
    for (const auto& [model, bound] : {std::pair{BendingModel::plate, 0.1}, {BendingModel::mid_edge, 0.01}}) {
      SCOPED_TRACE(text(name, model == BendingModel::plate ? ", plate" : ", mid_edge"));
      const MatrixXd k = matrix_of(model, mesh, all_free(mesh));
      const MatrixX3d at = to_matrix(mesh.positions);
      std::vector<Eigen::Index> inner, outer;
      for (Eigen::Index i = 0; i < at.rows(); ++i) {
        const double rim = std::min({at(i, 0), at(i, 1), 1 - at(i, 0), 1 - at(i, 1)});
        (rim < 2.2 * h ? outer : inner).push_back(i);
      }
      ASSERT_GT(inner.size(), 40u);
      double most = 0;
      for (const Vector3d& field : fields) {
        const VectorXd w =
            (at.col(0).array().square() * field[0] + at.col(1).array().square() * field[1]) / 2 +
            at.col(0).array() * at.col(1).array() * field[2];
        const VectorXd loads = -k(inner, outer) * w(outer);
        const MatrixXd of_inner = k(inner, inner);
        const VectorXd found = of_inner.llt().solve(loads);
        most = std::max(most, (found - w(inner)).cwiseAbs().maxCoeff() / (h * h));
      }
      EXPECT_LT(most, bound);
    }
}

/// w of a square plate on [-1, 1]^2 as polynomials of Legendre (Ritz): the lowest eigenvalues beyond the
/// rigid motions for a side of 1, D = diag(1, ratio, sqrt(ratio)) on (uu, vv, sqrt(2) uv).
VectorXd ritz_eigenvalues(double ratio) {
  const int degree = 13, points = 24;
  // Gauss points by the eigenvalues of the Jacobi matrix of Legendre's polynomials.
  MatrixXd jacobi = MatrixXd::Zero(points, points);
  for (int i = 1; i < points; ++i) jacobi(i, i - 1) = jacobi(i - 1, i) = i / std::sqrt(4.0 * i * i - 1);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> gauss(jacobi);
  MatrixXd product[3][3];  // of derivatives a and b
  MatrixXd values[3];
  for (auto& v : values) v = MatrixXd::Zero(points, degree);
  for (int g = 0; g < points; ++g) {
    const double x = gauss.eigenvalues()[g];
    double p[3][3] = {{1, 0, 0}, {x, 1, 0}, {}};
    for (int k = 0; k < degree; ++k) {
      for (int d = 0; d < 3; ++d) values[d](g, k) = p[0][d];
      const double next = k + 1;
      for (int d = 0; d < 3; ++d)
        p[2][d] =
            ((2 * next + 1) * (x * p[1][d] + d * (d > 0 ? p[1][d - 1] : 0)) - next * p[0][d]) / (next + 1);
      std::copy(&p[1][0], &p[1][0] + 6, &p[0][0]);
    }
  }
  const VectorXd weights = 2 * gauss.eigenvectors().row(0).transpose().cwiseAbs2();
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) product[a][b] = values[a].transpose() * weights.asDiagonal() * values[b];
  MatrixXd k(degree * degree, degree * degree), m = k;
  for (int i = 0; i < degree * degree; ++i)
    for (int j = 0; j < degree * degree; ++j) {
      const int a = i / degree, b = i % degree, c = j / degree, d = j % degree;
      k(i, j) = product[2][2](a, c) * product[0][0](b, d) +
                ratio * product[0][0](a, c) * product[2][2](b, d) +
                2 * std::sqrt(ratio) * product[1][1](a, c) * product[1][1](b, d);
      m(i, j) = product[0][0](a, c) * product[0][0](b, d);
    }
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> solver((k + k.transpose()) / 2, m);
  return solver.eigenvalues().segment(3, 6) * 16;  // sides of 1 in the place of 2
}

// A free square swings as a thin plate; masses at nodes alone make it slower by 0.7 % with 24 elements.
TEST(BendingAccuracy, FreeSquaresHaveTheFrequenciesOfPlates) {
  EXPECT_NEAR(ritz_eigenvalues(1)[0] / 250.4, 1, 0.005);
  for (const double ratio : {1.0, 0.3}) {
    const VectorXd expected = ritz_eigenvalues(ratio);
    for (const auto& [name, mesh] : squares(24))
      for (const BendingModel model : {BendingModel::plate, BendingModel::mid_edge}) {
        const VectorXd masses = areas_of(mesh).cwiseSqrt().cwiseInverse();
        const MatrixXd scaled =
            masses.asDiagonal() * matrix_of(model, mesh, all_free(mesh), ratio) * masses.asDiagonal();
        const VectorXd found =
            Eigen::SelfAdjointEigenSolver<MatrixXd>(scaled, Eigen::EigenvaluesOnly).eigenvalues();
        EXPECT_LT(std::fabs(found[2]), 1e-7 * expected[0]) << "three rigid motions";
        for (Eigen::Index i = 0; i < 5; ++i)
          EXPECT_NEAR(std::sqrt(found[3 + i] / expected[i]), 1, 0.01)
              << name << (model == BendingModel::plate ? ", plate" : ", mid_edge") << ", mode " << i
              << ", ratio " << ratio;
      }
  }
}

// Under an even load the tip of a strip with nu = 0 goes by q L^4 / (8 kappa).
TEST(BendingAccuracy, ClampedStripsHangAsBeams) {
  for (const double degrees : {0.0, 30.0, 45.0})
    for (const bool is_irregular : {false, true}) {
      const Mesh mesh = clamped_strip(20, degrees, 0.4, is_irregular);
      std::vector<char> is_free;
      for (const Vec3d& p : mesh.positions) is_free.push_back(p.x > 1e-9);
      const auto tip = [&](BendingModel model) {
        const VectorXd w = deflections(matrix_of(model, mesh, is_free), areas_of(mesh) / 1.0, is_free);
        double sum = 0, count = 0;
        for (std::size_t i = 0; i < is_free.size(); ++i)
          if (mesh.positions[i].x > 1 - 1e-9) sum += w[static_cast<Eigen::Index>(i)], ++count;
        return 8 * sum / count;
      };
      SCOPED_TRACE(text(degrees, is_irregular ? " degrees, irregular" : " degrees"));
      EXPECT_NEAR(tip(BendingModel::plate), 1, 0.025);
      EXPECT_NEAR(tip(BendingModel::mid_edge), 1, 0.006);
    }
}

/// Deflection of the rim of an annulus that is clamped at a and free at b, under an even load of 1, nu = 0,
/// D = 1: w = c0 + c1 ln r + c2 r^2 + c3 r^2 ln r + r^4 / 64.
double annulus_rim(double a, double b) {
  Eigen::Matrix4d m;
  m << 1, std::log(a), a * a, a * a * std::log(a),  // w(a)
      0, 1 / a, 2 * a, a * (2 * std::log(a) + 1),   // w'(a)
      0, -1 / (b * b), 2, 2 * std::log(b) + 3,      // moment: w''(b)
      0, 0, 0, 4 / b;                               // shear: derivative of the Laplacian
  const Eigen::Vector4d right(-std::pow(a, 4) / 64, -std::pow(a, 3) / 16, -3 * b * b / 16, -b / 2);
  const Eigen::Vector4d c = m.partialPivLu().solve(right);
  return c[0] + c[1] * std::log(b) + b * b * (c[2] + c[3] * std::log(b)) + std::pow(b, 4) / 64;
}

/// Mean deflection of the rim of a disc of 0.15 m with `radial` circles, held within 0.09 m, over the exact.
double drape_rim(BendingModel model, Index radial, bool is_irregular) {
  Mesh mesh = disc(radial, static_cast<Index>(6 * radial), 0.15, FaceKind::triangles);
  const auto radius = [](const Vec3d& p) { return std::hypot(p.x, p.y); };
  if (is_irregular)
    jitter(mesh, 0.2 * 0.15 / radial,
           [&](const Vec3d& p) { return radius(p) > 0.0901 && radius(p) < 0.1499; });
  std::vector<char> is_free;
  for (const Vec3d& p : mesh.positions) is_free.push_back(radius(p) > 0.0901);
  const VectorXd w = deflections(matrix_of(model, mesh, is_free), areas_of(mesh), is_free);
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < is_free.size(); ++i)
    if (radius(mesh.positions[i]) > 0.1499) sum += w[static_cast<Eigen::Index>(i)], ++count;
  return sum / count / annulus_rim(0.09, 0.15);
}

// A drape meter's disc: what a hinge at the clamp counts of the held triangles made rims sink 1.4 to 1.8
// times too deep.
TEST(BendingAccuracy, DiscsOnADrapeMeterSinkAsPlates) {
  for (const bool is_irregular : {false, true}) {
    SCOPED_TRACE(is_irregular ? "irregular" : "even");
    EXPECT_NEAR(drape_rim(BendingModel::mid_edge, 10, is_irregular), 1.075, 0.02);
    EXPECT_NEAR(drape_rim(BendingModel::mid_edge, 15, is_irregular), 1.035, 0.01);
    EXPECT_NEAR(drape_rim(BendingModel::plate, 15, is_irregular), 1.05, 0.05);
    EXPECT_NEAR(drape_rim(BendingModel::discrete_shells, 15, is_irregular), 1.1, 0.15);
  }
}

// Matrices have no force on a flat sheet wherever it lies, none of a sign that makes unstable, and none but
// the rigid motions is free of energy, with free rims and held ones.
TEST(BendingAccuracy, FlatSheetsFeelNothing) {
  for (auto& [name, mesh] : assorted_meshes())
    for (const bool is_held : {false, true}) {
      SCOPED_TRACE(text(name, is_held ? ", held" : ""));
      std::vector<char> is_free = all_free(mesh);
      for (std::size_t i = 0; i < 12 && is_held; ++i) is_free[i] = 0;
      const MatrixXd k = matrix_of(BendingModel::mid_edge, mesh, is_free, 0.4);
      EXPECT_LE((k - k.transpose()).cwiseAbs().maxCoeff(), 1e-12 * k.cwiseAbs().maxCoeff());
      const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(k).eigenvalues();
      EXPECT_GE(values[0], -1e-12 * values.tail(1)[0]);
      bool is_flat = true;
      for (const Vec3d& p : mesh.positions) is_flat &= p.z == 0;
      if (!is_flat) continue;
      if (!is_held) {
        EXPECT_GT(values[3], 1e-9 * values.tail(1)[0]);
      }
      const MatrixX3d turned = to_matrix(mesh.positions) * some_rotation().transpose();
      EXPECT_LE((k * turned).cwiseAbs().maxCoeff(), 1e-12 * k.cwiseAbs().maxCoeff());
    }
}

}  // namespace
}  // namespace isocloth::reference
