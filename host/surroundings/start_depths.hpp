// Where garments start inside of obstacles: how deep, and whether there is a way out.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "engine/model/scene.hpp"
#include "kernels/contact/obstacles.hpp"

namespace isocloth {

template <class Real>
class StartDepths {
 public:
  explicit StartDepths(const Scene& scene);

  /// Notes an obstacle or body with this shape; what: as "obstacle "rod""; box: its corners in its frame [m].
  ///
  /// Throws SceneError for a node whose distance is no number, and, unless
  /// scene.contact.resolve_initial_penetration, for nodes that are inside by more than
  /// scene.contact.tolerance and what their thickness gives. Where they are eased out, for those that have no
  /// one side to leave by: from where the way along the normal, as long as the depth, does not come out by
  /// half; those of an edge whose ends would leave by opposite sides; those that are inside of more obstacles
  /// than a node keeps contacts.
  void add(const std::string& what, const std::function<Pose(double)>& pose_at, const ShapeView<Real>& shape,
           const std::array<Vec3d, 2>& box);
  /// Deepest point of each garment in any of the obstacles and bodies and their margin [m], shape
  /// [garment_count].
  const std::vector<double>& of_garments() const { return depths_; }

 private:
  /// Nodes of a garment that start inside.
  struct Inside {
    std::vector<std::size_t> nodes;
    std::vector<Vec3d> positions;  ///< positions of the nodes in the obstacle's frame [m]
    double deepest = 0;            ///< depth of the deepest node [m]
    std::size_t deepest_node = 0;
  };
  void require_outside(std::size_t garment, const std::string& what, const Inside& inside) const;
  void require_way_out(std::size_t garment, const std::string& what, const ShapeView<Real>& shape,
                       const Inside& inside);

  const Scene& scene_;
  std::vector<double> depths_;
  std::vector<std::vector<char>> counts_;  ///< obstacles that a node is inside of, shape [garment][node]
};

}  // namespace isocloth
