#include "engine/geometry/surface_distances.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace isocloth {
namespace {

constexpr double near_cells = 1.25;  ///< within it distances come from all triangles; > 1 for the signs' sake
constexpr double queues_per_cell = 2;

class SurfaceDistances {
 public:
  SurfaceDistances(const ClosedSurface& solid, const GridPoints& grid, const MonitorView& monitor)
      : solid_(solid),
        grid_(grid),
        monitor_(monitor),
        strides_{1, grid.nodes[0] + 2, std::ptrdiff_t(grid.nodes[0] + 2) * (grid.nodes[1] + 2)},
        near_(near_cells * grid.cell) {
    const std::size_t size = static_cast<std::size_t>(strides_[2]) * (grid.nodes[2] + 2);
    nearest_.assign(size, -1);
    squares_.assign(size, std::numeric_limits<double>::infinity());
  }

  std::vector<float> run(double band, double offset) {
    for (Index t = 0; t < solid_.tree().size(); ++t) {
      monitor_.check();
      measure_near(t);
    }
    spread();
    find_signs();
    measure_band(offset, band);
    return signed_distances(offset);
  }

 private:
  Vec3d point(Index i, Index j, Index k) const {
    return grid_.origin + grid_.cell * Vec3d{double(i), double(j), double(k)};
  }
  /// Arrays have one more node around the grid, which has no triangle.
  std::ptrdiff_t number(Index i, Index j, Index k) const {
    return (i + 1) * strides_[0] + (j + 1) * strides_[1] + (k + 1) * strides_[2];
  }

  /// Whether this triangle is nearer than those before.
  bool measure(std::ptrdiff_t node, Vec3d p, Index t) {
    const double square = nearest_on_triangle(p, solid_.tree().triangle(t), t).distance_squared;
    if (square >= squares_[node]) return false;
    squares_[node] = square;
    nearest_[node] = t;
    return true;
  }

  /// The nodes of the grid between two coordinates.
  std::array<Index, 2> range(double low, double high, std::size_t axis) const {
    const double last = grid_.nodes[axis] - 1;
    return {static_cast<Index>(std::clamp(std::ceil(low / grid_.cell), 0.0, last + 1)),
            static_cast<Index>(std::clamp(std::floor(high / grid_.cell), -1.0, last))};
  }

  /// Distances from one triangle at the nodes in its box, widened by near_, and as far from its plane.
  void measure_near(Index t) {
    const auto array = [](Vec3d x) { return std::array<double, 3>{x.x, x.y, x.z}; };
    const auto& corners = solid_.tree().triangle(t);
    const auto a = array(corners[0] - grid_.origin), b = array(corners[1] - grid_.origin),
               c = array(corners[2] - grid_.origin), n = array(solid_.normal(t));
    std::array<std::array<Index, 2>, 3> box;
    for (std::size_t k = 0; k < 3; ++k) {
      box[k] = range(std::min({a[k], b[k], c[k]}) - near_, std::max({a[k], b[k], c[k]}) + near_, k);
    }
    std::size_t w = 0;  // the axis that is steepest to the triangle
    for (std::size_t k = 1; k < 3; ++k) {
      if (std::abs(n[k]) > std::abs(n[w])) w = k;
    }
    const std::size_t u = (w + 1) % 3, v = (w + 2) % 3;
    std::array<Index, 3> i;
    for (i[u] = box[u][0]; i[u] <= box[u][1]; ++i[u]) {
      for (i[v] = box[v][0]; i[v] <= box[v][1]; ++i[v]) {
        const double plane =
            a[w] - (n[u] * (i[u] * grid_.cell - a[u]) + n[v] * (i[v] * grid_.cell - a[v])) / n[w];
        const double reach = near_ / std::abs(n[w]);
        const auto row = range(plane - reach, plane + reach, w);
        const Index last = std::min(row[1], box[w][1]);
        for (i[w] = std::max(row[0], box[w][0]); i[w] <= last; ++i[w]) {
          measure(number(i[0], i[1], i[2]), point(i[0], i[1], i[2]), t);
        }
      }
    }
  }

  /// From the nodes near the surface outwards and inwards, about in the order of their distances: each node
  /// passes its triangle on to those of its 18 neighbours whose turn has not come.
  void spread() {
    struct Step {
      Index i, j, k;
    };
    std::vector<Step> steps;
    for (Index k = -1; k <= 1; ++k) {
      for (Index j = -1; j <= 1; ++j) {
        for (Index i = -1; i <= 1; ++i) {
          if (i * j * k == 0) steps.push_back({i, j, k});
        }
      }
    }
    std::vector<std::vector<Step>> queues;
    const double scale = queues_per_cell / grid_.cell;
    const auto enqueue = [&](const Step& node, double square, std::size_t least) {
      const std::size_t queue = std::max(least, static_cast<std::size_t>(std::sqrt(square) * scale));
      if (queue >= queues.size()) queues.resize(queue + 1);
      queues[queue].push_back(node);
    };
    std::vector<char> passed(squares_.size(), 1);
    for_each_node([&](Index i, Index j, Index k) {
      const std::ptrdiff_t node = number(i, j, k);
      passed[node] = 0;
      if (nearest_[node] >= 0) enqueue({i, j, k}, squares_[node], 0);
    });
    for (std::size_t queue = 0; queue < queues.size(); ++queue) {
      monitor_.check();
      for (std::size_t next = 0; next < queues[queue].size(); ++next) {
        const Step from = queues[queue][next];
        const std::ptrdiff_t node = number(from.i, from.j, from.k);
        if (passed[node]) continue;
        passed[node] = 1;
        for (const Step& step : steps) {
          const Step to{from.i + step.i, from.j + step.j, from.k + step.k};
          const std::ptrdiff_t other = number(to.i, to.j, to.k);
          if (passed[other] || nearest_[other] == nearest_[node] || squares_[other] <= near_ * near_)
            continue;
          if (measure(other, point(to.i, to.j, to.k), nearest_[node])) enqueue(to, squares_[other], queue);
        }
      }
      queues[queue] = {};
    }
  }

  template <class Visit>
  void for_each_node(const Visit& visit) {
    for (Index k = 0; k < grid_.nodes[2]; ++k) {
      monitor_.check();
      for (Index j = 0; j < grid_.nodes[1]; ++j) {
        for (Index i = 0; i < grid_.nodes[0]; ++i) visit(i, j, k);
      }
    }
  }

  void find_signs() {
    signs_.assign(squares_.size(), 1);
    for_each_node([&](Index i, Index j, Index k) {
      const std::ptrdiff_t node = number(i, j, k);
      if (squares_[node] > near_ * near_) {
        signs_[node] = signs_[node - strides_[i > 0 ? 0 : j > 0 ? 1 : 2]];
        return;
      }
      const Vec3d p = point(i, j, k);
      const Index t = nearest_[node];
      const bool outside = solid_.is_outside(p, nearest_on_triangle(p, solid_.tree().triangle(t), t));
      signs_[node] = outside ? 1 : -1;
    });
  }

  void measure_band(double offset, double band) {
    for_each_node([&](Index i, Index j, Index k) {
      const std::ptrdiff_t node = number(i, j, k);
      if (squares_[node] <= near_ * near_) return;
      if (std::abs(signs_[node] * std::sqrt(squares_[node]) - offset) > band) return;
      const auto found = solid_.tree().nearest(point(i, j, k), {{}, squares_[node], nearest_[node], 0});
      squares_[node] = found.distance_squared;
    });
  }

  std::vector<float> signed_distances(double offset) {
    std::vector<float> distances;
    distances.reserve(static_cast<std::size_t>(grid_.nodes[0]) * grid_.nodes[1] * grid_.nodes[2]);
    for_each_node([&](Index i, Index j, Index k) {
      const std::ptrdiff_t node = number(i, j, k);
      distances.push_back(static_cast<float>(signs_[node] * std::sqrt(squares_[node]) - offset));
    });
    return distances;
  }

  const ClosedSurface& solid_;
  const GridPoints& grid_;
  const MonitorView& monitor_;
  std::array<std::ptrdiff_t, 3> strides_;
  double near_;  ///< [m]
  /// Nearest triangle of each node, those around the grid included, -1: none yet.
  std::vector<Index> nearest_;
  /// Squared distance of each node, those around the grid included, from its nearest triangle [m^2].
  std::vector<double> squares_;
  std::vector<signed char> signs_;  ///< 1 outside, -1 inside, of each node, those around the grid included
};

}  // namespace

std::vector<float> surface_distances(const ClosedSurface& solid, const GridPoints& grid, double band,
                                     double offset, const MonitorView& monitor) {
  return SurfaceDistances(solid, grid, monitor).run(band, offset);
}

}  // namespace isocloth
