// A surface mesh of triangles and quads.
#pragma once

#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

/// A thread through two nodes: they are sewn together.
struct Stitch {
  Index a = 0, b = 0;
  double length = 0;  ///< of the seam that it holds [m]
  bool operator==(const Stitch&) const = default;
};

/// Surface mesh; faces have 3 or 4 corners, mixed freely, corners counter-clockwise seen from the front.
/// Node order is the order of the file or generator and is never changed.
struct Mesh {
  std::vector<Vec3d> positions;  ///< [m], shape [node_count]; the rest shape
  std::vector<Index>
      face_begin;  ///< shape [face_count + 1]; face f has corners face_begin[f] .. face_begin[f+1]
  std::vector<Index> face_nodes;  ///< node of each face corner, shape [corner_count]
  std::vector<Vec2d>
      corner_uvs;  ///< [m], warp/weft coordinates of each face corner, shape [corner_count] or empty
  std::vector<Stitch> stitches;  ///< of seams; each pair of nodes once

  Index node_count() const { return static_cast<Index>(positions.size()); }
  Index face_count() const { return face_begin.empty() ? 0 : static_cast<Index>(face_begin.size()) - 1; }
  Index corner_count() const { return static_cast<Index>(face_nodes.size()); }
  Index face_size(Index face) const { return face_begin[face + 1] - face_begin[face]; }
  /// Corners of one face, shape [3 or 4].
  ArrayView<const Index> face(Index f) const {
    return {face_nodes.data() + face_begin[f], static_cast<std::size_t>(face_size(f))};
  }
  /// Appends one face; begins face_begin if it is empty.
  void add_face(const std::vector<Index>& nodes) {
    if (face_begin.empty()) face_begin.push_back(0);
    face_nodes.insert(face_nodes.end(), nodes.begin(), nodes.end());
    face_begin.push_back(static_cast<Index>(face_nodes.size()));
  }
};

}  // namespace isocloth
