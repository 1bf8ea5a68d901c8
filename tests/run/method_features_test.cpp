// Every way into a method asks its list.
#include <gtest/gtest.h>

#include "engine/core/errors.hpp"
#include "engine/model/methods.hpp"
#include "host/energy/energy_balance.hpp"
#include "host/fit/rest_cases.hpp"
#include "host/gradients/tape.hpp"
#include "host/run/equilibrium_search.hpp"
#include "host/validation/validation.hpp"
#include "tests/support/feature_scenes.hpp"

namespace isocloth {
namespace {

struct Way {
  const Method& method;
  void (*enter)(const Scene& scene);
};

const ExecutionOptions plain{.solver = StepSolver::direct, .threads = 1};

const Way ways[] = {
    {methods::gradients,
     [](const Scene& scene) {
       Simulation simulation(scene, plain);
       Tape tape(simulation);
     }},
    {methods::energy_balance,
     [](const Scene& scene) {
       Simulation simulation(scene, plain);
       EnergyBalance balance(simulation);
     }},
    {methods::rest, [](const Scene& scene) { require_equilibrium(scene); }},
    {methods::static_sheet,
     [](const Scene& scene) {
       RestCases(scene, {0.5, 1}, {}, {.threads = 1}, "tester.json");
     }},
    {methods::validation, [](const Scene& scene) { validate(scene, plain, 0); }},
    {methods::batched,
     [](const Scene& scene) { Simulation(scene, {.solver = StepSolver::batched, .threads = 1}); }},
    {methods::iterative,
     [](const Scene& scene) { Simulation(scene, {.solver = StepSolver::iterative, .threads = 1}); }},
    {methods::mixed,
     [](const Scene& scene) { Simulation(scene, {.solver = StepSolver::mixed, .threads = 1}); }},
};

TEST(MethodFeatures, AreAskedForOnEveryWay) {
  for (const FeatureInfo& info : feature_list) {
    const Scene scene = scene_with(info.feature);
    for (const Way& way : ways) {
      SCOPED_TRACE(testing::Message() << info.name << " with " << way.method.name);
      std::string said;
      try {
        way.enter(scene);
      } catch (const Error& error) {
        said = error.what();
      }
      if (way.method.accepts(all_features(scene)))
        EXPECT_EQ(said, "");
      else
        EXPECT_NE(said.find(std::string(way.method.name)), std::string::npos) << said;
    }
  }
}

}  // namespace
}  // namespace isocloth
