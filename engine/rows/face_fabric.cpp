#include "engine/rows/face_fabric.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace isocloth {

FabricFactors mean_factors(const Mesh& mesh, std::initializer_list<std::pair<Index, double>> areas) {
  if (mesh.face_factors.empty()) return {};
  FabricFactors sum{0, 0, 0, 0, 0};
  double area = 0;
  for (const auto& [face, own] : areas) area += own;
  for (const auto& [face, own] : areas) {
    const FabricFactors of_face = factors_of(mesh, face);
    for (const auto member : {&FabricFactors::density, &FabricFactors::stretch, &FabricFactors::weft_stretch,
                              &FabricFactors::shear, &FabricFactors::bending})
      sum.*member += own / area * of_face.*member;
  }
  return sum;
}

namespace {

double face_area(const Mesh& mesh, Index face) {
  const ArrayView<const Index> nodes = mesh.face(face);
  const auto at = [&](std::size_t k) { return mesh.positions[static_cast<std::size_t>(nodes[k])]; };
  Vec3d sum{};
  for (std::size_t k = 2; k < nodes.size(); ++k) sum += cross(at(k - 1) - at(0), at(k) - at(0));
  return norm(sum) / 2;
}

}  // namespace

void follow_factors(const std::vector<FabricFactors>& before, Mesh& mesh) {
  if (mesh.folds.empty() || mesh.face_factors.empty()) return;
  std::set<std::pair<Index, Index>> sewn;
  for (const Stitch& stitch : mesh.stitches) sewn.insert(std::minmax(stitch.a, stitch.b));
  std::vector<std::vector<Index>> faces_of(mesh.positions.size());
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (const Index node : mesh.face(f)) faces_of[static_cast<std::size_t>(node)].push_back(f);
  /// The face of the node beyond the edge of a fold; -1: none.
  const auto face_beyond = [&](Index beyond, Index a, Index b) {
    const auto has = [&](Index face, Index end) {
      return std::ranges::any_of(
          mesh.face(face), [&](Index node) { return node == end || sewn.contains(std::minmax(node, end)); });
    };
    for (const Index face : faces_of[static_cast<std::size_t>(beyond)])
      if (has(face, a) && has(face, b)) return face;
    return Index{-1};
  };
  for (Fold& fold : mesh.folds) {
    const auto& [a, b, c, d] = fold.nodes;
    double now = 0, was = 0;
    for (const Index face : {face_beyond(c, a, b), face_beyond(d, a, b)}) {
      if (face < 0) continue;
      const double area = face_area(mesh, face);
      now += area * factors_of(mesh, face).bending;
      was += area * (before.empty() ? 1 : before[static_cast<std::size_t>(face)].bending);
    }
    if (was > 0) fold.factor *= now / was;
  }
}

void set_factors(const FabricFactors& factors, const Fabric& of_garment, Fabric& fabric) {
  fabric.density = factors.density * of_garment.density;
  fabric.gravity_density = factors.density * of_garment.gravity_density;
  fabric.stretch_stiffness = factors.stretch * of_garment.stretch_stiffness;
  fabric.weft_stretch_stiffness = factors.weft_stretch * of_garment.weft_stiffness();
  fabric.shear_stiffness = factors.shear * of_garment.shear_stiffness;
  fabric.poisson_ratio = of_garment.poisson_ratio * std::sqrt(factors.stretch / factors.weft_stretch);
  fabric.bending_stiffness = factors.bending * of_garment.bending_stiffness;
  fabric.weft_bending_stiffness = factors.bending * of_garment.weft_bending_stiffness;
}

}  // namespace isocloth
