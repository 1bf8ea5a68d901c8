#include "host/models/drape/drape.hpp"

#include "engine/models/drape/weil.hpp"
#include "host/models/drape/laplace.hpp"

namespace isocloth {

std::vector<Vec3d> drape(const Mesh& mesh, const std::vector<HangingPoint>& points,
                         const DrapeSettings& settings, const std::string& key, const MonitorView& monitor) {
  const HangingSheet sheet(mesh, points, settings, key);
  if (settings.method == DrapeMethod::laplace) return laplace_drape(sheet, settings);
  std::vector<Vec3d> positions = weil_catenaries(sheet, settings.resolution, key, monitor);
  relax_distances(sheet, settings, positions, monitor);
  return positions;
}

}  // namespace isocloth
