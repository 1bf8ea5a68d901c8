// The certificate of ways within steps, on states made by hand.
#include "host/run/certificate.hpp"

#include <gtest/gtest.h>

#include "engine/core/flat_vectors.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

/// Two sheets, the upper one 0.1 m above the lower one.
class CertificateOfParts : public testing::Test {
 protected:
  CertificateOfParts() : simulation_(scene(), {.backend = "cpu", .threads = 1}) {
    certificate_.begin_step(simulation_);
  }

  static Scene scene() {
    Scene scene;
    scene.recipe = "membrane";
    scene.step = 0.01;
    for (const char* const name : {"lower", "upper"}) {
      Garment sheet;
      sheet.name = name;
      sheet.mesh = quad_grid(4, 4, 0.1, 0.1);
      const double z = scene.garments.empty() ? 0 : 0.1, aside = scene.garments.empty() ? 0 : 0.011;
      for (Vec3d& p : sheet.mesh.positions) p += Vec3d{aside, aside, z};
      scene.garments.push_back(sheet);
    }
    return scene;
  }

  /// The end of a part in which a sheet is that much above where it was.
  SubstepRecord part(std::size_t garment, double above, double share) const {
    SubstepRecord part{.step = share * 0.01,
                       .state = simulation_.state(garment),
                       .cloth_forces = {},
                       .ccd_stopped_nodes = {}};
    for (std::size_t i = 2; i < part.state.positions.size(); i += 3) part.state.positions[i] += above;
    return part;
  }
  /// The upper sheet takes these parts, the lower one the whole step, in which nothing happens.
  RunSummary count(std::vector<SubstepRecord> parts, int substeps) {
    std::vector<StepRecord> steps(2);
    steps[0].parts = {part(0, 0, 1)};
    steps[1].parts = std::move(parts);
    std::vector<StepReport> reports(2);
    reports[1].substeps = substeps;
    RunSummary summary;
    certificate_.count(simulation_, reports, steps, summary);
    return summary;
  }

  const Scene scene_ = scene();
  Simulation simulation_;
  Certificate certificate_{scene_};
};

TEST(CertificateOfStart, SaysHowToMendASheetThatPassesThroughItself) {
  Scene scene;
  scene.contact.cloth = true;
  Garment strip;
  strip.mesh = quad_grid(9, 2, 0.8, 0.1);
  strip.fabric.thickness = 0.001;
  for (Vec3d p : strip.mesh.positions)  // the end comes back through the middle
    strip.initial_positions.push_back(p.x < 0.45 ? p
                                                 : Vec3d{0.85 - p.x, p.y + 0.003, 0.22 - 0.5 * (p.x - 0.3)});
  scene.garments = {strip};
  const std::string line = describe(Certificate(scene).of_start(), true);
  EXPECT_NE(line.find("pairs of an edge and a face in 1 garment, edge "), std::string::npos) << line;
  EXPECT_NE(line.find("does not untangle: give it another shape in the file"), std::string::npos) << line;
}

TEST_F(CertificateOfParts, FindsWhatPassesInOneAndComesBackInTheNext) {
  const RunSummary found = count({part(1, -0.2, 0.25), part(1, 0, 0.75)}, 2);
  EXPECT_EQ(found.steps_intersecting, 0);
  EXPECT_EQ(found.steps_certified_within, 1);
  EXPECT_EQ(found.steps_passing_within, 1);
  ASSERT_FALSE(found.first_passages.empty());
  // Half of the first quarter of the step to t = 0.
  EXPECT_NE(found.first_passages[0].find(", t = -0.00875 s"), std::string::npos) << found.first_passages[0];
}

TEST_F(CertificateOfParts, FindsNothingWhereSheetsStayApart) {
  const RunSummary found = count({part(1, -0.05, 0.25), part(1, 0.3, 0.25), part(1, 0, 0.5)}, 3);
  EXPECT_EQ(found.steps_certified_within, 1);
  EXPECT_EQ(found.steps_passing_within, 0);
}

TEST_F(CertificateOfParts, LeavesOutStepsWhosePartsAreNotTold) {
  const RunSummary found = count({part(1, 0, 1)}, 4);
  EXPECT_EQ(found.steps_certified, 1);
  EXPECT_EQ(found.steps_certified_within, 0);
}

/// Sheets in one plane neither cross nor touch: they are counted by themselves.
TEST(CertificateOfStates, CountsWhatOverlapsInOnePlane) {
  Scene scene;
  scene.step = 0.01;
  for (const char* const name : {"lower", "upper"}) {
    Garment sheet;
    sheet.name = name;
    sheet.mesh = quad_grid(4, 4, 0.1, 0.1);
    scene.garments.push_back(sheet);
  }
  const Simulation simulation(scene, {.backend = "cpu", .threads = 1});
  Certificate certificate(scene);
  const IntersectionReport found = certificate.of(simulation);
  EXPECT_EQ(found.crossing, 0);
  EXPECT_EQ(found.touching, 0);
  EXPECT_EQ(found.overlapping, 18);  // each triangle with its like
  EXPECT_TRUE(found.pairs.empty());
  ASSERT_EQ(found.overlaps.size(), 10U);
  EXPECT_EQ(found.overlaps[0].garments, (std::array<std::string, 2>{"lower", "upper"}));
  EXPECT_EQ(found.overlaps[0].faces[0], found.overlaps[0].faces[1]);

  RunSummary summary;
  certificate.begin_step(simulation);
  for (int step = 0; step < 2; ++step)
    certificate.count(simulation, std::vector<StepReport>(2), std::vector<StepRecord>(2), summary);
  EXPECT_EQ(summary.steps_certified, 2);
  EXPECT_EQ(summary.steps_intersecting, 0);
  EXPECT_EQ(summary.steps_touching, 0);
  EXPECT_EQ(summary.steps_overlapping, 2);
  EXPECT_EQ(summary.overlaps_max, 18);
  ASSERT_EQ(summary.first_overlaps.size(), 10U);
  EXPECT_NE(summary.first_overlaps[0].find(" of lower in the plane of face "), std::string::npos)
      << summary.first_overlaps[0];
  EXPECT_NE(summary.first_overlaps[0].find(" of upper at ("), std::string::npos) << summary.first_overlaps[0];
  EXPECT_NE(summary.first_overlaps[0].find(" m, t = 0 s"), std::string::npos) << summary.first_overlaps[0];
}

TEST_F(CertificateOfParts, FrozenGarmentsStay) { EXPECT_EQ(count({}, 4).steps_certified_within, 1); }

}  // namespace
}  // namespace isocloth
