// Scenes with garments that are sewn from panels.
#include <gtest/gtest.h>

#include "engine/core/errors.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

const std::string two_panels = R"("mesh": {"panels": [
    {"name": "front", "outline": [[0, 0], [0.4, 0], [0.4, 0.6], [0, 0.6]],
     "curves": [{"edge": 2, "control": [[0.2, 0.5]]}], "grain": 45, "translation": [0, -0.1, 1]},
    {"name": "back", "outline": [[0, 0], [0.4, 0], [0.4, 0.6], [0, 0.6]], "rotation": [0, 0, 180],
     "translation": [0.4, 0.1, 1], "around": 0.5}],
  "seams": [{"panel": "front", "edge": 1, "other_panel": "back", "other_edge": 3}], "edge_length": 0.1})";

Scene read_garment(const std::string& keys, const TemporaryFolder& folder = {}) {
  return read_scene(folder.write("scene.json", R"({"step": 0.01, "duration": 1, "recipe": "membrane",
    "garments": [{)" + keys + "}]}"));
}

std::string refusal(const std::string& keys, const TemporaryFolder& folder = {}) {
  try {
    read_garment(keys, folder);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PanelFile, ReadsEveryMember) {
  const Scene scene = read_garment(two_panels + R"(, "pressure": -3,
    "transform": {"scale": 2, "translation": [0, 0, 1]}, "sewing": {"force": 7, "speed": 0.5, "stiffness": 2e5},
    "pins": [{"select": {"box": {"min": [-1, -0.21, 4.19], "max": [2, -0.19, 4.3]}}}])");
  const Garment& garment = scene.garments.at(0);
  EXPECT_EQ(garment.pressure, -3);
  EXPECT_EQ(garment.sewing, (Sewing{.force = 7, .speed = 0.5, .stiffness = 2e5}));
  ASSERT_EQ(garment.initial_positions.size(), garment.mesh.positions.size());
  ASSERT_EQ(garment.mesh.stitches.size(), 7u);
  double seam = 0;
  for (const Stitch& stitch : garment.mesh.stitches) {
    seam += stitch.length;
    // On the side at x = 0.4 of both, 0.2 m apart, twice as large.
    const Vec3d &a = garment.initial_positions[stitch.a], &b = garment.initial_positions[stitch.b];
    EXPECT_NEAR(a.x, 0.8, 1e-12);
    EXPECT_NEAR(a.y, -0.2, 1e-12);
    EXPECT_NEAR(a.z, b.z, 1e-12);
    EXPECT_GE(a.z, 3);
  }
  EXPECT_NEAR(seam, 1.2, 1e-12);
  // Pins see the garment where it stands: the front's two upper corners.
  EXPECT_EQ(garment.pins.at(0).nodes.size(), 2u);
}

TEST(PanelFile, ReadsButtonsAndBands) {
  std::string keys = two_panels;
  keys.replace(keys.find("\"edge_length\""), 0, R"("buttons": [{"panel": "front", "at": [0.2, 0.3],
    "other_panel": "back", "other_at": [0.1, 0.2], "distance": 0.005, "stiffness": 300, "force": 2, "strength": 9}],
    "bands": [{"panel": "back", "edge": 0, "share": 0.5, "stiffness": 40}], )");
  const Garment garment = read_garment(keys + R"(, "transform": {"scale": 2})").garments.at(0);
  ASSERT_EQ(garment.mesh.buttons.size(), 1u);
  const Button& button = garment.mesh.buttons[0];
  EXPECT_EQ(button, (Button{button.a, button.b, 0.005, 300, 2, 9}));
  const Vec3d &a = garment.initial_positions[button.a], &b = garment.initial_positions[button.b];
  EXPECT_LT(norm(a - Vec3d{0.4, -0.2, 2.6}), 1e-12);
  EXPECT_NEAR(b.z, 2.4, 1e-12);
  ASSERT_EQ(garment.mesh.bands.size(), 4u);
  double length = 0;
  for (const Band& band : garment.mesh.bands) length += band.length;
  EXPECT_NEAR(length, 0.4, 1e-12);  // half of 0.4 m, twice as large
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = keys;
    changed.replace(changed.find(from), from.size(), to);
    return refusal(changed);
  };
  EXPECT_NE(with("\"share\": 0.5", "\"share\": 0").find("garments[0].mesh.bands[0].share: found 0"),
            std::string::npos);
  EXPECT_NE(with("[0.1, 0.2]", "[9, 0.2]").find("garments[0].mesh.buttons[0].other_at: found (9 0.2)"),
            std::string::npos);
  EXPECT_NE(with("[0.1, 0.2]", "[9]").find("garments[0].mesh.buttons[0].other_at: found"), std::string::npos);
}

TEST(PanelFile, SaysWhichKeyIsWrong) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string keys = two_panels;
    keys.replace(keys.find(from), from.size(), to);
    return keys;
  };
  const auto names = [&](const std::string& found, const std::string& expected) {
    EXPECT_NE(found.find(expected), std::string::npos) << found;
  };
  names(refusal(with(R"("other_panel": "back")", R"("other_panel": "bakc")")),
        "garments[0].mesh.seams[0].other_panel: found \"bakc\", expected the name of a panel; the "
        "nearest is \"back\"");
  names(refusal(with(R"("edge": 2, "control")", R"("edge": 5, "control")")),
        "garments[0].mesh.panels[0].curves[0].edge: found 5, expected 0 to 3");
  names(refusal(with(R"("edge_length": 0.1)", R"("edge_length": 0)")),
        "garments[0].mesh.edge_length: found 0");
  names(refusal(with(R"("edge_length": 0.1)", R"("edge_length": 1e-7)")),
        "garments[0].mesh.edge_length: found");
  names(refusal(with("[[0.2, 0.5]]", "[[0.2, 5e8]]")), "garments[0].mesh.edge_length: found a mesh of");
  names(refusal(with("[0.4, 0], [0.4", "[0.4, 0, 0], [0.4")), "garments[0].mesh.panels[0].outline[1]: found");
  names(refusal(with("\"seams\"", "\"seems\"")), "seems");
  names(refusal(two_panels + R"(, "sewing": {"force": 0})"), "garments[0].sewing.force: found 0");
  names(refusal(two_panels + R"(, "rest_noise": {"normal_deviation": 0.001})"),
        "garments[0].rest_noise.normal_deviation: found 0.001, expected none with panels");
}

TEST(PanelFile, TakesAPatternFromTextureCoordinates) {
  const TemporaryFolder folder;
  // Two squares that stand at a right angle, cut apart in the pattern, which is in centimetres.
  folder.write("book.obj",
               "v 0 0 0\nv 0.1 0 0\nv 0.1 0.1 0\nv 0 0.1 0\nv 0 0.1 0.1\nv 0 0 0.1\n"
               "vt 0 0\nvt 10 0\nvt 10 10\nvt 0 10\nvt 20 0\nvt 30 0\nvt 30 10\nvt 20 10\n"
               "f 1/1 2/2 3/3 4/4\nf 1/5 4/8 5/7 6/6\n");
  const Garment garment =
      read_garment(R"("mesh": {"file": "book.obj", "uv_scale": 0.01})", folder).garments.at(0);
  EXPECT_EQ(garment.mesh.node_count(), 8);
  ASSERT_EQ(garment.mesh.stitches.size(), 2u);
  for (const Stitch& stitch : garment.mesh.stitches) {
    EXPECT_NEAR(stitch.length, 0.05, 1e-12);
    EXPECT_EQ(garment.initial_positions[stitch.a], garment.initial_positions[stitch.b]);
  }
  EXPECT_NE(refusal(R"("mesh": {"file": "book.obj", "uv_scale": 1})", folder)
                .find("garments[0].mesh.uv_scale: found edges 100 times as long"),
            std::string::npos);
}

TEST(PanelFile, WarnsOfPatternsThatAreHardlyMeant) {
  const TemporaryFolder folder;
  const auto square = [&](const char* uvs) {
    folder.write("square.obj",
                 std::string("v 0 0 0\nv 0.1 0 0\nv 0.1 0.1 0\nv 0 0.1 0\n") + uvs + "f 1/1 2/2 3/3 4/4\n");
  };
  const auto warnings = [&](const std::string& more) {
    folder.write(
        "scene.json",
        R"({"step": 0.01, "duration": 1, "garments": [{"mesh": {"file": "square.obj")" + more + "}}]}");
    std::vector<std::string> found;
    read_scene(folder / "scene.json", found);
    return found;
  };
  square("vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n");
  EXPECT_TRUE(warnings(R"(, "uv_scale": 0.1)").empty());
  ASSERT_EQ(warnings(R"(, "uv_scale": 0.2)").size(), 1u);
  EXPECT_NE(
      warnings(R"(, "uv_scale": 0.2)")[0].find("mesh.uv_scale: edges are 2 times as long in the pattern"),
      std::string::npos);
  EXPECT_NE(refusal(R"("mesh": {"file": "square.obj", "grain": 90})", folder)
                .find("mesh.grain: found 90, expected none without uv_scale"),
            std::string::npos);
  square("vt 0 0\nvt 0 0\nvt 0 0\nvt 0 0\n");
  ASSERT_EQ(warnings("").size(), 1u);
  EXPECT_NE(warnings("")[0].find("1 of 1 faces have texture coordinates without area"), std::string::npos);
}

TEST(PanelFile, VariesSewingInBatches) {
  const Scene scene = read_garment(
      two_panels +
      R"(, "replicas": 3, "vary": {"sewing.force": {"values": [1, 2, 3]}, "mesh.edge_length": {"values": [0.1, 0.15, 0.2]}})");
  ASSERT_EQ(scene.garments.size(), 3u);
  for (std::size_t g = 0; g < 3; ++g) EXPECT_EQ(scene.garments[g].sewing.force, 1.0 + static_cast<double>(g));
  EXPECT_GT(scene.garments[0].mesh.node_count(), scene.garments[2].mesh.node_count());
  EXPECT_EQ(scene.garments[2].initial_positions.size(), scene.garments[2].mesh.positions.size());
}

}  // namespace
}  // namespace isocloth
