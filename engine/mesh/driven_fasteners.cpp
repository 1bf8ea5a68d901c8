#include "engine/mesh/driven_fasteners.hpp"

#include <algorithm>

namespace isocloth {

double DrivenNumber::at(double t) const {
  const auto after = std::ranges::upper_bound(times, t) - times.begin();
  if (after == 0) return values.front();
  if (after == std::ssize(times)) return values.back();
  const auto i = static_cast<std::size_t>(after);
  const double share = (t - times[i - 1]) / (times[i] - times[i - 1]);
  return (1 - share) * values[i - 1] + share * values[i];
}

bool set_fasteners(const std::vector<Zipper>& zippers, const std::vector<Drawstring>& drawstrings,
                   double time, Mesh& mesh) {
  bool has_changed = false;
  const auto set = [&](double& value, double wanted) {
    has_changed = has_changed || value != wanted;
    value = wanted;
  };
  constexpr double rounding = 1e-9;
  for (const Zipper& zipper : zippers) {
    const double closed = zipper.closed.at(time);
    for (std::size_t i = 0; i < zipper.stitches.size(); ++i)
      set(mesh.stitches[static_cast<std::size_t>(zipper.stitches[i])].slack,
          closed > 0 && zipper.shares[i] <= closed + rounding ? 0 : Stitch::open);
  }
  for (const Drawstring& string : drawstrings)
    for (std::size_t i = 0; i < string.bands.size(); ++i)
      set(mesh.bands[static_cast<std::size_t>(string.bands[i])].length,
          string.share.at(time) * string.lengths[i]);
  return has_changed;
}

}  // namespace isocloth
