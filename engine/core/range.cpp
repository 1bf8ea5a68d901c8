#include "engine/core/range.hpp"

#include <cmath>

#include "engine/core/shortest.hpp"
#include "engine/core/text.hpp"

namespace isocloth {

bool Range::contains(double value) const {
  return std::isfinite(value) && value <= most && (above ? value > least : value >= least) &&
         (!whole || value == std::floor(value));
}

std::string to_string(const Range& range) {
  const std::string kind = range.whole ? "a whole number" : "a number";
  const bool has_least = std::isfinite(range.least), has_most = std::isfinite(range.most);
  if (has_least && has_most && !range.above)
    return text(kind, " from ", shortest(range.least), " to ", shortest(range.most));
  std::string bounds = has_least ? text(range.above ? " > " : " >= ", shortest(range.least)) : "";
  if (has_most) bounds += text(has_least ? " and" : "", " <= ", shortest(range.most));
  return kind + bounds;
}

}  // namespace isocloth
