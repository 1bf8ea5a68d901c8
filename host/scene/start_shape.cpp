#include "host/scene/start_shape.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/models.hpp"

namespace isocloth {

std::vector<HangingPoint> hanging_points(const Garment& garment, double t) {
  std::vector<HangingPoint> points;
  for (const Pin& pin : garment.pins)
    for (std::size_t i = 0; i < pin.nodes.size(); ++i)
      points.push_back({pin.nodes[i], pin_position(garment, pin, i, t)});
  return points;
}

const char* to_string(DrapeMethod method) { return method == DrapeMethod::weil ? "weil" : "laplace"; }

std::vector<Vec3d> start_shape(const Mesh& mesh, const std::vector<HangingPoint>& points,
                               const DrapeSettings& settings, const std::string& key,
                               const MonitorView& monitor) {
  if (const DrapeFunction drape = drape_function()) return drape(mesh, points, settings, key, monitor);
  throw SceneError(not_in_this_build(text(key, ".drape \"", to_string(settings.method), "\"")));
}

}  // namespace isocloth
