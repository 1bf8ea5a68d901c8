// Rigid bodies of scene files.
#include <gtest/gtest.h>

#include <numbers>

#include "engine/core/errors.hpp"
#include "host/results/scene_digest.hpp"
#include "tests/io/changed_scene.hpp"

namespace isocloth {
namespace {

constexpr const char* good = R"({"step": 0.01, "duration": 1,
  "garments": [{"name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]}}],
  "obstacles": [{"name": "floor", "shape": {"type": "plane"}, "position": [0, 0, -2]}],
  "bodies": [
    {"name": "box", "shape": {"type": "box", "size": [0.5, 0.25, 0.125], "rounding": 0.01}, "mass": 3,
     "position": [1, 2, 3], "rotation_degrees": [0, 0, 180], "velocity": [4, 5, 6],
     "angular_velocity": [7, 8, 9], "friction": {"static": 0.5, "dynamic": 0.25}},
    {"shape": {"type": "sphere", "radius": 0.5}, "density": 6, "position": [0, 0, 5]},
    {"name": "tent", "shape": {"type": "mesh", "file": "tetrahedron.obj", "scale": 2}, "density": 3,
     "position": [0, 0, 8]}],
  "contact": {"pairs": [
    {"garment": "sheet", "obstacle": "floor", "static": 0.1},
    {"garment": "sheet", "body": "box", "static": 0.2},
    {"body": "tent", "obstacle": "floor", "static": 0.3},
    {"body": "box", "other_body": "body 1", "static": 0.4, "dynamic": 0.35}]}})";

class BodyFile : public ChangedScene {
 protected:
  BodyFile() : ChangedScene(good) {
    folder_.write("tetrahedron.obj",
                  "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    folder_.write(
        "dented.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.1 0.1 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 5\nf 3 4 5\n"
        "f 4 2 5\n");
  }
};

TEST_F(BodyFile, AllKeysArrive) {
  const Scene scene = read(parse_json(good, "good"));
  ASSERT_EQ(scene.bodies.size(), 3u);
  const RigidBody &box = scene.bodies[0], &ball = scene.bodies[1], &tent = scene.bodies[2];
  EXPECT_EQ(box.name, "box");
  EXPECT_EQ(std::get<BoxShape>(box.shape).size, (Vec3d{0.5, 0.25, 0.125}));
  EXPECT_EQ(std::get<BoxShape>(box.shape).rounding, 0.01);
  EXPECT_EQ(box.mass, 3);
  EXPECT_EQ(box.position, (Vec3d{1, 2, 3}));
  EXPECT_EQ(box.rotation, (Vec3d{0, 0, std::numbers::pi}));
  EXPECT_EQ(box.velocity, (Vec3d{4, 5, 6}));
  EXPECT_EQ(box.angular_velocity, (Vec3d{7, 8, 9}));
  EXPECT_EQ(box.friction.static_, 0.5);
  EXPECT_EQ(box.friction.dynamic, 0.25);
  EXPECT_EQ(ball.name, "body 1");
  EXPECT_NEAR(ball.mass, 6 * std::numbers::pi / 6, 1e-14);
  EXPECT_EQ(ball.friction.static_, 0);
  EXPECT_EQ(ball.velocity, Vec3d{});
  EXPECT_NEAR(tent.mass, 3 * 8.0 / 6, 1e-14);
  const ContactSettings& contact = scene.contact;
  ASSERT_EQ(contact.pairs.size(), 2u);
  EXPECT_EQ(contact.pairs[0].obstacle, 0u);
  EXPECT_EQ(contact.pairs[1].garment, 0u);
  EXPECT_EQ(contact.pairs[1].obstacle, 1u);
  EXPECT_EQ(contact.pairs[1].friction.dynamic, 0.2);
  ASSERT_EQ(contact.body_pairs.size(), 2u);
  EXPECT_EQ(contact.body_pairs[0].body, 2u);
  EXPECT_EQ(contact.body_pairs[0].other, 0u);
  EXPECT_EQ(contact.body_pairs[0].friction.static_, 0.3);
  EXPECT_EQ(contact.body_pairs[1].body, 0u);
  EXPECT_EQ(contact.body_pairs[1].other, 2u);
  EXPECT_EQ(contact.body_pairs[1].friction.dynamic, 0.35);
}

TEST_F(BodyFile, MistakesAreNamed) {
  using Change = std::function<void(Json&)>;
  /// Body 0 with this key.
  const auto with = [](const char* key, const char* value) {
    return [=](Json& s) { s["bodies"][0][key] = Json::parse(value); };
  };
  // Nothing else names it.
  const auto renamed = [](const char* value) {
    return [=](Json& s) {
      s["bodies"][0]["name"] = Json::parse(value);
      s["contact"].erase("pairs");
    };
  };
  const auto pair = [](const char* value) {
    return [=](Json& s) { s["contact"]["pairs"].push_back(Json::parse(value)); };
  };
  const std::vector<std::pair<Change, std::string>> cases = {
      {with("mass", "0"), "bodies[0].mass: found 0, expected a number > 0"},
      {with("mass", "\"heavy\""), "bodies[0].mass: found \"heavy\", expected a number"},
      {with("density", "1"), "bodies[0]: found both mass and density, expected one of them"},
      {[](Json& s) { s["bodies"][0].erase("mass"); },
       "bodies[0]: found neither mass nor density, expected one of them"},
      {[](Json& s) { s["bodies"][0].erase("shape"); }, "bodies[0].shape: not found"},
      {[](Json& s) { s["bodies"][1]["density"] = -1; }, "bodies[1].density: found -1, expected a number > 0"},
      {with("position", "[1, 2]"), "bodies[0].position: found a list of 2, expected a list of 3"},
      {with("rotation_degrees", "7"), "bodies[0].rotation_degrees: found 7, expected"},
      {with("velocity", "[1, null, 2]"), "bodies[0].velocity[1]: found null, expected"},
      {with("angular_velocity", "[]"), "bodies[0].angular_velocity: found a list of 0, expected a list of 3"},
      {with("friction", "{\"static\": -1}"), "bodies[0].friction.static: found -1, expected a number >= 0"},
      {with("friction", "{\"static\": 0.5, \"dynamic\": 0.6}"),
       "bodies[0].friction.dynamic: found 0.6, expected at most the static one, 0.5"},
      {renamed("\"tent\""), "bodies[2].name: found \"tent\", already the name of"},
      {renamed("\"floor\""), "bodies[0].name: found \"floor\", already the name of"},
      {with("mas", "1"), "the nearest is \"mass\""},
      {with("motion", "{}"), "bodies[0]: unknown key \"motion\""},
      {with("shape", R"({"type": "plane"})"), "bodies[0].shape"},
      {with("shape", R"({"type": "sphere", "radius": 0})"), "bodies[0].shape.radius: found 0"},
      {with("shape", R"({"type": "mesh", "file": "dented.obj"})"), "expected a convex surface"},
      {with("shape", R"({"type": "mesh", "file": "none.obj"})"), "none.obj: cannot read"},
      {pair(R"({"garment": "sheet", "static": 1})"),
       "contact.pairs[4]: found garment of garment, other_garment, obstacle, body, other_body, expected"},
      {pair(R"({"garment": "sheet", "other_body": "box", "static": 1})"),
       "contact.pairs[4]: found garment other_body of"},
      {pair(R"({"body": "bex", "obstacle": "floor", "static": 1})"),
       "contact.pairs[4].body: found \"bex\", expected a known name; the nearest is \"box\""},
      {pair(R"({"body": "box", "other_body": "box", "static": 1})"),
       "contact.pairs[4].other_body: found \"box\", the body itself, expected another"},
      {pair(R"({"body": "body 1", "other_body": "box", "static": 1})"),
       "contact.pairs[4]: found \"body 1\" with \"box\", already in pairs[3]"},
      {pair(R"({"garment": "sheet", "body": "box", "static": 1})"),
       "contact.pairs[4]: found \"sheet\" with \"box\", already in pairs[1]"},
      {pair(R"({"body": "tent", "obstacle": "floor", "static": 1, "dynamic": 2})"),
       "contact.pairs[4].dynamic: found 2, expected at most the static one, 1"},
  };
  EXPECT_EQ(message([](Json&) {}), "accepted");
  for (const auto& [change, expected] : cases) {
    const std::string found = message(change);
    EXPECT_NE(found.find(expected), std::string::npos) << found << "\nexpected " << expected;
  }
}

TEST_F(BodyFile, DigestsTellThemApart) {
  const auto digest = [&](const char* path, const char* value) {
    Json scene = parse_json(good, "good");
    if (path != nullptr) scene[Json::json_pointer(path)] = Json::parse(value);
    return scene_digest(read(scene));
  };
  std::vector<std::uint64_t> found = {digest(nullptr, nullptr)};
  EXPECT_EQ(digest("/bodies/0/mass", "3"), found[0]);
  const std::pair<const char*, const char*> changes[] = {{"/bodies/0/shape/rounding", "0.02"},
                                                         {"/bodies/0/mass", "4"},
                                                         {"/bodies/0/position/0", "2"},
                                                         {"/bodies/0/rotation_degrees/0", "2"},
                                                         {"/bodies/0/velocity/0", "2"},
                                                         {"/bodies/0/angular_velocity/0", "2"},
                                                         {"/bodies/0/friction/dynamic", "0.3"},
                                                         {"/contact/pairs/1/static", "0.3"},
                                                         {"/contact/pairs/2/static", "0.4"},
                                                         {"/contact/pairs/3/body", "\"tent\""},
                                                         {"/contact/pairs/3/other_body", "\"tent\""}};
  for (const auto& [path, value] : changes) {
    found.push_back(digest(path, value));
  }
  for (std::size_t a = 0; a < found.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(found[a], found[b]) << a << " and " << b;
}

}  // namespace
}  // namespace isocloth
