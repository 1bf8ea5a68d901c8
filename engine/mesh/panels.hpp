// Flat panels that are sewn into a garment.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/text.hpp"
#include "engine/mesh/mesh.hpp"
#include "engine/mesh/mesh_names.hpp"

namespace isocloth {

/// One flat piece of cloth, as it is cut, and where it stands when sewing begins.
struct Panel {
  std::string name;
  std::vector<Vec2d> outline;  ///< corners, counter-clockwise [m]; edge k goes from corner k to the next
  /// Bezier curves in the place of straight edges.
  struct Curve {
    Index edge = 0;
    std::vector<Vec2d> control;  ///< one point (quadratic) or two (cubic) [m]
    bool operator==(const Curve&) const = default;
  };
  std::vector<Curve> curves;
  double grain = 90;  ///< direction of the warp from the panel's x axis [degrees]
  /// Placing: p = R x0 + translation of x0 = (x, 0, y), the panel upright and facing -y; `around` r > 0: bent
  /// about the axis at x = 0, y = r, x0 = (r sin(x / r), r - r cos(x / r), y).
  Vec3d rotation;  ///< rotation vector [degrees]
  Vec3d translation;
  double around = 0;  ///< [m]
  Index layer = 0;    ///< seams of panels of lower layers are sewn first, 0 to 1000
  bool operator==(const Panel&) const = default;
};

/// How two edges, each from its corner to the next, run beside each other in a seam: the way round in which
/// their threads are shorter where panels stand, both the same way, or against each other, as those of two
/// panels whose right sides lie together.
enum class SeamDirection { shorter, same, opposite };

/// Two edges that are sewn together; of different lengths: with ease, spread evenly. The triangle in a corner
/// between two edges that are sewn together stays open.
struct Seam {
  std::array<std::string, 2> panels;
  std::array<Index, 2> edges{};
  SeamDirection direction = SeamDirection::shorter;
  /// When it is sewn, lower numbers first, 0 to 1000; none: 0 of a dart, a seam of two edges of one panel
  /// that meet in a corner, and 1 of others.
  std::optional<double> order = {};
  /// "front.2 with back.0"
  std::string name() const { return text(panels[0], ".", edges[0], " with ", panels[1], ".", edges[1]); }
  bool operator==(const Seam&) const = default;
};

/// Two places on panels that a button or press stud holds together; numbers as in Button. A place is a node
/// of its own, unless it is nearer than 0.4 edge lengths to the outline or to another such place: then it is
/// the nearest node.
struct PanelButton {
  std::array<std::string, 2> panels;
  std::array<Vec2d, 2> positions;  ///< positions in the plane of each panel [m]
  double distance = Button{}.distance, stiffness = Button{}.stiffness, force = Button{}.force,
         strength = Button{}.strength;
  bool operator==(const PanelButton&) const = default;
};

/// An elastic band along an edge.
struct PanelBand {
  std::string panel;
  Index edge = 0;
  double share = 1;      ///< length of the band when nothing pulls it, over the length of the edge, > 0
  double stiffness = 0;  ///< tension per strain [N], > 0
  bool operator==(const PanelBand&) const = default;
};

/// What holds panels beside seams.
struct Fasteners {
  std::vector<PanelButton> buttons;
  std::vector<PanelBand> bands;
  bool operator==(const Fasteners&) const = default;
};

/// What the seams of a mesh are called in messages.
struct SeamNames {
  std::vector<std::string> names;
  /// Index in `names` of the seam that each stitch holds; of two that end there the first.
  std::vector<Index> of_stitches;
  /// When each seam is sewn, lower numbers first: by the layers of its panels, then by its order.
  std::vector<Index> orders;
};

/// Panels that are sewn to one mesh.
struct SewnPanels {
  Mesh mesh;  ///< all panels flat, side by side in the plane z = 0; u of corner_uvs is the warp
  std::vector<Vec3d> placed;       ///< where nodes stand [m], shape [node_count]
  double stretch = 1;              ///< length of edges in the pattern over that where they stand, the median
  SeamNames seams;                 ///< empty of islands, which have no names
  std::vector<std::string> notes;  ///< what was likely meant otherwise: seams that gather more than half
};

/// Triangles with edges of about `edge_length` [m], more than a millionth of any edge. Edges of a seam are
/// divided alike, by the longest of those that hang together. Throws MeshError, naming `key` and what of it,
/// for: no panels, names that are empty or not distinct, outlines of fewer than 3 corners, clockwise or
/// crossing themselves, curves and seams of edges that do not exist, seams of an edge with itself, buttons
/// outside of their panels or of one place, two bands on an edge, outlines too narrow for edge_length.
SewnPanels sew_panels(const std::vector<Panel>& panels, const std::vector<Seam>& seams, double edge_length,
                      const std::string& key, const Fasteners& fasteners = {});

/// Sews the panels of a mesh whose corner_uvs are a pattern: its islands, `scale` [m] > 0 times as large, are
/// the panels, its positions where they stand, and the edges along which it was cut are seams; warp runs at
/// `grain` degrees from u. An edge is cut where its ends have places more than a hundredth of an edge apart,
/// and a node of the mesh is as many of the result as cuts part its corners: the first keeps its number.
/// Throws MeshError, naming `key`, for a mesh without corner_uvs, faces without area in the pattern, islands
/// that are folded along an edge, and where the median edge is less than a tenth or more than ten times as
/// long in the pattern as in space.
SewnPanels sew_islands(const Mesh& mesh, double scale, double grain, const std::string& key,
                       const MeshNames& names = {});

}  // namespace isocloth
