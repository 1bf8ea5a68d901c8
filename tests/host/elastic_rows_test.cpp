// Compliant rows: a step minimises inertia, bending and the energy of springs or elements. The minimum is
// found here by a dense Newton iteration with whole Hessians, which knows nothing of multipliers.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <map>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/model/recipe.hpp"
#include "host/reference/reference_cloth.hpp"
#include "host/simulation/simulation.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/step_report.hpp"
#include "host/validation/validation.hpp"
#include "tests/host/stretch_energy.hpp"

namespace isocloth {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// The recipe of a variant: "limited" is a membrane whose edges stretch by 1 % at most, "principal" one whose
/// elements do, "curved" one whose threads and shear stiffen, "viscous" one that resists rates of strain,
/// too, "viscous_curve" one that does so by curves, and "curved springs" are springs that stiffen, with
/// flexion springs and viscosity.
std::string recipe_of(const std::string& variant) {
  if (variant == "limited" || variant == "principal" || variant == "curved" || variant.starts_with("viscous"))
    return "membrane";
  return variant == "curved_springs"       ? "springs"
         : variant == "curved_constraints" ? "soft_constraints"
                                           : variant;
}

/// A sheet that hangs by two corners.
Scene elastic_scene(const std::string& recipe, Mesh mesh, double stiffness) {
  Garment sheet;
  sheet.name = "sheet";
  sheet.mesh = std::move(mesh);
  sheet.fabric = {
      .density = 0.2,
      .gravity_density = 0.2,
      .bending_stiffness = 1e-4,
      .mass_damping = 0.1,
      .stretch_stiffness = stiffness,
      .weft_stretch_stiffness = 2 * stiffness,
      .shear_stiffness = stiffness / 10,
      .poisson_ratio = recipe == "limited" || recipe == "principal" || recipe == "corotational" ? 0.3 : 0,
      .strain_limit = recipe == "limited" ? 0.01 : 0,
      .principal_strain_limit = recipe == "principal" ? 0.01 : 0};
  if (recipe == "viscous" || recipe == "curved_springs")
    sheet.fabric.viscosity = {.stretch = stiffness / 50, .shear = stiffness / 400};
  if (recipe == "viscous_curve") {
    ViscosityCurves& curves = sheet.fabric.viscosity.curves;
    curves.warp.polynomial = {stiffness / 100, 0, stiffness / 100};
    curves.warp.up_to = 2;
    curves.shear.points = {{0.05, stiffness / 20000}, {0.3, stiffness / 1000}, {1, stiffness / 100}};
    curves.shear.between = CurveBetween::linear;
  }
  if (recipe == "curved_springs")
    sheet.fabric.bend_spring = {.stiffness = stiffness / 8, .damping = stiffness / 500};
  if (recipe.starts_with("curved")) {
    StressCurve thread, shear;
    for (const double d : {0.002, 0.01, 0.03, 0.1}) {
      thread.points.push_back({d, stiffness * (d / 2 + 50 * d * d)});
      shear.points.push_back({5 * d, stiffness / 10 * (d + 100 * d * d)});
    }
    sheet.fabric.curves = {.warp = thread, .weft = {}, .shear = shear};
  }
  sheet.pins = {{"corners", {0, 4}, FixedMotion{}}};
  Scene scene;
  scene.recipe = recipe_of(recipe);
  scene.step = 0.01;
  scene.projection.tolerance = 2e-12;
  scene.projection.max_iterations = 200;
  scene.garments = {sheet};
  return scene;
}

/// weight (sum of left_i p_i) . (sum of right_i p_i).
struct Product {
  double weight;
  VectorXd left, right;
};

/// K C^2 / 2 with C = the sum of the products - rest, or K times the integral of a law, and of a dashpot K h
/// times that of its p_v by the rate (C - before) / h.
struct Energy {
  std::vector<Index> nodes;
  std::vector<Product> products;
  double rest, stiffness;
  bool only_pulls = false;
  std::vector<CurvePiece> law{{}};                  ///< p of x
  bool is_engineering = false;                      ///< x = 2 (sqrt(1 + C) - 1), else C
  std::vector<CurvePiece> viscosity{{.slope = 0}};  ///< p_v
  double before = 0, step = 1;

  /// The derivative of energy over K by C, and its own.
  std::array<double, 2> stress(double c) const {
    const double s = std::sqrt(1 + c), x = is_engineering ? 2 * (s - 1) : c;
    const auto at = [](const std::vector<CurvePiece>& pieces, double place) {
      std::array<double, 2> found{};
      for (const CurvePiece& p : pieces) {
        const double t = std::fabs(place) - p.begin;
        if (t < 0) break;
        found = {std::copysign(p.value + t * p.slope + t * t * p.square + t * t * t * p.cube, place),
                 p.slope + 2 * t * p.square + 3 * t * t * p.cube};
      }
      return found;
    };
    auto [p_of_x, slope] = at(law, x);
    if (is_engineering) {
      slope = slope / (s * s) - p_of_x / (2 * s * s * s);
      p_of_x /= s;
    }
    const auto [viscous, rise] = at(viscosity, (c - before) / step);
    return {p_of_x + viscous, slope + rise / step};
  }
};

/// Every mesh here has equal quads, a x b: an edge has half of the quads beside it, k A / 4.
std::vector<Energy> spring_energies(const Mesh& mesh, const Fabric& fabric, double a, double b) {
  std::map<std::pair<Index, Index>, double> quads_beside;
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (Index k = 0; k < 4; ++k) {
      const Index from = mesh.face(f)[k], to = mesh.face(f)[(k + 1) % 4];
      quads_beside[std::minmax(from, to)] += 1;
    }
  std::vector<Energy> all;
  for (const auto& [edge, count] : quads_beside) {
    const Vec3d d = mesh.positions[static_cast<std::size_t>(edge.second)] -
                    mesh.positions[static_cast<std::size_t>(edge.first)];
    const VectorXd difference = Eigen::Vector2d(-1, 1) / norm(d);
    all.push_back({{edge.first, edge.second},
                   {{1, difference, difference}},
                   1,
                   fabric.stretch_stiffness * a * b * count / 2 / 4});
  }
  return all;
}

/// |F d|^2 at the 2 x 2 Gauss points of each quad, for unit vectors d 30 degrees apart.
std::vector<Energy> stretches(const Mesh& mesh, const Fabric& fabric, double a, double b) {
  std::vector<Energy> all;
  const double near = (1 - 1 / std::sqrt(3)) / 2;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    const std::vector<Index> nodes(face.begin(), face.end());
    Vec3d least = mesh.positions[static_cast<std::size_t>(nodes[0])];
    for (const Index node : nodes) {
      const Vec3d& p = mesh.positions[static_cast<std::size_t>(node)];
      least = {std::min(least.x, p.x), std::min(least.y, p.y), 0};
    }
    for (const double x : {near, 1 - near})
      for (const double y : {near, 1 - near})
        for (int k = 0; k < 6; ++k) {
          VectorXd along(4);
          for (Eigen::Index i = 0; i < 4; ++i) {
            const Vec3d& p = mesh.positions[static_cast<std::size_t>(nodes[static_cast<std::size_t>(i)])];
            const bool is_far_x = p.x > least.x + a / 2, is_far_y = p.y > least.y + b / 2;
            along[i] = std::cos(k * M_PI / 6) * (is_far_x ? 1 : -1) / a * (is_far_y ? y : 1 - y) +
                       std::sin(k * M_PI / 6) * (is_far_y ? 1 : -1) / b * (is_far_x ? x : 1 - x);
          }
          all.push_back({nodes, {{1, along, along}}, 1, fabric.stretch_stiffness * a * b / 4 / 4});
        }
  }
  return all;
}

/// The recipe `springs` on such a mesh, warp along x and weft along y.
std::vector<Energy> grid_springs(const Mesh& mesh, const Fabric& fabric, double a, double b) {
  std::vector<Energy> all = spring_energies(mesh, fabric, a, b);
  const StressCurves& curves = fabric.curves;
  const double k_u = fabric.stretch_stiffness, k_v = fabric.weft_stretch_stiffness,
               g = fabric.shear_stiffness;
  const auto x_of = [&](Index node) { return mesh.positions[static_cast<std::size_t>(node)].x; };
  for (Energy& e : all) {
    const bool is_warp = std::fabs(x_of(e.nodes[0]) - x_of(e.nodes[1])) > a / 2;
    if (!is_warp) e.stiffness *= k_v / k_u;
    e.law = thread_law(curves.warp, is_warp ? k_u : k_v, StrainMeasure::engineering);
    e.viscosity = {{.slope = fabric.viscosity.stretch / k_u}};
  }
  const auto add = [&](Index from, Index to, double k, double time, std::vector<CurvePiece> law) {
    const double length =
        norm(mesh.positions[static_cast<std::size_t>(to)] - mesh.positions[static_cast<std::size_t>(from)]);
    const VectorXd difference = Eigen::Vector2d(-1, 1) / length;
    all.push_back(
        {.nodes = {from, to}, .products = {{1, difference, difference}}, .rest = 1, .stiffness = k});
    all.back().viscosity = {{.slope = time}};
    all.back().law = std::move(law);
  };
  const double sine = 2 * a * b / (a * a + b * b);
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (int i = 0; i < 2; ++i)
      add(mesh.face(f)[i], mesh.face(f)[i + 2], g * a * b / 2 / (sine * sine), fabric.viscosity.shear / g,
          shear_law(curves.shear, g));
  const SpringDamper& flexion = fabric.bend_spring;
  for (Index i = 0; flexion.exists() && i < mesh.node_count(); ++i)
    for (Index j = 0; j < i; ++j) {
      const Vec3d d =
          mesh.positions[static_cast<std::size_t>(i)] - mesh.positions[static_cast<std::size_t>(j)];
      const bool is_along = std::fabs(d.y) < 1e-9 && std::fabs(std::fabs(d.x) - 2 * a) < 1e-9,
                 is_across = std::fabs(d.x) < 1e-9 && std::fabs(std::fabs(d.y) - 2 * b) < 1e-9;
      if (is_along || is_across)
        add(i, j, flexion.stiffness * dot(d, d) / 4, flexion.damping / flexion.stiffness, {{}});
    }
  for (Energy& e : all) e.is_engineering = true;
  return all;
}

std::vector<Energy> membrane_energies(const Mesh& mesh, const Fabric& fabric, StrainMeasure measure, double a,
                                      double b) {
  std::vector<Energy> all;
  const bool is_engineering = measure == StrainMeasure::engineering;
  const double area = a * b, nu = fabric.poisson_ratio, k_u = fabric.stretch_stiffness,
               k_v = fabric.weft_stretch_stiffness;
  using Forms = std::array<Eigen::Vector4d, 2>;  // of both triangles
  const auto mean = [](const Forms& left, const Forms& right, double weight = 1) {
    return std::vector<Product>{{weight / 2, left[0], right[0]}, {weight / 2, left[1], right[1]}};
  };
  const auto difference = [](const Forms& left, const Forms& right, double weight = 1) {
    return std::vector<Product>{{weight, left[0], right[0]}, {-weight, left[1], right[1]}};
  };
  const auto both = [](std::vector<Product> first, const std::vector<Product>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  for (const auto& [nodes, warp, weft] : quad_triangles(mesh)) {
    // The first rows are coupled, C_uu + r C_vv.
    const double r = nu * std::sqrt(k_v / k_u);
    const std::vector<CurvePiece> cubic{{.cube = 1 / (stiffening * stiffening)}};
    all.push_back({nodes, both(difference(warp, warp), difference(weft, weft, r)), 0,
                   weak_stiffness(k_u) / (1 - nu * nu) * area / 16});
    all.back().law = cubic;
    all.push_back({nodes, difference(weft, weft), 0, weak_stiffness(k_v) * area / 16});
    all.back().law = cubic;
    all.push_back({nodes, difference(warp, weft), 0, 0.03 * fabric.shear_stiffness * area / 4});
    if (nu == 0) {
      const StressCurves& curves = fabric.curves;
      const auto viscosity = [](const StressCurve& curve, double k, double linear, double factor) {
        if (!curve.exists()) return std::vector<CurvePiece>{{.slope = linear / k}};
        std::vector<CurvePiece> pieces = shear_law(curve, k);  // of stress over k by half of dC/dt
        for (CurvePiece& p : pieces)
          p = {factor * p.begin, factor * p.value, p.slope, p.square / factor, p.cube / factor / factor};
        return pieces;
      };
      const Viscosity& v = fabric.viscosity;
      const auto add = [&, nodes = nodes](const Forms& left, const Forms& right, double rest, double k,
                                          std::vector<CurvePiece> law, std::vector<CurvePiece> viscous) {
        all.push_back({.nodes = nodes, .products = mean(left, right), .rest = rest, .stiffness = k});
        all.back().law = std::move(law);
        all.back().is_engineering = is_engineering && rest == 1;
        all.back().viscosity = std::move(viscous);
      };
      add(warp, warp, 1, k_u * area / 4, thread_law(curves.warp, k_u, measure),
          viscosity(v.curves.warp, k_u, v.stretch, 2));
      add(weft, weft, 1, k_v * area / 4, thread_law(curves.warp, k_v, measure),
          viscosity(v.curves.warp, k_v, v.stretch * k_v / k_u, 2));
      add(warp, weft, 0, fabric.shear_stiffness * area, shear_law(curves.shear, fabric.shear_stiffness),
          viscosity(v.curves.shear, fabric.shear_stiffness, v.shear, 1));
      continue;
    }
    // k_u e_u^2 + k_v (e_v + coupling e_u)^2 / (1 - nu^2), the square completed the other way round.
    const double coupling = nu * std::sqrt(k_u / k_v);
    all.push_back({nodes, mean(warp, warp), 1, k_u * area / 4});
    all.push_back({nodes, both(mean(weft, weft), mean(warp, warp, coupling)), 1 + coupling,
                   k_v / (1 - nu * nu) * area / 4});
    all.push_back({nodes, mean(warp, weft), 0, fabric.shear_stiffness * area});
  }
  return all;
}

Vector3d applied(const VectorXd& form, const VectorXd& x, const Energy& e) {
  Vector3d sum = Vector3d::Zero();
  for (std::size_t i = 0; i < e.nodes.size(); ++i)
    sum += form[static_cast<Eigen::Index>(i)] * x.segment<3>(3 * e.nodes[i]);
  return sum;
}

/// C of an energy.
double strain(const VectorXd& x, const Energy& e) {
  double c = -e.rest;
  for (const auto& [weight, left, right] : e.products)
    c += weight * applied(left, x, e).dot(applied(right, x, e));
  return c;
}

/// Adds first and second derivatives of the energies.
void add_derivatives(const VectorXd& x, const std::vector<Energy>& energies, VectorXd& gradient,
                     MatrixXd& hessian) {
  for (const Energy& e : energies) {
    const auto count = static_cast<Eigen::Index>(e.nodes.size());
    const auto at = [&](Eigen::Index i) { return 3 * e.nodes[static_cast<std::size_t>(i)]; };
    const double c = strain(x, e);
    if (e.only_pulls && c <= 0) continue;
    const auto [stress, tangent] = e.stress(c);
    MatrixXd slopes = MatrixXd::Zero(3, count), forms = MatrixXd::Zero(count, count);
    for (const auto& [weight, left, right] : e.products) {
      slopes += weight * (applied(right, x, e) * left.transpose() + applied(left, x, e) * right.transpose());
      forms += weight * (left * right.transpose() + right * left.transpose());
    }
    for (Eigen::Index i = 0; i < count; ++i) {
      gradient.segment<3>(at(i)) += e.stiffness * stress * slopes.col(i);
      for (Eigen::Index j = 0; j < count; ++j)
        hessian.block<3, 3>(at(i), at(j)) +=
            e.stiffness * (tangent * slopes.col(i) * slopes.col(j).transpose() +
                           stress * forms(i, j) * Matrix3d::Identity());
    }
  }
}

/// The end of a backward Euler step, from a start near it.
VectorXd minimum(const Scene& scene, const GarmentState& before, const VectorXd& start) {
  const Garment& garment = scene.garments[0];
  const double h = scene.step;
  ProjectionSettings settings = scene.projection;
  Garment rigid = garment;  // of whose reference the masses and bending are taken
  rigid.fabric.bending = BendingModel::plate;
  reference::ReferenceCloth cloth(rigid, find_recipe("inextensible_edges"), settings, scene.gravity);
  const Eigen::Index nodes = garment.mesh.node_count();
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
  cloth.set_positions(Eigen::Map<const Rows>(before.positions.data(), nodes, 3));
  cloth.set_velocities(Eigen::Map<const Rows>(before.velocities.data(), nodes, 3));
  reference::MatrixX3d pinned(static_cast<Eigen::Index>(cloth.pinned_nodes().size()), 3);
  for (Eigen::Index i = 0; i < pinned.rows(); ++i)
    pinned.row(i) = cloth.positions().row(cloth.pinned_nodes()[static_cast<std::size_t>(i)]);
  const Rows free_flight = cloth.unconstrained_step(h, pinned);
  const MatrixXd b = MatrixXd(cloth.implicit_matrix(h));
  const double a = 0.4 / 4, b_ = 0.3 / 3;
  const bool is_principal = garment.fabric.principal_strain_limit > 0;
  const double limit = is_principal ? garment.fabric.principal_strain_limit : garment.fabric.strain_limit;
  std::vector<Energy> energies = is_principal ? stretches(garment.mesh, garment.fabric, a, b_)
                                              : spring_energies(garment.mesh, garment.fabric, a, b_);
  if (limit > 0)  // a limit is a spring a thousand times as stiff that begins to pull there
    for (Energy& e : energies) {
      e.rest = (1 + limit) * (1 + limit);
      e.stiffness *= 1000;
      e.only_pulls = true;
    }
  const Recipe& recipe = find_recipe(scene.recipe);
  std::vector<QuadTriangles> quads;
  if (recipe.strain == StrainMeasure::corotational) {
    quads = quad_triangles(garment.mesh);
    energies.clear();
  } else if (recipe.has_springs()) {
    energies = grid_springs(garment.mesh, garment.fabric, a, b_);
  } else if (scene.recipe != "elastic_edges") {
    const std::vector<Energy> elements =
        membrane_energies(garment.mesh, garment.fabric, recipe.strain, a, b_);
    if (limit == 0) energies.clear();
    energies.insert(energies.end(), elements.begin(), elements.end());
  }
  const VectorXd flight = Eigen::Map<const VectorXd>(free_flight.data(), 3 * nodes);
  const VectorXd begin = Eigen::Map<const VectorXd>(before.positions.data(), 3 * nodes);
  for (Energy& e : energies) {
    e.before = strain(begin, e);
    e.step = h;
  }
  VectorXd x = start;
  for (int iteration = 0; iteration < 100; ++iteration) {
    VectorXd gradient = VectorXd::Zero(3 * nodes);
    MatrixXd hessian = MatrixXd::Zero(3 * nodes, 3 * nodes);
    add_derivatives(x, energies, gradient, hessian);
    add_stretch_derivatives(x, quads, a * b_, garment.fabric, gradient, hessian);
    gradient *= h * h;
    hessian *= h * h;
    for (Eigen::Index i = 0; i < nodes; ++i)
      for (Eigen::Index j = 0; j < nodes; ++j) {
        hessian.block<3, 3>(3 * i, 3 * j) += b(i, j) * Matrix3d::Identity();
        gradient.segment<3>(3 * i) += b(i, j) * (x - flight).segment<3>(3 * j);
      }
    for (const Index node : cloth.pinned_nodes()) {
      gradient.segment<3>(3 * node).setZero();
      hessian.middleRows(3 * node, 3).setZero();
      hessian.middleCols(3 * node, 3).setZero();
      hessian.block<3, 3>(3 * node, 3 * node).setIdentity();
    }
    const VectorXd move = hessian.partialPivLu().solve(gradient);
    x -= move;
    if (move.norm() < 1e-14) break;
  }
  return x;
}

class ElasticRows : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Recipes, ElasticRows,
                         ::testing::Values("elastic_edges", "membrane", "limited", "principal", "curved",
                                           "viscous", "viscous_curve", "soft_constraints",
                                           "curved_constraints", "corotational", "springs", "curved_springs"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST_P(ElasticRows, AStepEndsAtTheMinimumOfItsEnergy) {
  double stretch = 10;
  for (const double stiffness : {20.0, 2000.0}) {
    Scene scene = elastic_scene(GetParam(), quad_grid(5, 4, 0.4, 0.3), stiffness);
    scene.projection.integrator = Integrator::backward_euler;  // of which a step minimises an energy
    // Where the matrix is not that of all second derivatives rows may agree before forces balance.
    if (scene.recipe == "corotational") scene.projection.force_tolerance = 1e-9;
    for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
      Simulation simulation(scene, {.solver = solver, .threads = 1});
      for (int step = 0; step < 12; ++step) {
        const GarmentState before = simulation.state(0);
        const StepReport report = simulation.step().front();
        ASSERT_EQ(report.status, StepStatus::converged);
        if (step % 4 != 3) continue;
        const GarmentState after = simulation.state(0);
        const VectorXd found = Eigen::Map<const VectorXd>(after.positions.data(),
                                                          static_cast<Eigen::Index>(after.positions.size()));
        const VectorXd expected = minimum(scene, before, found);
        // Steps end by the mismatch of strains; what is left of the forces are the moves of the last
        // iteration. Limits count for 15 iterations, which leave edges of 0.1 m within a hundredth of a
        // limit's.
        const double most = scene.garments[0].fabric.has_limit() ? 0.1 * 0.01 / 100 : 2e-8;
        EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), most)
            << "stiffness " << stiffness << ", step " << step;
      }
      // A hundredth of the stiffness is seen, where no limit takes its place.
      const double now = simulation.measure(0).residual;
      if (solver == StepSolver::direct && scene.garments[0].fabric.principal_strain_limit == 0) {
        EXPECT_LT(now, 0.2 * stretch);
        stretch = now;
      }
    }
  }
}

// The two schedules, both precisions, and the reference's own steps.
TEST_P(ElasticRows, AreThoseOfTheReference) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      Scene scene = elastic_scene(GetParam(), quad_grid(5, 4, 0.4, 0.3), 200);
      scene.projection.tolerance = 1e-4;
      const ValidationReport report =
          validate(scene, {.precision = precision, .solver = solver, .threads = 1}, 6);
      EXPECT_TRUE(report.passed()) << to_string(solver);
    }
}

TEST_P(ElasticRows, FabricsOfABatchAreTheirOwn) {
  Scene scene = elastic_scene(GetParam(), quad_grid(5, 4, 0.4, 0.3), 20);
  scene.projection.tolerance = 1e-6;
  scene.projection.integrator =
      Integrator::backward_euler;  // damps waves: what is stiffer stretches less at any time
  for (int i = 1; i < 6; ++i) {
    scene.garments.push_back(scene.garments[0]);
    scene.garments.back().name += std::to_string(i);
    for (double* k : {&scene.garments.back().fabric.stretch_stiffness,
                      &scene.garments.back().fabric.weft_stretch_stiffness,
                      &scene.garments.back().fabric.shear_stiffness})
      *k *= 1 + i;
    for (StressCurve* curve :
         {&scene.garments.back().fabric.curves.warp, &scene.garments.back().fabric.curves.shear,
          &scene.garments.back().fabric.viscosity.curves.shear})
      for (auto& point : curve->points) point[1] *= 1 + i;
  }
  Simulation batch(scene, {.threads = 1});
  batch.advance(10);
  double before = 1;
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    Scene alone = scene;
    alone.garments = {scene.garments[g]};
    Simulation single(alone, {.solver = StepSolver::batched, .threads = 1});
    single.advance(10);
    EXPECT_EQ(batch.state(g).positions, single.state(0).positions) << g;
    const double stretch = batch.measure(g).residual;
    if (scene.garments[g].fabric.principal_strain_limit == 0) {
      EXPECT_LT(stretch, before);
    }
    before = stretch;
  }
}

/// Largest l / l0 - 1 of all edges.
double tension(const Mesh& mesh, const GarmentState& state) {
  double most = 0;
  for (const auto& [a, b] : build_topology(mesh).edges) {
    const auto at = [&](Index node) {
      const double* const p = state.positions.data() + 3 * node;
      return Vec3d{p[0], p[1], p[2]};
    };
    const double rest =
        norm(mesh.positions[static_cast<std::size_t>(b)] - mesh.positions[static_cast<std::size_t>(a)]);
    most = std::max(most, norm(at(b) - at(a)) / rest - 1);
  }
  return most;
}

TEST(StrainLimits, HoldAClothThatWouldStretch) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const Precision precision : {Precision::float64, Precision::float32})
      for (const bool is_limited : {false, true}) {
        Scene scene = elastic_scene(is_limited ? "limited" : "membrane", quad_grid(9, 7, 0.8, 0.6), 20);
        scene.projection.tolerance = 5e-3;
        Simulation simulation(scene, {.precision = precision, .solver = solver, .threads = 1});
        double most = 0;
        for (int step = 0; step < 60; ++step) {
          EXPECT_EQ(simulation.step().front().status, StepStatus::converged) << step;
          most = std::max(most, tension(scene.garments[0].mesh, simulation.state(0)));
        }
        if (is_limited) {
          // A tenth more, and what half the weight of 0.94 N stretches an edge beside 0.05 m of a corner by
          // that is a thousand times as stiff as 20 N/m; twice that, since the cloth falls until it is taut,
          // and a tenth of that for what the tolerance lets through.
          EXPECT_LT(most, 0.011 + 2.2 * 0.47 / (1000 * 20 * 0.05)) << to_string(solver);
        } else {
          EXPECT_GT(most, 0.1) << to_string(solver);
        }
      }
}

/// Principal stretches at the middles of the quads, s1 before s2.
std::vector<Eigen::Vector2d> middle_stretches(const Mesh& mesh, const GarmentState& state) {
  std::vector<Eigen::Vector2d> all;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    Eigen::Matrix<double, 3, 2> now = Eigen::Matrix<double, 3, 2>::Zero(), rest = now;
    for (std::size_t i = 0; i < 4; ++i) {
      const Index node = mesh.face(f)[i];
      const Eigen::RowVector2d ways(i == 1 || i == 2 ? 1 : -1, i >= 2 ? 1 : -1);
      const Vec3d& p = mesh.positions[static_cast<std::size_t>(node)];
      rest += Vector3d(p.x, p.y, p.z) * ways;
      now += Eigen::Map<const Vector3d>(state.positions.data() + 3 * node) * ways;
    }
    all.push_back((now * rest.topRows<2>().inverse()).jacobiSvd().singularValues());
  }
  return all;
}

// A square that is pulled along its diagonal stretches between its threads, and narrows.
TEST(StrainLimits, HoldElementsInEveryDirection) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const Precision precision : {Precision::float64, Precision::float32})
      for (const bool is_limited : {false, true}) {
        Scene scene = elastic_scene("membrane", quad_grid(9, 9, 0.4, 0.4), 500);
        scene.garments[0].fabric.principal_strain_limit = is_limited ? 0.05 : 0;
        scene.projection.tolerance = 5e-3;
        const Vec3d way{0.013, 0.013, 0};
        scene.garments[0].pins = {
            {"held", {0}, FixedMotion{}},
            {"pulled",
             {80},
             KeyframeMotion{.times = {0, 0.2}, .translations = {{}, way}, .rotations = {}, .center = {}}}};
        Simulation simulation(scene, {.precision = precision, .solver = solver, .threads = 1});
        double most = 0, beyond = 0;
        for (int step = 0; step < 40; ++step) {
          EXPECT_EQ(simulation.step().front().status, StepStatus::converged) << step;
          for (const Eigen::Vector2d& s : middle_stretches(scene.garments[0].mesh, simulation.state(0))) {
            most = std::max(most, s[0] - 1);
            const double sine = std::sin(M_PI / 12), cosine = std::cos(M_PI / 12);
            const double bound = std::sqrt(1.05 * 1.05 - s[1] * s[1] * sine * sine) / cosine;
            beyond = std::max(beyond, s[0] - bound);
          }
        }
        if (is_limited) {
          EXPECT_LT(beyond, 0.005) << to_string(solver);  // a tenth of the limit
        } else {
          EXPECT_GT(most, 0.065) << to_string(solver);
        }
      }
}

// Corners go apart by 15 % of what is between them and come back. Nothing grows on the way: the cloth
// returns.
TEST(StrainLimits, GiveWayWhereTheyCannotBeMet) {
  Scene scene = elastic_scene("limited", quad_grid(9, 7, 0.8, 0.6), 200);
  scene.projection.tolerance = 5e-3;
  scene.garments[0].pins = {
      {"left", {0}, FixedMotion{}},
      {"right",
       {8},
       KeyframeMotion{
           .times = {0, 0.3, 0.6}, .translations = {{}, {0.12, 0, 0}, {}}, .rotations = {}, .center = {}}}};
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
    Simulation simulation(scene, {.solver = solver, .threads = 1});
    double most = 0;
    for (int step = 0; step < 80; ++step) {
      EXPECT_EQ(simulation.step().front().status, StepStatus::converged) << step;
      const double now = tension(scene.garments[0].mesh, simulation.state(0));
      most = std::max(most, now);
      if (step > 65) {
        EXPECT_LT(now, 0.0111) << step;
      }
    }
    EXPECT_GT(most, 0.14);
    EXPECT_LT(most, 0.2);
  }
}

TEST_P(ElasticRows, AreRefusedWhereNothingCarriesTheirStress) {
  Scene scene = elastic_scene(GetParam(), quad_grid(5, 4, 0.4, 0.3), 20);
  scene.projection.method = ProjectionMethod::fast_projection;
  EXPECT_THROW(Simulation{scene}, SceneError);
  scene = elastic_scene(GetParam(), quad_grid(5, 4, 0.4, 0.3), 0);
  EXPECT_THROW(Simulation{scene}, SceneError);
}

}  // namespace
}  // namespace isocloth
