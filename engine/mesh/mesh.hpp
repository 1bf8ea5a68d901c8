// A surface mesh of triangles and quads.
#pragma once

#include <array>
#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

/// A thread through two nodes: they are sewn together.
struct Stitch {
  Index a = 0, b = 0;
  double length = 0;  ///< length of the seam that it holds [m]
  bool operator==(const Stitch&) const = default;
};

/// A thread that lets two nodes be as far apart as it is long; kernels/forces/stitches.hpp.
struct Button {
  Index a = 0, b = 0;
  double distance = 0.002;  ///< length of the thread [m], > 0
  double stiffness = 1e4;   ///< force per distance beyond that length [N/m], > 0
  /// Greatest force with which it is drawn closed while it is open by more than Sewing::speed closes in a
  /// step [N], > 0.
  double force = 1;
  /// Force at which a press stud lets go: where a step begins with it pulled harder; it holds again where its
  /// sides come near [N], >= 0; 0: a button, which does not open.
  double strength = 0;
  bool operator==(const Button&) const = default;
};

/// A piece of elastic band between two nodes: its tension is stiffness times (l / length - 1); see BandRows.
struct Band {
  Index a = 0, b = 0;
  double length = 0;     ///< length of the piece when nothing pulls it [m], > 0
  double stiffness = 0;  ///< tension per strain [N], > 0
  bool operator==(const Band&) const = default;
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
  std::vector<Stitch> stitches;  ///< threads of seams; each pair of nodes once
  std::vector<Button> buttons;   ///< threads of buttons between nodes that no stitch joins; each pair once
  std::vector<Band> bands;       ///< pieces of elastic band; each pair of nodes once

  /// Nodes of all stitches, then of all buttons.
  std::vector<std::array<Index, 2>> threads() const {
    std::vector<std::array<Index, 2>> ends;
    for (const Stitch& stitch : stitches) ends.push_back({stitch.a, stitch.b});
    for (const Button& button : buttons) ends.push_back({button.a, button.b});
    return ends;
  }
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
