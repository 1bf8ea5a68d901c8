// How far faces and edges are from their rest shape: the colours of the playback.
#pragma once

#include <array>
#include <vector>

#include "host/report/report.hpp"

namespace isocloth {

/// Faces and edges of the first garments with frame-wide node numbers, and their rest sizes.
class ShapeErrors {
 public:
  ShapeErrors(const ReportData& data, std::size_t garment_count);

  /// Appends Coltraro 2022, (22), of every face. positions [m], shape [node_count, 3], here and below.
  void append_area_errors(const double* positions, std::vector<float>& errors) const;
  /// Appends l / l0 - 1 of the incident edge with the largest |l / l0 - 1|, of every node.
  void append_edge_strains(const double* positions, std::size_t node_count,
                           std::vector<float>& strains) const;
  /// Appends s - 1 of the principal stretch s, a singular value of the deformation gradient, with the largest
  /// |s - 1| of every face: at the 2 x 2 Gauss points of a quad, the centre of a triangle.
  void append_element_strains(const double* positions, std::vector<float>& strains) const;
  /// Area of each node: an equal part of the areas of its faces in the rest shape [m^2], shape [node_count];
  /// 0 for nodes of a body.
  std::vector<double> node_areas(std::size_t node_count) const;

 private:
  /// Reference derivatives of the four shape functions at a point, and the inverse of the rest tangents: maps
  /// them to derivatives along two orthonormal directions of the rest element.
  struct StrainPoint {
    double d_xi[4], d_eta[4];
    double inverse[3];  ///< upper triangle of R^-1, [x_xi x_eta] = Q R at rest [1/m]; 0 without area
  };
  std::vector<double> areas(const double* positions) const;

  std::vector<Index> corners_;
  std::vector<int> sizes_;
  std::vector<std::array<Index, 2>> edges_;
  std::vector<double> rest_areas_, rest_lengths_;
  std::vector<StrainPoint> points_;  ///< one per triangle, four per quad, face after face
};

}  // namespace isocloth
