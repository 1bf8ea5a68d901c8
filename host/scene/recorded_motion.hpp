// Recorded paths of driven nodes.
#pragma once

#include <filesystem>

#include "engine/mesh/mesh.hpp"
#include "engine/shapes/motion.hpp"

namespace isocloth {

/// Reads rows t [s], x1, y1, z1, x2, y2, z2, ... [m], three columns per driven node (read_number_rows).
/// `name` is what RecordedMotion::file keeps. Throws FileError naming file and line: what read_number_rows
/// refuses, and times that do not ascend.
RecordedMotion read_recorded_motion(const std::filesystem::path& path, const std::string& name,
                                    std::size_t node_count);

/// Whether the name ends as that of a point cache does: .pc2 or .mdd.
bool is_point_cache(const std::filesystem::path& path);

/// Reads the positions of all nodes of a mesh over time, as Blender and others write them: PC2
/// ("POINTCACHE2", version 1, little endian; frames are counted, at `frames_per_second`) or MDD (big endian,
/// with times [s]); in the mesh file's own unit and axes. Throws FileError naming the file: another format or
/// length, another number of nodes, times that do not ascend, coordinates that are no numbers; SceneError
/// beginning with `key` where frames_per_second is missing for PC2, or given, not 0, for MDD.
RecordedMotion read_point_cache(const std::filesystem::path& path, const std::string& name,
                                std::size_t node_count, double frames_per_second, const std::string& key);

/// Whether the name is that of numbered meshes: .obj or .ply, with a % in it.
bool is_mesh_sequence(const std::filesystem::path& path);

/// Reads the positions of a mesh from files numbered by a pattern of printf, "walk_%04d.obj": from the least
/// number that is there upwards, the first at t = 0, at `frames_per_second`; in the mesh file's own unit and
/// axes. Each has the nodes and faces of `mesh`. Throws SceneError beginning with `key` for a pattern without
/// one %d and a missing rate, FileError naming the file: none there, one missing between others, a link out
/// of the folder, other nodes or faces, coordinates that are no numbers, and what
/// parsers refuse. Vertices of no face are left out, and polygons may have been cut into those of `mesh`.
RecordedMotion read_mesh_sequence(const std::filesystem::path& path, const std::string& name,
                                  const Mesh& mesh, double frames_per_second, const std::string& key);

/// Whether the name is that of a result's trajectory: it ends in .h5.
bool is_result(const std::filesystem::path& path);

/// Reads how a garment of a result moved, where it was in the world: spec.garment, which the only one of its
/// result need not name. It has the nodes and faces of `mesh`. Throws SceneError beginning with `key` for a
/// name that the result lacks, a missing one and a given rate, FileError naming the file: another format or
/// version, no positions or frames of the garment, other nodes or faces, times that do not ascend, numbers
/// that are damaged.
RecordedMotion read_result_motion(const std::filesystem::path& path, const RecordedMotion& spec,
                                  const Mesh& mesh, const std::string& key);

/// Whether they have the same faces, whatever their orientation, first corner and order.
bool have_same_faces(const Mesh& a, const Mesh& b);

}  // namespace isocloth
