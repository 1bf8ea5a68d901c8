#include "engine/models/air/panel_grid.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

/// Nodes along the first side of a quad_grid; 0: it is none.
Index side_of_grid(const Mesh& mesh) {
  if (mesh.face_count() == 0 || mesh.face_nodes.size() != 4 * static_cast<std::size_t>(mesh.face_count()))
    return 0;
  const Index nx = mesh.face_nodes[3];
  if (nx < 2 || mesh.node_count() % nx != 0) return 0;
  const Index ny = mesh.node_count() / nx;
  if (ny < 2 || (nx - 1) * (ny - 1) != mesh.face_count()) return 0;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const Index a = f / (nx - 1) * nx + f % (nx - 1);
    const Index expected[4] = {a, a + 1, a + 1 + nx, a + nx};
    if (!std::equal(expected, expected + 4, mesh.face_nodes.begin() + 4 * f)) return 0;
  }
  return nx;
}

/// The middle of the nodes first, first + stride, ... [m].
Vec3d middle(ArrayView<const Vec3d> positions, Index first, Index stride, Index count) {
  Vec3d sum;
  for (Index i = 0; i < count; ++i) sum += positions[static_cast<std::size_t>(first + i * stride)];
  return 1. / count * sum;
}

}  // namespace

PanelGrid panel_grid(const Mesh& mesh, ArrayView<const Vec3d> positions, const Vec3d& wind,
                     const std::string& key) {
  const auto refuse = [&key](const std::string& found, const char* expected) {
    throw SceneError(text(key, ": found ", found, ", expected ", expected));
  };
  const Index nx = side_of_grid(mesh);
  if (nx == 0)
    refuse("another mesh than a quad_grid",
           "a quad_grid, whose rows of panels the wind passes; or wind.model \"drag\"");
  const Index ny = mesh.node_count() / nx;
  const double speed = norm(wind);
  if (!(speed > 0))
    refuse("still air", "a wind.velocity for wind.model \"panels\", whose wake leaves one side of the cloth");
  const Vec3d along_x = middle(positions, nx - 1, nx, ny) - middle(positions, 0, nx, ny);
  const Vec3d along_y = middle(positions, (ny - 1) * nx, 1, nx) - middle(positions, 0, 1, nx);
  // Cosines; of a side that has come together to no direction: no number, which is not greater.
  const double x = dot(along_x, wind) / (norm(along_x) * speed);
  const double y = dot(along_y, wind) / (norm(along_y) * speed);
  constexpr double least = 1e-3;
  if (!(std::fabs(x) > least || std::fabs(y) > least))
    refuse(
        "wind square to the cloth",
        "wind with a part along one side of the grid for wind.model \"panels\": flow that separates at all "
        "edges is no potential flow; take wind.model \"drag\"");
  // Columns run so that the normal, downwind x across, is on the same side as that of the faces.
  const Index last = nx * ny - 1;
  if (!(std::fabs(x) < std::fabs(y)))
    return x > 0 ? PanelGrid{nx - 1, ny - 1, 0, 1, nx} : PanelGrid{nx - 1, ny - 1, last, -1, -nx};
  return y > 0 ? PanelGrid{ny - 1, nx - 1, nx - 1, nx, -1} : PanelGrid{ny - 1, nx - 1, last - nx + 1, -nx, 1};
}

}  // namespace isocloth
