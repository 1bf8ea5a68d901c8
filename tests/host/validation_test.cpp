// Kernels against the reference, whole steps of every scene.
#include "host/validation/validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/model/recipe.hpp"
#include "host/files/text_file.hpp"
#include "host/scene/scene_file.hpp"
#include "host/simulation/simulation.hpp"
#include "tests/support/known_recipes.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

std::filesystem::path scenes() { return std::filesystem::path(ISOCLOTH_SOURCE_DIR) / "bench" / "scenes"; }

std::string describe(const ValidationReport& report) {
  std::ostringstream text;
  for (const GarmentValidation& g : report.garments) {
    text << g.garment << ": " << g.deviating_steps << " steps deviate\n";
    for (const Difference& d : g.differences)
      if (!d.passed())
        text << "  " << d.quantity << ": " << d.worst << " in step " << d.step << " at " << d.index
             << ", tolerance " << d.tolerance << "\n";
  }
  return text.str();
}

double worst(const GarmentValidation& garment, const std::string& quantity) {
  for (const Difference& d : garment.differences)
    if (d.quantity == quantity && d.step >= 0) return d.worst;
  ADD_FAILURE() << quantity << " was not compared";
  return 0;
}

ValidationReport expect_valid(const Scene& scene, Precision precision, std::int64_t steps) {
  const ValidationReport report = validate(scene, {.precision = precision, .threads = 1}, steps);
  EXPECT_EQ(report.garments.size(), scene.garments.size());
  EXPECT_TRUE(report.passed()) << describe(report);
  for (const GarmentValidation& g : report.garments) {
    EXPECT_EQ(g.steps, steps);
    EXPECT_EQ(g.whole_steps + g.undecided_steps + g.stalled_steps + g.deviating_steps, steps);
    EXPECT_EQ(g.stalled_steps, 0);
  }
  return report;
}

bool projects(const Scene& scene) { return find_recipe(scene.recipe).solver == SolverFamily::projection; }

/// Every file of bench/scenes without surroundings, which are checked otherwise; one step of the large ones
/// and three of the others.
class EveryScene : public testing::TestWithParam<std::string> {
 protected:
  /// Of many replicas a few, evenly chosen: each is compared by itself.
  Scene scene() const {
    constexpr std::size_t most = unless_sanitized(12, 3);
    Scene scene = read_scene(scenes() / (GetParam() + ".json"));
    const std::size_t count = scene.garments.size();
    if (count <= most) return scene;
    std::vector<Garment> chosen;
    for (std::size_t i = 0; i < most; ++i) chosen.push_back(scene.garments[i * (count - 1) / (most - 1)]);
    scene.garments = std::move(chosen);
    return scene;
  }
  static std::int64_t steps(const Scene& scene) {
    return scene.garments[0].mesh.node_count() > unless_sanitized(500, 80) ? 1 : 3;
  }
};

TEST_P(EveryScene, KernelsEqualTheReferenceInDouble) {
  const ValidationReport report = expect_valid(scene(), Precision::float64, steps(scene()));
  for (const GarmentValidation& g : report.garments) {
    EXPECT_EQ(g.whole_steps, g.steps) << "no residual lies within rounding of a threshold";
    const std::vector<std::string> of_projection{
        "masses",       "predicted positions", "first iterate",    "row values",
        "row scales D", "geometric stiffness", "first correction", "positions"};
    const std::vector<std::string> of_impulses{"parts of a step", "residual", "positions", "velocities"};
    for (const std::string& quantity : projects(scene()) ? of_projection : of_impulses)
      EXPECT_LE(worst(g, quantity), 1e-9) << quantity;
  }
}

TEST_P(EveryScene, KernelsEqualTheReferenceInFloat) {
  const ValidationReport report = expect_valid(scene(), Precision::float32, 1);
  const std::vector<std::string> of_projection{"predicted positions", "first iterate", "row values"};
  const std::vector<std::string> of_impulses{"parts of a step", "residual"};
  for (const GarmentValidation& g : report.garments)
    for (const std::string& quantity : projects(scene()) ? of_projection : of_impulses)
      EXPECT_LE(worst(g, quantity), 1e-4) << quantity;
}

/// Of a scene file, by its keys: every start of the program lists the tests, and to make the garments of all
/// scenes for that would take longer than most tests.
bool names_surroundings(const nlohmann::json& keys) {
  constexpr std::array of_surroundings{"obstacles", "bodies", "wind",    "grippers",
                                       "drag",      "forces", "pressure"};
  return std::any_of(of_surroundings.begin(), of_surroundings.end(),
                     [&](const char* key) { return keys.is_object() && keys.contains(key); }) ||
         std::any_of(keys.begin(), keys.end(),
                     [](const auto& value) { return value.is_structured() && names_surroundings(value); });
}

std::vector<std::string> scene_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(scenes()))
    if (entry.path().extension() == ".json" && is_known_scene(read_whole_file(entry.path())) &&
        !names_surroundings(nlohmann::json::parse(std::ifstream(entry.path()))))
      names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}
INSTANTIATE_TEST_SUITE_P(Bench, EveryScene, testing::ValuesIn(scene_names()),
                         [](const auto& instance) { return instance.param; });

void expect_valid_in(const std::string& name, ProjectionMethod method, Metric metric, Precision precision) {
  SCOPED_TRACE(name + (method == ProjectionMethod::proximal_newton ? ", newton, " : ", fast, ") +
               (metric == Metric::mass ? "mass, " : "B, ") + to_string(precision));
  Scene scene = read_scene(scenes() / (name + ".json"));
  scene.projection.method = method;
  scene.projection.metric = metric;
  expect_valid(scene, precision, unless_sanitized(4, 2));
}

TEST(Validation, BothMethodsInBothMetrics) {
  for (const std::string name : {"shake_fast_9x9", "cantilever", "rigid_motion"})
    for (const auto metric : {Metric::implicit_b, Metric::mass}) {
      expect_valid_in(name, ProjectionMethod::proximal_newton, metric, Precision::float64);
      expect_valid_in(name, ProjectionMethod::fast_projection, metric, Precision::float64);
      expect_valid_in(name, ProjectionMethod::proximal_newton, metric, Precision::float32);
    }
}

// Two iterations are too few for some steps of 40 ms, not for all.
TEST(Validation, PartedSteps) {
  Scene scene = read_scene(scenes() / "shake_fast_9x9.json");
  scene.step = 0.04;
  scene.duration = 4;
  scene.frame_interval = 0;
  std::get<OscillationMotion>(scene.garments[0].pins[0].motion).start = 0;
  scene.projection.max_substeps = 8;
  scene.projection.max_iterations = 2;
  scene.projection.tolerance = 3e-4;
  Simulation simulation(scene, {.threads = 1});
  int parted = 0;
  for (int i = 0; i < 6; ++i) parted += simulation.step()[0].substeps > 1;
  EXPECT_GT(parted, 0);
  EXPECT_LT(parted, 6);
  const ValidationReport report = expect_valid(scene, Precision::float64, 6);
  EXPECT_EQ(report.garments[0].whole_steps, 6);
  EXPECT_TRUE(validate(scene, {.solver = StepSolver::direct, .threads = 1}, 6).passed());
}

TEST(Validation, RefusesSolversThatStopAtATolerance) {
  const Scene scene = read_scene(scenes() / "shake_fast_9x9.json");
  for (const StepSolver solver : {StepSolver::mixed, StepSolver::iterative})
    EXPECT_THROW(validate(scene, {.solver = solver, .threads = 1}, 1), DeviceError);
}

// Scenes with surroundings are checked from outside; all that can be is.
TEST(Validation, ChecksScenesAmongObstaclesFromOutside) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      {"sheet_on_sphere", {"residual", "depth not told [m]", "balance of momentum"}},
      {"two_grippers",
       {"residual", "depth not told [m]", "holder", "hold off its frame [m]", "balance of momentum"}},
      {"impulse_sheet_on_sphere", {"residual", "penetration [m]", "depth not told [m]"}},
      {"flag", {"residual"}}};
  for (const auto& [name, quantities] : cases)
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      const Scene scene = read_scene(scenes() / (name + ".json"));
      const std::int64_t steps = unless_sanitized(48, 4);
      const ValidationReport report = validate(scene, {.precision = precision, .threads = 1}, steps);
      EXPECT_TRUE(report.passed()) << name << ", " << to_string(precision) << "\n" << describe(report);
      EXPECT_EQ(report.garments[0].steps, steps);
      EXPECT_EQ(report.garments[0].whole_steps, 0);
      for (const std::string& quantity : quantities)
        if (!is_sanitized || quantity != "hold off its frame [m]") worst(report.garments[0], quantity);
    }
}

// What is left of a row by its curve, and by the strain before the step.
TEST(Validation, ChecksCurvesAndViscosityAmongObstacles) {
  const std::int64_t steps = unless_sanitized(30, 2);
  for (const char* recipe : {"membrane", "soft_constraints"})
    for (const std::string viscosity : {"", "linear", "curves"})
      for (const Precision precision : {Precision::float64, Precision::float32}) {
        Scene scene = read_scene(scenes() / "wool_on_sphere.json");
        scene.recipe = recipe;
        scene.projection.force_tolerance = 0.1;  // of momentum, beside contacts that slide
        Garment& sheet = scene.garments[0];
        sheet.mesh = quad_grid(17, 17, 0.5, 0.5);
        for (Vec3d& p : sheet.mesh.positions) p += {-0.25, -0.25, 0.16};
        if (viscosity == "linear") sheet.fabric.viscosity = {.stretch = 20, .shear = 2};
        if (viscosity == "curves") {
          sheet.fabric.viscosity.curves.warp.points = {{0.1, 1}, {1, 30}, {5, 300}};
          sheet.fabric.viscosity.curves.shear.polynomial = {1, 0, 0.2};
          sheet.fabric.viscosity.curves.shear.up_to = 10;
        }
        const ValidationReport report = validate(scene, {.precision = precision, .threads = 1}, steps);
        EXPECT_TRUE(report.passed()) << recipe << ", viscosity: " << viscosity << ", " << to_string(precision)
                                     << "\n"
                                     << describe(report);
        worst(report.garments[0], "residual");
      }
}

/// A sheet that one gripper carries, another on a spring takes for a while, over a plane, without air.
Scene carried_sheet(const std::string& recipe) {
  Garment sheet;
  sheet.name = "sheet";
  sheet.mesh = quad_grid(7, 7, 0.3, 0.3);
  sheet.fabric.bending_stiffness = 1e-4;
  const KeyframeMotion motion{
      .times = {0, 1}, .translations = {{}, {0.1, 0.1, 0.2}}, .rotations = {{}, {0, 0.4, 0}}, .center = {}};
  sheet.grippers = {{.name = "carries",
                     .region = SphereShape{0.06},
                     .position = {},
                     .rotation = {},
                     .motion = motion,
                     .holds = {{0, 0.3}},
                     .stiffness = 0},
                    {.name = "springs",
                     .region = BoxShape{{0.1, 0.1, 0.2}, 0},
                     .position = {0.3, 0.3, 0},
                     .rotation = {},
                     .motion = {},
                     .holds = {{0.1, 0.2}},
                     .stiffness = 3000}};
  Scene scene;
  scene.recipe = recipe;
  scene.garments = {sheet};
  scene.step = 0.01;
  scene.duration = 0.4;
  scene.impulse.substeps = 10;
  scene.impulse.on_violation = scene.projection.on_violation = OnViolation::go_on;
  return scene;
}

TEST(Validation, ChecksHoldsAndTheBalanceOfMomentum) {
  for (const char* recipe :
       known_recipes({"coltraro2022", "bender_iterative", "isometric_impulse", "bender_sle"}))
    for (const bool meets : {false, true})
      for (const Precision precision : {Precision::float64, Precision::float32}) {
        Scene scene = carried_sheet(recipe);
        if (meets)
          scene.obstacles = {{.name = "floor",
                              .shape = PlaneShape{},
                              .position = {0, 0, -0.02},
                              .rotation = {},
                              .motion = {},
                              .friction = {.static_ = 0.3, .dynamic = 0.3}}};
        const ValidationReport report = validate(scene, {.precision = precision, .threads = 1}, 40);
        EXPECT_TRUE(report.passed()) << recipe << (meets ? ", floor, " : ", ") << to_string(precision) << "\n"
                                     << describe(report);
        for (const char* quantity : {"residual", "holder", "hold off its frame [m]", "balance of momentum"})
          worst(report.garments[0], quantity);
      }
}

TEST(Validation, RefusesRigidBodies) {
  const Scene scene = read_scene(scenes() / "bodies_in_net.json");
  try {
    validate(scene, {.threads = 1}, 1);
    ADD_FAILURE() << "accepted";
  } catch (const SceneError& error) {
    EXPECT_NE(std::string(error.what()).find("bodies: found 5, expected none"), std::string::npos)
        << error.what();
  }
}

TEST(Validation, CallsBackBeforeEachStep) {
  std::vector<std::pair<std::size_t, std::int64_t>> calls;
  const Scene scene = read_scene(scenes() / "two_garments.json");
  validate(scene, {.threads = 1}, 2,
           [&](std::size_t garment, std::int64_t step) { calls.emplace_back(garment, step); });
  const std::vector<std::pair<std::size_t, std::int64_t>> expected{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  EXPECT_EQ(calls, expected);
}

}  // namespace
}  // namespace isocloth
