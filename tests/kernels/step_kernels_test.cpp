// Rows, momentum, nodal system and correction against the equations with global matrices.
#include "tests/kernels/kernel_check.hpp"

namespace isocloth {
namespace {

template <class Real>
class StepKernelsTest : public testing::Test {};
TYPED_TEST_SUITE(StepKernelsTest, Precisions);

SparseMatrix on_coordinates(const SparseMatrix& matrix) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int column = 0; column < matrix.outerSize(); ++column)
    for (SparseMatrix::InnerIterator entry(matrix, column); entry; ++entry)
      for (int c = 0; c < 3; ++c)
        entries.emplace_back(3 * static_cast<int>(entry.row()) + c, 3 * column + c, entry.value());
  SparseMatrix expanded(3 * matrix.rows(), 3 * matrix.cols());
  expanded.setFromTriplets(entries.begin(), entries.end());
  return expanded;
}

SparseMatrix free_columns(const reference::ReferenceCloth& cloth, int components) {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t i = 0; i < cloth.free_nodes().size(); ++i)
    for (int c = 0; c < components; ++c)
      entries.emplace_back(components * cloth.free_nodes()[i] + c, components * static_cast<int>(i) + c, 1);
  SparseMatrix select(components * cloth.mesh().node_count(),
                      components * static_cast<Eigen::Index>(cloth.free_nodes().size()));
  select.setFromTriplets(entries.begin(), entries.end());
  return select;
}

/// Largest |a| + |b| + ... that a sum of these terms rounds.
double terms(std::initializer_list<double> magnitudes) {
  double sum = 0;
  for (const double m : magnitudes) sum += m;
  return sum;
}

/// sum_j |K_ij| |x_j - x_i|, largest over nodes and coordinates: kernels take positions relative to the
/// node's own.
double bending_terms(const SparseMatrix& bending, const MatrixX3d& x) {
  MatrixX3d sums = MatrixX3d::Zero(x.rows(), 3);
  for (int j = 0; j < bending.outerSize(); ++j)
    for (SparseMatrix::InnerIterator entry(bending, j); entry; ++entry)
      sums.row(entry.row()) += std::abs(entry.value()) * (x.row(j) - x.row(entry.row())).cwiseAbs();
  return sums.size() == 0 ? 0 : sums.maxCoeff();
}

TYPED_TEST(StepKernelsTest, RowValuesAndScales) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const ExpectedRows expected(at);
    const double u = rounding<TypeParam>(81);
    expect_near(found.at("residuals"), expected.values, 2 * u, what);
    expect_near(found.at("scales"), expected.scales, expected.steepness * u * largest(expected.scales), what);
  });
}

TYPED_TEST(StepKernelsTest, RowJacobian) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const ExpectedRows expected(at);
    const RowPattern rows = kernel_pattern(at).rows;
    std::vector<Eigen::Triplet<double>> entries;
    const std::vector<double>& vectors = found.at("jacobian");
    ASSERT_EQ(vectors.size(),
              static_cast<std::size_t>(9 * rows.triples.slot_count() +
                                       18 * (rows.membranes.slot_count() + rows.limits.slot_count()) +
                                       3 * rows.singles.slot_count()));
    const auto pulls = [&](const StencilPattern& p, Index s) {
      return &p != &rows.limits ||
             found.at("at limit")[static_cast<std::size_t>(p.stencil_begin[static_cast<std::size_t>(s)])] > 0;
    };
    auto add = [&](const StencilPattern& p, const double* jacobian, Index first_row) {
      for (Index s = 0; s < p.stencil_count(); ++s)
        for (Index slot = p.stencil_begin[s]; pulls(p, s) && slot < p.stencil_begin[s + 1]; ++slot)
          for (int w = 0; w < p.width; ++w)
            for (int c = 0; c < 3; ++c)
              entries.emplace_back(first_row + s * p.width + w, 3 * p.slot_nodes[slot] + c,
                                   jacobian[static_cast<std::size_t>(slot * p.width + w) * 3 + c]);
    };
    add(rows.triples, vectors.data(), 0);
    const double* const of_membranes = vectors.data() + 9 * rows.triples.slot_count();
    add(rows.membranes, of_membranes, rows.triples.row_count());
    const double* const of_limits = of_membranes + 18 * rows.membranes.slot_count();
    add(rows.limits, of_limits, rows.first_limit());
    add(rows.singles, of_limits + 18 * rows.limits.slot_count(), rows.first_single());
    SparseMatrix jacobian(expected.jacobian.rows(), expected.jacobian.cols());
    jacobian.setFromTriplets(entries.begin(), entries.end());
    expect_near(jacobian, expected.jacobian,
                expected.steepness * rounding<TypeParam>(81) * largest(expected.jacobian), what);
  });
}

// Else the comparisons of systems, forces and multipliers above and below would see one kind alone.
TYPED_TEST(StepKernelsTest, SomePointsAreAtTheirLimit) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    if (at.garment.fabric.principal_strain_limit == 0) return;
    const auto pulling = std::ranges::count(found.at("at limit"), 1.0);
    EXPECT_GT(pulling, 0) << what;
    EXPECT_LT(pulling, std::ssize(found.at("at limit"))) << what;
  });
}

// E at a node whose neighbours along the warp are pinned with it: what is left of J on free nodes is
// rounding, and must not be scaled up to a row of noise.
TYPED_TEST(StepKernelsTest, RowsWithoutFreePartAreDead) {
  for (const std::string& backend : backends()) {
    const KernelCase& at = kernel_case("dead row");
    const auto& scales = results_of<TypeParam>(at, backend).at("scales");
    const auto cloth = at.reference();
    const auto& nodes = cloth.rows().interior_nodes;
    int dead = 0;
    for (std::size_t q = 0; q < nodes.size(); ++q) {
      const bool is_dead = nodes[q] == 9 + 19 * 8;
      EXPECT_EQ(scales[3 * q] == 0, is_dead) << "E at node " << nodes[q];
      EXPECT_GT(scales[3 * q + 1], 0) << "F at node " << nodes[q];
      EXPECT_GT(scales[3 * q + 2], 0) << "G at node " << nodes[q];
      dead += scales[3 * q] == 0;
    }
    EXPECT_EQ(dead, 1);
  }
}

TYPED_TEST(StepKernelsTest, Momentum) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const Fabric& f = at.garment.fabric;
    const double h = at.step;
    const MatrixX3d x = cloth.positions();
    const SparseMatrix& k = cloth.bending_matrix();
    MatrixX3d momentum = h * (f.density * (cloth.masses().asDiagonal() * cloth.velocities()) -
                              h * f.bending_stiffness * (k * x));
    momentum.col(2) -= h * h * f.gravity_density * at.gravity * cloth.masses();
    const double size = h * terms({largest(cloth.masses()) * (f.density + h * f.gravity_density * at.gravity),
                                   h * f.bending_stiffness * bending_terms(k, x)});
    expect_near(found.at("momentum"), flat(free_rows(cloth, momentum)), rounding<TypeParam>(25) * size, what);
  });
}

/// `positions` with the targets of pinned nodes.
MatrixX3d with_targets(const reference::ReferenceCloth& cloth, const KernelCase& at, MatrixX3d positions) {
  for (const Index node : cloth.pinned_nodes())
    positions.row(node) = reference::to_matrix(at.targets).row(node);
  return positions;
}

TYPED_TEST(StepKernelsTest, FirstIterate) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const MatrixX3d inertial = cloth.positions() + at.step * cloth.velocities();
    expect_near(found.at("inertial iterate"), flat(with_targets(cloth, at, inertial)),
                rounding<TypeParam>(1) * largest(flat(inertial)), what);
    expect_near(found.at("resting iterate"), flat(with_targets(cloth, at, cloth.positions())), 0, what);
  });
}

TYPED_TEST(StepKernelsTest, PredictedPositions) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const Fabric& f = at.garment.fabric;
    const MatrixX3d moved = cloth.positions() + reference::to_matrix(at.correction);
    const MatrixX3d by_mass =
        cloth.positions() +
        ((f.density + at.step * f.mass_damping) * cloth.masses()).cwiseInverse().asDiagonal() *
            reference::to_matrix(at.momentum);
    expect_near(found.at("predicted by moves"), flat(with_targets(cloth, at, moved)),
                rounding<TypeParam>(1) * largest(flat(moved)), what);
    expect_near(found.at("predicted by mass"), flat(with_targets(cloth, at, by_mass)),
                rounding<TypeParam>(1) * largest(flat(by_mass)), what);
  });
}

TYPED_TEST(StepKernelsTest, QuadraticMultipliers) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const VectorXd expected = cloth.quadratic_multipliers(as_vector(at.multipliers), cloth.positions());
    expect_near(found.at("quadratic multipliers"), expected, rounding<TypeParam>(81) * largest(expected),
                what);
  });
}

TYPED_TEST(StepKernelsTest, GeometricStiffness) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const auto pairs = kernel_pattern(at).nodal.pairs;
    const VectorXd lambda = as_vector(at.multipliers);
    const SparseMatrix expected = cloth.geometric_stiffness(lambda);
    ASSERT_EQ(found.at("stiffness").size(), pairs.size()) << what;
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto [a, b] = pairs[i];
      const double weight = found.at("stiffness")[i];
      EXPECT_GE(weight, 0) << what << ": pair " << a << ", " << b;
      for (const auto& [row, column, value] :
           {std::tuple{a, b, -weight}, {b, a, -weight}, {a, a, weight}, {b, b, weight}})
        entries.emplace_back(row, column, value);
    }
    SparseMatrix stiffness(expected.rows(), expected.cols());
    stiffness.setFromTriplets(entries.begin(), entries.end());
    expect_near(stiffness, expected, rounding<TypeParam>(81) * largest(expected), what);
  });
}

TYPED_TEST(StepKernelsTest, NodalMatrix) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const ExpectedRows rows(at);
    const NodalPattern pattern = kernel_pattern(at).nodal;
    const SparseMatrix select = free_columns(cloth, 1), select_coordinates = free_columns(cloth, 3);
    const SparseMatrix jacobian = rows.jacobian * select_coordinates;
    for (const std::string part : {"newton", "fast", "alone"}) {
      SparseMatrix block = cloth.implicit_matrix(at.step);
      if (at.garment.fabric.bending_stiffness == 0) block.prune(0.0);
      if (part == "newton") block += cloth.geometric_stiffness(as_vector(at.multipliers));
      SparseMatrix matrix = on_coordinates(SparseMatrix(select.transpose() * block * select));
      if (part != "alone") matrix += SparseMatrix(jacobian.transpose() * jacobian);
      const auto& values = found.at("blocks " + part);
      ASSERT_EQ(values.size(), 9 * pattern.block_rows.size()) << what;
      std::vector<Eigen::Triplet<double>> entries;
      for (std::size_t b = 0; b < pattern.block_rows.size(); ++b)
        for (int i = 0; i < 9; ++i) {
          const Index row = 3 * pattern.block_rows[b] + i / 3, column = 3 * pattern.block_columns[b] + i % 3;
          entries.emplace_back(row, column, values[9 * b + i]);
          if (pattern.block_rows[b] != pattern.block_columns[b])
            entries.emplace_back(column, row, values[9 * b + i]);
        }
      SparseMatrix assembled(matrix.rows(), matrix.cols());
      assembled.setFromTriplets(entries.begin(), entries.end());
      const double steepness = part == "alone" ? 1 : rows.steepness;
      expect_near(assembled, matrix, steepness * rounding<TypeParam>(81) * largest(matrix), what);
    }
  });
}

TYPED_TEST(StepKernelsTest, Gradient) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const ExpectedRows rows(at);
    const SparseMatrix jacobian = rows.jacobian * free_columns(cloth, 3);
    const MatrixX3d moved = cloth.positions() - reference::to_matrix(at.predicted);
    const SparseMatrix implicit = cloth.implicit_matrix(at.step);
    for (const std::string part : {"newton", "fast", "alone"}) {
      VectorXd expected = VectorXd::Zero(jacobian.cols());
      double size = 0;
      if (part != "alone") {
        // J^T (lambda + C / (eps D)) = (s J)^T (lambda / s + s C)
        VectorXd force = rows.scales.cwiseProduct(rows.values);
        if (part == "newton")
          force += (rows.scales.array() > 0).select(rows.proximal.array() / rows.scales.array(), 0).matrix();
        expected = -(jacobian.transpose() * force);
        size = rows.steepness * largest(jacobian.cwiseAbs().transpose() * force.cwiseAbs());
      }
      if (part != "fast") {
        const MatrixX3d momentum = reference::to_matrix(at.momentum);
        expected += flat(free_rows(cloth, momentum - implicit * moved));
        size += largest(flat(momentum)) + largest(flat(implicit.cwiseAbs() * moved.cwiseAbs()));
      }
      expect_near(found.at("gradient " + part), expected, rounding<TypeParam>(81) * size, what + ": " + part);
    }
  });
}

// |B (phi~ - x^) - B (phi - x^) - J^T lambda| of each free node over twice its mass.
TYPED_TEST(StepKernelsTest, Imbalances) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const ExpectedRows rows(at);
    const SparseMatrix jacobian = rows.jacobian * free_columns(cloth, 3);
    const MatrixX3d moved = cloth.positions() - reference::to_matrix(at.predicted);
    const SparseMatrix implicit = cloth.implicit_matrix(at.step);
    const MatrixX3d momentum = reference::to_matrix(at.momentum);
    const VectorXd force =
        (rows.scales.array() > 0).select(as_vector(at.multipliers).array() / rows.scales.array(), 0).matrix();
    const VectorXd left =
        flat(free_rows(cloth, momentum - implicit * moved)) - VectorXd(jacobian.transpose() * force);
    const double size = largest(jacobian.cwiseAbs().transpose() * force.cwiseAbs()) +
                        largest(flat(momentum)) + largest(flat(implicit.cwiseAbs() * moved.cwiseAbs()));
    VectorXd expected(left.size() / 3);
    double lightest = HUGE_VAL;
    for (Eigen::Index i = 0; i < expected.size(); ++i) {
      const double mass = cloth.masses()[cloth.free_nodes()[static_cast<std::size_t>(i)]];
      expected[i] = left.segment<3>(3 * i).norm() / (2 * mass);
      lightest = std::min(lightest, mass);
    }
    expect_near(found.at("imbalances"), expected, rounding<TypeParam>(81) * size / lightest, what);
  });
}

TYPED_TEST(StepKernelsTest, Correction) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const MatrixX3d d = free_rows(cloth, reference::to_matrix(at.correction));
    MatrixX3d moved = cloth.positions();
    for (Eigen::Index i = 0; i < d.rows(); ++i) moved.row(cloth.free_nodes()[i]) += d.row(i);
    expect_near(found.at("moved"), flat(moved), rounding<TypeParam>(1) * largest(flat(moved)), what);
  });
}

TYPED_TEST(StepKernelsTest, Multipliers) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const auto cloth = at.reference();
    const ExpectedRows rows(at);
    MatrixX3d d = reference::to_matrix(at.correction);
    for (const Index node : cloth.pinned_nodes()) d.row(node).setZero();
    const VectorXd change =
        rows.scales.cwiseProduct(rows.scales.cwiseProduct(rows.values) + rows.jacobian * flat(d));
    const double s = largest(rows.scales);
    const double size =
        largest(as_vector(at.multipliers)) +
        s * (s * largest(rows.values) + largest(rows.jacobian.cwiseAbs() * flat(d).cwiseAbs()));
    VectorXd multipliers = rows.proximal + change;
    // C of rigid rows, C - lambda / s^2 of compliant ones, what bounded ones are too long by.
    VectorXd mismatch = rows.values;
    int at_bound = 0;
    for (Eigen::Index row = 0; row < mismatch.size(); ++row) {
      const double scale = rows.scales[row], lambda = at.multipliers[static_cast<std::size_t>(row)];
      if (const double stiffest = rows.stiffest[row]; stiffest > 0) {
        mismatch[row] = scale > 0 ? std::max(mismatch[row] - lambda / stiffest, 0.0) *
                                        std::max(1.0, 0.1 / cloth.row_bounds()[row])
                                  : 0;
        multipliers[row] = scale > 0 ? std::max(multipliers[row], 0.0) : 0;
        at_bound += scale > 0;
      } else if (find_recipe(at.recipe).is_elastic() && scale > 0) {
        mismatch[row] -= lambda / (scale * scale);
      }
    }
    EXPECT_EQ(at_bound > 0, at.garment.fabric.has_limit());
    expect_near(found.at("multipliers"), multipliers, rows.steepness * rounding<TypeParam>(81) * size, what);
    expect_near(found.at("mismatches"), mismatch,
                rows.steepness * rounding<TypeParam>(81) * (1 + largest(mismatch)), what);
  });
}

TYPED_TEST(StepKernelsTest, Velocities) {
  for_each_case<TypeParam>([](const KernelResults& found, const KernelCase& at, const std::string& what) {
    const MatrixX3d to = reference::to_matrix(at.predicted), from = reference::to_matrix(at.positions);
    expect_near(found.at("velocities"), flat((to - from) / at.step),
                rounding<TypeParam>(1) * largest(flat(to)) / at.step, what);
  });
}

}  // namespace
}  // namespace isocloth
