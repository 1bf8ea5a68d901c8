// The part of a garment's arrays that depends on its rest shape and not on its pattern.
#pragma once

#include <utility>

#include "engine/model/scene.hpp"
#include "host/garment/factored_bending.hpp"
#include "host/garment/garment_arrays.hpp"

namespace isocloth {

template <class Real>
struct RestShape {
  std::vector<Real> tensors, rest_values, masses, inverse_masses, bending, factored, beyond, rest_areas;
  double element_size = 0;  ///< sqrt of the mean lumped mass [m]
};

template <class Real>
RestShape<Real> rest_shape(const GarmentArrays<Real>& arrays) {
  return {.tensors = arrays.tensors.download(),
          .rest_values = arrays.rest_values.download(),
          .masses = arrays.masses.download(),
          .inverse_masses = arrays.inverse_masses.download(),
          .bending = arrays.bending.download(),
          .factored = arrays.factored.download(),
          .beyond = arrays.beyond.download(),
          .rest_areas = arrays.rest_areas.download(),
          .element_size = arrays.element_size};
}

template <class Real>
void load_rest_shape(const RestShape<Real>& shape, GarmentArrays<Real>& arrays) {
  arrays.tensors.upload(shape.tensors);
  arrays.rest_values.upload(shape.rest_values);
  arrays.masses.upload(shape.masses);
  arrays.inverse_masses.upload(shape.inverse_masses);
  arrays.bending.upload(shape.bending);
  arrays.factored.upload(shape.factored);
  arrays.beyond.upload(shape.beyond);
  arrays.rest_areas.upload(shape.rest_areas);
}

/// Distinct rest shapes of garments of one pattern; how stiffly they bend along warp and weft is part of
/// them.
template <class Real>
struct RestShapes {
  std::vector<RestShape<Real>> shapes;
  std::vector<std::size_t> of;  ///< number of the shape of each garment
  std::size_t loaded = 0;       ///< number of the shape that is in the arrays

  /// arrays: of the first garment
  RestShapes(const Device& device, const std::vector<const Garment*>& garments, const Recipe& recipe,
             const GarmentArrays<Real>& arrays);
  /// Puts the shape of a garment into the arrays.
  void load(std::size_t garment, GarmentArrays<Real>& arrays) {
    if (of[garment] == loaded) return;
    loaded = of[garment];
    load_rest_shape(shapes[loaded], arrays);
  }
};

/// Whether two garments have the same rest shape, bit for bit.
inline bool same_rest_shape(const Mesh& a, const Mesh& b) {
  return a.positions == b.positions && a.face_begin == b.face_begin && a.face_nodes == b.face_nodes &&
         a.corner_uvs == b.corner_uvs && a.stitches == b.stitches && a.buttons == b.buttons &&
         a.bands == b.bands && a.folds == b.folds && a.face_factors == b.face_factors;
}

template <class Real>
RestShapes<Real>::RestShapes(const Device& device, const std::vector<const Garment*>& garments,
                             const Recipe& recipe, const GarmentArrays<Real>& arrays)
    : shapes{rest_shape(arrays)} {
  std::vector<const Garment*> models{garments.front()};
  for (const Garment* garment : garments) {
    std::size_t s = models.size();
    // Replicas follow their model, so the last shape is the likeliest.
    const auto is_like = [&](const Garment& model) {
      return same_rest_shape(model.mesh, garment->mesh) &&
             bending_of(recipe, model.fabric) == bending_of(recipe, garment->fabric);
    };
    while (s > 0 && !is_like(*models[s - 1])) --s;
    if (s == 0) {
      models.push_back(garment);
      shapes.push_back(rest_shape(GarmentArrays<Real>(device, *garment, recipe)));
      FactoredBending<Real> parts = factored_bending(
          arrays.pattern,
          NodeMatrixPattern{arrays.bending_begin.download(), arrays.bending_columns.download()},
          shapes.back().bending);
      shapes.back().factored = std::move(parts.factored);
      shapes.back().beyond = std::move(parts.beyond);
      s = models.size();
    }
    of.push_back(s - 1);
  }
}

}  // namespace isocloth
