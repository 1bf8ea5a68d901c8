#include "engine/rows/face_fabric.hpp"

#include <cmath>

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
