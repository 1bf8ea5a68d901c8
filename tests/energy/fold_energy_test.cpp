// Folds and fabrics of single faces beside closed forms, with the balance of their energy.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/mesh/generators.hpp"
#include "engine/rows/hinges.hpp"
#include "tests/energy/energy_case.hpp"

namespace isocloth {
namespace {

constexpr double g = gravity_of_scenes, pi = std::numbers::pi;

/// A strip along x, its first `held` columns pinned; `columns` x 3 nodes of 2 cm.
Garment strip(Index columns, Index held, const Fabric& fabric) {
  Garment garment;
  garment.name = "strip";
  garment.mesh = fabric.bending == BendingModel::discrete_shells
                     ? triangle_grid(columns, 3, 0.02 * (columns - 1), 0.04, Diagonals::alternating)
                     : quad_grid(columns, 3, 0.02 * (columns - 1), 0.04);
  garment.fabric = fabric;
  std::vector<Index> nodes;
  for (Index j = 0; j < 3; ++j)
    for (Index i = 0; i < held; ++i) nodes.push_back(columns * j + i);
  garment.pins.push_back({"held", nodes, FixedMotion{}});
  return garment;
}

/// Folds a strip about its column `at`.
void fold(Garment& strip, Index columns, Index at, double angle, double stiffness, double factor = 0) {
  for (const HingeOfEdge& hinge : hinges_of(strip.mesh))
    if (hinge.nodes[0] % columns == at && hinge.nodes[1] % columns == at)
      strip.mesh.folds.push_back(
          {.nodes = hinge.nodes, .angle = angle, .stiffness = stiffness * 0.02, .factor = factor});
}

/// With forces that balance far better than a picture needs.
Scene balanced(const Garment& garment) {
  Scene scene = energy_scene(garment, 0.01);
  scene.projection.force_tolerance = 1e-6;
  return scene;
}

Fabric board() {
  Fabric fabric;
  fabric.density = fabric.gravity_density = 0.2;
  fabric.stretch_stiffness = 5e4;
  fabric.shear_stiffness = 1e4;
  fabric.bending_stiffness = 1;
  fabric.mass_damping = 1;
  return fabric;
}

/// Slope of the free end of a strip, down from the horizontal.
double slope_at_end(const Simulation& simulation, Index columns) {
  const auto p = simulation.positions(0);
  const Vec3d way = p[2 * columns - 1] - p[2 * columns - 2];
  return std::atan2(-way.z, way.x);
}

// A flap of length L that nothing but its fold holds, at rest by k theta = rho g L^2 / 2 cos(theta).
TEST(FoldEnergy, OfAFlapThatHangsFromItsCrease) {
  constexpr Index columns = 6, at = 1;
  const double length = 0.02 * (columns - 1 - at), k = 0.02;
  for (const BendingModel model :
       {BendingModel::plate, BendingModel::mid_edge, BendingModel::discrete_shells}) {
    Fabric fabric = board();
    fabric.bending = model;
    Garment flap = strip(columns, 2, fabric);
    fold(flap, columns, at, 0, k);
    Simulation simulation(balanced(flap));
    const MeasuredBalance b = balance_after(simulation, 400);
    // To less than the rounding of so stiff a board, which expect_closed() asks for.
    EXPECT_LE(std::fabs(b.sums.energy_error), 1e-6 * b.sums.energy_scale) << static_cast<int>(model);
    double theta = 0.5;
    for (int i = 0; i < 50; ++i) {
      const double moment = fabric.density * g * length * length / 2;
      theta -= (k * theta - moment * std::cos(theta)) / (k + moment * std::sin(theta));
    }
    EXPECT_NEAR(slope_at_end(simulation, columns), theta, 5e-3) << static_cast<int>(model);
  }
}

// Without weight a crease turns to its angle, up to half a turn, either way, in lanes and kernel by kernel.
TEST(FoldEnergy, OfACreaseThatFolds) {
  constexpr Index columns = 7, at = 3;
  for (const double degrees : {60.0, -120.0, 180.0})
    for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
      Fabric fabric = board();
      fabric.mass_damping = 20;
      Garment crease = strip(columns, at + 1, fabric);
      fold(crease, columns, at, degrees * pi / 180, 0.1);
      Scene scene = balanced(crease);
      scene.gravity = 0;
      ExecutionOptions options;
      options.solver = solver;
      Simulation simulation(scene, options);
      const MeasuredBalance b = balance_after(simulation, 300);
      expect_closed(b, 1e-6, text(degrees));
      const auto p = simulation.positions(0);
      const Vec3d way = p[2 * columns - 1] - p[columns + at];
      const double length = 0.02 * (columns - 1 - at), angle = degrees * pi / 180;
      // The fronts, up, come nearer.
      EXPECT_NEAR(way.x, length * std::cos(angle), 1e-4) << degrees;
      EXPECT_NEAR(way.z, length * std::sin(angle), 1e-4) << degrees;
    }
}

// As stiff as the cloth with |e|^2 / A of its hinge, 1 of squares that are cut: a strip of discrete shells
// does not feel that it is folded flat, but for which of their halves lie beside the fold.
TEST(FoldEnergy, OfAFoldThatIsNone) {
  constexpr Index columns = 8;
  Fabric fabric = board();
  fabric.bending = BendingModel::discrete_shells;
  fabric.bending_stiffness = 1e-3;
  Garment plain = strip(columns, 2, fabric), folded = plain;
  fold(folded, columns, 4, 0, 0, 1);
  Simulation one(balanced(plain)), other(balanced(folded));
  for (int i = 0; i < 30; ++i) one.step(), other.step();
  for (std::size_t i = 0; i < plain.mesh.positions.size(); ++i)
    EXPECT_LT(norm(one.positions(0)[i] - other.positions(0)[i]), 3e-4) << i;
}

// A strip of two fabrics, held in the middle, hangs as two strips of one each.
TEST(FabricEnergy, OfAStripOfTwoFabrics) {
  constexpr Index half = 6, columns = 2 * half + 1;
  for (const BendingModel model :
       {BendingModel::plate, BendingModel::mid_edge, BendingModel::discrete_shells}) {
    Fabric light = board();
    light.bending = model;
    light.bending_stiffness = 2e-4;
    light.density = light.gravity_density = 0.1;
    light.mass_damping = 0.2;
    const FabricFactors heavy{.density = 4, .stretch = 2, .weft_stretch = 2, .shear = 2, .bending = 10};
    Garment both = strip(columns, 0, light);
    both.pins[0].nodes.clear();
    both.mesh.face_factors.resize(static_cast<std::size_t>(both.mesh.face_count()));
    for (Index j = 0; j < 3; ++j)
      for (Index i = half - 1; i <= half + 1; ++i) both.pins[0].nodes.push_back(columns * j + i);
    const Index of_square = model == BendingModel::discrete_shells ? 2 : 1;
    for (Index f = 0; f < both.mesh.face_count(); ++f)
      if (f / of_square % (columns - 1) >= half) both.mesh.face_factors[f] = heavy;
    Fabric of_heavy = light;
    of_heavy.density = of_heavy.gravity_density = 4 * light.density;
    of_heavy.mass_damping = 4 * light.mass_damping;
    of_heavy.bending_stiffness = 10 * light.bending_stiffness;
    of_heavy.stretch_stiffness = 2 * light.stretch_stiffness;
    of_heavy.shear_stiffness = 2 * light.shear_stiffness;
    Simulation together(balanced(both)), of_light(balanced(strip(half + 1, 2, light))),
        heavier(balanced(strip(half + 1, 2, of_heavy)));
    const MeasuredBalance b = balance_after(together, 300);
    expect_closed(b, 1e-6, "two fabrics");
    for (int i = 0; i < 300; ++i) of_light.step(), heavier.step();
    const auto p = together.positions(0);
    const double right = p[2 * columns - 1].z, left = p[columns].z,
                 expected_right = heavier.positions(0)[2 * half + 1].z,
                 expected_left = of_light.positions(0)[2 * half + 1].z;
    EXPECT_NEAR(right, expected_right, 1e-3 * std::fabs(expected_right)) << static_cast<int>(model);
    EXPECT_NEAR(left, expected_left, 1e-3 * std::fabs(expected_left)) << static_cast<int>(model);
    EXPECT_GT(std::fabs(left), 1.5 * std::fabs(right));
  }
}

}  // namespace
}  // namespace isocloth
