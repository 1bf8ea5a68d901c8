#include "host/report/shape_errors.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/flat_vectors.hpp"
#include "engine/rows/surface_element.hpp"

namespace isocloth {
namespace {

struct Tangents {
  Vec3d xi, eta;
};

Tangents tangents(const double* d_xi, const double* d_eta, const Vec3d* corners, int size) {
  Tangents t;
  for (int c = 1; c < size; ++c) {  // relative to the first corner: exact far from the origin
    t.xi += d_xi[c] * (corners[c] - corners[0]);
    t.eta += d_eta[c] * (corners[c] - corners[0]);
  }
  return t;
}

}  // namespace

ShapeErrors::ShapeErrors(const ReportData& data, std::size_t garment_count) {
  std::vector<bool> is_kinematic;  // of each face
  for (std::size_t g = 0; g < garment_count; ++g) {
    const ReportGarment& garment = data.garments[g];
    is_kinematic.insert(is_kinematic.end(), garment.face_begin.size() - 1, garment.is_kinematic);
    for (std::size_t f = 0; f + 1 < garment.face_begin.size(); ++f) {
      for (Index c = garment.face_begin[f]; c < garment.face_begin[f + 1]; ++c)
        corners_.push_back(garment.node_begin + garment.face_nodes[c]);
      sizes_.push_back(garment.face_begin[f + 1] - garment.face_begin[f]);
    }
  }
  const double* rest = data.rest_positions.data();
  rest_areas_ = areas(rest);
  std::size_t corner = 0;
  for (std::size_t face = 0; face < sizes_.size(); ++face) {
    const int size = sizes_[face];
    if (is_kinematic[face]) {  // no rest shape, no error
      rest_areas_[face] = 0;
      points_.resize(points_.size() + static_cast<std::size_t>(strain_point_count(size)));
      corner += static_cast<std::size_t>(size);
      continue;
    }
    Vec3d corners[4];
    for (int c = 0; c < size; ++c) {
      const Index a = corners_[corner + c], b = corners_[corner + (c + 1) % size];
      edges_.push_back({std::min(a, b), std::max(a, b)});
      corners[c] = vector_at(rest, a);
    }
    corner += size;
    for (int q = 0; q < strain_point_count(size); ++q) {
      const auto g = strain_point<double>(size, q);
      StrainPoint at{};
      std::copy(g.d_xi, g.d_xi + 4, at.d_xi);
      std::copy(g.d_eta, g.d_eta + 4, at.d_eta);
      const Tangents t = tangents(at.d_xi, at.d_eta, corners, size);
      const double r00 = norm(t.xi), r01 = r00 > 0 ? dot(t.xi, t.eta) / r00 : 0;
      const double r11 = r00 > 0 ? norm(cross(t.xi, t.eta)) / r00 : 0;
      if (r11 > 0) {
        at.inverse[0] = 1 / r00;
        at.inverse[1] = -r01 / (r00 * r11);
        at.inverse[2] = 1 / r11;
      }
      points_.push_back(at);
    }
  }
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  for (const auto& [a, b] : edges_) rest_lengths_.push_back(norm(vector_at(rest, b) - vector_at(rest, a)));
}

std::vector<double> ShapeErrors::node_areas(std::size_t node_count) const {
  std::vector<double> areas(node_count);
  std::size_t corner = 0;
  for (std::size_t face = 0; face < sizes_.size(); ++face)
    for (int c = 0; c < sizes_[face]; ++c, ++corner)
      areas[static_cast<std::size_t>(corners_[corner])] += rest_areas_[face] / sizes_[face];
  return areas;
}

void ShapeErrors::append_area_errors(const double* positions, std::vector<float>& errors) const {
  const std::vector<double> now = areas(positions);
  for (std::size_t f = 0; f < now.size(); ++f)
    errors.push_back(rest_areas_[f] > 0 ? static_cast<float>(now[f] / rest_areas_[f] - 1) : 0.f);
}

void ShapeErrors::append_edge_strains(const double* positions, std::size_t node_count,
                                      std::vector<float>& strains) const {
  const std::size_t first = strains.size();
  strains.resize(first + node_count, 0.f);
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    if (!(rest_lengths_[e] > 0)) continue;
    const auto [a, b] = edges_[e];
    const float strain =
        static_cast<float>(norm(vector_at(positions, b) - vector_at(positions, a)) / rest_lengths_[e] - 1);
    for (const Index node : {a, b}) {
      float& worst = strains[first + node];
      if (std::abs(strain) > std::abs(worst)) worst = strain;
    }
  }
}

void ShapeErrors::append_element_strains(const double* positions, std::vector<float>& strains) const {
  std::size_t corner = 0;
  const StrainPoint* at = points_.data();
  for (const int size : sizes_) {
    Vec3d corners[4];
    for (int c = 0; c < size; ++c) corners[c] = vector_at(positions, corners_[corner + c]);
    corner += size;
    double worst = 0;
    for (const StrainPoint* end = at + strain_point_count(size); at != end; ++at) {
      const Tangents t = tangents(at->d_xi, at->d_eta, corners, size);
      const Vec3d u = at->inverse[0] * t.xi, v = at->inverse[1] * t.xi + at->inverse[2] * t.eta;
      if (!(at->inverse[2] > 0)) continue;
      const double mean = 0.5 * (dot(u, u) + dot(v, v)), half = 0.5 * (dot(u, u) - dot(v, v));
      const double radius = std::hypot(half, dot(u, v));
      for (const double square : {mean + radius, std::max(0.0, mean - radius)}) {
        const double strain = (square - 1) / (std::sqrt(square) + 1);
        if (std::abs(strain) > std::abs(worst)) worst = strain;
      }
    }
    strains.push_back(static_cast<float>(worst));
  }
}

std::vector<double> ShapeErrors::areas(const double* positions) const {
  std::vector<double> result;
  std::size_t corner = 0;
  for (const int size : sizes_) {
    Vec3d corners[4];
    for (int c = 0; c < size; ++c) corners[c] = vector_at(positions, corners_[corner + c]);
    result.push_back(element_area(corners, size));
    corner += size;
  }
  return result;
}

}  // namespace isocloth
