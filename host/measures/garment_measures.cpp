#include "host/measures/garment_measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace isocloth {
namespace {

/// Sums and maxima of the chunks of one cloth.
ClothMeasures<double> together(const double* values, std::size_t chunks, std::size_t fields) {
  ClothMeasures<double> all{};
  for (std::size_t chunk = 0; chunk < chunks; ++chunk, values += fields) {
    const auto& m = *reinterpret_cast<const ClothMeasures<double>*>(values);
    all.row_stretch = std::max(all.row_stretch, m.row_stretch);
    all.row_compression = std::max(all.row_compression, m.row_compression);
    all.area += m.area;
    all.rest_area += m.rest_area;
    all.error_sum += m.error_sum;
    all.error_squares += m.error_squares;
    all.error_max = std::max(all.error_max, m.error_max);
    all.kinetic += m.kinetic;
    all.weight += m.weight;
    all.bending += m.bending;
    all.elastic += m.elastic;
    all.hourglass += m.hourglass;
    all.opening = std::max(all.opening, m.opening);
    all.momentum += m.momentum;
    all.angular_momentum += m.angular_momentum;
  }
  return all;
}

Measures widened(const ClothMeasures<double>& m, double faces, bool rows_are_lengths) {
  Measures measures;
  measures.residual = std::max(m.row_stretch, m.row_compression);
  if (rows_are_lengths)
    measures.residual =
        std::max(std::sqrt(1 + m.row_stretch) - 1, 1 - std::sqrt(std::max(0.0, 1 - m.row_compression)));
  measures.area_error_total = std::fabs(m.area - m.rest_area) / m.rest_area;
  measures.area_error_mean = m.error_sum / faces;
  measures.area_error_dispersion =
      measures.area_error_mean +
      2 * std::sqrt(
              std::max(0.0, m.error_squares / faces - measures.area_error_mean * measures.area_error_mean));
  measures.area_error_element_max = m.error_max;
  measures.kinetic_energy = m.kinetic;
  measures.potential_energy = m.weight + m.bending;
  measures.bending_energy = m.bending;
  measures.elastic_energy = m.elastic;
  measures.hourglass_energy = m.hourglass;
  measures.seam_opening = m.opening;
  measures.linear_momentum = m.momentum;
  measures.angular_momentum = m.angular_momentum;
  return measures;
}

}  // namespace

template <class Real>
RestShapesView<Real> rest_view(const GarmentArrays<Real>& arrays) {
  return {.shared = true,
          .tensors = arrays.tensors.view(),
          .rest_values = arrays.rest_values.view(),
          .masses = arrays.masses.view(),
          .inverse_masses = arrays.inverse_masses.view(),
          .bending = arrays.bending.view(),
          .factored = arrays.factored.view(),
          .beyond = arrays.beyond.view(),
          .areas = arrays.rest_areas.view()};
}

template <class Real>
GarmentMeasures<Real>::GarmentMeasures(const Device& device, const GarmentArrays<Real>& arrays,
                                       std::size_t width)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      width_(width),
      arguments_{.width = static_cast<int>(width),
                 .tile_count = 0,
                 .node_count = arrays.node_count(),
                 .rows = arrays.rows_view(),
                 .face_begin = arrays.face_begin.view(),
                 .face_nodes = arrays.face_nodes.view(),
                 .bending = {arrays.bending_begin.view(), arrays.bending_columns.view()},
                 .stitches = arrays.stitch_nodes.view(),
                 .stitch_distances = arrays.stitch_distances.view(),
                 .stitch_strengths = arrays.stitch_strengths.view(),
                 .rest = {},
                 .energies = {},
                 .physics = {},
                 .positions = {},
                 .velocities = {},
                 .reports = {}} {}

template <class Real>
std::vector<Measures> GarmentMeasures<Real>::measure(
    const RestShapesView<Real>& rest, ArrayView<const Real> positions, ArrayView<const Real> velocities,
    const RowEnergies<Real>& energies, const std::vector<const Garment*>& garments, std::size_t first,
    std::size_t count, double gravity, bool rows_are_lengths) {
  constexpr std::size_t fields = sizeof(ClothMeasures<Real>) / sizeof(Real), physics_fields = 4;
  const std::size_t first_tile = first / width_, tiles = (first + count + width_ - 1) / width_ - first_tile;
  const std::size_t chunks = static_cast<std::size_t>(measure_chunks(arguments_));
  std::vector<Real> physics(tiles * physics_fields * width_);
  for (std::size_t c = 0; c < tiles * width_; ++c) {
    // Spare lanes repeat the last.
    const Garment& garment = *garments[std::min(first_tile * width_ + c, garments.size() - 1)];
    const double own[physics_fields] = {garment.fabric.density,
                                        garment.fabric.gravity_density * garment.gravity.value_or(gravity),
                                        garment.fabric.bending_stiffness, garment.fabric.poisson_coupling()};
    for (std::size_t i = 0; i < physics_fields; ++i)
      physics[(c / width_ * physics_fields + i) * width_ + c % width_] = static_cast<Real>(own[i]);
  }
  if (physics_.size() < physics.size()) {
    physics_ = {device_, physics.size()};
    sent_physics_.clear();
    reports_ = {device_, tiles * chunks * fields * width_};
  }
  if (physics != sent_physics_) {
    physics_.write(physics.size(), staging_,
                   [&](Real* to) { std::copy(physics.begin(), physics.end(), to); });
    sent_physics_ = std::move(physics);
  }
  arguments_.first_tile = static_cast<Index>(first_tile);
  arguments_.tile_count = static_cast<Index>(tiles);
  arguments_.rest = rest;
  arguments_.energies = energies;
  arguments_.physics = std::as_const(physics_).view();
  arguments_.positions = positions;
  arguments_.velocities = velocities;
  arguments_.reports = reports_.view();
  kernels_.measure_cloths(device_.queue(), arguments_);

  const Real* const reports = reports_.read(0, tiles * chunks * fields * width_, staging_);
  const double faces = static_cast<double>(arguments_.face_begin.size() - 1);
  std::vector<Measures> result;
  std::vector<double> own(chunks * fields);
  for (std::size_t c = first - first_tile * width_; result.size() < count; ++c) {
    for (std::size_t i = 0; i < own.size(); ++i)
      own[i] = static_cast<double>(reports[(c / width_ * own.size() + i) * width_ + c % width_]);
    result.push_back(widened(together(own.data(), chunks, fields), faces, rows_are_lengths));
  }
  return result;
}

template RestShapesView<float> rest_view(const GarmentArrays<float>&);
template RestShapesView<double> rest_view(const GarmentArrays<double>&);
template class GarmentMeasures<float>;
template class GarmentMeasures<double>;

}  // namespace isocloth
