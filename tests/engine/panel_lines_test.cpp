// Lines inside of panels, and folds of lines and seams.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "engine/core/errors.hpp"
#include "engine/mesh/panels.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/mesh/validate.hpp"

namespace isocloth {
namespace {

constexpr double pi = std::numbers::pi;

Panel rectangle(const std::string& name, double width, double height, std::vector<PanelLine> lines = {}) {
  return {.name = name,
          .outline = {{0, 0}, {width, 0}, {width, height}, {0, height}},
          .curves = {},
          .rotation = {},
          .translation = {},
          .lines = std::move(lines)};
}

std::string refusal(const std::vector<Panel>& panels, const std::vector<Seam>& seams = {}) {
  try {
    sew_panels(panels, seams, 0.05, "mesh");
  } catch (const MeshError& error) {
    return error.what();
  }
  return "";
}

void expect_valid(const SewnPanels& sewn) {
  Mesh mesh = sewn.mesh;
  EXPECT_EQ(validate_mesh(mesh, "mesh"), 0);
}

// A crease across a strip, at a third of a length that no even division has.
TEST(PanelLines, AreEdgesOfTheMesh) {
  const double x = 0.333;
  const SewnPanels sewn = sew_panels(
      {rectangle("a", 1, 0.2,
                 {{.name = "crease", .points = {{x, 0}, {x, 0.2}}, .fold = PanelFold{90, 0.5, 2}}}),
       rectangle("b", 0.3, 0.3)},
      {}, 0.05, "mesh");
  expect_valid(sewn);
  const Mesh& mesh = sewn.mesh;
  ASSERT_EQ(mesh.folds.size(), 4u);
  EXPECT_EQ(sewn.panel_begin.size(), 3u);
  EXPECT_EQ(sewn.panel_begin.back(), mesh.face_count());
  const Topology topology = build_topology(mesh);
  double length = 0;
  for (const Fold& fold : mesh.folds) {
    const auto& [a, b, c, d] = fold.nodes;
    const auto at = [&](Index node) { return mesh.positions[static_cast<std::size_t>(node)]; };
    EXPECT_NEAR(at(a).x, x, 1e-12);
    EXPECT_NEAR(at(b).x, x, 1e-12);
    EXPECT_TRUE(std::ranges::binary_search(topology.edges, std::array{std::min(a, b), std::max(a, b)}));
    EXPECT_LT((at(c).x - x) * (at(d).x - x), 0);
    EXPECT_NEAR(fold.angle, pi / 2, 1e-15);
    const double own = norm(at(b) - at(a));
    EXPECT_NEAR(fold.stiffness, 2 * own, 1e-12);
    const double areas = (std::fabs(at(c).x - x) + std::fabs(at(d).x - x)) * own / 2;
    EXPECT_NEAR(fold.factor, 0.5 * own * own / areas, 1e-12);
    length += own;
  }
  EXPECT_NEAR(length, 0.2, 1e-12);
}

// What ends on an edge that is sewn has its node there and on the other edge.
TEST(PanelLines, EndAtNodesOfBothSidesOfASeam) {
  Panel back = rectangle("b", 0.4, 0.2);
  back.rotation = {0, 0, 180};
  back.translation = {0.4, 0.1, 0};
  const double y = 0.117;
  const SewnPanels sewn = sew_panels(
      {rectangle("a", 0.4, 0.2, {{.name = "l", .points = {{0, y}, {0.4, y}}}}), back},
      {{.panels = {"a", "b"}, .edges = {1, 3}}, {.panels = {"a", "b"}, .edges = {3, 1}}}, 0.05, "mesh");
  expect_valid(sewn);
  EXPECT_TRUE(sewn.mesh.folds.empty());
  ASSERT_EQ(sewn.mesh.stitches.size(), 10u);
  int on_line = 0;
  for (const Stitch& stitch : sewn.mesh.stitches) {
    EXPECT_NEAR(sewn.placed[stitch.a].z, sewn.placed[stitch.b].z, 1e-12);
    on_line += std::fabs(sewn.placed[stitch.a].z - y) < 1e-12;
  }
  EXPECT_EQ(on_line, 2);
}

// A pocket: three edges sewn onto lines that meet in corners.
TEST(PanelLines, AreSewnToEdges) {
  const std::vector<PanelLine> lines{{.name = "left", .points = {{0.1, 0.3}, {0.1, 0.1}}},
                                     {.name = "low", .points = {{0.1, 0.1}, {0.3, 0.1}}},
                                     {.name = "right", .points = {{0.3, 0.1}, {0.3, 0.3}}}};
  Panel pocket = rectangle("pocket", 0.2, 0.2);
  pocket.translation = {0.1, -0.01, 0.1};
  const std::vector<Seam> seams{{.panels = {"pocket", "front"}, .edges = {3, 0}, .lines = {"", "left"}},
                                {.panels = {"pocket", "front"}, .edges = {0, 0}, .lines = {"", "low"}},
                                {.panels = {"pocket", "front"}, .edges = {1, 0}, .lines = {"", "right"}}};
  const SewnPanels sewn = sew_panels({rectangle("front", 0.4, 0.4, lines), pocket}, seams, 0.05, "mesh");
  expect_valid(sewn);
  EXPECT_EQ(sewn.mesh.stitches.size(), 13u);
  for (const Stitch& stitch : sewn.mesh.stitches)
    EXPECT_NEAR(norm(sewn.placed[stitch.a] - sewn.placed[stitch.b]), 0.01, 1e-12);
  EXPECT_EQ(seams[0].name(), "pocket.3 with front.left");
}

// Each side of a seam has a fold with the triangle beyond the other; together they are as stiff as the cloth.
TEST(PanelSeams, HaveFolds) {
  Panel right = rectangle("b", 0.3, 0.2);
  right.translation = {0.4, 0, 0};
  const SewnPanels sewn =
      sew_panels({rectangle("a", 0.4, 0.2), right},
                 {{.panels = {"a", "b"}, .edges = {1, 3}, .fold = PanelFold{-30, 3, 0}}}, 0.05, "mesh");
  expect_valid(sewn);
  ASSERT_EQ(sewn.mesh.folds.size(), 8u);
  std::set<Index> nodes;
  for (const Fold& fold : sewn.mesh.folds) {
    EXPECT_NEAR(fold.angle, -pi / 6, 1e-15);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(sewn.placed[fold.nodes[k]].x, 0.4, 1e-12);
    EXPECT_LT(sewn.placed[fold.nodes[2]].x, 0.4 - 1e-3);
    EXPECT_GT(sewn.placed[fold.nodes[3]].x, 0.4 + 1e-3);
    // About (b - a) the first triangle lies to the left: the angle is from its front.
    EXPECT_GT(sewn.placed[fold.nodes[1]].z, sewn.placed[fold.nodes[0]].z);
    nodes.insert(fold.nodes.begin(), fold.nodes.begin() + 2);
  }
  EXPECT_EQ(nodes.size(), 10u);
}

TEST(PanelLines, SayWhatIsWrong) {
  const auto with = [](PanelLine line) { return refusal({rectangle("a", 0.4, 0.2, {std::move(line)})}); };
  const auto says = [](const std::string& found, const std::string& expected) {
    EXPECT_NE(found.find(expected), std::string::npos) << found;
  };
  says(with({.name = "", .points = {{0, 0.1}, {0.4, 0.1}}}), "mesh.panels[0].lines[0].name: found none");
  says(with({.name = "l", .points = {{0, 0.1}}}), "mesh.panels[0].lines[0].points: found 1 points");
  says(with({.name = "l", .points = {{0.1, 0.1}, {0.1, 0.1}}}), "found points 0 and 1 at one place");
  says(with({.name = "l", .points = {{0.1, 0.1}, {0.9, 0.1}}}), "outside of the panel \"a\"");
  says(with({.name = "l", .points = {{0.1, 0.001}, {0.3, 0.001}}}), "nearer than 0.4 edge lengths");
  says(with({.name = "l", .points = {{0.1, 0.1}, {0.3, 0.1}}, .fold = PanelFold{181, 1, 0}}),
       "mesh.panels[0].lines[0].fold.angle: found 181");
  const std::vector<PanelLine> crossing{{.name = "l", .points = {{0.0, 0.1}, {0.4, 0.1}}},
                                        {.name = "m", .points = {{0.22, 0}, {0.22, 0.2}}}};
  EXPECT_NE(refusal({rectangle("a", 0.4, 0.2, crossing)}), "");
  says(refusal({rectangle("a", 0.4, 0.2), rectangle("b", 0.4, 0.2)},
               {{.panels = {"a", "b"}, .edges = {0, 0}, .lines = {"", "m"}}}),
       "mesh.seams[0].other_line: found \"m\", expected the name of a line of \"b\"");
}

}  // namespace
}  // namespace isocloth
