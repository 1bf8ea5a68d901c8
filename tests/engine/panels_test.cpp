#include "engine/mesh/panels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "engine/core/errors.hpp"
#include "engine/mesh/face_normal.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/mesh/material_frame.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/mesh/validate.hpp"
#include "engine/mesh/weld.hpp"
#include "engine/model/sewing_forces.hpp"

namespace isocloth {
namespace {

Panel rectangle(const std::string& name, double width, double height) {
  return {.name = name,
          .outline = {{0, 0}, {width, 0}, {width, height}, {0, height}},
          .curves = {},
          .rotation = {},
          .translation = {}};
}

double area(const Mesh& mesh) {
  double sum = 0;
  for (Index f = 0; f < mesh.face_count(); ++f) sum += norm(area_vector(mesh, f));
  return sum;
}

double shortest_over_longest_edge(const Mesh& mesh) {
  double shortest = 1e30, longest = 0;
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (std::size_t c = 0; c < 3; ++c) {
      const double l = norm(mesh.positions[mesh.face(f)[(c + 1) % 3]] - mesh.positions[mesh.face(f)[c]]);
      shortest = std::min(shortest, l), longest = std::max(longest, l);
    }
  return shortest / longest;
}

std::string refusal(const std::vector<Panel>& panels, const std::vector<Seam>& seams = {}, double h = 0.1) {
  try {
    sew_panels(panels, seams, h, "mesh");
  } catch (const MeshError& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of(const Fasteners& fasteners) {
  try {
    sew_panels({rectangle("a", 1, 0.5), rectangle("b", 0.3, 0.7)}, {}, 0.1, "mesh", fasteners);
  } catch (const MeshError& error) {
    return error.what();
  }
  return "";
}

TEST(Panels, OneShortEdgeIsANode) {
  // A front whose corner was cut off by 0.9 mm, and a back without; edges 1 and 2 of it are one.
  Panel front = rectangle("front", 0.3, 0.2), back = rectangle("back", 0.3, 0.2);
  front.outline = {{0, 0}, {0.3, 0}, {0.3, 0.1991}, {0.2991, 0.2}, {0, 0.2}};
  back.translation = {0, 0.1, 0};
  const std::vector<Seam> seams{{{"front", "back"}, {1, 1}}, {{"front", "back"}, {4, 3}}};
  const SewnPanels sewn = sew_panels({front, back}, seams, 0.02, "mesh");
  ASSERT_EQ(sewn.notes.size(), 1U);
  EXPECT_EQ(sewn.notes[0].substr(0, 33), "mesh.panels[0]: edge 2 is 0.00127");
  EXPECT_GT(shortest_over_longest_edge(sewn.mesh), 0.3);
  EXPECT_EQ(sewn.mesh.stitches.size(), 22U);
  Mesh mesh = sewn.mesh;
  EXPECT_EQ(validate_mesh(mesh, "mesh"), 0);
  // A curve of short edges is no such edge.
  front.outline = {{0, 0}, {0.3, 0}, {0.3, 0.198}, {0.2995, 0.199}, {0.299, 0.1995}, {0.298, 0.2}, {0, 0.2}};
  EXPECT_EQ(sew_panels({front}, {}, 0.02, "mesh").notes.size(), 0U);
  // Where short edges are sewn to each other, one thread is left of their seam.
  front.outline = back.outline = {{0, 0}, {0.3, 0}, {0.3, 0.1991}, {0.2991, 0.2}, {0, 0.2}};
  const SewnPanels both = sew_panels({front, back}, {{{"front", "back"}, {2, 2}}}, 0.02, "mesh");
  ASSERT_EQ(both.mesh.stitches.size(), 1U);
  EXPECT_NEAR(both.mesh.stitches[0].length, 0.00127 / 2, 1e-5);
}

TEST(Panels, EdgeLengthsThatAreNoneAreRefused) {
  for (const double h : {0.0, -0.1, 1e-7, std::nan(""), HUGE_VAL})
    EXPECT_EQ(refusal({rectangle("a", 1, 0.5)}, {}, h).rfind("mesh.edge_length: found ", 0), 0u) << h;
}

TEST(Panels, HaveNodesWhereButtonsAre) {
  const std::vector<Panel> panels{rectangle("a", 1, 0.5), rectangle("b", 0.3, 0.7)};
  const Vec2d inside{0.123, 0.234}, beside{0.15, 0.51}, on_edge{0.312, 0.004};
  const Fasteners fasteners{
      .buttons = {{.panels = {"a", "b"}, .positions = {inside, beside}, .stiffness = 50},
                  {.panels = {"a", "a"}, .positions = {on_edge, {0.5, 0.25}}, .strength = 3}},
      .bands = {}};
  Mesh mesh = sew_panels(panels, {}, 0.05, "mesh", fasteners).mesh;
  EXPECT_EQ(validate_mesh(mesh, "mesh"), 0);
  EXPECT_NEAR(area(mesh), 0.5 + 0.21, 1e-12);
  EXPECT_GT(shortest_over_longest_edge(mesh), 0.2);
  ASSERT_EQ(mesh.buttons.size(), 2u);
  const double second = 1 + 10 * 0.05;  // where the second panel lies
  const auto near = [&](Index node, Vec2d place, double within) {
    EXPECT_LE(norm(mesh.positions[node] - Vec3d{place.x, place.y, 0}), within);
  };
  near(mesh.buttons[0].a, inside, 1e-15);
  near(mesh.buttons[0].b, {second + beside.x, beside.y}, 1e-15);
  near(mesh.buttons[1].a, {0.3, 0}, 1e-12);  // the nearest node of the edge
  near(mesh.buttons[1].b, {0.5, 0.25}, 1e-15);
  EXPECT_EQ(mesh.buttons[0].stiffness, 50);
  EXPECT_EQ(mesh.buttons[1].strength, 3);
  EXPECT_EQ(piece_count(mesh), 1);
  EXPECT_TRUE(mesh.stitches.empty());
}

TEST(Panels, HaveBandsAlongEdges) {
  const Fasteners fasteners{.buttons = {},
                            .bands = {{.panel = "b", .edge = 2, .share = 0.7, .stiffness = 5}}};
  const Mesh mesh =
      sew_panels({rectangle("a", 1, 0.5), rectangle("b", 0.3, 0.7)}, {}, 0.05, "mesh", fasteners).mesh;
  ASSERT_EQ(mesh.bands.size(), 6u);
  double length = 0;
  for (const Band& band : mesh.bands) {
    for (const Index node : {band.a, band.b}) EXPECT_NEAR(mesh.positions[node].y, 0.7, 1e-12);
    EXPECT_EQ(band.stiffness, 5);
    length += band.length;
  }
  EXPECT_NEAR(length, 0.7 * 0.3, 1e-12);
}

TEST(Panels, AreSewnAgainstTheBandsThatEndThere) {
  const Fasteners fasteners{.buttons = {},
                            .bands = {{.panel = "a", .edge = 2, .share = 0.8, .stiffness = 40}}};
  const Mesh mesh = sew_panels({rectangle("a", 0.4, 0.2), rectangle("b", 0.4, 0.2)},
                               {{.panels = {"a", "b"}, .edges = {1, 3}}}, 0.05, "mesh", fasteners)
                        .mesh;
  const std::vector<double> forces = sewing_forces({.force = 3}, mesh);
  ASSERT_EQ(forces.size(), mesh.stitches.size());
  double above = 0;
  for (std::size_t i = 0; i < forces.size(); ++i) {
    const bool ends = mesh.positions[mesh.stitches[i].a].y > 0.2 - 1e-9;
    EXPECT_NEAR(forces[i], 3 * mesh.stitches[i].length + (ends ? 40 * (1 / 0.8 - 1) : 0), 1e-9) << i;
    above += ends;
  }
  EXPECT_EQ(above, 1);
}

TEST(Panels, SayWhichButtonOrBandIsWrong) {
  const auto button = [](const std::string& panel, Vec2d place) {
    return Fasteners{.buttons = {{.panels = {"a", panel}, .positions = {Vec2d{0.5, 0.2}, place}}},
                     .bands = {}};
  };
  const auto says = [](const std::string& found, const std::string& expected) {
    EXPECT_NE(found.find(expected), std::string::npos) << found;
  };
  EXPECT_EQ(refusal_of(button("b", {0.1, 0.1})), "");
  says(refusal_of(button("c", {0, 0})),
       "mesh.buttons[0].other_panel: found \"c\", expected the name of a panel");
  says(refusal_of(button("b", {0.4, 0.1})),
       "mesh.buttons[0].other_at: found (0.4 0.1), 0.1 m outside of the panel");
  says(refusal_of(button("b", {NAN, 0.1})), "mesh.buttons[0].other_at: found (nan 0.1)");
  says(refusal_of(button("a", {0.51, 0.2})), "mesh.buttons[0]: found both places at one node");
  const PanelBand band{.panel = "a", .edge = 4, .share = 1, .stiffness = 1},
      good{.panel = "a", .share = 1, .stiffness = 1};
  says(refusal_of({.buttons = {}, .bands = {band}}), "mesh.bands[0].edge: found 4, expected 0 to 3");
  says(refusal_of({.buttons = {}, .bands = {good, good}}),
       "mesh.bands[1].edge: found 0, which bands[0] has already");
}

TEST(Panels, AreMeshedEvenlyFlatAndApart) {
  const SewnPanels sewn = sew_panels({rectangle("a", 1, 0.5), rectangle("b", 0.3, 0.7)}, {}, 0.05, "mesh");
  Mesh mesh = sewn.mesh;
  EXPECT_EQ(validate_mesh(mesh, "mesh"), 0);
  EXPECT_NEAR(area(mesh), 0.5 + 0.21, 1e-12);
  EXPECT_GT(shortest_over_longest_edge(mesh), 0.45);
  EXPECT_EQ(piece_count(mesh), 2);
  EXPECT_TRUE(mesh.stitches.empty());
  double right = 0, left = 1e30;  // of the first, of the second
  for (Index node = 0; node < mesh.node_count(); ++node) {
    EXPECT_EQ(mesh.positions[node].z, 0);
    // Upright where it stands, flat where it lies.
    EXPECT_EQ(sewn.placed[node].y, 0);
    EXPECT_DOUBLE_EQ(sewn.placed[node].z, mesh.positions[node].y);
    if (mesh.positions[node].x < 1.25)
      right = std::max(right, mesh.positions[node].x);
    else
      left = std::min(left, mesh.positions[node].x);
  }
  EXPECT_NEAR(left - right, 0.5, 1e-12);
}

TEST(Panels, CurvesHaveTheAreaOfTheirEquation) {
  // Below the parabola through (1, 0), (0.5, 0.25), (0, 0): two thirds of 1 x 0.25 are on top.
  Panel panel = rectangle("hill", 1, 1);
  panel.curves = {{.edge = 2, .control = {{0.5, 1.5}}}};
  EXPECT_NEAR(area(sew_panels({panel}, {}, 0.02, "mesh").mesh), 1 + 1.0 / 6, 1e-4);
  // A quarter of a circle by the usual cubic.
  const double k = 4 * (std::numbers::sqrt2 - 1) / 3;
  const Panel quarter{.name = "quarter",
                      .outline = {{0, 0}, {1, 0}, {0, 1}},
                      .curves = {{.edge = 1, .control = {{1, k}, {k, 1}}}},
                      .rotation = {},
                      .translation = {}};
  EXPECT_NEAR(area(sew_panels({quarter}, {}, 0.02, "mesh").mesh), std::numbers::pi / 4, 3e-4);
}

TEST(Panels, StandWhereTheyArePlaced) {
  Panel panel = rectangle("a", 1, 0.5);
  panel.around = 1 / std::numbers::pi;  // half a circle, from x = 0 on
  panel.rotation = {0, 0, 90};
  panel.translation = {1, 2, 3};
  const SewnPanels sewn = sew_panels({panel}, {}, 0.1, "mesh");
  const double r = panel.around;
  EXPECT_NEAR(norm(sewn.placed[0] - Vec3d{1, 2, 3}), 0, 1e-15);
  for (const Vec3d& p : sewn.placed) {
    // The axis stood at (0, r) and was turned to (-r, 0).
    EXPECT_NEAR(std::hypot(p.x - 1 + r, p.y - 2), r, 1e-12);
    EXPECT_GT(p.y, 2 - 1e-12);
  }
}

TEST(Panels, GrainIsTheDirectionOfTheWarp) {
  for (const double grain : {0.0, 30.0, 90.0}) {
    Panel panel = rectangle("a", 1, 0.5);
    panel.grain = grain;
    const Mesh mesh = sew_panels({panel}, {}, 0.2, "mesh").mesh;
    const double c = std::cos(grain * std::numbers::pi / 180), s = std::sin(grain * std::numbers::pi / 180);
    for (Index k = 0; k < mesh.corner_count(); ++k) {
      const Vec3d x = mesh.positions[mesh.face_nodes[k]];
      EXPECT_NEAR(mesh.corner_uvs[k].x, c * x.x + s * x.y, 1e-12);
      EXPECT_NEAR(mesh.corner_uvs[k].y, c * x.y - s * x.x, 1e-12);
    }
  }
}

TEST(Panels, SeamsJoinNodeByNodeWhicheverWayRound) {
  Panel left = rectangle("left", 0.5, 0.4), right = rectangle("right", 0.5, 0.4);
  right.translation = {0.6, 0, 0};
  Panel behind = rectangle("behind", 0.5, 0.4);  // seen from the front its edges run the other way
  behind.rotation = {0, 0, 180};
  behind.translation = {0.5, 0.1, 0};
  const SewnPanels sewn = sew_panels(
      {left, right, behind},
      {{.panels = {"left", "right"}, .edges = {1, 3}}, {.panels = {"left", "behind"}, .edges = {2, 2}}}, 0.1,
      "mesh");
  EXPECT_EQ(piece_count(sewn.mesh), 1);
  ASSERT_EQ(sewn.mesh.stitches.size(), 5u + 6u);
  double seam = 0;
  for (const Stitch& stitch : sewn.mesh.stitches) {
    const Vec3d way = sewn.placed[stitch.a] - sewn.placed[stitch.b];
    EXPECT_NEAR(norm(way), norm(way.y == 0 ? Vec3d{0.1, 0, 0} : Vec3d{0, 0.1, 0}), 1e-12);
    seam += stitch.length;
  }
  EXPECT_NEAR(seam, 0.4 + 0.5, 1e-12);
}

TEST(Panels, ASeamGoesTheWayRoundThatItIsTold) {
  Panel left = rectangle("left", 0.5, 0.4), right = rectangle("right", 0.5, 0.4);
  right.translation = {0.6, 0, 0};
  for (const SeamDirection direction : {SeamDirection::same, SeamDirection::opposite}) {
    const SewnPanels sewn = sew_panels(
        {left, right}, {{.panels = {"left", "right"}, .edges = {1, 3}, .direction = direction}}, 0.1, "mesh");
    ASSERT_EQ(sewn.mesh.stitches.size(), 5u);
    for (const Stitch& stitch : sewn.mesh.stitches) {
      const double up = sewn.placed[stitch.a].z, other = sewn.placed[stitch.b].z;
      EXPECT_NEAR(other, direction == SeamDirection::opposite ? up : 0.4 - up, 1e-12);
    }
  }
}

TEST(Panels, EdgesOfASeamAreDividedAlikeAndEaseIsSpread) {
  Panel wide = rectangle("wide", 0.6, 0.3), narrow = rectangle("narrow", 0.4, 0.3);
  const SewnPanels sewn =
      sew_panels({wide, narrow}, {{.panels = {"wide", "narrow"}, .edges = {0, 0}}}, 0.1, "mesh");
  ASSERT_EQ(sewn.mesh.stitches.size(), 7u);
  double seam = 0;
  for (const Stitch& stitch : sewn.mesh.stitches) {
    EXPECT_NEAR(sewn.placed[stitch.b].x, sewn.placed[stitch.a].x * 2 / 3, 1e-12);
    seam += stitch.length;
  }
  EXPECT_NEAR(seam, 0.5, 1e-12);
  EXPECT_TRUE(sewn.notes.empty());
  narrow.outline[1].x = narrow.outline[2].x = 0.29;
  EXPECT_EQ(
      sew_panels({wide, narrow}, {{.panels = {"wide", "narrow"}, .edges = {0, 0}}}, 0.1, "mesh").notes,
      std::vector<std::string>{"mesh.seams[0]: sews an edge of 0.6 m to one of 0.29 m: are these the edges "
                               "that are meant?"});
}

TEST(Panels, ADartIsASeamOfAPanelWithItself) {
  const Panel panel{.name = "front",
                    .outline = {{0, 0}, {0.45, 0}, {0.5, 0.3}, {0.55, 0}, {1, 0}, {1, 0.6}, {0, 0.6}},
                    .curves = {},
                    .rotation = {},
                    .translation = {}};
  const SewnPanels sewn =
      sew_panels({panel}, {{.panels = {"front", "front"}, .edges = {1, 2}}}, 0.05, "mesh");
  Mesh mesh = sewn.mesh;
  EXPECT_EQ(validate_mesh(mesh, "mesh"), 0);
  ASSERT_EQ(mesh.stitches.size(), 6u);  // the tip is one node
  for (const Stitch& stitch : mesh.stitches) {
    EXPECT_NEAR(sewn.placed[stitch.a].z, sewn.placed[stitch.b].z, 1e-12);
    EXPECT_NEAR(sewn.placed[stitch.a].x + sewn.placed[stitch.b].x, 1, 1e-12);
  }
  const std::vector<Index> sewn_as_one = sewn_nodes(mesh);
  const std::set<Index> distinct(sewn_as_one.begin(), sewn_as_one.end());
  EXPECT_EQ(distinct.size(), mesh.positions.size() - 6);
}

TEST(Panels, MayHaveAnyStraightEdges) {
  // Parts of a slanted edge lie on one line but for rounding, which must not look like a crossing.
  for (const double h : {0.011, 0.02, 0.037, 0.1})
    for (int turn = 0; turn < 12; ++turn) {
      const double c = std::cos(0.53 * turn), s = std::sin(0.53 * turn);
      Panel panel = rectangle("a", 1, 1);
      panel.outline.clear();
      for (const Vec2d p : {Vec2d{0.07, 0.03}, {0.89, 0.08}, {0.93, 0.31}, {-0.01, 0.31}})
        panel.outline.push_back({c * p.x - s * p.y, s * p.x + c * p.y});
      EXPECT_EQ(refusal({panel}, {}, h), "") << h << " " << turn;
    }
}

TEST(Panels, EdgesThatMeetInACornerAreSewnUpToIt) {
  for (const double h : {0.1, 0.05, 0.02}) {
    SewnPanels sewn =
        sew_panels({rectangle("cone", 0.4, 0.4)}, {{.panels = {"cone", "cone"}, .edges = {0, 1}}}, h, "mesh");
    EXPECT_EQ(validate_mesh(sewn.mesh, "mesh"), 0);
    const auto parts = static_cast<std::size_t>(std::lround(0.4 / h));
    // All but the corner, and the triangle in it where there is one.
    EXPECT_GE(sewn.mesh.stitches.size(), parts - 1);
    EXPECT_LE(sewn.mesh.stitches.size(), parts);
  }
}

TEST(Panels, SayWhatIsWrong) {
  const Panel good = rectangle("a", 1, 0.5);
  EXPECT_EQ(refusal({}), "mesh.panels: found none, expected at least one");
  EXPECT_EQ(refusal({good, good}), "mesh.panels[1].name: found \"a\", already the name of panels[0]");
  Panel bad = good;
  bad.outline.resize(2);
  EXPECT_EQ(refusal({bad}), "mesh.panels[0].outline: found 2 corners, expected at least 3");
  bad = good;
  std::swap(bad.outline[0], bad.outline[2]);
  EXPECT_EQ(refusal({bad}),
            "mesh.panels[0].outline: found an area of -0.5 m^2, expected corners counter-clockwise; give "
            "them in the "
            "opposite order");
  bad = good;
  bad.outline = {{0, 0}, {1, 0}, {0.2, 0.5}, {1, 0.6}, {0, 0.4}};
  bad.outline[2] = {-0.5, 0.1};
  EXPECT_NE(refusal({bad}).find("mesh.panels[0].outline: found it crossing itself at ("), std::string::npos);
  bad = good;
  bad.outline[3] = bad.outline[2];
  EXPECT_EQ(refusal({bad}),
            "mesh.panels[0].outline: found corners 2 and 3 at one place, expected distinct ones");
  bad = good;
  bad.curves = {{.edge = 4, .control = {{0, 0}}}};
  EXPECT_EQ(refusal({bad}),
            "mesh.panels[0].curves[0].edge: found 4, expected 0 to 3, edge k goes from corner k to the next");
  bad.curves = {{.edge = 1, .control = {}}};
  EXPECT_EQ(refusal({bad}),
            "mesh.panels[0].curves[0].control: found 0 points, expected 1 of a quadratic or 2 of a cubic "
            "Bezier curve");
  EXPECT_EQ(refusal({good}, {{.panels = {"a", "b"}, .edges = {0, 0}}}),
            "mesh.seams[0].other_panel: found \"b\", expected the name of a panel; the nearest is \"a\"");
  EXPECT_EQ(refusal({good}, {{.panels = {"a", "a"}, .edges = {0, 7}}}),
            "mesh.seams[0].other_edge: found 7, expected 0 to 3, an edge of \"a\"");
  EXPECT_EQ(refusal({good}, {{.panels = {"a", "a"}, .edges = {1, 1}}}),
            "mesh.seams[0]: found edge 1 of \"a\" twice, expected two edges");
  EXPECT_EQ(
      refusal({good}, {{.panels = {"a", "a"}, .edges = {0, 2}}, {.panels = {"a", "a"}, .edges = {2, 0}}}),
      "mesh.seams[1]: found edge 2 of \"a\" with edge 0 of \"a\", already seams[0], expected each two "
      "edges once");
}

}  // namespace
}  // namespace isocloth
