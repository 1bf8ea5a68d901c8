// Fabrics in other units, or that no step holds, are named before a run.
#include "host/run/fabric_warnings.hpp"

#include <gtest/gtest.h>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "host/run/prepare_scene.hpp"

namespace isocloth {
namespace {

/// A sheet of 11 x 11 nodes, 3 cm apart.
Scene sheet_of(const Fabric& fabric, const std::string& recipe = "membrane") {
  Garment sheet;
  sheet.name = "sheet";
  sheet.mesh = quad_grid(11, 11, 0.3, 0.3);
  sheet.fabric = fabric;
  sheet.fabric.density = sheet.fabric.gravity_density = 0.2;
  Scene scene;
  scene.recipe = recipe;
  scene.garments = {sheet};
  scene.step = 0.01;
  scene.duration = 0.1;
  return scene;
}

std::string warnings_of(const Scene& scene, Precision precision = Precision::float64) {
  std::string all;
  for (const std::string& line : start_warnings(scene, {}, "scene.json", precision)) all += line + "\n";
  return all;
}

void expect_warned(const Scene& scene, Precision precision, const std::string& expected) {
  const std::string found = warnings_of(scene, precision);
  EXPECT_NE(found.find(expected), std::string::npos) << found << "expected: " << expected;
}

// sqrt(12 D / k): 3.46 cm of 1 N m and 10,000 N/m.
TEST(FabricWarnings, NamesPlatesThickerThanAnEdge) {
  Fabric fabric{.bending_stiffness = 0.7, .stretch_stiffness = 1e4};
  EXPECT_EQ(warnings_of(sheet_of(fabric)), "");
  fabric.bending_stiffness = 1;
  expect_warned(sheet_of(fabric), Precision::float64,
                "garments[0] \"sheet\": fabric.bending_stiffness: found 1 N m, with 10000 N/m against "
                "stretch a plate that "
                "is 0.0346");
  expect_warned(sheet_of(fabric), Precision::float64, "for uN m multiply by 1e-6");
  fabric = {.bending_stiffness = 1e-5, .weft_bending_stiffness = 1, .stretch_stiffness = 1e4};
  expect_warned(sheet_of(fabric), Precision::float64, "fabric.weft_bending_stiffness: found 1 N m");
  fabric = {.bending_stiffness = 1e9};
  EXPECT_EQ(warnings_of(sheet_of(fabric, "coltraro2022")), "") << "rigid rows hold it";
}

// 0.2 kg/m^2 in steps of 10 ms: 6 cm are 120 Pa.
TEST(FabricWarnings, NamesPressureThatThrowsClothFarInAStep) {
  Scene scene = sheet_of({});
  scene.garments[0].pressure = 110;
  EXPECT_EQ(warnings_of(scene), "");
  scene.garments[0].pressure = -150;
  expect_warned(scene, Precision::float64,
                "\"sheet\": pressure: -150 Pa throws cloth of 0.2 kg/m^2 by 0.075 m");
  scene.step = 0.001;
  EXPECT_EQ(warnings_of(scene), "");
}

TEST(FabricWarnings, RefusesPlatesThickerThanTheCloth) {
  for (const double kappa : {1e3, 1e9, 1e12})
    for (const bool is_weft : {false, true}) {
      Fabric fabric{.bending_stiffness = is_weft ? 1e-5 : kappa,
                    .weft_bending_stiffness = is_weft ? kappa : 0};
      try {
        warnings_of(sheet_of(fabric));
        ADD_FAILURE() << "accepted";
      } catch (const SceneError& error) {
        const std::string message = error.what();
        EXPECT_EQ(message.rfind(is_weft ? "scene.json: garments[0].fabric.weft_bending_stiffness: found "
                                        : "scene.json: garments[0].fabric.bending_stiffness: found ",
                                0),
                  0U)
            << message;
        EXPECT_NE(message.find("for uN m multiply by 1e-6"), std::string::npos) << message;
      }
    }
}

// A node has 0.2 kg/m^2 of 0.09 m^2 / 121, a step 10 ms: 0.2 / u of it is 5e6 N/m in single precision.
TEST(FabricWarnings, NamesWhatRoundingTakes) {
  const Fabric soft{}, stiff{.stretch_stiffness = 6e6, .shear_stiffness = 1e4},
      sheared{.stretch_stiffness = 1e4, .shear_stiffness = 6e6},
      viscous{.viscosity = {.stretch = 6e4, .shear = 6e4}};
  for (const Fabric& fabric : {soft, stiff, sheared, viscous})
    EXPECT_EQ(warnings_of(sheet_of(fabric), Precision::float64), "");
  EXPECT_EQ(warnings_of(sheet_of(soft), Precision::float32), "");
  expect_warned(sheet_of(stiff), Precision::float32, "fabric.stretch_stiffness: found 6000000 N/m");
  expect_warned(sheet_of(stiff), Precision::float32, "use --precision float64, a shorter step");
  expect_warned(sheet_of(sheared), Precision::float32, "fabric.shear_stiffness: found 6000000 N/m");
  expect_warned(sheet_of(viscous), Precision::float32, "fabric.stretch_viscosity: found 60000 N s/m");
  expect_warned(sheet_of(viscous), Precision::float32, "fabric.shear_viscosity: found 60000 N s/m");
  const Fabric stiffest{.stretch_stiffness = 1e16, .shear_stiffness = 1e16};
  expect_warned(sheet_of(stiffest), Precision::float64, "float64 holds no more in steps of 0.01 s");
}

TEST(FabricWarnings, NamesThreadsThatHideShear) {
  const Fabric stiff{.stretch_stiffness = 1e9, .shear_stiffness = 50};
  expect_warned(sheet_of(stiff), Precision::float64, "2e+07 times shear_stiffness");
  Scene scene = sheet_of(stiff);
  scene.projection.tolerance = 1e-5;
  EXPECT_EQ(warnings_of(scene), "");
}

}  // namespace
}  // namespace isocloth
