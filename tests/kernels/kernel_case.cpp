#include "tests/kernels/kernel_case.hpp"

#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

#include "engine/mesh/generators.hpp"
#include "tests/kernels/kernel_results.hpp"

namespace isocloth {
namespace {

/// Uniform floats in [-1, 1], the same on every run.
class Noise {
 public:
  float number() { return static_cast<float>(2 * (static_cast<double>(generator_()) / 4294967295.0) - 1); }
  Vec3d vector() {
    const double x = number(), y = number(), z = number();
    return {x, y, z};
  }

 private:
  std::mt19937 generator_{5};
};

Vec3d as_floats(Vec3d v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
}

/// Every third quad cut in two.
Mesh mixed_mesh(Index nx, Index ny, double width, double height) {
  const Mesh quads = quad_grid(nx, ny, width, height);
  Mesh mesh;
  mesh.positions = quads.positions;
  for (Index f = 0; f < quads.face_count(); ++f) {
    const auto q = quads.face(f);
    if (f % 3 == 0) {
      mesh.add_face({q[0], q[1], q[2]});
      mesh.add_face({q[0], q[2], q[3]});
    } else {
      mesh.add_face({q[0], q[1], q[2], q[3]});
    }
  }
  for (Vec3d& p : mesh.positions) p.z = 0.03 * std::sin(9 * p.x) * std::cos(7 * p.y);
  return mesh;
}

/// Turned out of the plane, so that what is zero on paper is rounding.
Mesh turned(Mesh mesh) {
  const double c = std::cos(0.7), s = std::sin(0.7);
  for (Vec3d& p : mesh.positions) {
    p = {c * p.x - s * p.y, s * p.x + c * p.y, p.z};
    p = {p.x, c * p.y - s * p.z, s * p.y + c * p.z};
  }
  return mesh;
}

Garment garment_of(Mesh mesh, std::vector<Index> pinned, const Fabric& fabric) {
  Garment garment;
  garment.name = "cloth";
  garment.mesh = std::move(mesh);
  garment.fabric = fabric;
  if (!pinned.empty()) garment.pins.push_back({"pins", std::move(pinned), FixedMotion{}});
  return garment;
}

KernelCase case_of(const std::string& name, Garment garment, const std::string& recipe = "coltraro2022") {
  KernelCase result;
  result.name = name;
  result.garment = std::move(garment);
  result.recipe = recipe;
  Noise noise;
  for (const Vec3d& p : result.garment.mesh.positions) {
    const Vec3d wave{0, 0.02 * std::sin(11 * p.x), 0.05 * std::sin(8 * p.x + 5 * p.y)};
    result.positions.push_back(as_floats(1.02 * p + wave + 0.002 * noise.vector()));
    result.velocities.push_back(noise.vector());
    result.momentum.push_back(0.0001220703125 *
                              noise.vector());  // some tenths of a metre times a node's mass
    result.targets.push_back(as_floats(p + 0.01 * noise.vector()));
    result.predicted.push_back(as_floats(result.positions.back() + 0.01 * noise.vector()));
    result.correction.push_back(as_floats(0.01 * noise.vector()));
  }
  const auto rows = result.reference().rows().row_count();
  for (Eigen::Index i = 0; i < rows; ++i)
    result.multipliers.push_back(static_cast<float>(1e-4 * noise.number()));
  // Those of limits only pull, and most of them are none.
  const RowPattern pattern = kernel_pattern(result).rows;
  for (Index i = 0; i < pattern.limits.row_count(); ++i) {
    double& lambda = result.multipliers[static_cast<std::size_t>(pattern.first_limit() + i)];
    lambda = i / pattern.limits.width % 3 == 0 ? std::abs(lambda) : 0;
  }
  return result;
}

std::vector<KernelCase> all_cases() {
  const Fabric soft{.density = 0.75,
                    .gravity_density = 0.5,
                    .bending_stiffness = 0,
                    .mass_damping = 2.5,
                    .stiffness_damping = 0};
  const Fabric stiff{.density = 0.75,
                     .gravity_density = 0.5,
                     .bending_stiffness = 0.0009765625,
                     .mass_damping = 2.5,
                     .stiffness_damping = 0.0001220703125};
  std::vector<KernelCase> cases;
  // Node 9 + 19 * 11 and its neighbours along x and y, two corners.
  cases.push_back(
      case_of("quads", garment_of(quad_grid(19, 23, 0.3, 0.4), {0, 18, 217, 218, 219, 199, 237}, stiff)));
  cases.push_back(
      case_of("triangles", garment_of(irregular_triangles(17, 251, 0.5, 0.4, 3), {3, 40, 100}, soft)));
  cases.push_back(case_of("mixed", garment_of(mixed_mesh(17, 21, 0.4, 0.3), {5, 60, 61, 62, 200}, stiff)));
  // Around node 9 + 19 * 8 each triangle has its right angle at the node: E sees its neighbours along x
  // alone.
  cases.push_back(case_of(
      "dead row",
      garment_of(turned(triangle_grid(19, 17, 0.3, 0.4, Diagonals::alternating)),
                 {9 + 19 * 8 - 1, 9 + 19 * 8, 9 + 19 * 8 + 1, 10 + 19 * 4 - 1, 10 + 19 * 4, 10 + 19 * 4 + 1},
                 soft)));
  cases.push_back(case_of("edges", garment_of(irregular_triangles(11, 97, 0.5, 0.4, 4), {0, 60}, stiff),
                          "inextensible_edges"));
  Fabric springs = stiff;
  springs.stretch_stiffness = 64;
  cases.push_back(
      case_of("springs", garment_of(mixed_mesh(9, 11, 0.4, 0.3), {5, 60}, springs), "elastic_edges"));
  springs.weft_stretch_stiffness = 32;
  springs.shear_stiffness = 8;
  cases.push_back(case_of("membrane", garment_of(mixed_mesh(9, 11, 0.4, 0.3), {5, 60}, springs), "membrane"));
  springs.poisson_ratio = 0.25;
  Garment fabrics = garment_of(mixed_mesh(9, 11, 0.4, 0.3), {5, 60}, springs);
  for (Index f = 0; f < fabrics.mesh.face_count(); ++f)
    fabrics.mesh.face_factors.push_back(f % 3 == 0 ? FabricFactors{} : FabricFactors{2, 0.5, 1, 3, 4});
  cases.push_back(case_of("fabrics", std::move(fabrics), "membrane"));
  springs.poisson_ratio = 0.4;
  springs.weft_bending_stiffness = 3 * springs.bending_stiffness;
  springs.strain_limit = 0.03;
  cases.push_back(case_of("strain limit",
                          garment_of(mixed_mesh(9, 11, 0.4, 0.3), {5, 6, 14, 15, 60}, springs), "membrane"));
  springs.principal_strain_limit = 0.12;
  // Beside four pins of a quad a free node has a part of 1e-5 in a row, which floats do not see.
  cases.push_back(case_of("principal strain limit", garment_of(mixed_mesh(9, 11, 0.4, 0.3), {5, 60}, springs),
                          "membrane"));
  springs.principal_strain_limit = 0;
  springs.viscosity = {.stretch = 1, .shear = 0.3};
  cases.push_back(case_of(
      "corotational", garment_of(mixed_mesh(9, 11, 0.4, 0.3), {5, 6, 14, 15, 60}, springs), "corotational"));
  springs.viscosity = {};
  springs.poisson_ratio = 0;
  springs.strain_limit = 0;
  springs.curves = {
      .warp = {{{0.01, 0.5}, {0.03, 3}, {0.06, 12}}}, .weft = {}, .shear = {{{0.05, 1}, {0.2, 8}}}};
  cases.push_back(
      case_of("curves", garment_of(mixed_mesh(9, 11, 0.4, 0.3), {5, 6, 60}, springs), "membrane"));
  springs.viscosity = {.stretch = 1, .shear = 0.3};
  cases.push_back(case_of("soft constraints", garment_of(mixed_mesh(9, 11, 0.4, 0.3), {5, 6, 60}, springs),
                          "soft_constraints"));
  Fabric viscous = springs;
  viscous.curves = {};
  viscous.viscosity.curves.warp.polynomial = {1, 0, 0.5};
  viscous.viscosity.curves.warp.up_to = 4;
  viscous.viscosity.curves.shear.polynomial = {0.3, 0, 0.1};
  viscous.viscosity.curves.shear.up_to = 10;
  cases.push_back(
      case_of("viscosity", garment_of(mixed_mesh(9, 11, 0.4, 0.3), {5, 6, 60}, viscous), "membrane"));
  springs.bend_spring = {.stiffness = 3, .damping = 0.02};
  springs.strain_limit = 0.03;
  cases.push_back(
      case_of("grid springs", garment_of(mixed_mesh(9, 11, 0.4, 0.3), {5, 6, 60}, springs), "springs"));
  std::vector<Index> all(20);
  std::iota(all.begin(), all.end(), 0);
  cases.push_back(case_of("nothing free", garment_of(quad_grid(4, 5, 0.3, 0.4), all, stiff)));
  cases.push_back(case_of("nothing pinned", garment_of(quad_grid(13, 29, 0.3, 0.4), {}, soft)));
  return cases;
}

}  // namespace

reference::ReferenceCloth KernelCase::reference(Metric metric) const {
  ProjectionSettings settings;
  settings.metric = metric;
  settings.eps = eps;
  reference::ReferenceCloth cloth(garment, find_recipe(recipe), settings, gravity);
  cloth.set_positions(reference::to_matrix(positions));
  cloth.set_velocities(reference::to_matrix(velocities));
  return cloth;
}

const std::vector<KernelCase>& kernel_cases() {
  static const std::vector<KernelCase> cases = all_cases();
  return cases;
}

const KernelCase& kernel_case(const std::string& name) {
  for (const KernelCase& c : kernel_cases())
    if (c.name == name) return c;
  throw std::runtime_error("no case " + name);
}

}  // namespace isocloth
