#include "host/sweep/reference_path.hpp"

#include <algorithm>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/results/recording.hpp"
#include "host/results/scene_digest.hpp"
#include "host/scene/recorded_motion.hpp"

namespace isocloth {

ReferencePath::ReferencePath(std::vector<double> times, std::vector<Vec3d> positions, std::vector<Vec3d> rest)
    : motion_(RecordedMotion{"", std::move(times), std::move(positions)}), rest_(std::move(rest)) {}

ReferencePath ReferencePath::read(const std::filesystem::path& path, Index node_count) {
  if (path.extension() == ".csv") {
    RecordedMotion motion = read_recorded_motion(path, path.string(), static_cast<std::size_t>(node_count));
    return {std::move(motion.times), std::move(motion.positions), {}};
  }
  std::error_code ignored;
  const TrajectoryFile file(std::filesystem::is_directory(path, ignored) ? path / "trajectory.h5" : path);
  Recording recording = first_garment_of(file, path);
  const std::vector<Vec3d>& rest = file.layout().rest_positions;
  return {std::move(recording.times),
          std::move(recording.values),
          {rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(recording.point_count)}};
}

std::vector<std::pair<Index, Index>> ReferencePath::shared_nodes(const Mesh& mesh) const {
  const auto& motion = std::get<RecordedMotion>(motion_);
  if (rest_.empty() && motion.positions.size() != motion.times.size() * mesh.positions.size()) {
    throw ShapeError(text("--against: found a CSV file of ", motion.positions.size() / motion.times.size(),
                          " nodes for a mesh of ", mesh.node_count(),
                          " nodes, expected as many in both; a result folder or a trajectory.h5 may have "
                          "another number"));
  }
  std::vector<std::pair<Index, Index>> pairs;
  Vec3d low = mesh.positions[0], high = low;
  for (const Vec3d& p : mesh.positions) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const double near = 1e-6 * norm(high - low);
  for (Index i = 0; i < mesh.node_count(); ++i) {
    const auto same = [&](const Vec3d& rest) { return norm(rest - mesh.positions[i]) <= near; };
    if (rest_.empty() || (static_cast<std::size_t>(i) < rest_.size() && same(rest_[i]))) {
      pairs.emplace_back(i, i);
    } else if (const auto found = std::find_if(rest_.begin(), rest_.end(), same); found != rest_.end()) {
      pairs.emplace_back(i, static_cast<Index>(found - rest_.begin()));
    }
  }
  if (pairs.empty()) {
    throw ShapeError(text("--against: found no node in the rest shape of ", mesh.node_count(),
                          " nodes where the reference has one, expected shared nodes; compare scenes with "
                          "the same rest shape"));
  }
  return pairs;
}

std::uint64_t ReferencePath::digest() const {
  const auto& motion = std::get<RecordedMotion>(motion_);
  Digest digest;
  digest.add(motion.times);
  for (const std::vector<Vec3d>* vectors : {&motion.positions, &rest_}) {
    digest.add(static_cast<std::int64_t>(vectors->size()));
    for (const Vec3d& v : *vectors)
      for (const double x : {v.x, v.y, v.z}) digest.add(x);
  }
  return digest.value();
}

}  // namespace isocloth
