// Meshes from OBJ and PLY files, whose vertex order is kept, and surfaces from STL files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/mesh/mesh_names.hpp"
#include "engine/mesh/repair.hpp"

namespace isocloth {

/// How a file becomes a mesh.
struct MeshReading {
  double weld = 0;       ///< nodes on open edges as near as this are united, see weld_file() [m]; 0: none
  std::string key = {};  ///< which messages about `weld` begin with
  bool repairs = false;  ///< repair_mesh() mends what it can, `weld` or its own distance included
  MeshNames* names = nullptr;  ///< what messages call nodes and faces by, of the mesh that was read
  std::vector<std::string>* notes = nullptr;  ///< gets a line on what is another than in the file
};

/// Reads a surface mesh [m] and checks it (validate_mesh, which also turns faces to one orientation).
/// - .obj: v, vt and f lines (v, v/vt, v//vn, v/vt/vn, negative indices count from the last vertex), which a
///   backslash at their end continues; other keywords are skipped. corner_uvs are kept when every face corner
///   has one.
/// - .ply: ascii or binary little endian; vertex x, y, z, optionally s, t or u, v; face vertex_indices or
///   vertex_index. Other elements and properties are skipped.
/// Texts may begin with a byte-order mark of UTF-8. Faces of more than 4 corners become triangles
/// (split_polygons), and vertices without a face are left out: later ones move up. Throws FileError
/// (missing, not of these formats, malformed; with the line, or the element in binary files), SceneError
/// (weld_file) and MeshError: the first fault that validate_mesh finds, and all others by kind.
Mesh read_mesh(const std::filesystem::path& path, const MeshReading& how = {});

/// Reads a surface that is no cloth as read_mesh() does, without validate_mesh: also .stl, ascii or binary,
/// whose corners are welded where they are equal; triangles without area are left out. `repairs`: mends
/// what it can (repair_mesh), `weld` [m]: see RepairSettings.
Mesh read_surface(const std::filesystem::path& path, bool repairs = false, double weld = -1);

/// Unites nodes on open edges as the key `weld` asks (engine/mesh/weld.hpp); 0: nothing. Throws SceneError
/// naming `key` for more than half of the mean element size: that would unite neighbours. `names` are kept
/// those of the file.
void weld_file(Mesh& mesh, double distance, const std::string& key, MeshNames* names = nullptr);

/// A mesh and what was wrong with it in its file.
struct RepairedFile {
  Mesh mesh;
  MeshNames names;
  std::vector<MeshFault> faults;
};
/// Reads a .obj, .ply or .stl file and repairs it (repair_mesh); what the user has to choose is left. Throws
/// FileError.
RepairedFile repair_file(const std::filesystem::path& path, const RepairSettings& settings = {});

/// Parses a mesh from the text of an OBJ, PLY or STL file, without weld_file and validate_mesh; its faces
/// have 3 corners or more. `source` names it in messages.
Mesh parse_obj(std::string_view content, const std::string& source, MeshNames* names = nullptr);
Mesh parse_ply(std::string_view content, const std::string& source);
Mesh parse_stl(std::string_view content, const std::string& source);

/// Writes the faces of `mesh` with other positions [m], shape [node_count], as binary little endian PLY in
/// doubles; corner_uvs are not written. Throws ShapeError, NumericalError (a non-finite position) and
/// FileError.
void write_ply(const std::filesystem::path& path, const Mesh& mesh, ArrayView<const Vec3d> positions);

/// Writes the faces of `mesh` with other positions [m], shape [node_count], as OBJ, in the shortest decimals
/// that read back as the same numbers, with corner_uvs if there are any: what read_mesh() makes of it has the
/// same nodes and faces. Throws ShapeError, NumericalError and FileError.
void write_obj(const std::filesystem::path& path, const Mesh& mesh, ArrayView<const Vec3d> positions);

}  // namespace isocloth
