// The directions in which E, F and G are measured.
#pragma once

#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/mesh/topology.hpp"

namespace isocloth {

/// Warp direction for the metric of node k seen from each of its faces: one unit vector per face corner,
/// tangent to the face at rest (at a quad's corner: to the quad's mean plane), shape [corner_count]. The weft
/// direction is n x warp.
///
/// With corner_uvs: dX/du in the face, the direction of a warp thread. Without: node k takes the projection
/// of the global x axis (y where x is nearly normal to the surface at k) onto its tangent plane, and each of
/// its faces takes that direction turned by the least rotation from the node's normal to the face's, which
/// unfolds creases: a frame per node, so that closed surfaces need no global field and flat ones have one
/// frame. At corner_nodes of the topology the direction is the bisector of the two boundary edges turned by
/// -45 degrees about n: there F is the shear between these edges, whatever the global frame (with E and G
/// fixed along the edges, F in an oblique frame would leave that shear free). The rows E, F, G of a node span
/// the same space in any frame; one common frame around a node is what keeps irregular triangles well
/// conditioned. A face's corner at which corner_uvs have no area takes the projection of the x axis.
std::vector<Vec3d> material_warp_directions(const Mesh& mesh, const Topology& topology);

/// One warp direction for a whole face, shape [face_count]: the mean of its corners' before those at
/// corner_nodes are turned, tangent to the face's mean plane.
std::vector<Vec3d> face_warp_directions(const Mesh& mesh, const Topology& topology);

/// Faces with a corner at which corner_uvs have no area.
Index count_without_texture_area(const Mesh& mesh);

}  // namespace isocloth
