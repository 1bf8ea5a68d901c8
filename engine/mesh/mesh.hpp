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
  /// How far its nodes may be apart [m], >= 0: 0 of what is closed, `open` of a zipper that is not.
  double slack = 0;
  static constexpr double open = 1e3;
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

/// An edge about which cloth is hinged, a pressed crease or a seam: moment K (theta - angle) for the angle
/// theta between two triangles, see FoldRows. No other bending acts across the edge.
struct Fold {
  /// Ends of the edge, the node beyond it in the triangle from the first to the second, and in the other.
  std::array<Index, 4> nodes{};
  double angle = 0;  ///< at rest, positive where the fronts come nearer, in [-pi, pi] [rad]
  /// K = stiffness + factor times the bending stiffness of the garment's fabric, both >= 0; K = 0: it turns
  /// freely.
  double stiffness = 0;  ///< [N m]
  double factor = 0;     ///< 1 of a hinge of the cloth, |e|^2 / A of it (engine/rows/hinges.hpp)
  bool operator==(const Fold&) const = default;
};

/// How a face differs from the fabric of its garment: factors on its numbers, > 0.
struct FabricFactors {
  double density = 1;       ///< of the mass, and of the damping by it
  double stretch = 1;       ///< of the stretching stiffness along warp
  double weft_stretch = 1;  ///< of that along weft
  double shear = 1;         ///< of the shear stiffness
  double bending = 1;       ///< of the bending stiffness, and of the damping by it, along warp and weft
  bool operator==(const FabricFactors&) const = default;
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
  std::vector<Fold> folds;       ///< pressed creases and stiff seams; each edge once
  /// What faces are made of, shape [face_count]; empty: all of the garment's fabric.
  std::vector<FabricFactors> face_factors;

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
