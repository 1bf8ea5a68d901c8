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
#include "engine/mesh/fill_region.hpp"
#include "engine/mesh/panel_edge.hpp"
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

/// A panel with its edges divided.
struct Cut {
  std::vector<PanelEdge> edges;  ///< those of the outline, then its lines
  std::size_t side_count = 0;    ///< edges of the outline
  /// Number of segments of each edge, 0: both its ends are one node; its first point in the outline.
  std::vector<Index> segments, first;
  std::vector<std::vector<double>> fixed;  ///< shares of each edge where lines end, ascending
  std::vector<std::vector<Index>> lines;   ///< points of each line
  std::vector<Vec2d> kept;                 ///< places inside where lines and buttons ask for nodes [m]
  std::vector<Vec2d> points;  ///< points of the outline, then those that are kept, then others inside [m]
  Index outline_count = 0, first_node = 0;

  /// Nodes along an edge, from corner to corner, or of a line.
  std::vector<Index> nodes(Index edge) const {
    std::vector<Index> result;
    const auto e = static_cast<std::size_t>(edge);
    if (e >= side_count) {
      for (const Index point : lines[e - side_count]) result.push_back(first_node + point);
      return result;
    }
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

void check_fold(const PanelFold& fold, const std::string& key) {
  if (!(std::fabs(fold.angle) <= 180))
    refuse(key, ".angle: found ", fold.angle, " degrees, expected -180 to 180");
  for (const auto& [name, value] : {std::pair{".factor", fold.factor}, {".stiffness", fold.stiffness}})
    if (!(value >= 0 && std::isfinite(value)))
      refuse(key, name, ": found ", value, ", expected a number >= 0");
}

void check_line(const Panel& panel, std::size_t l, const std::string& key) {
  const PanelLine& line = panel.lines[l];
  if (line.name.empty()) refuse(key, ".name: found none, expected a name");
  for (std::size_t before = 0; before < l; ++before)
    if (panel.lines[before].name == line.name)
      refuse(key, ".name: found \"", line.name, "\", already the name of lines[", before, "]");
  if (line.points.size() < 2)
    refuse(key, ".points: found ", line.points.size(), " points, expected at least 2");
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    const Vec2d p = line.points[i];
    if (!std::isfinite(p.x) || !std::isfinite(p.y))
      refuse(key, ".points[", i, "]: found ", p.x, " ", p.y, ", expected finite numbers");
    if (i > 0 && p == line.points[i - 1])
      refuse(key, ".points: found points ", i - 1, " and ", i, " at one place, expected distinct ones");
  }
  if (line.fold) check_fold(*line.fold, key + ".fold");
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
      Cut& cut = cuts_.emplace_back();
      cut.side_count = panel.outline.size();
      for (Index e = 0; e < static_cast<Index>(panel.outline.size()); ++e) cut.edges.emplace_back(panel, e);
      for (std::size_t l = 0; l < panel.lines.size(); ++l) {
        check_line(panel, l, text(panel_key(p), ".lines[", l, "]"));
        cut.edges.emplace_back(panel.lines[l]);
      }
    }
    divide();
    fix_ends();
    for (std::size_t p = 0; p < panels_.size(); ++p) outline(p);
    for (std::size_t p = 0; p < panels_.size(); ++p)
      for (std::size_t l = 0; l < panels_[p].lines.size(); ++l) line(p, l);
    for (std::size_t b = 0; b < fasteners_.buttons.size(); ++b) place_button(b);
    result_.panel_begin.push_back(0);
    for (std::size_t p = 0; p < panels_.size(); ++p) mesh(p);
    find_triangles();
    for (std::size_t p = 0; p < panels_.size(); ++p) fold_lines(p);
    for (std::size_t s = 0; s < seams_.size(); ++s) sew(s);
    for (std::size_t b = 0; b < fasteners_.buttons.size(); ++b) button(b);
    for (std::size_t b = 0; b < fasteners_.bands.size(); ++b) band(b);
    // Sewn edges that meet in a corner may end at two nodes of one triangle: it stays as it is.
    for (const auto& [nodes, thread] : stitches_) {
      if (beyond_.contains(nodes) || beyond_.contains({nodes[1], nodes[0]})) continue;
      result_.mesh.stitches.push_back({nodes[0], nodes[1], thread.first});
      result_.seams.of_stitches.push_back(thread.second);
      const auto zipper = zippers_.find(thread.second);
      if (zipper == zippers_.end()) continue;
      zipper->second.stitches.push_back(static_cast<Index>(result_.mesh.stitches.size()) - 1);
      zipper->second.shares.push_back(zip_shares_.at(nodes));
    }
    for (auto& [seam, zipper] : zippers_) result_.zippers.push_back(std::move(zipper));
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
  /// line: name of a line in the place of the edge; empty: none.
  EdgeNumber edge_of(const std::string& side, const std::string& name, Index edge,
                     const std::string& line = {}) const {
    const std::size_t panel = panel_of(side, name);
    if (!line.empty()) {
      const std::vector<PanelLine>& lines = panels_[panel].lines;
      const auto found = std::ranges::find(lines, line, &PanelLine::name);
      if (found == lines.end())
        refuse(side, "line: found \"", line, "\", expected the name of a line of \"", name, "\", which has ",
               lines.size());
      return {panel,
              static_cast<Index>(panels_[panel].outline.size()) + static_cast<Index>(found - lines.begin())};
    }
    const auto count = static_cast<Index>(panels_[panel].outline.size());
    if (edge < 0 || edge >= count)
      refuse(side, "edge: found ", edge, ", expected 0 to ", count - 1, ", an edge of \"", name, "\"");
    return {panel, edge};
  }
  std::array<EdgeNumber, 2> edges_of(std::size_t s) const {
    std::array<EdgeNumber, 2> found;
    for (std::size_t i = 0; i < 2; ++i)
      found[i] = edge_of(text(key_, ".seams[", s, i == 0 ? "]." : "].other_"), seams_[s].panels[i],
                         seams_[s].edges[i], seams_[s].lines[i]);
    if (seams_[s].fold && !(seams_[s].lines[0].empty() && seams_[s].lines[1].empty()))
      refuse(key_, ".seams[", s, "].fold: found one of a seam on a line, expected none: it is of two edges");
    if (found[0].panel == found[1].panel && found[0].edge == found[1].edge)
      refuse(key_, ".seams[", s, "]: found ",
             seams_[s].lines[0].empty() ? text("edge ", found[0].edge) : text("line ", seams_[s].lines[0]),
             " of \"", seams_[s].panels[0], "\" twice, expected two edges");
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
    std::vector<char> is_short(above.size(), 1);  // of what hangs together, all of it
    for_each_edge([&](Cut& cut, std::size_t e, std::size_t i) {
      const std::size_t n = cut.side_count;
      if (e >= n) {
        is_short[i] = 0;
        return;
      }
      for (const std::size_t beside : {e + 1 == n ? 0 : e + 1, e == 0 ? n - 1 : e - 1})
        if (cut.edges[beside].length() < short_edge * h_) is_short[i] = 0;  // a curve of short edges
      if (!(longest[i] < short_edge * h_) || n <= 3) is_short[i] = 0;
    });
    for (const PanelBand& band : fasteners_.bands)
      if (const auto panel = numbers_.find(band.panel); panel != numbers_.end())
        for (std::size_t e = 0; e < cuts_[panel->second].edges.size(); ++e)
          if (static_cast<Index>(e) == band.edge) is_short[top(begin[panel->second] + e)] = 0;
    for_each_edge([&](Cut& cut, std::size_t e, std::size_t i) {
      if (is_short[i] == 0) return;
      cut.segments[e] = 0;
      result_.notes.push_back(text(panel_key(static_cast<std::size_t>(&cut - cuts_.data())), ": edge ", e,
                                   " is ", cut.edges[e].length(),
                                   " m long, less than a sixth of edge_length: one node of the mesh"));
    });
  }

  /// Whether the other side of a seam runs against its first, so that its threads are shorter unless it says.
  bool is_against(std::size_t s) const {
    if (seams_[s].direction != SeamDirection::shorter) return seams_[s].direction == SeamDirection::opposite;
    const auto [one, other] = edges_of(s);
    const PanelEdge &a = cuts_[one.panel].edges[one.edge], &b = cuts_[other.panel].edges[other.edge];
    const Index count = std::max(cuts_[one.panel].segments[one.edge], Index{1});
    const auto threads = [&](bool is_reversed) {
      double sum = 0;
      for (Index i = 0; i <= count; ++i) {
        const double t = static_cast<double>(i) / count, u = is_reversed ? 1 - t : t;
        sum += norm(placed(panels_[one.panel], a.at(t)) - placed(panels_[other.panel], b.at(u)));
      }
      return sum;
    };
    return !(threads(false) < threads(true));
  }

  /// Where lines end on outlines, and on the edges that are sewn to these, are nodes.
  void fix_ends() {
    struct End {
      EdgeNumber edge;
      double share;
    };
    for (Cut& cut : cuts_) cut.fixed.resize(cut.edges.size());
    std::vector<End> open;
    for (std::size_t p = 0; p < panels_.size(); ++p)
      for (const PanelLine& line : panels_[p].lines)
        for (const Vec2d end : {line.points.front(), line.points.back()})
          if (const auto [edge, share, distance] = nearest_side(p, end); distance < least_distance * h_)
            open.push_back({{p, edge}, share});
    std::vector<char> is_against_first;
    for (std::size_t s = 0; s < seams_.size() && !open.empty(); ++s)
      is_against_first.push_back(is_against(s));
    while (!open.empty()) {
      const End end = open.back();
      open.pop_back();
      const Cut& cut = cuts_[end.edge.panel];
      const double apart = least_distance / cut.segments[end.edge.edge];
      std::vector<double>& own = cuts_[end.edge.panel].fixed[end.edge.edge];
      if (end.share < apart || end.share > 1 - apart) continue;  // at a corner
      if (std::ranges::any_of(own, [&](double other) { return std::fabs(other - end.share) < apart; }))
        continue;
      own.insert(std::ranges::upper_bound(own, end.share), end.share);
      for (std::size_t s = 0; s < seams_.size(); ++s) {
        const auto sides = edges_of(s);
        for (std::size_t i = 0; i < 2; ++i)
          if (sides[i].panel == end.edge.panel && sides[i].edge == end.edge.edge)
            open.push_back({sides[1 - i], is_against_first[s] != 0 ? 1 - end.share : end.share});
      }
    }
  }

  struct NearestSide {
    Index edge;
    double share, distance;
  };
  NearestSide nearest_side(std::size_t p, Vec2d place) const {
    NearestSide best{0, 0, HUGE_VAL};
    for (std::size_t e = 0; e < cuts_[p].side_count; ++e)
      if (const auto [share, distance] = cuts_[p].edges[e].nearest(place); distance < best.distance)
        best = {static_cast<Index>(e), share, distance};
    return best;
  }

  /// Shares at which an edge has nodes: even ones between those that are fixed.
  std::vector<double> shares(std::size_t p, std::size_t e) const {
    const Cut& cut = cuts_[p];
    const Index count = cut.segments[e];
    std::vector<double> all;
    for (Index i = 0; i <= count; ++i) all.push_back(static_cast<double>(i) / count);
    Index before = 0;
    const auto go_on_to = [&](Index at, double share) {
      const double from = all[static_cast<std::size_t>(before)];
      for (Index i = before + 1; i <= at && i < count; ++i)
        all[static_cast<std::size_t>(i)] = from + (share - from) * (i - before) / (at - before);
      before = at;
    };
    for (std::size_t k = 0; k < cut.fixed[e].size(); ++k) {
      const double share = cut.fixed[e][k];
      const auto left = static_cast<Index>(cut.fixed[e].size() - k);
      const auto nearest = static_cast<Index>(std::lround(share * count));
      if (before + 1 > count - left)
        refuse(panel_key(p), ": found ", cut.fixed[e].size(), " ends of lines on ", count,
               " elements of edge ", e, ", expected fewer; lessen edge_length");
      go_on_to(std::clamp(nearest, before + 1, count - left), share);
    }
    if (before > 0) go_on_to(count, 1);
    return all;
  }

  /// The nodes of a line: of the outline or of lines before it at its ends, its own between.
  void line(std::size_t p, std::size_t l) {
    Cut& cut = cuts_[p];
    const std::string key = text(panel_key(p), ".lines[", l, "]");
    const Index count = cut.segments[cut.side_count + l];
    for (const Vec2d place : panels_[p].lines[l].points)
      if (const double to_outline = distance_to_polygon(cut.points, place);
          !is_inside_polygon(cut.points, place) && !(to_outline < least_distance * h_))
        refuse(key, ".points: found (", place.x, " ", place.y, "), ", to_outline,
               " m outside of the panel \"", panels_[p].name, "\", expected a line on it");
    std::vector<Index> found;
    const std::vector<double> at = shares(p, cut.side_count + l);
    for (Index i = 0; i <= count; ++i) {
      const Vec2d place = cut.edges[cut.side_count + l].at(at[static_cast<std::size_t>(i)]);
      const bool is_end = i == 0 || i == count;
      const double to_outline = distance_to_polygon(cut.points, place);
      const auto nearest_of = [&](const std::vector<Vec2d>& points) {
        const auto found_at = std::ranges::min_element(points, {}, [&](Vec2d q) { return norm(q - place); });
        return std::pair{static_cast<Index>(found_at - points.begin()),
                         found_at == points.end() ? HUGE_VAL : norm(*found_at - place)};
      };
      if (is_end && to_outline < least_distance * h_) {
        found.push_back(nearest_of(cut.points).first);
      } else if (const auto [other, distance] = nearest_of(cut.kept);
                 is_end && distance < least_distance * h_) {
        found.push_back(cut.outline_count + other);
      } else {
        if (to_outline < least_distance * h_ || distance < least_distance * h_ ||
            !is_inside_polygon(cut.points, place))
          refuse(
              key, ".points: found (", place.x, " ", place.y,
              ") nearer than 0.4 edge lengths to the outline or another line, expected lines apart but for "
              "their ends; lessen edge_length");
        found.push_back(cut.outline_count + static_cast<Index>(cut.kept.size()));
        cut.kept.push_back(place);
      }
    }
    for (std::size_t i = 0; i + 1 < found.size(); ++i)
      if (found[i] == found[i + 1])
        refuse(key, ".points: found both ends at one node, expected a longer line; lessen edge_length");
    cut.lines.push_back(std::move(found));
  }

  /// The nodes of the edges; cheap beside what lies inside of them, and what is wrong is mostly wrong here.
  void outline(std::size_t p) {
    Cut& cut = cuts_[p];
    for (std::size_t e = 0; e < cut.side_count; ++e) {
      cut.first.push_back(static_cast<Index>(cut.points.size()));
      const std::vector<double> at = shares(p, e);
      for (Index i = 0; i < cut.segments[e]; ++i)
        cut.points.push_back(cut.edges[e].at(at[static_cast<std::size_t>(i)]));
    }
    check_outline(cut.points, panel_key(p));
    cut.outline_count = static_cast<Index>(cut.points.size());
  }

  void mesh(std::size_t p) {
    Cut& cut = cuts_[p];
    cut.first_node = result_.mesh.node_count();
    std::vector<std::array<Index, 2>> sides;  // of lines
    for (const std::vector<Index>& line : cut.lines)
      for (std::size_t i = 0; i + 1 < line.size(); ++i) sides.push_back({line[i], line[i + 1]});
    fill_region(cut.points, cut.kept, sides, h_);
    const auto kept = static_cast<Index>(static_cast<std::size_t>(cut.outline_count) + cut.kept.size());
    std::vector<std::array<Index, 3>> triangles;
    try {
      constexpr int spreading = 10;
      spread_points(cut.points, cut.outline_count, spreading, kept);
      clear_sides(cut.points, sides, kept);
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
    result_.panel_begin.push_back(result_.mesh.face_count());
  }

  void find_triangles() {
    for (Index f = 0; f < result_.mesh.face_count(); ++f) {
      const auto t = result_.mesh.face(f);
      for (std::size_t c = 0; c < 3; ++c) beyond_[{t[c], t[(c + 1) % 3]}] = t[(c + 2) % 3];
    }
  }

  Vec3d at(Index node) const { return result_.mesh.positions[static_cast<std::size_t>(node)]; }

  /// Adds a fold with a share of its stiffness; areas: of both triangles beside it.
  void add_fold(const std::array<Index, 4>& nodes, const PanelFold& fold, double length, double areas,
                double share) {
    result_.mesh.folds.push_back({nodes, fold.angle * std::numbers::pi / 180, share * fold.stiffness * length,
                                  share * fold.factor * length * length / areas});
  }
  double area(Index a, Index b, Index c) const { return norm(cross(at(b) - at(a), at(c) - at(a))) / 2; }

  void fold_lines(std::size_t p) {
    const Cut& cut = cuts_[p];
    for (std::size_t l = 0; l < panels_[p].lines.size(); ++l) {
      const std::vector<Index> nodes = cut.nodes(static_cast<Index>(cut.side_count + l));
      for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
        const Index a = nodes[i], b = nodes[i + 1];
        const auto left = beyond_.find({a, b}), right = beyond_.find({b, a});
        if (left == beyond_.end() || right == beyond_.end())
          refuse(panel_key(p), ".lines[", l, "]: found no edge of the mesh between (", at(a).x, " ", at(a).y,
                 ") and (", at(b).x, " ", at(b).y,
                 "), expected a line inside of its panel that crosses no other; lessen edge_length");
        const Index c = left->second, d = right->second;
        if (panels_[p].lines[l].fold)
          add_fold({a, b, c, d}, *panels_[p].lines[l].fold, norm(at(b) - at(a)),
                   area(a, b, c) + area(a, b, d), 1);
      }
    }
  }

  /// Folds of each side of a seam with the triangles beyond the other.
  void fold_seam(std::size_t s, const std::vector<Index>& a, const std::vector<Index>& b) {
    check_fold(*seams_[s].fold, text(key_, ".seams[", s, "].fold"));
    for (std::size_t i = 0; i + 1 < a.size(); ++i) {
      std::size_t from = i, to = i + 1;
      if (!beyond_.contains({a[from], a[to]})) std::swap(from, to);
      const bool is_like = beyond_.contains({b[from], b[to]});
      const Index c = beyond_.at({a[from], a[to]}),
                  d = is_like ? beyond_.at({b[from], b[to]}) : beyond_.at({b[to], b[from]});
      if (c == d || a[from] == d || a[to] == d || b[from] == c || b[to] == c) continue;  // the tip of a dart
      const double length = (norm(at(a[to]) - at(a[from])) + norm(at(b[to]) - at(b[from]))) / 2,
                   areas = area(a[from], a[to], c) + area(b[from], b[to], d);
      add_fold({a[from], a[to], c, d}, *seams_[s].fold, length, areas, 0.5);
      add_fold({b[from], b[to], c, d}, *seams_[s].fold, length, areas, 0.5);
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
    if (seams_[s].fold) fold_seam(s, a, b);
    const double length = cuts_[one.panel].edges[one.edge].length(),
                 other_length = cuts_[other.panel].edges[other.edge].length();
    if (std::max(length, other_length) > 2 * std::min(length, other_length))
      result_.notes.push_back(text(key_, ".seams[", s, "]: sews an edge of ", length, " m to one of ",
                                   other_length, " m: are these the edges that are meant?"));
    const double piece = (length + other_length) / (2 * std::max(1.0, static_cast<double>(a.size() - 1)));
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) continue;  // the tip of a dart
      const auto [low, high] = std::minmax(a[i], b[i]);
      const bool is_end = i == 0 || i + 1 == a.size();
      stitches_.try_emplace({low, high}, 0, s).first->second.first += is_end ? piece / 2 : piece;
      zip_shares_.try_emplace({low, high}, static_cast<double>(i) / static_cast<double>(a.size() - 1));
    }
    if (seams_[s].zipper)
      zippers_[static_cast<Index>(s)] = {
          .name = seams_[s].name(), .stitches = {}, .shares = {}, .closed = *seams_[s].zipper};
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
      if (to_outline >= least_distance * h_ && std::ranges::all_of(cut.kept, is_far))
        cut.kept.push_back(position);
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
    Drawstring drawn{.name = text(of.panel, ".", of.edge), .bands = {}, .lengths = {}, .share = {}};
    if (of.drawn) drawn.share = *of.drawn;
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      const auto& p = result_.mesh.positions;
      const double piece = norm(p[nodes[i]] - p[nodes[i + 1]]);
      result_.mesh.bands.push_back({nodes[i], nodes[i + 1], of.share * piece, of.stiffness});
      drawn.bands.push_back(static_cast<Index>(result_.mesh.bands.size()) - 1);
      drawn.lengths.push_back(piece);
    }
    if (of.drawn) result_.drawstrings.push_back(std::move(drawn));
  }

  static constexpr double most_segments = 1e6;   ///< greatest number of segments of an edge
  static constexpr double short_edge = 1.0 / 6;  ///< below which a single edge is a node [edge lengths]
  static constexpr double least_distance = 0.4;  ///< least distance to a button's node [edge lengths]
  const std::vector<Panel>& panels_;
  const std::vector<Seam>& seams_;
  const Fasteners& fasteners_;
  const double h_;
  const std::string& key_;
  std::map<std::string, std::size_t> numbers_;
  std::vector<Cut> cuts_;
  std::map<std::array<Index, 2>, std::pair<double, Index>> stitches_;  ///< length [m] and number of the seam
  std::map<Index, Zipper> zippers_;                                    ///< by the numbers of their seams
  std::map<std::array<Index, 2>, double> zip_shares_;  ///< of stitches along their first seams
  std::map<std::array<Index, 2>, Index> beyond_;       ///< node across from each directed edge of a triangle
  double next_ = 0;                                    ///< where the next panel lies [m]
  SewnPanels result_;
};

}  // namespace

SewnPanels sew_panels(const std::vector<Panel>& panels, const std::vector<Seam>& seams, double edge_length,
                      const std::string& key, const Fasteners& fasteners) {
  return PatternMesher(panels, seams, fasteners, edge_length, key).run();
}

}  // namespace isocloth
