// Fields of all garments at once, against the states of one after the other.
#include "engine/core/errors.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/host/gripper_case.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

struct Way {
  std::string name, recipe;
  ExecutionOptions options;
};
std::vector<Way> ways() {
  std::vector<Way> all;
  for (const Precision precision : both_precisions) {
    for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
      all.push_back({std::string(to_string(solver)) + ", " + to_string(precision),
                     "coltraro2022",
                     {.precision = precision, .solver = solver}});
    for (const char* recipe : known_recipes({"bender_iterative", "bender_sle"}))
      all.push_back({std::string(recipe) + ", " + to_string(precision), recipe, {.precision = precision}});
  }
  return all;
}

/// Five sheets of one pattern and, between them, one of another without grippers; on a plane, held, in wind.
Scene held_scene(const std::string& recipe) {
  Scene scene = many_grippers(
      contact_scene(square_sheet(7, 0.3, 0.5), obstacle(PlaneShape{}, {0, 0, -0.1}, 0.3), 0.01));
  scene.recipe = recipe;
  Garment other = square_sheet(5, 0.2, 0.5);
  other.name = "other";
  scene.garments.insert(scene.garments.begin() + 2, other);
  scene.obstacles[0].position.z = -0.001;
  return scene;
}

/// Element [tile, lane, item, component] of a cloth.
double element(const FieldView& view, std::size_t cloth, std::size_t item, std::size_t component) {
  const auto lanes = static_cast<std::size_t>(view.shape[1]);
  const std::size_t index[4] = {cloth / lanes, cloth % lanes, item, component};
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_LT(static_cast<std::int64_t>(index[k]), view.shape[k]);
    offset += static_cast<std::int64_t>(index[k]) * view.strides[k];
  }
  return view.precision == Precision::float32 ? static_cast<double>(static_cast<float*>(view.data)[offset])
                                              : static_cast<double*>(view.data)[offset];
}

/// use(garment, value_of(item, component), items) of every garment that is seen; returns which are.
template <class Use>
std::vector<std::size_t> for_each_garment(const std::vector<FieldView>& views, std::int64_t components,
                                          const Use& use) {
  std::vector<std::size_t> seen;
  for (const FieldView& view : views) {
    EXPECT_EQ(view.backend, "cpu");
    EXPECT_EQ(view.shape[3], components);
    for (std::size_t c = 0; c < view.garments.size(); ++c) {
      seen.push_back(view.garments[c]);
      use(
          view.garments[c], [&](std::size_t i, std::size_t k) { return element(view, c, i, k); },
          static_cast<std::size_t>(view.shape[2]));
    }
  }
  std::sort(seen.begin(), seen.end());
  return seen;
}

const std::vector<std::size_t> all_six{0, 1, 2, 3, 4, 5}, with_grippers{0, 1, 3, 4, 5};

TEST(Fields, AreThoseOfTheStates) {
  for (const Way& way : ways()) {
    Simulation simulation(held_scene(way.recipe), way.options);
    simulation.advance(12);
    std::vector<GarmentState> states;
    for (std::size_t g = 0; g < 6; ++g) states.push_back(simulation.state(g));
    for (const GarmentField field : {GarmentField::positions, GarmentField::velocities}) {
      const auto seen =
          for_each_garment(simulation.view(field), 3, [&](std::size_t g, const auto& value, std::size_t n) {
            const GarmentState& state = states[g];
            const std::vector<double>& expected =
                field == GarmentField::positions ? state.positions : state.velocities;
            ASSERT_EQ(3 * n, expected.size());
            for (std::size_t i = 0; i < expected.size(); ++i)
              ASSERT_EQ(value(i / 3, i % 3), expected[i]) << way.name << ", garment " << g;
          });
      EXPECT_EQ(seen, all_six) << way.name;
    }
    // Forces of each obstacle and gripper, and how many contacts and holds they are of.
    const double h = simulation.scene().step;
    std::size_t pushed = 0, held = 0;
    std::vector<std::vector<std::size_t>> touched(6);
    auto seen = for_each_garment(simulation.view(GarmentField::contact_obstacles), 1,
                                 [&](std::size_t g, const auto& value, std::size_t n) {
                                   for (std::size_t c = 0; c < n; ++c)
                                     touched[g].push_back(static_cast<std::size_t>(value(c, 0) + 1));
                                 });
    EXPECT_EQ(seen, all_six) << way.name;
    seen = for_each_garment(simulation.view(GarmentField::contact_forces), 3,
                            [&](std::size_t g, const auto& value, std::size_t n) {
                              const ContactMeasures expected = simulation.contacts(g);
                              ASSERT_EQ(n, touched[g].size());
                              Index count = 0;
                              std::vector<Vec3d> forces(1);
                              for (std::size_t c = 0; c < n; ++c) {
                                const Vec3d p{value(c, 0), value(c, 1), value(c, 2)};
                                if (p == Vec3d{}) continue;
                                ++count;
                                ASSERT_GT(touched[g][c], 0u);
                                forces[touched[g][c] - 1] += 1 / (h * h) * p;
                              }
                              EXPECT_EQ(count, expected.count) << way.name;
                              EXPECT_EQ(forces, expected.forces) << way.name;
                              pushed += static_cast<std::size_t>(count);
                            });
    EXPECT_EQ(seen, all_six) << way.name;
    seen = for_each_garment(simulation.view(GarmentField::hold_forces), 3,
                            [&](std::size_t g, const auto& value, std::size_t n) {
                              Vec3d force;
                              for (std::size_t i = 0; i < n; ++i)
                                force += 1 / (h * h) * Vec3d{value(i, 0), value(i, 1), value(i, 2)};
                              EXPECT_EQ(force, simulation.holds(g).force) << way.name;
                              held += force != Vec3d{};
                            });
    EXPECT_TRUE(seen == with_grippers || seen == all_six) << way.name;
    EXPECT_GT(pushed, 0u) << way.name;
    EXPECT_GT(held, 0u) << way.name;
    const std::vector<Strain> strains = simulation.strains();
    seen = for_each_garment(
        simulation.view(GarmentField::strains), 11, [&](std::size_t g, const auto& value, std::size_t) {
          const Strain& s = strains[g];
          const double expected[11] = {
              s.max,        s.p95,        s.mean,      s.stretch_max, s.stretch_p95, s.compression_max,
              s.thread_max, s.thread_p95, s.shear_max, s.shear_p95,   s.pinned_max};
          for (std::size_t k = 0; k < 11; ++k) ASSERT_EQ(value(0, k), expected[k]) << way.name;
        });
    EXPECT_EQ(seen, all_six) << way.name;
  }
}

std::vector<Vec3d> read(const Simulation& simulation, GarmentField field,
                        const std::vector<std::size_t>& garments) {
  std::size_t count = 0;
  for (const std::size_t g : garments) count += simulation.scene().garments[g].mesh.positions.size();
  std::vector<Vec3d> values(count);
  simulation.read(field, garments, values);
  return values;
}

TEST(Fields, AreReadInTheOrderAsked) {
  for (const Way& way : ways()) {
    Simulation simulation(held_scene(way.recipe), way.options);
    simulation.advance(5);
    for (const auto& garments :
         std::vector<std::vector<std::size_t>>{{4, 2, 0, 4}, {5}, {}, {0, 1, 2, 3, 4, 5}}) {
      std::vector<Vec3d> x, v;
      for (const std::size_t g : garments) {
        const std::vector<Vec3d> own_x = simulation.positions(g), own_v = simulation.velocities(g);
        x.insert(x.end(), own_x.begin(), own_x.end());
        v.insert(v.end(), own_v.begin(), own_v.end());
      }
      EXPECT_EQ(read(simulation, GarmentField::positions, garments), x) << way.name;
      EXPECT_EQ(read(simulation, GarmentField::velocities, garments), v) << way.name;
      if (garments.size() == 6) {
        std::vector<Vec3d> all(x.size());
        simulation.read(GarmentField::positions, all);
        EXPECT_EQ(all, x) << way.name;
      }
    }
    const std::vector<std::vector<Vec3d>> all = simulation.positions();
    for (std::size_t g = 0; g < 6; ++g) EXPECT_EQ(all[g], simulation.positions(g)) << way.name;
  }
}

// As set_state does it; what else is kept stays.
TEST(Fields, AreWrittenBitForBit) {
  for (const Way& way : ways()) {
    Simulation written(held_scene(way.recipe), way.options), set(held_scene(way.recipe), way.options),
        viewed(held_scene(way.recipe), way.options);
    for (Simulation* each : {&written, &set, &viewed}) each->advance(5);
    const std::vector<std::size_t> some{4, 0, 2};
    for (const GarmentField field : {GarmentField::positions, GarmentField::velocities}) {
      std::vector<Vec3d> values = read(written, field, some);
      for (Vec3d& value : values) value += Vec3d{0.25, 0.125, 0.5};
      written.write(field, some, values);
      for (const std::size_t g : some) {
        GarmentState state = set.state(g);
        std::vector<double>& own = field == GarmentField::positions ? state.positions : state.velocities;
        for (std::size_t i = 0; i < own.size(); ++i) own[i] += i % 3 == 0 ? 0.25 : i % 3 == 1 ? 0.125 : 0.5;
        set.set_state(g, state);
      }
      for (FieldView& view : viewed.view(field))
        for (std::size_t c = 0; c < view.garments.size(); ++c) {
          if (std::find(some.begin(), some.end(), view.garments[c]) == some.end()) continue;
          const auto lanes = view.shape[1], cloth = static_cast<std::int64_t>(c);
          for (std::int64_t i = 0; i < view.shape[2]; ++i)
            for (std::int64_t k = 0; k < 3; ++k) {
              const double shift = k == 0 ? 0.25 : k == 1 ? 0.125 : 0.5;
              const std::int64_t at = cloth / lanes * view.strides[0] + cloth % lanes * view.strides[1] +
                                      i * view.strides[2] + k * view.strides[3];
              if (view.precision == Precision::float32) {
                float& value = static_cast<float*>(view.data)[at];
                value = static_cast<float>(static_cast<double>(value) + shift);
              } else {
                static_cast<double*>(view.data)[at] += shift;
              }
            }
        }
    }
    for (const int steps : {0, 5}) {
      for (Simulation* each : {&written, &set, &viewed}) each->advance(steps);
      for (std::size_t g = 0; g < 6; ++g) {
        expect_same_state(written.state(g), set.state(g), way.name);
        expect_same_state(viewed.state(g), set.state(g), way.name + ", in place");
      }
    }
    std::vector<Vec3d> all(5 * 49 + 25);
    written.read(GarmentField::velocities, all);
    std::reverse(all.begin(), all.end());
    written.write(GarmentField::velocities, all);
    std::vector<Vec3d> found(all.size());
    written.read(GarmentField::velocities, found);
    EXPECT_EQ(found, all) << way.name;
  }
}

template <class Call>
void expect_refused(const Call& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << part;
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Fields, ThatAreNotThereAreRefused) {
  Simulation bare(batch_scene({}, 2)), held(held_scene("coltraro2022"), {.precision = Precision::float32});
  for (const GarmentField field :
       {GarmentField::contact_obstacles, GarmentField::contact_forces, GarmentField::hold_forces})
    expect_refused([&] { bare.view(field); }, to_string(field));
  const Simulation& reader = held;
  std::vector<Vec3d> values(49);
  expect_refused([&] { reader.read(GarmentField::positions, {6}, values); }, "garment");
  expect_refused([&] { reader.read(GarmentField::positions, {2}, values); }, "expected 25");
  expect_refused([&] { reader.read(GarmentField::positions, values); }, "expected 270");
  expect_refused([&] { reader.read(GarmentField::strains, {0}, values); }, "strains");
  expect_refused([&] { held.write(GarmentField::contact_forces, {0}, values); }, "contact_forces");
  expect_refused([&] { held.write(GarmentField::positions, {0, 1}, values); }, "expected 98");
  const std::vector<Vec3d> before = held.positions(0);
  values[7].y = 1e39;
  expect_refused([&] { held.write(GarmentField::positions, {0}, values); }, "at node 7");
  values[7].y = std::nan("");
  expect_refused([&] { held.write(GarmentField::velocities, {0}, values); }, "at node 7");
  EXPECT_EQ(held.positions(0), before);
}

// BDF2 would go on with half of the speed before.
TEST(Fields, WhatIsWrittenToRestStaysThere) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
    SCOPED_TRACE(to_string(solver));
    Scene scene = contact_scene(square_sheet(5, 0.2, 0.5), {}, 0.01);
    scene.obstacles.clear();
    scene.recipe = "membrane";
    scene.gravity = 0;
    scene.projection.integrator = Integrator::bdf2;
    const std::size_t nodes = scene.garments[0].mesh.positions.size();
    scene.garments[0].initial_velocities.assign(nodes, {1, 0, 0});
    scene.garments.push_back(scene.garments[0]);
    scene.garments[1].name = "other";
    Simulation simulation(scene, {.solver = solver});
    simulation.advance(3);
    const std::vector<Vec3d> rest(nodes);
    simulation.write(GarmentField::velocities, {0}, {rest.data(), nodes});
    const std::vector<std::vector<Vec3d>> before = simulation.positions();
    simulation.step();
    const std::vector<std::vector<Vec3d>> after = simulation.positions();
    for (std::size_t i = 0; i < nodes; ++i) {
      EXPECT_NEAR(norm(after[0][i] - before[0][i]), 0, 1e-9);
      EXPECT_GT(after[1][i].x - before[1][i].x, 0.009);  // 10 mm, but for damping
    }
  }
}

}  // namespace
}  // namespace isocloth
