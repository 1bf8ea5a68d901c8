#include "engine/mesh/panels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <set>

#include "engine/core/errors.hpp"
#include "engine/core/nearest_name.hpp"
#include "engine/core/plane.hpp"
#include "engine/core/rotation.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/delaunay.hpp"
#include "engine/mesh/polygon.hpp"

namespace isocloth {
namespace {

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw MeshError(text(parts...));
}

Vec3d placed(const Panel& panel, Vec2d p) {
  const double r = panel.around;
  const Vec3d upright =
      r > 0 ? Vec3d{r * std::sin(p.x / r), r - r * std::cos(p.x / r), p.y} : Vec3d{p.x, 0, p.y};
  return rotated(std::numbers::pi / 180 * panel.rotation, upright) + panel.translation;
}

/// An edge of a panel as many short ones, for its length and for points at even distances along it.
class Edge {
 public:
  Edge(const Panel& panel, Index k) {
    const auto count = static_cast<Index>(panel.outline.size());
    std::vector<Vec2d> control{panel.outline[static_cast<std::size_t>(k)]};
    for (const Panel::Curve& curve : panel.curves)
      if (curve.edge == k) control.insert(control.end(), curve.control.begin(), curve.control.end());
    control.push_back(panel.outline[static_cast<std::size_t>((k + 1) % count)]);
    const int pieces = control.size() == 2 ? 1 : 400;
    for (int i = 0; i <= pieces; ++i) {
      std::vector<Vec2d> points = control;  // de Casteljau
      const double t = static_cast<double>(i) / pieces;
      for (std::size_t left = points.size() - 1; left > 0; --left)
        for (std::size_t j = 0; j < left; ++j) points[j] = (1 - t) * points[j] + t * points[j + 1];
      points_.push_back(points.front());
      along_.push_back(i == 0 ? 0 : along_.back() + norm(points_[points_.size() - 2] - points_.back()));
    }
  }
  double length() const { return along_.back(); }
  /// Point at a share of the length.
  Vec2d at(double share) const {
    const double s = share * length();
    const auto after = std::min(std::ranges::upper_bound(along_, s) - along_.begin(),
                                static_cast<std::ptrdiff_t>(along_.size()) - 1);
    const auto i = static_cast<std::size_t>(after) - 1;
    const double t = (s - along_[i]) / (along_[i + 1] - along_[i]);
    return (1 - t) * points_[i] + t * points_[i + 1];
  }

 private:
  std::vector<Vec2d> points_;
  std::vector<double> along_;  ///< length up to each point [m]
};

/// A panel with its edges divided.
struct Cut {
  std::vector<Edge> edges;
  std::vector<Index> segments, first;  ///< number of segments of each edge, its first point in the outline
  std::vector<Vec2d> buttons;          ///< buttons inside where buttons ask for nodes [m]
  std::vector<Vec2d> points;           ///< points of the outline, then the buttons, then those inside [m]
  Index outline_count = 0, first_node = 0;

  /// Nodes along an edge, from corner to corner.
  std::vector<Index> nodes(Index edge) const {
    std::vector<Index> result;
    const auto e = static_cast<std::size_t>(edge);
    for (Index i = 0; i <= segments[e]; ++i) result.push_back(first_node + (first[e] + i) % outline_count);
    return result;
  }
};

void check_panel(const Panel& panel, const std::string& key) {
  const auto corners = static_cast<Index>(panel.outline.size());
  if (corners < 3) refuse(key, ".outline: found ", corners, " corners, expected at least 3");
  for (std::size_t i = 0; i < panel.outline.size(); ++i)
    if (const Vec2d p = panel.outline[i]; !std::isfinite(p.x) || !std::isfinite(p.y))
      refuse(key, ".outline[", i, "]: found ", p.x, " ", p.y, ", expected finite numbers");
  for (std::size_t i = 0; i < panel.outline.size(); ++i)
    if (const std::size_t after = (i + 1) % panel.outline.size(); panel.outline[i] == panel.outline[after])
      refuse(key, ".outline: found corners ", i, " and ", after, " at one place, expected distinct ones");
  for (std::size_t c = 0; c < panel.curves.size(); ++c) {
    const Panel::Curve& curve = panel.curves[c];
    if (curve.edge < 0 || curve.edge >= corners)
      refuse(key, ".curves[", c, "].edge: found ", curve.edge, ", expected 0 to ", corners - 1,
             ", edge k goes from corner k to the next");
    if (curve.control.empty() || curve.control.size() > 2)
      refuse(key, ".curves[", c, "].control: found ", curve.control.size(),
             " points, expected 1 of a quadratic or 2 of a cubic Bezier curve");
    for (std::size_t other = 0; other < c; ++other)
      if (panel.curves[other].edge == curve.edge)
        refuse(key, ".curves[", c, "].edge: found ", curve.edge, ", which curves[", other, "] has already");
  }
}

void check_outline(const std::vector<Vec2d>& points, const std::string& key) {
  const std::size_t n = points.size();
  double twice = 0;
  for (std::size_t i = 0; i < n; ++i) twice += cross(points[i], points[(i + 1) % n]);
  if (twice == 0)
    refuse(key, ".outline: found no area, expected more; lessen edge_length, or move its corners");
  if (const std::size_t i = first_meeting(points); i < n)
    refuse(key, ".outline: found it crossing itself at (", points[i].x, " ", points[i].y,
           "), expected a simple outline");
  if (!(twice > 0))
    refuse(key, ".outline: found an area of ", twice / 2,
           " m^2, expected corners counter-clockwise; give them in the opposite order");
}

/// Appends `places`, and points of a grid of even triangles, inside and at least half an edge away from the
/// outline and from the places. Cost: that of the grid and, per side of the outline, of what lies near it.
void fill(std::vector<Vec2d>& points, const std::vector<Vec2d>& places, double h) {
  const std::vector<Vec2d> outline = points;
  Vec2d low = outline.front(), high = low;
  for (const Vec2d& p : outline) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  const double rise = h * std::sqrt(0.75), apart = 0.55 * h;
  const auto rows = static_cast<Index>((high.y - low.y) / rise) + 1,
             columns = static_cast<Index>((high.x - low.x) / h) + 2;
  const auto at = [&](Index row, Index column) {
    return Vec2d{low.x + h * (column + (row % 2 == 0 ? 0.0 : -0.5)), low.y + (row + 0.5) * rise};
  };
  /// The numbers whose places, start + step * number, lie between two, and one more on either side.
  const auto near_numbers = [](double from, double to, double start, double step, Index count) {
    return std::pair{std::max(Index{0}, static_cast<Index>((from - start) / step) - 1),
                     std::min(count - 1, static_cast<Index>((to - start) / step) + 1)};
  };
  std::vector<std::vector<double>> crossings(static_cast<std::size_t>(rows));  // of the outline, by row
  std::vector<char> is_near(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0);
  const auto place = [&](Index row, Index column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
           static_cast<std::size_t>(column);
  };
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Vec2d a = outline[i], b = outline[(i + 1) % outline.size()], side = b - a;
    const auto [first, last] =
        near_numbers(std::min(a.y, b.y) - apart, std::max(a.y, b.y) + apart, low.y + 0.5 * rise, rise, rows);
    for (Index row = first; row <= last; ++row) {
      const double y = at(row, 0).y;
      if ((a.y > y) != (b.y > y))
        crossings[static_cast<std::size_t>(row)].push_back(a.x + (y - a.y) / side.y * side.x);
      const auto [begin, end] =
          near_numbers(std::min(a.x, b.x) - apart, std::max(a.x, b.x) + apart, at(row, 0).x, h, columns);
      for (Index column = begin; column <= end; ++column) {
        const Vec2d way = at(row, column) - a;
        const double t = std::clamp(dot(side, way) / dot(side, side), 0.0, 1.0);
        if (norm(way - t * side) < apart) is_near[place(row, column)] = 1;
      }
    }
  }
  for (const Vec2d& place_of : places) {
    const auto [first, last] =
        near_numbers(place_of.y - apart, place_of.y + apart, low.y + 0.5 * rise, rise, rows);
    for (Index row = first; row <= last; ++row) {
      const auto [begin, end] =
          near_numbers(place_of.x - apart, place_of.x + apart, at(row, 0).x, h, columns);
      for (Index column = begin; column <= end; ++column)
        if (norm(at(row, column) - place_of) < apart) is_near[place(row, column)] = 1;
    }
  }
  points.insert(points.end(), places.begin(), places.end());
  for (Index row = 0; row < rows; ++row) {
    std::vector<double>& here = crossings[static_cast<std::size_t>(row)];
    std::ranges::sort(here);
    for (Index column = 0; column < columns; ++column) {
      const Vec2d p = at(row, column);
      const auto beyond = here.end() - std::ranges::upper_bound(here, p.x);
      if (beyond % 2 == 1 && !is_near[place(row, column)]) points.push_back(p);
    }
  }
}

/// Numbers of an edge among those of all panels.
struct EdgeNumber {
  std::size_t panel = 0;
  Index edge = 0;
};

/// Meshes panels and joins them.
class PatternMesher {
 public:
  PatternMesher(const std::vector<Panel>& panels, const std::vector<Seam>& seams, const Fasteners& fasteners,
                double h, const std::string& key)
      : panels_(panels), seams_(seams), fasteners_(fasteners), h_(h), key_(key) {}

  SewnPanels run() {
    if (panels_.empty()) refuse(key_, ".panels: found none, expected at least one");
    for (std::size_t p = 0; p < panels_.size(); ++p) {
      const Panel& panel = panels_[p];
      if (panel.name.empty()) refuse(key_, ".panels[", p, "].name: found none, expected a name");
      if (!numbers_.emplace(panel.name, p).second)
        refuse(key_, ".panels[", p, "].name: found \"", panel.name, "\", already the name of panels[",
               numbers_.at(panel.name), "]");
      check_panel(panel, panel_key(p));
      cuts_.emplace_back();
      for (Index e = 0; e < static_cast<Index>(panel.outline.size()); ++e)
        cuts_[p].edges.emplace_back(panel, e);
    }
    divide();
    for (std::size_t p = 0; p < panels_.size(); ++p) outline(p);
    for (std::size_t b = 0; b < fasteners_.buttons.size(); ++b) place_button(b);
    for (std::size_t p = 0; p < panels_.size(); ++p) mesh(p);
    for (std::size_t s = 0; s < seams_.size(); ++s) sew(s);
    for (std::size_t b = 0; b < fasteners_.buttons.size(); ++b) button(b);
    for (std::size_t b = 0; b < fasteners_.bands.size(); ++b) band(b);
    // Sewn edges that meet in a corner may end at two nodes of one triangle: it stays as it is.
    std::set<std::array<Index, 2>> edges;
    for (Index f = 0; f < result_.mesh.face_count(); ++f)
      for (std::size_t c = 0; c < 3; ++c) {
        const auto [low, high] = std::minmax(result_.mesh.face(f)[c], result_.mesh.face(f)[(c + 1) % 3]);
        edges.insert({low, high});
      }
    for (const auto& [nodes, thread] : stitches_) {
      if (edges.contains(nodes)) continue;
      result_.mesh.stitches.push_back({nodes[0], nodes[1], thread.first});
      result_.seams.of_stitches.push_back(thread.second);
    }
    for (const Seam& seam : seams_) {
      result_.seams.names.push_back(seam.name());
      result_.seams.orders.push_back(order_of(seam));
    }
    return std::move(result_);
  }

 private:
  std::string panel_key(std::size_t p) const { return text(key_, ".panels[", p, "]"); }

  /// side: the key, up to the words "panel" and "edge".
  std::size_t panel_of(const std::string& side, const std::string& name) const {
    const auto panel = numbers_.find(name);
    if (panel == numbers_.end()) {
      std::vector<std::string> names;
      for (const Panel& known : panels_) names.push_back(known.name);
      refuse(side, "panel: found \"", name, "\", expected the name of a panel; the nearest is \"",
             nearest_name(name, names), "\"");
    }
    return panel->second;
  }
  EdgeNumber edge_of(const std::string& side, const std::string& name, Index edge) const {
    const std::size_t panel = panel_of(side, name);
    const auto count = static_cast<Index>(panels_[panel].outline.size());
    if (edge < 0 || edge >= count)
      refuse(side, "edge: found ", edge, ", expected 0 to ", count - 1, ", an edge of \"", name, "\"");
    return {panel, edge};
  }
  std::array<EdgeNumber, 2> edges_of(std::size_t s) const {
    std::array<EdgeNumber, 2> found;
    for (std::size_t i = 0; i < 2; ++i)
      found[i] = edge_of(text(key_, ".seams[", s, i == 0 ? "]." : "].other_"), seams_[s].panels[i],
                         seams_[s].edges[i]);
    if (found[0].panel == found[1].panel && found[0].edge == found[1].edge)
      refuse(key_, ".seams[", s, "]: found edge ", found[0].edge, " of \"", seams_[s].panels[0],
             "\" twice, expected two edges");
    return found;
  }

  /// Place of a seam among all in the order of sewing.
  Index order_of(const Seam& seam) const {
    constexpr Index orders = 1001;  // of each layer
    const std::size_t one = numbers_.at(seam.panels[0]), other = numbers_.at(seam.panels[1]);
    const auto corners = static_cast<Index>(panels_[one].outline.size()),
               apart = std::abs(seam.edges[0] - seam.edges[1]);
    const bool is_dart = one == other && (apart == 1 || apart == corners - 1);
    return orders * std::max(panels_[one].layer, panels_[other].layer) +
           static_cast<Index>(seam.order.value_or(is_dart ? 0 : 1));
  }

  /// How many parts each edge has: edges that seams join have as many as each other.
  void divide() {
    std::vector<std::size_t> begin{0};
    for (const Cut& cut : cuts_) begin.push_back(begin.back() + cut.edges.size());
    std::vector<std::size_t> above(begin.back());
    std::iota(above.begin(), above.end(), std::size_t{0});
    const auto top = [&](std::size_t i) {
      while (above[i] != i) i = above[i];
      return i;
    };
    std::map<std::array<std::size_t, 2>, std::size_t> known;  // seams by their edges
    for (std::size_t s = 0; s < seams_.size(); ++s) {
      const auto [one, other] = edges_of(s);
      std::array<std::size_t, 2> two{begin[one.panel] + one.edge, begin[other.panel] + other.edge};
      std::ranges::sort(two);
      if (const auto [before, is_new] = known.emplace(two, s); !is_new)
        refuse(key_, ".seams[", s, "]: found edge ", one.edge, " of \"", seams_[s].panels[0], "\" with edge ",
               other.edge, " of \"", seams_[s].panels[1], "\", already seams[", before->second,
               "], expected each two edges once");
      above[top(begin[one.panel] + one.edge)] = top(begin[other.panel] + other.edge);
    }
    std::vector<double> longest(above.size(), 0);
    const auto for_each_edge = [&](const auto& visit) {
      for (std::size_t p = 0; p < cuts_.size(); ++p)
        for (std::size_t e = 0; e < cuts_[p].edges.size(); ++e) visit(cuts_[p], e, top(begin[p] + e));
    };
    for_each_edge([&](Cut& cut, std::size_t e, std::size_t i) {
      longest[i] = std::max(longest[i], cut.edges[e].length());
    });
    for_each_edge([&](Cut& cut, std::size_t, std::size_t i) {
      if (!(longest[i] < most_segments * h_ && std::isfinite(h_)))
        refuse(key_, ".edge_length: found ", h_, ", expected one for edges of ", longest[i], " m");
      cut.segments.push_back(std::max(Index{1}, static_cast<Index>(std::lround(longest[i] / h_))));
    });
  }

  /// The nodes of the edges; cheap beside what lies inside of them, and what is wrong is mostly wrong here.
  void outline(std::size_t p) {
    Cut& cut = cuts_[p];
    for (std::size_t e = 0; e < cut.edges.size(); ++e) {
      cut.first.push_back(static_cast<Index>(cut.points.size()));
      for (Index i = 0; i < cut.segments[e]; ++i)
        cut.points.push_back(cut.edges[e].at(static_cast<double>(i) / cut.segments[e]));
    }
    check_outline(cut.points, panel_key(p));
    cut.outline_count = static_cast<Index>(cut.points.size());
  }

  void mesh(std::size_t p) {
    Cut& cut = cuts_[p];
    cut.first_node = result_.mesh.node_count();
    fill(cut.points, cut.buttons, h_);
    const auto kept = static_cast<Index>(static_cast<std::size_t>(cut.outline_count) + cut.buttons.size());
    std::vector<std::array<Index, 3>> triangles;
    try {
      constexpr int sweeps = 10;
      spread_points(cut.points, cut.outline_count, sweeps, kept);
      triangles = triangulate_region(cut.points, cut.outline_count);
    } catch (const MeshError& error) {
      refuse(panel_key(p), ": ", error.what(), "; lessen edge_length, ", h_, " m");
    }
    const Panel& panel = panels_[p];
    double left = cut.points.front().x, right = left;
    for (const Vec2d& point : cut.points) left = std::min(left, point.x), right = std::max(right, point.x);
    for (const Vec2d& point : cut.points) {
      result_.mesh.positions.push_back({next_ + (point.x - left), point.y, 0});
      result_.placed.push_back(placed(panel, point));
    }
    next_ += (right - left) + 10 * h_;
    const double c = std::cos(panel.grain * std::numbers::pi / 180),
                 s = std::sin(panel.grain * std::numbers::pi / 180);
    for (const auto& t : triangles) {
      result_.mesh.add_face({cut.first_node + t[0], cut.first_node + t[1], cut.first_node + t[2]});
      for (const Index i : t) {
        const Vec2d q = cut.points[static_cast<std::size_t>(i)];
        result_.mesh.corner_uvs.push_back({c * q.x + s * q.y, c * q.y - s * q.x});
      }
    }
  }

  void sew(std::size_t s) {
    const auto [one, other] = edges_of(s);
    const std::vector<Index> a = cuts_[one.panel].nodes(one.edge);
    std::vector<Index> b = cuts_[other.panel].nodes(other.edge);
    const auto threads = [&] {
      double sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i) sum += norm(result_.placed[a[i]] - result_.placed[b[i]]);
      return sum;
    };
    const double same = threads();
    std::ranges::reverse(b);
    const SeamDirection direction = seams_[s].direction;
    if (direction == SeamDirection::same || (direction == SeamDirection::shorter && same < threads()))
      std::ranges::reverse(b);
    const double length = cuts_[one.panel].edges[one.edge].length(),
                 other_length = cuts_[other.panel].edges[other.edge].length();
    if (std::max(length, other_length) > 2 * std::min(length, other_length))
      result_.notes.push_back(text(key_, ".seams[", s, "]: sews an edge of ", length, " m to one of ",
                                   other_length, " m: are these the edges that are meant?"));
    const double piece = (length + other_length) / (2 * static_cast<double>(a.size() - 1));
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) continue;  // the tip of a dart
      const auto [low, high] = std::minmax(a[i], b[i]);
      const bool is_end = i == 0 || i + 1 == a.size();
      stitches_.try_emplace({low, high}, 0, s).first->second.first += is_end ? piece / 2 : piece;
    }
  }

  std::string side_of(std::size_t b, std::size_t i) const {
    return text(key_, ".buttons[", b, i == 0 ? "]." : "].other_");
  }

  /// Asks for nodes where a button is.
  void place_button(std::size_t b) {
    for (std::size_t i = 0; i < 2; ++i) {
      Cut& cut = cuts_[panel_of(side_of(b, i), fasteners_.buttons[b].panels[i])];
      const Vec2d position = fasteners_.buttons[b].positions[i];
      constexpr double rounding = 1e-9;
      const double to_outline = distance_to_polygon(cut.points, position);
      if (!is_inside_polygon(cut.points, position) && !(to_outline <= rounding * h_))
        refuse(side_of(b, i), "at: found (", position.x, " ", position.y, "), ", to_outline,
               " m outside of the panel \"", fasteners_.buttons[b].panels[i], "\", expected a place on it");
      const auto is_far = [&](Vec2d other) { return norm(other - position) >= least_distance * h_; };
      if (to_outline >= least_distance * h_ && std::ranges::all_of(cut.buttons, is_far))
        cut.buttons.push_back(position);
    }
  }

  void button(std::size_t b) {
    const PanelButton& of = fasteners_.buttons[b];
    std::array<Index, 2> ends{};
    for (std::size_t i = 0; i < 2; ++i) {
      const Cut& cut = cuts_[numbers_.at(of.panels[i])];
      const auto nearest =
          std::ranges::min_element(cut.points, {}, [&](Vec2d p) { return norm(p - of.positions[i]); });
      ends[i] = cut.first_node + static_cast<Index>(nearest - cut.points.begin());
    }
    const auto joins = [&](const auto& thread) {
      return std::minmax(thread.a, thread.b) == std::minmax(ends[0], ends[1]);
    };
    if (ends[0] == ends[1] || std::ranges::any_of(result_.mesh.buttons, joins))
      refuse(key_, ".buttons[", b, "]: found both places at ",
             ends[0] == ends[1] ? "one node" : "those of a button before it",
             ", expected two places more than 0.4 edge_length apart");
    result_.mesh.buttons.push_back({ends[0], ends[1], of.distance, of.stiffness, of.force, of.strength});
  }

  void band(std::size_t b) {
    const PanelBand& of = fasteners_.bands[b];
    const std::string side = text(key_, ".bands[", b, "].");
    const EdgeNumber number = edge_of(side, of.panel, of.edge);
    for (std::size_t other = 0; other < b; ++other)
      if (fasteners_.bands[other].panel == of.panel && fasteners_.bands[other].edge == of.edge)
        refuse(side, "edge: found ", of.edge, ", which bands[", other, "] has already");
    const std::vector<Index> nodes = cuts_[number.panel].nodes(number.edge);
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      const auto& p = result_.mesh.positions;
      const double piece = norm(p[nodes[i]] - p[nodes[i + 1]]);
      result_.mesh.bands.push_back({nodes[i], nodes[i + 1], of.share * piece, of.stiffness});
    }
  }

  static constexpr double most_segments = 1e6;   ///< greatest number of segments of an edge
  static constexpr double least_distance = 0.4;  ///< least distance to a button's node [edge lengths]
  const std::vector<Panel>& panels_;
  const std::vector<Seam>& seams_;
  const Fasteners& fasteners_;
  const double h_;
  const std::string& key_;
  std::map<std::string, std::size_t> numbers_;
  std::vector<Cut> cuts_;
  std::map<std::array<Index, 2>, std::pair<double, Index>> stitches_;  ///< length [m] and number of the seam
  double next_ = 0;                                                    ///< where the next panel lies [m]
  SewnPanels result_;
};

}  // namespace

SewnPanels sew_panels(const std::vector<Panel>& panels, const std::vector<Seam>& seams, double edge_length,
                      const std::string& key, const Fasteners& fasteners) {
  return PatternMesher(panels, seams, fasteners, edge_length, key).run();
}

}  // namespace isocloth
