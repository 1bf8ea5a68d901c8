#include "engine/geometry/surface_solid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

constexpr double solid_share = 0.84;  ///< winding number behind a piece, less whole ones, that is no sheet's
constexpr double open_low = 0.2;  ///< least winding number at a cone over a hole; 1 - open_low: the greatest
constexpr Index most_samples = 256;       ///< triangles of a piece whose middles are asked
constexpr double facing = -0.8;           ///< cosine between the normals of both sides of a wall, at most
constexpr int most_rays = 16;             ///< from one triangle
constexpr double rays_per_box = 1 << 16;  ///< a ray for each such part of the box's longest side squared

Vec3d middle(const TriangleCorners& x) { return (1.0 / 3) * (x[0] + x[1] + x[2]); }
Vec3d area_vector(const TriangleCorners& x) { return 0.5 * cross(x[1] - x[0], x[2] - x[0]); }

/// Edges at which triangles end, as they run: shape [edge count][2], each as often as it counts.
std::vector<std::array<Index, 2>> ends_of(const TriangleSoup& soup, const std::vector<char>& is_sheet) {
  std::map<std::array<Index, 2>, Index> counts;  // how often an edge runs upwards, less downwards
  for (std::size_t t = 0; t < soup.triangles.size(); ++t) {
    if (is_sheet[soup.pieces[t]]) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      const Index from = soup.triangles[t][k], to = soup.triangles[t][(k + 1) % 3];
      counts[{std::min(from, to), std::max(from, to)}] += from < to ? 1 : -1;
    }
  }
  std::vector<std::array<Index, 2>> ends;
  for (const auto& [edge, count] : counts)
    for (Index i = 0; i < std::abs(count); ++i)
      ends.push_back(count > 0 ? edge : std::array<Index, 2>{edge[1], edge[0]});
  return ends;
}

/// Cones over what hangs together of some edges, to the mean of their ends, which close them.
std::vector<std::vector<TriangleCorners>> cones_over(const std::vector<std::array<Index, 2>>& ends,
                                                     const std::vector<Vec3d>& points) {
  std::map<Index, Index> parents;
  const auto find = [&](Index node) {
    while (parents.at(node) != node) node = parents.at(node);
    return node;
  };
  for (const auto& edge : ends)
    for (const Index node : edge) parents.emplace(node, node);
  for (const auto& [a, b] : ends) {
    const Index low = std::min(find(a), find(b)), high = std::max(find(a), find(b));
    parents[high] = low;
    parents[a] = parents[b] = low;
  }
  struct Cone {
    Vec3d sum;
    double length = 0;
    std::vector<std::array<Index, 2>> edges;
  };
  std::map<Index, Cone> cones;
  for (const auto& [a, b] : ends) {
    Cone& cone = cones[find(a)];
    const double length = norm(points[b] - points[a]);
    cone.sum += (length / 2) * (points[a] + points[b]);
    cone.length += length;
    cone.edges.push_back({a, b});
  }
  std::vector<std::vector<TriangleCorners>> all;
  for (const auto& [node, cone] : cones) {
    const Vec3d apex = (1 / cone.length) * cone.sum;
    std::vector<TriangleCorners> triangles;
    for (const auto& [a, b] : cone.edges) {
      const TriangleCorners corners{points[b], points[a], apex};
      if (norm(area_vector(corners)) > 1e-12 * cone.length * cone.length) triangles.push_back(corners);
    }
    all.push_back(std::move(triangles));
  }
  return all;
}

}  // namespace

SurfaceSolid::SurfaceSolid(const Mesh& surface, const std::string& key, const MonitorView& monitor)
    : soup_(make_soup(surface)),
      is_sheet_(static_cast<std::size_t>(soup_.piece_count), 0),
      turned_(soup_.turned) {
  if (soup_.triangles.empty())
    throw SceneError(text(key, ": found no face with an area, expected a surface; is its scale right?"));
  wind(true);
  turn_pieces(monitor);
  part_sheets(monitor);
  close_holes();
  leave_out_hidden(monitor);
  measure_walls(monitor);
}

void SurfaceSolid::wind(bool with_sheets) {
  solid_.clear();
  number_in_solid_.assign(soup_.triangles.size(), -1);
  for (std::size_t t = 0; t < soup_.triangles.size(); ++t) {
    if (!with_sheets && is_sheet_[soup_.pieces[t]]) continue;
    number_in_solid_[t] = static_cast<Index>(solid_.size());
    solid_.push_back(soup_.corners(static_cast<Index>(t)));
  }
  winding_.reset();
  if (!solid_.empty()) winding_.emplace(solid_);
}

template <class Visit>
std::vector<double> SurfaceSolid::means_of_pieces(const MonitorView& monitor, const Visit& visit) const {
  const std::size_t count = static_cast<std::size_t>(soup_.piece_count);
  std::vector<std::vector<Index>> members(count);
  for (std::size_t t = 0; t < soup_.triangles.size(); ++t)
    members[soup_.pieces[t]].push_back(static_cast<Index>(t));
  std::vector<double> means(count);
  for (std::size_t piece = 0; piece < count; ++piece) {
    monitor.check();
    const Index size = static_cast<Index>(members[piece].size()), samples = std::min(size, most_samples);
    double sum = 0, total = 0;
    for (Index i = 0; i < samples; ++i) {
      const Index t = members[piece][static_cast<std::size_t>(i) * size / samples];
      const TriangleCorners corners = soup_.corners(t);
      const double area = norm(area_vector(corners));
      sum += area * visit(winding_->at(middle(corners), number_in_solid_[t]));
      total += area;
    }
    means[piece] = sum / total;
  }
  return means;
}

void SurfaceSolid::turn_pieces(const MonitorView& monitor) {
  const std::vector<double> before = means_of_pieces(monitor, [](double mean) { return mean - 0.5; });
  bool turns = false;
  for (std::size_t t = 0; t < soup_.triangles.size(); ++t) {
    if (!(before[soup_.pieces[t]] < -0.6)) continue;
    std::swap(soup_.triangles[t][1], soup_.triangles[t][2]);
    ++turned_;
    turns = true;
  }
  if (turns) wind(true);
}

void SurfaceSolid::part_sheets(const MonitorView& monitor) {
  const std::vector<double> off = means_of_pieces(monitor, [](double mean) {
    const double behind = mean + 0.5;
    return std::abs(behind - std::round(behind));
  });
  for (std::size_t piece = 0; piece < is_sheet_.size(); ++piece)
    is_sheet_[piece] = off[piece] > 1 - solid_share;
  wind(false);
}

void SurfaceSolid::close_holes() {
  if (!winding_) return;
  std::vector<TriangleCorners> closing;
  for (const auto& cone : cones_over(ends_of(soup_, is_sheet_), soup_.points)) {
    double sum = 0, total = 0;
    for (const TriangleCorners& corners : cone) {
      const double area = norm(area_vector(corners)), winding = winding_->at(middle(corners));
      sum += area * winding;
      total += area;
    }
    if (!(sum > open_low * total && sum < (1 - open_low) * total)) continue;
    closing.insert(closing.end(), cone.begin(), cone.end());
    ++hole_count_;
  }
  if (closing.empty()) return;
  cap_count_ = static_cast<Index>(closing.size());
  solid_.insert(solid_.end(), closing.begin(), closing.end());
  winding_.emplace(solid_);
}

void SurfaceSolid::leave_out_hidden(const MonitorView& monitor) {
  /// Whether the same is on both sides, at a point of triangle t of the solid.
  const auto is_hidden_at = [&](Index t, Vec3d p) {
    const double mean = winding_->at(p, t);
    return mean > 1.25 || mean < -0.25;
  };
  std::vector<Index> pieces(solid_.size(), -1);
  for (std::size_t t = 0; t < soup_.triangles.size(); ++t)
    if (number_in_solid_[t] >= 0) pieces[number_in_solid_[t]] = soup_.pieces[t];
  for (std::size_t t = 0; t < solid_.size(); ++t) {
    monitor.check();
    const TriangleCorners& corners = solid_[t];
    const Vec3d center = middle(corners);
    const Index number = static_cast<Index>(t);
    bool is_hidden = is_hidden_at(number, center);
    for (std::size_t k = 0; k < 3 && is_hidden; ++k)
      is_hidden = is_hidden_at(number, center + 0.9 * (corners[k] - center));
    if (is_hidden)
      ++hidden_;
    else
      triangles_.push_back({corners, pieces[t]});
  }
  for (std::size_t t = 0; t < soup_.triangles.size(); ++t) {
    if (!is_sheet_[soup_.pieces[t]]) continue;
    triangles_.push_back({soup_.corners(static_cast<Index>(t)), soup_.pieces[t], true});
    ++sheet_count_;
  }
}

void SurfaceSolid::measure_walls(const MonitorView& monitor) {
  std::vector<TriangleCorners> shell;
  Vec3d low = triangles_.front().corners[0], high = low;
  for (const BoundingTriangle& triangle : triangles_) {
    for (const Vec3d& x : triangle.corners) {
      low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
      high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
    }
    if (!triangle.is_sheet) shell.push_back(triangle.corners);  // sheets come last
  }
  if (shell.empty()) return;
  const TriangleTree tree(shell);
  const double longest = std::max({high.x - low.x, high.y - low.y, high.z - low.z}), least = 1e-6 * longest;
  for (Index t = 0; t < tree.size(); ++t) {
    monitor.check();
    const auto& [a, b, c] = tree.triangle(t);
    const Vec3d vector = area_vector(tree.triangle(t)), inwards = -normalized(vector);
    const int rays = static_cast<int>(
        std::min(1 + rays_per_box * norm(vector) / (longest * longest), static_cast<double>(most_rays)));
    double thickness = std::numeric_limits<double>::infinity();
    for (int i = 0; i < rays; ++i) {
      // Roberts' sequence, as in find_thin_walls().
      double u = std::fmod(1.0 / 3 + i * 0.7548776662466927, 1),
             v = std::fmod(1.0 / 3 + i * 0.5698402909980532, 1);
      if (u + v > 1) {
        u = 1 - u;
        v = 1 - v;
      }
      const double length = std::min(thickness, longest / 8);
      tree.for_each_hit(a + u * (b - a) + v * (c - a), inwards, length, [&](const RayHit& hit) {
        if (hit.triangle == t || hit.length < least || hit.length >= thickness) return;
        const Vec3d other = area_vector(tree.triangle(hit.triangle));
        if (-dot(other, inwards) < facing * norm(other)) thickness = hit.length;
      });
    }
    triangles_[t].thickness = thickness;
  }
}

std::string SurfaceSolid::changes() const {
  std::string line;
  const auto add = [&](Index count, const char* one, const char* many, const std::string& what) {
    if (count > 0) line += text(line.empty() ? "" : ", ", count, " ", count == 1 ? one : many, " ", what);
  };
  const auto add_triangles = [&](Index count, const std::string& what) {
    add(count, "triangle", "triangles", what);
  };
  add(hole_count_, "hole", "holes", "closed");
  add_triangles(turned_, "turned");
  add_triangles(soup_.flat, "without area left out");
  add_triangles(soup_.doubled, "that others lie on left out");
  add_triangles(hidden_, "within the solid left out");
  if (has_solid()) add_triangles(sheet_count_, "of sheets");
  return line;
}

}  // namespace isocloth
