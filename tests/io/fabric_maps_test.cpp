// Fabrics of panels, maps, folds, zippers and soft pins in scene files.
#include "host/scene/fabric_maps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/core/errors.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

std::string panels(const std::string& of_left = "", const std::string& of_seam = "",
                   const std::string& beside = "") {
  return R"("mesh": {"panels": [
    {"name": "left", "outline": [[0, 0], [0.4, 0], [0.4, 0.2], [0, 0.2]])" +
         of_left + R"(},
    {"name": "right", "outline": [[0, 0], [0.4, 0], [0.4, 0.2], [0, 0.2]], "translation": [0.4, 0, 0]}],
  "seams": [{"panel": "left", "edge": 1, "other_panel": "right", "other_edge": 3)" +
         of_seam + R"(}], "edge_length": 0.1)" + beside + "}";
}
const std::string cotton = R"(, "fabric": {"preset": "cotton"})";
const std::string grid = R"("mesh": {"generator": "quad_grid", "nodes": [3, 2], "size": [2, 1]})";

Garment read_garment(const std::string& keys, const TemporaryFolder& folder = {}) {
  return read_scene(folder.write("scene.json", R"({"step": 0.01, "duration": 1, "recipe": "membrane",
    "garments": [{)" + keys + "}]}"))
      .garments.at(0);
}
std::string refusal(const std::string& keys, const TemporaryFolder& folder = {}) {
  try {
    read_garment(keys, folder);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
void says(const std::string& found, const std::string& expected) {
  EXPECT_NE(found.find(expected), std::string::npos) << found;
}

TEST(PanelFabric, IsAPresetOrNumbersOfItsOwn) {
  const Garment garment =
      read_garment(panels(R"(, "fabric": {"preset": "denim", "bending_stiffness": 1.157e-3})") + cotton);
  const auto& factors = garment.mesh.face_factors;
  ASSERT_EQ(factors.size(), static_cast<std::size_t>(garment.mesh.face_count()));
  EXPECT_NEAR(factors.front().density, 400 / 150.3, 1e-12);
  EXPECT_NEAR(factors.front().stretch, 5959.0 / 10354, 1e-12);
  EXPECT_NEAR(factors.front().weft_stretch, 3163.0 / 3955, 1e-12);
  EXPECT_NEAR(factors.front().shear, 110 / 66.6, 1e-12);
  EXPECT_NEAR(factors.front().bending, 100, 1e-9);
  EXPECT_EQ(factors.back(), FabricFactors{});
  EXPECT_TRUE(read_garment(panels() + cotton).mesh.face_factors.empty());
}

// B_1 + B_2 + bond e^2 k_1 k_2 / (k_1 + k_2), by hand.
TEST(PanelFabric, HasFusedLayers) {
  const std::string layer =
      R"(, "interfacing": [{"density": 0.05, "thickness": 0.0002, "stretch_stiffness": 2000,
    "weft_stretch_stiffness": 1000, "shear_stiffness": 33.4, "bending_stiffness": 5e-6, "bond": 0.25}])";
  const FabricFactors found = read_garment(panels(layer) + cotton).mesh.face_factors.front();
  EXPECT_NEAR(found.density, (150.3 + 50) / 150.3, 1e-12);
  EXPECT_NEAR(found.stretch, 12354.0 / 10354, 1e-12);
  EXPECT_NEAR(found.weft_stretch, 4955.0 / 3955, 1e-12);
  EXPECT_NEAR(found.shear, 100 / 66.6, 1e-12);
  const double e = (0.318e-3 + 0.2e-3) / 2, coupled = 0.25 * e * e * 10354 * 2000 / 12354;
  EXPECT_NEAR(found.bending, (11.57e-6 + 5e-6 + coupled) / 11.57e-6, 1e-9);
}

TEST(PanelFabric, SaysWhatIsWrong) {
  says(refusal(panels(R"(, "fabric": {"bending_stiffness": 1e-5})")),
       "garments[0].mesh.panels[0].fabric.bending_stiffness: found 1e-05, expected none where that of the");
  says(refusal(panels(R"(, "fabric": {"stretch_stiffness": 0})") + cotton),
       "garments[0].mesh.panels[0].fabric.stretch_stiffness: found 0");
  says(refusal(panels(R"(, "fabric": {"stretch_stiffness": 9e5})") + cotton), "found a Poisson's ratio of");
  says(refusal(panels(R"(, "fabric": {"stretch_stiffness": 90})") +
               R"(, "fabric": {"curves": {"warp": {"strain": [0.1], "force": [10]}}})"),
       "expected none where the garment's fabric has a curve");
  says(refusal(panels(R"(, "interfacing": [{"bending_stiffness": 1e-5}])")),
       "expected a garment with bending");
}

TEST(FabricMaps, AreOfFacesNodesAndAll) {
  const auto factors = [](const std::string& map, const TemporaryFolder& folder = {}) {
    return read_garment(grid + R"(, "maps": [)" + map + "]", folder).mesh.face_factors;
  };
  auto found = factors(R"({"of": "bending_stiffness", "by": {"values": [2, 3]}})");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].bending, 2);
  EXPECT_EQ(found[1].bending, 3);
  EXPECT_EQ(found[1].density, 1);
  found = factors(R"({"of": "stretch_stiffness", "by": {"values": [1, 2, 3, 1, 2, 3]}})");
  EXPECT_NEAR(found[0].stretch, 1.5, 1e-15);
  EXPECT_NEAR(found[1].weft_stretch, 2.5, 1e-15);
  found = factors(R"({"of": "thickness", "by": {"values": [2]}}, {"of": "density", "by": {"values": [3]}})");
  EXPECT_EQ(found[0], (FabricFactors{6, 2, 2, 2, 8}));
  const TemporaryFolder folder;
  folder.write("map.csv", "factor\n0.5\n0.25\n");
  EXPECT_EQ(factors(R"({"of": "shear_stiffness", "by": {"file": "map.csv"}})", folder)[1].shear, 0.25);
  const Garment sewn =
      read_garment(panels() + R"(, "maps": [{"of": "density", "panel": "right", "by": {"values": [2]}}])");
  EXPECT_EQ(sewn.mesh.face_factors.front().density, 1);
  EXPECT_EQ(sewn.mesh.face_factors.back().density, 2);
}

// Grey is linear between the middles of pixels, u to the right and v upwards.
TEST(FabricMaps, AreImages) {
  const TemporaryFolder folder;
  folder.write("map.pgm", "P2\n# a ramp\n4 1\n100\n0 50 100 100\n");
  const GreyImage image = read_grey_image(folder.path() / "map.pgm");
  EXPECT_EQ(image.at(0, 0.5), 0);
  EXPECT_NEAR(image.at(0.25, 0.5), 0.25, 1e-15);
  EXPECT_NEAR(image.at(0.375, 0.1), 0.5, 1e-15);
  EXPECT_EQ(image.at(1, 0.5), 1);
  const auto found =
      read_garment(
          grid +
              R"(, "maps": [{"of": "density", "by": {"image": {"file": "map.pgm", "black": 1, "white": 3}}}])",
          folder)
          .mesh.face_factors;
  // The mean of the middle and of four points between it and the corners.
  EXPECT_NEAR(found[0].density,
              1 + 2 * (image.at(0.25, 0.5) + 2 * image.at(0.125, 0.5) + 2 * image.at(0.375, 0.5)) / 5, 1e-12);
  EXPECT_NEAR(found[1].density, 3 - 2 * 2 * (1 - image.at(0.625, 0.5)) / 5, 1e-12);
  folder.write("deep.pgm", std::string("P5 1 2 65535\n") + std::string("\xff\xff\x00\x00", 4));
  const GreyImage deep = read_grey_image(folder.path() / "deep.pgm");
  EXPECT_EQ(deep.at(0.5, 0.9), 1);
  EXPECT_EQ(deep.at(0.5, 0.1), 0);
  folder.write("real.pfm",
               std::string("Pf\n1 2\n-1.0\n") + std::string("\x00\x00\x20\x40\x00\x00\x80\xbf", 8));
  const GreyImage real = read_grey_image(folder.path() / "real.pfm");
  EXPECT_EQ(real.at(0.5, 0), 2.5);  // rows from below
  EXPECT_EQ(real.at(0.5, 1), -1);
  for (const auto& [text, said] : {std::pair{"P6 1 1 255\nabc", "expected a grey image"},
                                   {"P2 2 1 9\n3 10", "found a pixel of \"10\""},
                                   {"P5 9 9 255\nabc", "found 3 pixels"},
                                   {"P2 0 1 9\n", "found a width of \"0\""}}) {
    folder.write("bad.pgm", text);
    try {
      read_grey_image(folder.path() / "bad.pgm");
      ADD_FAILURE() << text;
    } catch (const FileError& error) {
      says(error.what(), said);
    }
  }
}

TEST(FabricMaps, SayWhatIsWrong) {
  says(refusal(grid + R"(, "maps": [{"of": "density", "by": {"values": [1, 2, 3]}}])"),
       "garments[0].maps[0].by.values: found 3 numbers, expected one, 6 of the nodes or 2 of the faces");
  says(refusal(grid + R"(, "maps": [{"of": "density", "panel": "a", "by": {"values": [1]}}])"),
       "garments[0].maps[0].panel: found \"a\", expected none: the mesh has no panels");
  says(refusal(grid + R"(, "maps": [{"of": "weight", "by": {"values": [1]}}])"), "weight");
  says(refusal(grid + R"(, "maps": [{"of": "density", "by": {"file": "../map.csv"}}])"), "map.csv");
  says(refusal(
           grid +
           R"(, "maps": [{"of": "density", "by": {"image": {"file": "../m.pgm", "black": 1, "white": 2}}}])"),
       "m.pgm");
}

TEST(PanelFile, ReadsLinesFoldsAndZippers) {
  const Garment garment = read_garment(
      panels(R"(, "lines": [{"name": "crease", "points": [[0.2, 0], [0.2, 0.2]], "fold": {"angle": 90}}])",
             R"(, "zipper": {"times": [0, 1], "closed": [0.5, 1]})",
             R"(, "bands": [{"panel": "right", "edge": 1, "share": 1, "stiffness": 5,
                            "drawn": {"times": [0, 2], "shares": [0.9, 0.5]}}])") +
      cotton + R"(, "transform": {"scale": 2})");
  EXPECT_EQ(garment.mesh.folds.size(), 2u);
  EXPECT_NEAR(garment.mesh.folds[0].angle, std::numbers::pi / 2, 1e-15);
  ASSERT_EQ(garment.zippers.size(), 1u);
  const Zipper& zipper = garment.zippers[0];
  EXPECT_EQ(zipper.name, "left.1 with right.3");
  EXPECT_EQ(zipper.stitches.size(), 3u);
  EXPECT_EQ(zipper.closed.at(0.5), 0.75);
  int open = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Stitch& stitch = garment.mesh.stitches[static_cast<std::size_t>(zipper.stitches[i])];
    EXPECT_NEAR(zipper.shares[i], garment.initial_positions[stitch.a].z / 0.4, 1e-12);
    open += stitch.slack > 0;
  }
  EXPECT_EQ(open, 1);
  ASSERT_EQ(garment.drawstrings.size(), 1u);
  double length = 0;
  for (const Band& band : garment.mesh.bands) length += band.length;
  EXPECT_NEAR(length, 0.9 * 0.4, 1e-12);
  says(refusal(panels("", R"(, "zipper": {"times": [0, 1], "closed": [1]})") + cotton),
       "found 2 times and 1 numbers of the zipper left.1 with right.3");
}

// A fold is as stiff as what lies beside it: of two panels by their areas, here alike.
TEST(PanelFabric, IsThatOfFoldsBesideIt) {
  const std::string stiff = R"(, "fabric": {"preset": "cotton", "bending_stiffness": 34.71e-6})",
                    line = R"(, "lines": [{"name": "crease", "points": [[0.2, 0], [0.2, 0.2]],
                               "fold": {"angle": 90}}])",
                    seam = R"(, "fold": {"angle": 0})";
  const Garment plain = read_garment(panels(line, seam) + cotton),
                found = read_garment(panels(stiff + line, seam) + cotton);
  ASSERT_EQ(found.mesh.folds.size(), plain.mesh.folds.size());
  int within = 0, between = 0;
  for (std::size_t i = 0; i < found.mesh.folds.size(); ++i) {
    const double ratio = found.mesh.folds[i].factor / plain.mesh.folds[i].factor;
    within += std::fabs(ratio - 3) < 1e-9;
    between += ratio > 1.2 && ratio < 2.8;
  }
  EXPECT_EQ(within, 2);
  EXPECT_EQ(between, 4);
  EXPECT_EQ(within + between, static_cast<int>(found.mesh.folds.size()));
}

TEST(SceneFile, ReadsSoftPinsAndWeights) {
  const TemporaryFolder folder;
  folder.write("weights.csv", "0\n1\n0.4\n0\n0.6\n0\n");
  const Garment garment = read_garment(
      grid + R"(, "pins": [{"select": {"weights": {"file": "weights.csv", "above": 0.5}}, "stiffness": 20}])",
      folder);
  EXPECT_TRUE(garment.pins.empty());
  ASSERT_EQ(garment.force_slopes.size(), 6u);
  EXPECT_EQ(garment.force_slopes[1].stiffness, isotropic_tensor(20));
  EXPECT_EQ(garment.force_slopes[4].position, (Vec3d{1, 1, 0}));
  EXPECT_EQ(garment.force_slopes[0].stiffness, SymmetricTensor{});
  says(refusal(grid + R"(, "pins": [{"select": {"nodes": [0]}, "stiffness": 20, "ramp": 1}])"),
       "soft pins rest");
  folder.write("weights.csv", "0\n1\n");
  says(refusal(grid + R"(, "pins": [{"select": {"weights": {"file": "weights.csv"}}}])", folder),
       "garments[0].pins[0].select.weights.file: found 2 numbers, expected 6");
}

}  // namespace
}  // namespace isocloth
