// Refuses what is not a surface; repairs what can be repaired.
#pragma once

#include <string>

#include "engine/mesh/mesh.hpp"
#include "engine/mesh/mesh_names.hpp"

namespace isocloth {

/// Checks a mesh and makes the orientation of its faces consistent (within each connected piece, after the
/// piece's first face). Throws MeshError, naming `source`, the first offending index, what was found and what
/// was expected: empty mesh, array sizes that do not fit, node index out of range, non-finite coordinate,
/// face with a repeated node, zero or tiny area (below 1e-12 of the squared bounding-box diagonal), duplicate
/// faces, an edge of more than two faces, an isolated node, a node of more than 1000 faces, a node whose
/// faces meet in that node alone (bow tie), an orientation that cannot be made consistent (Moebius strip), a
/// quad whose corners fold over (non-positive Jacobian at a Gauss point), a stitch, button or band of a node
/// with itself, of two nodes that have one already or are an edge, or without length. Messages call nodes
/// and faces by `names`. Reversing a face reverses its corner_uvs too. Returns the number of faces reversed.
Index validate_mesh(Mesh& mesh, const std::string& source, const MeshNames& names = {});

}  // namespace isocloth
