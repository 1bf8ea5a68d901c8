#include <algorithm>
#include <cmath>

#include "host/models/particles/minimise.hpp"

namespace isocloth {

MinimiserResult minimise_by_descent(ParticleEnergy& energy, std::vector<Vec3d>& x,
                                    const MinimiserSettings& settings) {
  double now = energy.value(x), rest = residual(energy, x);
  require_finite_start(now);
  MinimiserResult result{{{0, now, rest}}, "iterations"};
  const MonitorView monitor(settings.monitor);
  const double longest = energy.model().spacing / 10;
  std::vector<Vec3d> gradient = energy.gradient(x), next(x.size());
  double length = 0;  // of the step over the gradient
  for (std::int64_t k = 1; k <= settings.most_iterations; ++k) {
    if (rest <= settings.tolerance) break;
    if (monitor.stops()) return result.status = "interrupted", result;
    double steepest = 0, slope = 0;
    for (const Vec3d& g : gradient) {
      steepest = std::max(steepest, norm(g));
      slope -= dot(g, g);
    }
    const double most = longest / steepest;
    length = length > 0 ? std::min(length, most) : most / 100;
    double then = now;
    bool moved = false;
    for (int attempt = 0; attempt < 60 && !moved; ++attempt, length /= 2) {
      for (std::size_t i = 0; i < x.size(); ++i) next[i] = x[i] - length * gradient[i];
      then = energy.value(next);
      moved = then < now && then <= now + 1e-4 * length * slope;
    }
    if (!moved) return result.status = "stalled", result;
    const std::vector<Vec3d> after = energy.gradient(next);
    double way = 0, change = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Vec3d s = next[i] - x[i];
      way += dot(s, s);
      change += dot(s, after[i] - gradient[i]);
    }
    length = change > 0 ? way / change : 0;
    x = next;
    gradient = after;
    now = then;
    rest = note_iteration({k, now, residual(energy, x)}, settings, result);
  }
  if (rest <= settings.tolerance) result.status = "at rest";
  return result;
}

}  // namespace isocloth
