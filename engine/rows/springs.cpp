#include "engine/rows/springs.hpp"

#include <algorithm>
#include <map>

#include "engine/mesh/material_frame.hpp"
#include "engine/rows/face_fabric.hpp"
#include "engine/rows/surface_element.hpp"

namespace isocloth {
namespace {

/// What the faces beside a spring make of it.
struct Spring {
  Index law = RowLaw::shear;
  double area = 0;        ///< A times the factor of the faces' stiffness [m^2]
  double along_warp = 0;  ///< square of the cosine of its angle to the warp
};

/// Springs of all pairs of nodes, by law, area and direction.
std::map<std::array<Index, 2>, Spring> classify(const RowSetup& setup) {
  const Mesh& mesh = setup.mesh;
  const std::vector<Vec3d> warps = face_warp_directions(mesh, setup.topology);
  const auto key = [](Index a, Index b) { return std::array<Index, 2>{std::min(a, b), std::max(a, b)}; };
  struct Sum {
    double along_warp = 0;
    int faces = 0;
    bool is_diagonal = false, is_of_quad = false;
  };
  std::map<std::array<Index, 2>, Sum> sums;
  const auto for_each_spring = [&](Index f, const auto& visit) {
    const auto nodes = mesh.face(f);
    const std::size_t size = nodes.size();
    for (std::size_t i = 0; i < size; ++i) visit(key(nodes[i], nodes[(i + 1) % size]), false);
    if (size == 4)
      for (int i = 0; i < 2; ++i) visit(key(nodes[i], nodes[i + 2]), true);
  };
  for (Index f = 0; f < mesh.face_count(); ++f)
    for_each_spring(f, [&](const std::array<Index, 2>& ends, bool is_diagonal) {
      const Vec3d way = normalized(mesh.positions[static_cast<std::size_t>(ends[1])] -
                                   mesh.positions[static_cast<std::size_t>(ends[0])]);
      const double cosine = dot(way, warps[static_cast<std::size_t>(f)]);
      Sum& sum = sums[ends];
      sum.along_warp += cosine * cosine;
      ++sum.faces;
      sum.is_diagonal = sum.is_diagonal || is_diagonal;
      sum.is_of_quad = sum.is_of_quad || mesh.face_size(f) == 4;
    });
  std::map<std::array<Index, 2>, Spring> springs;
  constexpr double steep = 0.853553390593;  // cos^2(22.5 degrees)
  for (const auto& [ends, sum] : sums) {
    const double c = sum.along_warp / sum.faces, threshold = sum.is_of_quad ? 0.5 : steep;
    const Index thread = c >= threshold ? RowLaw::warp : c <= 1 - threshold ? RowLaw::weft : RowLaw::shear;
    springs[ends] = {sum.is_diagonal ? Index{RowLaw::shear} : thread, 0, c};
  }
  for (Index f = 0; f < mesh.face_count(); ++f) {
    Vec3d corners[4];
    const auto nodes = mesh.face(f);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      corners[i] = mesh.positions[static_cast<std::size_t>(nodes[i])];
    const double area = element_area(corners, static_cast<int>(nodes.size()));
    int count[RowLaw::count] = {};
    for_each_spring(f, [&](const auto& ends, bool) { ++count[springs[ends].law]; });
    for_each_spring(f, [&](const auto& ends, bool) {
      Spring& spring = springs[ends];
      const FabricFactors factors = factors_of(mesh, f);
      const double factor = spring.law == RowLaw::warp   ? factors.stretch
                            : spring.law == RowLaw::weft ? factors.weft_stretch
                                                         : factors.shear;
      spring.area += factor * area / count[spring.law];
    });
  }
  return springs;
}

}  // namespace

NodePairs SpringRows::pairs(const RowSetup& setup) {
  NodePairs all = setup.topology.edges;
  const NodePairs diagonals = shear_pairs(setup.mesh, 2);
  all.insert(all.end(), diagonals.begin(), diagonals.end());
  return all;
}

std::vector<Index> SpringRows::laws(const RowSetup& setup, const std::vector<Index>& places) {
  const NodePairs ends = pairs(setup);
  const auto springs = classify(setup);
  std::vector<Index> all;
  for (const Index place : places) all.push_back(springs.at(ends[static_cast<std::size_t>(place)]).law);
  return all;
}

std::vector<double> SpringRows::stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                          const Fabric& fabric) {
  const NodePairs ends = pairs(setup);
  const auto springs = classify(setup);
  std::vector<double> all;
  for (const Index place : places) {
    const Spring& spring = springs.at(ends[static_cast<std::size_t>(place)]);
    const double c = spring.along_warp;
    all.push_back(spring.area * (spring.law == RowLaw::warp ? fabric.stretch_stiffness / 4
                                 : spring.law == RowLaw::weft
                                     ? fabric.weft_stiffness() / 4
                                     : fabric.shear_stiffness / std::max(4 * c * (1 - c), 0.1)));
  }
  return all;
}

std::vector<double> FlexionSpringRows::stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                                 const Fabric& fabric) {
  const NodePairs ends = bend_pairs(setup.mesh, setup.topology);
  std::vector<double> all;
  for (const Index place : places) {
    const auto [a, b] = ends[static_cast<std::size_t>(place)];
    const Vec3d way =
        setup.mesh.positions[static_cast<std::size_t>(a)] - setup.mesh.positions[static_cast<std::size_t>(b)];
    all.push_back(fabric.bend_spring.stiffness * dot(way, way) / 4);
  }
  return all;
}

}  // namespace isocloth
