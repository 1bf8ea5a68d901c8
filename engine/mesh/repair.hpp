// What is wrong with the meshes that other programs make, and its repair.
#pragma once

#include <string>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/mesh/mesh_names.hpp"

namespace isocloth {

/// What repair_mesh() does beyond what is no choice.
struct RepairSettings {
  /// Nodes on open edges as near to each other as this are one [m]; below 0: a millionth of the diagonal of
  /// the bounding box, which is where a program has split vertices; 0: those at one place.
  double weld = -1;
  /// Least altitude of a triangle over the median edge of the mesh; flatter ones are needles if they are also
  /// ten times as long as high, see remove_needles(); 0: only what has no area.
  double least_altitude = 0.05;
  /// Pieces of at most 8 faces go if they have less than this share of the area of all; 0: none.
  double least_piece = 1e-3;
};

/// The faults of one kind in a mesh.
struct MeshFault {
  std::string what;      ///< "unused vertices"
  Index count = 0;       ///< how many there were
  std::string first;     ///< the first of them, as the file counts: "vertex 26 (line 26)"
  std::string outcome;   ///< what was done, or what the user has to choose
  bool is_left = false;  ///< nothing was done
};

/// Repairs a surface whose faces may have any number of corners, and returns what was wrong with it, each
/// kind once, nothing twice. In this order: faces that name nodes that do not exist or are nowhere [left];
/// corners repeated one after another, and faces of fewer than 3 corners; faces that repeat another; nodes on
/// open edges at one place (weld()); polygons and folded quads, cut into triangles (clip_ears()), or
/// uncrossed; those that cross themselves [left]; edges of more than two faces and bow ties, parted
/// (part_surfaces()); faces that run against most of their piece, turned; one-sided pieces [left]; needles
/// and faces without area (remove_needles()); tiny pieces; nodes without a face. A mesh with none of these is
/// returned as it is, bit for bit. What is [left] is the user's choice: its faces stay, but for those of
/// nodes that are no nodes, and validate_mesh() will refuse them. `names` become those of the mesh that is
/// left: its nodes and faces keep the numbers of the file, a copy that of what it is one of. Stitches,
/// buttons and bands must be none. Cost O(n log n) for n corners, but for polygons and needles.
std::vector<MeshFault> repair_mesh(Mesh& mesh, MeshNames& names, const RepairSettings& settings = {});

/// "3 unused vertices (first vertex 26 (line 26)), left out; 1 bow ties ...": one line; empty: none.
std::string describe(const std::vector<MeshFault>& faults);
/// Whether something is left to the user.
bool has_left(const std::vector<MeshFault>& faults);

/// Cuts faces of more than four corners into triangles; `names` follow. Returns what was found, nothing
/// where there are none; those that cross themselves stay, a fault of their own.
std::vector<MeshFault> split_polygons(Mesh& mesh, MeshNames& names);

/// Leaves nodes without a face out; those after them move up, and `names` follow.
std::vector<MeshFault> drop_unused_nodes(Mesh& mesh, MeshNames& names);

}  // namespace isocloth
