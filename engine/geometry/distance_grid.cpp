#include "engine/geometry/distance_grid.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/core/bound_text.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/geometry/closed_surface.hpp"
#include "engine/geometry/height_field.hpp"
#include "engine/geometry/surface_distances.hpp"
#include "engine/geometry/wall_thickness.hpp"
#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

constexpr double default_cells = 64;  ///< default number of cells along the longest side
constexpr double pad_cells = 4;       ///< around the thickened solid, also the depth of the exact band
constexpr double least_wall = 3;      ///< thickness that a grid shows [cells]
constexpr double bottom_cells = 16;   ///< below the lowest sample of a height field

struct Box {
  Vec3d low, high;  ///< [m]
  Vec3d size() const { return high - low; }
  double longest() const { return std::max({size().x, size().y, size().z}); }
};

Box bounding_box(const std::vector<Vec3d>& points) {
  Box box{points.front(), points.front()};
  for (const Vec3d& p : points) {
    box.low = {std::min(box.low.x, p.x), std::min(box.low.y, p.y), std::min(box.low.z, p.z)};
    box.high = {std::max(box.high.x, p.x), std::max(box.high.y, p.y), std::max(box.high.z, p.z)};
  }
  return box;
}

/// Cells along one side of the box, padding included; whole.
double cells_along(double size, double cell, double thicken) {
  // Sides that are whole cells but for rounding get no cell more.
  return std::ceil(size / cell - 1e-9) + 2 * (pad_cells + std::ceil(thicken / cell));
}

double node_count(const Box& box, double cell, double thicken) {
  return (cells_along(box.size().x, cell, thicken) + 1) * (cells_along(box.size().y, cell, thicken) + 1) *
         (cells_along(box.size().z, cell, thicken) + 1);
}

/// The least cell that stays within the limit, to 0.1 %.
double least_cell(const Box& box, double cell, double thicken) {
  while (node_count(box, cell, thicken) > max_distance_grid_nodes) cell *= 1.001;
  return cell;
}

/// Rounded away from zero (up) or towards it, to three digits: what a message tells to set must do.
double rounded(double value, bool up) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return (up ? std::ceil(value / unit) : std::floor(value / unit)) * unit;
}

/// Cell and thickening of a grid [m].
struct GridNumbers {
  double cell = 0, thicken = 0;
  double count(const Box& box) const { return node_count(box, cell, thicken); }
  bool fits(const Box& box) const { return count(box) <= max_distance_grid_nodes; }
  std::optional<ThinWalls> thin_walls(const ClosedSurface& solid) const {
    const double limit = least_wall * cell - 2 * thicken;
    return limit > 0 ? find_thin_walls(solid, limit, cell) : std::nullopt;
  }
};

constexpr int most_attempts = 12;

/// Numbers that serve, by thickening alone where that is enough.
std::optional<GridNumbers> thickened(GridNumbers numbers, const ClosedSurface& solid, const Box& box) {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    if (!numbers.fits(box)) {
      numbers.cell = rounded(
          least_cell(box, std::max(numbers.cell, box.longest() / default_cells / 4), numbers.thicken), true);
    } else if (const auto thin = numbers.thin_walls(solid)) {
      numbers.thicken = rounded((least_wall * numbers.cell - thin->thickness) / 2, true);
    } else {
      return numbers;
    }
  }
  return std::nullopt;
}

/// Numbers that serve by smaller cells alone.
std::optional<GridNumbers> refined(GridNumbers numbers, const ClosedSurface& solid, const Box& box) {
  for (int attempt = 0; attempt < most_attempts && numbers.fits(box); ++attempt) {
    const auto thin = numbers.thin_walls(solid);
    if (!thin) return numbers;
    const double thickness = thin->thickness + 2 * numbers.thicken;
    if (!(thickness > 0)) return std::nullopt;
    numbers.cell = rounded(thickness / least_wall, false);
  }
  return std::nullopt;
}

/// What is wrong with a grid of these numbers and which ones to set instead; empty: nothing.
std::string grid_fault(const GridNumbers& numbers, const ClosedSurface& solid, const Box& box) {
  const auto set = [&](const GridNumbers& better) {
    const std::string cell =
        better.cell != numbers.cell
            ? text("cell to at ", better.cell > numbers.cell ? "least " : "most ", better.cell, " m")
            : "";
    const std::string thicken =
        better.thicken != numbers.thicken ? text("thicken to at least ", better.thicken, " m") : "";
    return cell + (cell.empty() || thicken.empty() ? "" : " and ") + thicken;
  };
  std::string fault;
  if (!numbers.fits(box)) {
    fault = text(".cell: a cell of ", numbers.cell, " m makes too large a grid: found ", numbers.count(box),
                 " nodes, expected at most ", max_distance_grid_nodes);
  } else if (const auto thin = numbers.thin_walls(solid)) {
    const ToldApart told = told_apart(thin->thickness + 2 * numbers.thicken, least_wall * numbers.cell, 9);
    fault = text(": walls are too thin for the grid: found ", told.found, " m at face ", thin->face, ", (",
                 thin->position.x, " ", thin->position.y, " ", thin->position.z, "), and ",
                 100 * thin->area_share, " % of the surface below the limit, expected at least ", least_wall,
                 " cells, ", told.bound, " m");
  } else {
    return {};
  }
  const auto thicker = thickened(numbers, solid, box), finer = refined(numbers, solid, box);
  if (thicker) fault += "; set " + set(*thicker);
  if (finer) fault += (thicker ? ", or " : "; set ") + set(*finer);
  return fault;
}

/// The numbers of a shape's grid; those that are no numbers are refused.
GridNumbers grid_numbers(const MeshShape& shape, const Box& box, const std::string& key) {
  const GridNumbers numbers{.cell = shape.cell == 0 ? box.longest() / default_cells : shape.cell,
                            .thicken = shape.thicken};
  if (!(numbers.cell > 0 && std::isfinite(numbers.cell) && numbers.thicken >= 0 &&
        std::isfinite(numbers.thicken))) {
    throw SceneError(text(key, ": found cell ", shape.cell, " and thicken ", shape.thicken,
                          ", expected finite numbers >= 0; cell 0 takes 1/64 of the longest side"));
  }
  return numbers;
}

/// check_closed_surface; where welding alone closes the surface, the message says at once what else its grid
/// would need.
void require_closed(const MeshShape& shape, const std::string& key) {
  try {
    check_closed_surface(shape.surface, key + ".surface");
  } catch (const SceneError& error) {
    std::string also;
    try {
      Mesh closed = shape.surface;
      const double within = seam_width(closed);
      if (find_open_seam(closed, within).pair_count > 0) {
        weld(closed, within);
        check_closed_surface(closed, key);
        const Box box = bounding_box(closed.positions);
        also = grid_fault(grid_numbers(shape, box, key), ClosedSurface(closed), box);
      }
    } catch (const SceneError&) {
      // What welding leaves is another fault; the first one stands.
    }
    std::string what = error.what();
    const bool has_numbers = what.ends_with(counted_from_0);
    if (has_numbers) what.resize(what.size() - counted_from_0.size());
    if (!also.empty()) what += "; when it is closed " + key + also;
    throw SceneError(text(what, has_numbers ? counted_from_0 : ""));
  }
}

DistanceGrid measured_grid(const ClosedSurface& solid, const Box& box, double cell, double thicken,
                           const MonitorView& monitor) {
  const auto along = [&](double low, double high, Index& nodes) {
    const double cells = cells_along(high - low, cell, thicken);
    nodes = static_cast<Index>(cells) + 1;
    return (low + high - cells * cell) / 2;
  };
  DistanceGrid grid;
  grid.cell = cell;
  grid.origin = {along(box.low.x, box.high.x, grid.nodes[0]), along(box.low.y, box.high.y, grid.nodes[1]),
                 along(box.low.z, box.high.z, grid.nodes[2])};
  grid.distances =
      surface_distances(solid, {grid.origin, cell, grid.nodes}, pad_cells * cell, thicken, monitor);
  return grid;
}

}  // namespace

DistanceGrid build_distance_grid(const MeshShape& shape, const std::string& key, const MonitorView& monitor) {
  require_closed(shape, key);
  monitor.check();
  const Box box = bounding_box(shape.surface.positions);
  const GridNumbers numbers = grid_numbers(shape, box, key);
  const ClosedSurface solid(shape.surface);
  if (const std::string fault = grid_fault(numbers, solid, box); !fault.empty())
    throw SceneError(key + fault);
  return measured_grid(solid, box, numbers.cell, numbers.thicken, monitor);
}

DistanceGrid build_distance_grid(const HeightFieldShape& shape, const std::string& key,
                                 const MonitorView& monitor) {
  const double side = (std::max(shape.samples[0], shape.samples[1]) - 1) * shape.spacing;
  const int parts = std::max(1, static_cast<int>(std::ceil(default_cells * shape.spacing / side - 1e-9)));
  const double cell = shape.spacing / parts;
  const auto [low, high] = std::minmax_element(shape.heights.begin(), shape.heights.end());
  const double bottom = *low - bottom_cells * cell;
  const Box box{{0, 0, bottom},
                {(shape.samples[0] - 1) * shape.spacing, (shape.samples[1] - 1) * shape.spacing, *high}};
  const double count = node_count(box, cell, 0);
  if (!(count <= max_distance_grid_nodes)) {
    throw SceneError(text(key, ".heights: ", shape.samples[0], " x ", shape.samples[1], " samples from ",
                          *low, " to ", *high, " m make too large a grid: found ", count, " nodes of ", cell,
                          " m, expected at most ", max_distance_grid_nodes,
                          "; take fewer samples at a larger spacing"));
  }
  return measured_grid(ClosedSurface(height_field_surface(shape, parts, bottom)), box, cell, 0, monitor);
}

double interpolate(const DistanceGrid& grid, Vec3d p, Vec3d* gradient) {
  std::array<double, 3> at{p.x - grid.origin.x, p.y - grid.origin.y, p.z - grid.origin.z}, beyond{}, t{};
  std::array<Index, 3> first{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double last = (grid.nodes[k] - 1) * grid.cell, inside = std::clamp(at[k], 0.0, last);
    beyond[k] = at[k] - inside;
    first[k] = std::min(static_cast<Index>(inside / grid.cell), grid.nodes[k] - 2);
    t[k] = inside / grid.cell - first[k];
  }
  double cell = grid.cell;
  std::size_t begin = 0;
  std::array<Index, 2> row{grid.nodes[0], grid.nodes[1]};
  if (!grid.blocks.empty()) {
    const Index block =
        grid.blocks[(static_cast<std::size_t>(first[2]) * (row[1] - 1) + first[1]) * (row[0] - 1) + first[0]];
    if (block >= 0) {
      const Index parts = Index{1} << (block & 7);
      for (std::size_t k = 0; k < 3; ++k) {
        const double inside = t[k] * parts;
        first[k] = std::min(static_cast<Index>(inside), parts - 1);
        t[k] = inside - first[k];
      }
      cell /= parts;
      begin = static_cast<std::size_t>(block >> 3);
      row = {parts + 1, parts + 1};
    }
  }
  double value = 0;
  std::array<double, 3> slope{};
  for (int corner = 0; corner < 8; ++corner) {
    std::array<double, 3> weight{}, change{};
    std::array<Index, 3> node{};
    for (std::size_t k = 0; k < 3; ++k) {
      const int upper = corner >> k & 1;
      weight[k] = upper ? t[k] : 1 - t[k];
      change[k] = upper ? 1 : -1;
      node[k] = first[k] + upper;
    }
    const double phi =
        grid.distances[begin + (static_cast<std::size_t>(node[2]) * row[1] + node[1]) * row[0] + node[0]];
    value += weight[0] * weight[1] * weight[2] * phi;
    slope[0] += change[0] * weight[1] * weight[2] * phi;
    slope[1] += weight[0] * change[1] * weight[2] * phi;
    slope[2] += weight[0] * weight[1] * change[2] * phi;
  }
  const double away = beyond[0] * beyond[0] + beyond[1] * beyond[1] + beyond[2] * beyond[2];
  const double phi = away > 0 ? std::sqrt(value * value + away) : value;
  if (gradient != nullptr) {
    for (std::size_t k = 0; k < 3; ++k) {
      slope[k] /= cell;
      if (away > 0) slope[k] = (beyond[k] != 0 ? beyond[k] : value * slope[k]) / phi;
    }
    *gradient = {slope[0], slope[1], slope[2]};
  }
  return phi;
}

}  // namespace isocloth
