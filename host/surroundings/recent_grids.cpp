#include "host/surroundings/recent_grids.hpp"

#include <deque>
#include <memory>
#include <mutex>

namespace isocloth {
namespace {

struct RecentGrid {
  MeshShape shape;
  bool is_body;
  DistanceGrid grid;
};

constexpr std::size_t most_kept = 4;
std::mutex mutex;                                      // of what follows
std::deque<std::shared_ptr<const RecentGrid>> recent;  // the latest first

bool has_same_surface(const MeshShape& a, const MeshShape& b) {
  return a.cell == b.cell && a.thicken == b.thicken && a.surface.face_nodes == b.surface.face_nodes &&
         a.surface.face_begin == b.surface.face_begin && a.surface.positions == b.surface.positions;
}

std::shared_ptr<const RecentGrid> find(const MeshShape& shape, bool is_body) {
  const std::lock_guard lock(mutex);
  for (const auto& kept : recent)
    if (kept->is_body == is_body && has_same_surface(kept->shape, shape)) return kept;
  return nullptr;
}

}  // namespace

DistanceGrid recent_grid(const MeshShape& shape, bool is_body, const std::string& key,
                         const MonitorView& monitor) {
  if (const auto kept = find(shape, is_body)) return kept->grid;
  DistanceGrid grid =
      is_body ? build_distance_grid(shape, key, monitor) : build_obstacle_grid(shape, key, monitor);
  auto made = std::make_shared<const RecentGrid>(shape, is_body, grid);
  const std::lock_guard lock(mutex);
  recent.push_front(std::move(made));
  if (recent.size() > most_kept) recent.pop_back();
  return grid;
}

}  // namespace isocloth
