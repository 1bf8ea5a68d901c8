#include "host/garment/mid_edge_bending.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/mesh/cut_quads.hpp"
#include "engine/mesh/material_frame.hpp"
#include "engine/mesh/topology.hpp"

namespace isocloth {
namespace {

constexpr std::size_t least_nodes = 7;  ///< about an edge, before it takes in the triangles around them
/// Part of a polynomial's values at the nodes about an edge that no polynomial before it has, below which it
/// tells nothing of its own.
constexpr double least_part = 0.02;

double cross(Vec2d a, Vec2d b) { return a.x * b.y - a.y * b.x; }

struct Triangle {
  std::array<Index, 3> nodes;
  Index face;
  std::array<Index, 3> edges{};  ///< edge k goes from corner k to the next
};
struct Edge {
  std::array<Index, 2> triangles{-1, -1};
};

/// The slope along the outward normal of an edge in one of its triangles, by the corners from the edge's
/// first on [1/m].
struct Slope {
  std::array<Index, 3> nodes;
  std::array<double, 3> by_node;
};

/// Weights of nodes in a slope [1/m].
using Weights = std::map<Index, double>;

class Triangulation {
 public:
  Triangulation(const Mesh& mesh, const std::vector<char>& is_pinned) : mesh_(mesh), is_pinned_(is_pinned) {
    for (const CutTriangle& triangle : cut_quads(mesh)) triangles.push_back({triangle.nodes, triangle.face});
    std::map<std::array<Index, 2>, Index> numbers;
    at_node_.resize(mesh.positions.size());
    for (std::size_t t = 0; t < triangles.size(); ++t)
      for (std::size_t k = 0; k < 3; ++k) {
        const auto [a, b] = std::minmax(triangles[t].nodes[k], triangles[t].nodes[(k + 1) % 3]);
        const Index q = numbers.try_emplace({a, b}, static_cast<Index>(numbers.size())).first->second;
        edges.resize(numbers.size());
        auto& sides = edges[static_cast<std::size_t>(q)].triangles;
        sides[sides[0] < 0 ? 0 : 1] = static_cast<Index>(t);
        triangles[t].edges[k] = q;
        at_node_[static_cast<std::size_t>(triangles[t].nodes[k])].push_back(static_cast<Index>(t));
      }
  }

  std::vector<Triangle> triangles;
  std::vector<Edge> edges;

  const Triangle& triangle(Index t) const { return triangles[static_cast<std::size_t>(t)]; }
  Vec3d at(Index node) const { return mesh_.positions[static_cast<std::size_t>(node)]; }
  bool is_held(Index t) const {
    return std::ranges::all_of(triangle(t).nodes,
                               [&](Index node) { return is_pinned_[static_cast<std::size_t>(node)] != 0; });
  }
  Vec3d twice_area(Index t) const {
    const auto& [a, b, c] = triangle(t).nodes;
    return isocloth::cross(at(b) - at(a), at(c) - at(a));
  }
  double area(Index t) const { return norm(twice_area(t)) / 2; }
  std::size_t corner_of(Index t, Index edge) const {
    return static_cast<std::size_t>(std::ranges::find(triangle(t).edges, edge) - triangle(t).edges.begin());
  }
  Index across(Index t, std::size_t corner) const {
    const auto& sides = edges[static_cast<std::size_t>(triangle(t).edges[corner])].triangles;
    return sides[0] == t ? sides[1] : sides[0];
  }
  Slope outward_slope(Index t, std::size_t corner) const {
    const auto& nodes = triangle(t).nodes;
    const std::array<Index, 3> own{nodes[corner], nodes[(corner + 1) % 3], nodes[(corner + 2) % 3]};
    const Vec3d e = at(own[1]) - at(own[0]), c = at(own[2]) - at(own[0]);
    const double foot = dot(c, e) / dot(e, e), height = norm(isocloth::cross(e, c)) / norm(e);
    return {own, {(1 - foot) / height, foot / height, -1 / height}};
  }

  /// Places of the nodes about an edge in the plane of its first triangle: x along the normal towards the
  /// second, y along the edge, from its middle, in lengths of the edge.
  std::map<Index, Vec2d> unfolded(Index edge) const;

 private:
  const Mesh& mesh_;
  const std::vector<char>& is_pinned_;
  std::vector<std::vector<Index>> at_node_;
};

std::map<Index, Vec2d> Triangulation::unfolded(Index edge) const {
  const auto [s, t] = edges[static_cast<std::size_t>(edge)].triangles;
  struct Laid {
    Index triangle;
    std::array<Vec2d, 3> corners;
  };
  std::vector<Laid> laid;
  std::map<Index, Vec2d> places;
  // Lays the triangle whose edge k is between two places, its last corner to the left of it or to the right.
  const auto lay = [&](Index f, std::size_t k, Vec2d from, Vec2d to, double left) {
    const auto& nodes = triangle(f).nodes;
    const Vec3d e = at(nodes[(k + 1) % 3]) - at(nodes[k]), c = at(nodes[(k + 2) % 3]) - at(nodes[k]);
    const double foot = dot(c, e) / dot(e, e), height = norm(isocloth::cross(e, c)) / dot(e, e);
    const Vec2d along = to - from;
    Laid found{f, {}};
    found.corners[k] = from;
    found.corners[(k + 1) % 3] = to;
    found.corners[(k + 2) % 3] = from + foot * along + (left * height) * Vec2d{-along.y, along.x};
    for (std::size_t i = 0; i < 3; ++i) places.try_emplace(nodes[i], found.corners[i]);
    laid.push_back(found);
  };
  const auto lay_across = [&](std::size_t from, std::size_t k, const std::vector<Index>* within) {
    const auto [f, p] = laid[from];
    const Index other = across(f, k);
    if (other < 0 || (within != nullptr && !std::ranges::binary_search(*within, other)) ||
        std::ranges::any_of(laid, [&](const Laid& l) { return l.triangle == other; }))
      return;
    const std::size_t own = corner_of(other, triangle(f).edges[k]);
    const bool is_along = triangle(other).nodes[own] == triangle(f).nodes[k];
    const Vec2d a = p[k], b = p[(k + 1) % 3];
    const double left = cross(b - a, p[(k + 2) % 3] - a) < 0 ? 1 : -1;  // of the way from a to b
    lay(other, own, is_along ? a : b, is_along ? b : a, is_along ? left : -left);
  };
  const std::size_t corner = corner_of(s, edge);
  lay(s, corner, {0, -0.5}, {0, 0.5}, 1);
  lay_across(0, corner, nullptr);
  for (const std::size_t beside : {0, 1})
    for (std::size_t k = 0; k < 3; ++k) lay_across(beside, k, nullptr);
  if (places.size() >= least_nodes) return places;
  std::vector<Index> wide;
  for (const auto& [node, place] : places) {
    const auto& around = at_node_[static_cast<std::size_t>(node)];
    wide.insert(wide.end(), around.begin(), around.end());
  }
  std::ranges::sort(wide);
  for (std::size_t i = 0; i < laid.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) lay_across(i, k, &wide);
  return places;
}

/// The slope at the middle of an edge between two triangles, from the first to the second.
Weights slope_between(const Triangulation& mesh, Index edge) {
  const auto [s, t] = mesh.edges[static_cast<std::size_t>(edge)].triangles;
  Weights slope;
  const double area_s = mesh.area(s), area_t = mesh.area(t);
  for (const auto& [f, share] :
       {std::pair{s, area_t / (area_s + area_t)}, {t, -area_s / (area_s + area_t)}}) {
    const Slope own = mesh.outward_slope(f, mesh.corner_of(f, edge));
    for (std::size_t k = 0; k < 3; ++k) slope[own.nodes[k]] += share * own.by_node[k];
  }
  const std::size_t corner = mesh.corner_of(s, edge);
  const auto& nodes = mesh.triangle(s).nodes;
  const double length = norm(mesh.at(nodes[(corner + 1) % 3]) - mesh.at(nodes[corner]));

  // The change is a sum of the parts of x^2, y^2 and x y at the nodes that no polynomial before them has: it
  // leaves slopes of 1, x and y alone, which are exact.
  const std::map<Index, Vec2d> places = mesh.unfolded(edge);
  std::array<std::vector<double>, 6> polynomials, parts;
  std::vector<double> weights;
  for (const auto& [node, p] : places) {
    const double values[] = {1, p.x, p.y, p.x * p.x, p.y * p.y, p.x * p.y};
    for (std::size_t i = 0; i < 6; ++i) polynomials[i].push_back(values[i]);
    const auto found = slope.find(node);
    weights.push_back(found == slope.end() ? 0 : found->second * length);
  }
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
    return sum;
  };
  for (std::size_t i = 0; i < 6; ++i) {
    std::vector<double> part = polynomials[i];
    for (int again = 0; again < 2; ++again)
      for (std::size_t j = 0; j < i; ++j) {
        if (parts[j].empty()) continue;
        const double common = product(parts[j], part);
        for (std::size_t n = 0; n < part.size(); ++n) part[n] -= common * parts[j][n];
      }
    const double size = std::sqrt(product(part, part));
    if (!(size > least_part * std::sqrt(product(polynomials[i], polynomials[i])))) continue;
    for (double& value : part) value /= size;
    if (i >= 3) {  // whose slope at the middle is 0
      const double change = -product(polynomials[i], weights) / size;
      for (std::size_t n = 0; n < part.size(); ++n) weights[n] += change * part[n];
    }
    parts[i] = std::move(part);
  }
  auto weight = weights.begin();
  for (const auto& [node, p] : places) slope[node] = *weight++ / length;
  return slope;
}

}  // namespace

MidEdgeBending::MidEdgeBending(const Mesh& mesh, const std::vector<char>& is_pinned) {
  const Triangulation cut(mesh, is_pinned);
  const std::vector<Vec3d> warps = face_warp_directions(mesh, build_topology(mesh));
  std::vector<Weights> slopes(cut.edges.size());  // from the first triangle to the second
  for (std::size_t q = 0; q < slopes.size(); ++q) {
    const auto [s, t] = cut.edges[q].triangles;
    if (t < 0 || (cut.is_held(s) && cut.is_held(t))) continue;
    const auto edge = static_cast<Index>(q);
    if (!cut.is_held(s) && !cut.is_held(t)) {
      slopes[q] = slope_between(cut, edge);
      continue;
    }
    const Index held = cut.is_held(s) ? s : t;
    const Slope own = cut.outward_slope(held, cut.corner_of(held, edge));
    for (std::size_t k = 0; k < 3; ++k)
      slopes[q][own.nodes[k]] = held == s ? own.by_node[k] : -own.by_node[k];
  }

  std::vector<std::vector<Index>> coupled(mesh.positions.size());
  for (std::size_t i = 0; i < coupled.size(); ++i) coupled[i].push_back(static_cast<Index>(i));
  for (std::size_t f = 0; f < cut.triangles.size(); ++f) {
    const auto t = static_cast<Index>(f);
    if (cut.is_held(t)) continue;
    const Triangle& triangle = cut.triangles[f];
    const Vec3d normal = normalized(cut.twice_area(t)), warp = warps[static_cast<std::size_t>(triangle.face)],
                u = normalized(warp - dot(warp, normal) * normal), v = isocloth::cross(normal, u);
    Element element;
    element.area = cut.area(t);
    if (!mesh.face_factors.empty())
      element.factor = mesh.face_factors[static_cast<std::size_t>(triangle.face)].bending;
    std::map<Index, std::array<double, 3>> turns;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto edge = static_cast<std::size_t>(triangle.edges[k]);
      const Vec3d along = cut.at(triangle.nodes[(k + 1) % 3]) - cut.at(triangle.nodes[k]);
      const double length = norm(along);
      const Vec3d outward = (1 / length) * isocloth::cross(along, normal);
      const double nu = dot(outward, u), nv = dot(outward, v);
      element.squares[k] = {nu * nu, nv * nv, std::sqrt(2.0) * nu * nv};
      element.is_rim[k] = slopes[edge].empty();
      if (element.is_rim[k]) continue;
      const double sign = cut.edges[edge].triangles[0] == t ? 1 : -1;
      for (const auto& [node, weight] : slopes[edge]) turns[node][k] += sign * length * weight;
      const Slope own = cut.outward_slope(t, k);
      for (std::size_t c = 0; c < 3; ++c) turns[own.nodes[c]][k] -= length * own.by_node[c];
    }
    for (const auto& [node, of_edges] : turns) {
      element.nodes.push_back(node);
      element.turns.push_back(of_edges);
    }
    for (const Index node : element.nodes) {
      auto& row = coupled[static_cast<std::size_t>(node)];
      row.insert(row.end(), element.nodes.begin(), element.nodes.end());
    }
    elements_.push_back(std::move(element));
  }
  pattern_ = pattern_of_rows(coupled);
}

std::vector<double> MidEdgeBending::values(double ratio) const {
  const double stiff[3] = {1, ratio, std::sqrt(ratio)};
  std::vector<double> found(pattern_.columns.size());
  for (const Element& element : elements_) {
    // Energy v^T M v / 2 of the turns v; what no moment acts on is eliminated.
    double m[3][3];
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        m[i][j] = 0;
        for (std::size_t c = 0; c < 3; ++c)
          m[i][j] += element.factor * stiff[c] * element.squares[i][c] * element.squares[j][c] / element.area;
      }
    for (std::size_t k = 0; k < 3; ++k) {
      if (!element.is_rim[k] || !(m[k][k] > 0)) continue;
      double row[3];
      std::copy_n(m[k], 3, row);
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) m[i][j] -= row[i] * row[j] / row[k];
    }
    for (std::size_t a = 0; a < element.nodes.size(); ++a) {
      double moments[3];
      for (std::size_t i = 0; i < 3; ++i)
        moments[i] =
            m[i][0] * element.turns[a][0] + m[i][1] * element.turns[a][1] + m[i][2] * element.turns[a][2];
      for (std::size_t b = 0; b < element.nodes.size(); ++b)
        found[static_cast<std::size_t>(pattern_.find(element.nodes[a], element.nodes[b]))] +=
            moments[0] * element.turns[b][0] + moments[1] * element.turns[b][1] +
            moments[2] * element.turns[b][2];
    }
  }
  return found;
}

}  // namespace isocloth
