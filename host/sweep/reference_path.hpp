// A motion that the cases of a sweep are measured against.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/shapes/motion.hpp"

namespace isocloth {

/// Positions of nodes over time, linear in between and constant outside.
class ReferencePath {
 public:
  /// `positions` [m], shape [times, rest]; `rest` [m]: by which nodes are found; empty: by their number.
  ReferencePath(std::vector<double> times, std::vector<Vec3d> positions, std::vector<Vec3d> rest);

  /// The first garment of a result folder or of a trajectory.h5, or every node of the mesh from a CSV file
  /// (t, x1, y1, z1, ...). Throws FileError.
  static ReferencePath read(const std::filesystem::path& path, Index node_count);

  /// Pairs (node of the mesh, node of the path) with the same rest position, to 1e-6 of the mesh's size. Cost
  /// O(n) where the numbers agree, else O(n^2). Throws ShapeError when there is none.
  std::vector<std::pair<Index, Index>> shared_nodes(const Mesh& mesh) const;
  /// Number of the path's nodes at rest; 0 for a CSV file, which has no rest shape.
  Index node_count() const { return static_cast<Index>(rest_.size()); }

  Vec3d position(Index node, double t) const {
    return evaluate_motion(motion_, {}, static_cast<std::size_t>(node), t);
  }
  /// Digest that tells references apart.
  std::uint64_t digest() const;

 private:
  Motion motion_;  // a RecordedMotion
  std::vector<Vec3d> rest_;
};

}  // namespace isocloth
