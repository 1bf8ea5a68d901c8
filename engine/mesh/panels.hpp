// Flat panels that are sewn into a garment.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/text.hpp"
#include "engine/mesh/driven_fasteners.hpp"
#include "engine/mesh/mesh.hpp"
#include "engine/mesh/mesh_names.hpp"

namespace isocloth {

/// How cloth turns about a line or seam of its own: it is pressed, or stitched through.
struct PanelFold {
  /// At rest, from flat, positive where the fronts come nearer, from -180 to 180 [degrees].
  double angle = 0;
  /// Its stiffness over that of the cloth itself, >= 0: 1: as if it were not there; 0, without `stiffness`:
  /// it turns freely.
  double factor = 1;
  double stiffness = 0;  ///< further stiffness, moment per length and angle, >= 0 [N]
  bool operator==(const PanelFold&) const = default;
};

/// A line inside of a panel, of nodes and edges of the mesh.
struct PanelLine {
  std::string name;
  /// At least two [m]. An end nearer than 0.4 edge lengths to the outline is on it, one so near to a corner
  /// or to a node of a line before it is there.
  std::vector<Vec2d> points;
  std::optional<PanelFold> fold{};  ///< none: cloth is as elsewhere, and something is sewn there
  bool operator==(const PanelLine&) const = default;
};

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
  double around = 0;               ///< [m]
  Index layer = 0;                 ///< seams of panels of lower layers are sewn first, 0 to 1000
  std::vector<PanelLine> lines{};  ///< of names that differ
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
  std::array<std::string, 2> lines{};  ///< lines in the place of edges; empty: the edge
  std::optional<PanelFold> fold{};     ///< of two edges; none: it turns freely
  /// Share of its length, from where the first edge or line begins, up to which it is closed at times; none:
  /// it is sewn.
  std::optional<DrivenNumber> zipper{};
  /// "front.2 with back.0"
  std::string name() const { return side(0) + " with " + side(1); }
  std::string side(std::size_t i) const {
    return lines[i].empty() ? text(panels[i], ".", edges[i]) : text(panels[i], ".", lines[i]);
  }
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
  /// Shares at times, in the place of `share`, which is the first.
  std::optional<DrivenNumber> drawn{};
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
  std::vector<Vec3d> placed;  ///< where nodes stand [m], shape [node_count]
  double stretch = 1;         ///< length of edges in the pattern over that where they stand, the median
  SeamNames seams;            ///< empty of islands, which have no names
  std::vector<Zipper> zippers;
  std::vector<Drawstring> drawstrings;
  std::vector<Index> panel_begin;  ///< first face of each panel, shape [panel_count + 1]; of islands empty
  std::vector<std::string> notes;  ///< what was likely meant otherwise: seams that gather more than half
};

/// Triangles with edges of about `edge_length` [m], more than a millionth of any edge. Edges of a seam are
/// divided alike, by the longest of those that hang together. An edge shorter than a sixth of
/// `edge_length`, with all that are sewn to it and none beside it, is one node, its second corner: `notes`
/// say so. Throws MeshError, naming `key` and what of it, for: no panels, names that are empty or not
/// distinct, outlines of fewer than 3 corners, clockwise or crossing themselves, curves and seams of edges
/// that do not exist, seams of an edge with itself, buttons outside of their panels or of one place, two
/// bands on an edge, lines outside of their panels, across each other or shorter than an edge, outlines too
/// narrow for edge_length.
SewnPanels sew_panels(const std::vector<Panel>& panels, const std::vector<Seam>& seams, double edge_length,
                      const std::string& key, const Fasteners& fasteners = {});

/// Sews the panels of a mesh whose corner_uvs are a pattern: its islands, `scale` [m] > 0 times as large, are
/// the panels, its positions where they stand, and the edges along which it was cut are seams; warp runs at
/// `grain` degrees from u. An edge is cut where its ends have places more than a hundredth of an edge apart,
/// or, where nine of ten edges meet exactly in the pattern, more than a ten-thousandth, and a node of the
/// mesh is as many of the result as cuts part its corners: the first keeps its number. Throws MeshError,
/// naming `key`, for a mesh without corner_uvs, faces without area in the pattern, islands that are folded
/// along an edge, and where the median edge is less than a tenth or more than ten times as long in the
/// pattern as in space.
SewnPanels sew_islands(const Mesh& mesh, double scale, double grain, const std::string& key,
                       const MeshNames& names = {});

}  // namespace isocloth
