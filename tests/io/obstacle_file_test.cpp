// Obstacles in scene files: every shape, their files, their friction, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "engine/core/errors.hpp"
#include "host/files/json_text.hpp"
#include "host/files/number_paths.hpp"
#include "host/results/scene_digest.hpp"
#include "host/scene/recorded_poses.hpp"
#include "host/scene/scene_file.hpp"
#include "host/scene/scene_keys.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

constexpr double pi = std::numbers::pi;

/// A scene of one sheet, of two replicas of another, and these keys.
std::string scene_text(const std::string& keys) {
  return R"({"step": 0.01, "duration": 1, )" + keys + R"(, "garments": [
    {"name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]},
     "fabric": {"thickness": 0.002}},
    {"replicas": 2, "mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]}}]})";
}
std::string with_obstacle(const std::string& obstacle) {
  return scene_text(R"("obstacles": [{)" + obstacle + "}]");
}
std::string with_shape(const std::string& shape) {
  return with_obstacle(R"("shape": {"type": )" + shape + "}");
}

Obstacle read_obstacle(const TemporaryFolder& folder, const std::string& obstacle) {
  return read_scene(folder.write("scene.json", with_obstacle(obstacle))).obstacles.at(0);
}

template <class Shape>
Shape read_shape(const TemporaryFolder& folder, const std::string& shape) {
  return std::get<Shape>(read_obstacle(folder, R"("shape": {"type": )" + shape + "}").shape);
}

const char* const tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

TEST(ObstacleFile, ReadsEveryMember) {
  const TemporaryFolder folder;
  const Scene scene = read_scene(folder.write("scene.json", scene_text(R"("obstacles": [
    {"name": "ball", "shape": {"type": "sphere", "radius": 0.3}, "position": [1, 2, 3],
     "rotation_degrees": [0, 0, 90], "friction": {"static": 0.5, "dynamic": 0.25},
     "motion": {"type": "oscillation", "amplitude": [1, 2, 3], "frequency": 4, "start": 5, "duration": 6}},
    {"shape": {"type": "plane"}, "friction": {"static": 0.5},
     "motion": {"type": "keyframes", "times": [0, 1], "translations": [[0, 0, 0], [1, 2, 3]],
                "rotations_degrees": [[0, 0, 0], [0, 180, 0]], "center": [7, 8, 9]}}],
    "contact": {"tolerance": 0.002, "margin": 0.001, "resolve_initial_penetration": true, "initial_penetration_time": 0.25, "pairs": [
      {"garment": "sheet", "obstacle": "obstacle 1", "static": 0.75},
      {"garment": "garment 1", "obstacle": "ball", "static": 1, "dynamic": 0},
      {"garment": "garment 1[1]", "obstacle": "obstacle 1", "static": 2, "dynamic": 1}]})")));
  ASSERT_EQ(scene.obstacles.size(), 2u);
  const Obstacle &ball = scene.obstacles[0], &plane = scene.obstacles[1];
  EXPECT_EQ(ball.name, "ball");
  EXPECT_EQ(std::get<SphereShape>(ball.shape).radius, 0.3);
  EXPECT_EQ(ball.position, (Vec3d{1, 2, 3}));
  EXPECT_DOUBLE_EQ(ball.rotation.z, pi / 2);
  EXPECT_EQ(ball.friction.static_, 0.5);
  EXPECT_EQ(ball.friction.dynamic, 0.25);
  const auto& oscillation = std::get<OscillationMotion>(ball.motion);
  EXPECT_EQ(oscillation.amplitude, (Vec3d{1, 2, 3}));
  EXPECT_EQ(oscillation.frequency, 4);
  EXPECT_EQ(oscillation.start, 5);
  EXPECT_EQ(oscillation.duration, 6);
  EXPECT_EQ(plane.name, "obstacle 1");
  EXPECT_TRUE(std::holds_alternative<PlaneShape>(plane.shape));
  EXPECT_EQ(plane.friction.dynamic, 0.5) << "that of contacts which stick";
  const auto& keyframes = std::get<KeyframeMotion>(plane.motion);
  EXPECT_EQ(keyframes.translations.at(1), (Vec3d{1, 2, 3}));
  EXPECT_DOUBLE_EQ(keyframes.rotations.at(1).y, pi);
  EXPECT_EQ(keyframes.center, (Vec3d{7, 8, 9}));
  EXPECT_EQ(scene.contact.tolerance, 0.002);
  EXPECT_EQ(scene.contact.margin, 0.001);
  EXPECT_TRUE(scene.contact.resolve_initial_penetration);
  EXPECT_EQ(scene.contact.initial_penetration_time, 0.25);
  EXPECT_EQ(scene.garments[0].fabric.thickness, 0.002);
  const std::size_t expected[][2] = {{0, 1}, {1, 0}, {2, 0}, {2, 1}};
  const double frictions[][2] = {{0.75, 0.75}, {1, 0}, {1, 0}, {2, 1}};
  ASSERT_EQ(scene.contact.pairs.size(), 4u);
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(scene.contact.pairs[p].garment, expected[p][0]) << p;
    EXPECT_EQ(scene.contact.pairs[p].obstacle, expected[p][1]) << p;
    EXPECT_EQ(scene.contact.pairs[p].friction.static_, frictions[p][0]) << p;
    EXPECT_EQ(scene.contact.pairs[p].friction.dynamic, frictions[p][1]) << p;
  }
}

TEST(ObstacleFile, DefaultsAreThoseOfTheStructs) {
  const TemporaryFolder folder;
  const Scene scene = read_scene(folder.write("scene.json", with_shape(R"("plane")"))), expected;
  EXPECT_EQ(scene.contact.tolerance, expected.contact.tolerance);
  EXPECT_EQ(scene.contact.margin, expected.contact.margin);
  EXPECT_EQ(scene.contact.resolve_initial_penetration, expected.contact.resolve_initial_penetration);
  EXPECT_EQ(scene.contact.initial_penetration_time, expected.contact.initial_penetration_time);
  EXPECT_TRUE(scene.contact.pairs.empty());
  EXPECT_EQ(scene.obstacles[0].name, "obstacle 0");
  EXPECT_EQ(scene.obstacles[0].position, Vec3d{});
  EXPECT_EQ(scene.obstacles[0].friction.static_, 0);
  EXPECT_FALSE(is_moving(scene.obstacles[0]));
  EXPECT_EQ(scene.garments[1].fabric.thickness, 0);
}

TEST(ObstacleFile, ReadsSolids) {
  const TemporaryFolder folder;
  const auto capsule = read_shape<CapsuleShape>(folder, R"("capsule", "radius": 2, "length": 3)");
  EXPECT_EQ(capsule.radius, 2);
  EXPECT_EQ(capsule.length, 3);
  const auto cylinder =
      read_shape<CylinderShape>(folder, R"("cylinder", "radius": 2, "height": 3, "rounding": 0.5)");
  EXPECT_EQ(cylinder.radius, 2);
  EXPECT_EQ(cylinder.height, 3);
  EXPECT_EQ(cylinder.rounding, 0.5);
  const auto box = read_shape<BoxShape>(folder, R"("box", "size": [1, 2, 3], "rounding": 0.25)");
  EXPECT_EQ(box.size, (Vec3d{1, 2, 3}));
  EXPECT_EQ(box.rounding, 0.25);
}

TEST(ObstacleFile, TablesHaveTheirTopWhereTheFrameIs) {
  const TemporaryFolder folder;
  const std::string place = R"(, "position": [1, 2, 3], "rotation_degrees": [0, 90, 0])";
  const Obstacle slab = read_obstacle(
      folder, R"("shape": {"type": "table", "size": [2, 1], "thickness": 0.5, "rounding": 0.125})" + place);
  EXPECT_EQ(std::get<BoxShape>(slab.shape).size, (Vec3d{2, 1, 0.5}));
  EXPECT_EQ(std::get<BoxShape>(slab.shape).rounding, 0.125);
  // z of the frame is x of the world.
  EXPECT_LT(norm(slab.position - Vec3d{0.75, 2, 3}), 1e-15);
  const Obstacle disc = read_obstacle(
      folder,
      R"("shape": {"type": "round_table", "radius": 2, "thickness": 0.5, "rounding": 0.125})" + place);
  EXPECT_EQ(std::get<CylinderShape>(disc.shape).radius, 2);
  EXPECT_EQ(std::get<CylinderShape>(disc.shape).height, 0.5);
  EXPECT_EQ(std::get<CylinderShape>(disc.shape).rounding, 0.125);
  EXPECT_LT(norm(disc.position - Vec3d{0.75, 2, 3}), 1e-15);
}

TEST(ObstacleFile, HeightsLieInTheSceneOrBesideIt) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  const std::vector<double> heights{0, 1, 2, 3, -4, 5.5};
  const auto expect_heights = [&](const std::string& where) {
    const auto field =
        read_shape<HeightFieldShape>(folder, R"("height_field", "spacing": 0.5, "heights": )" + where);
    EXPECT_EQ(field.samples, (std::array<Index, 2>{3, 2}));
    EXPECT_EQ(field.spacing, 0.5);
    EXPECT_EQ(field.heights, heights);
  };
  expect_heights(R"({"samples": [3, 2], "values": [0, 1, 2, 3, -4, 5.5]})");
  folder.write("sub/heights.csv", "# x ascending\n0, 1, 2\n3, -4, 5.5\n");
  expect_heights(R"({"file": "sub/heights.csv"})");
  folder.write("sub/heights.txt", "  0 1\t2\r\n\n3  -4 5.5");
  expect_heights(R"({"file": "sub/heights.txt"})");
}

TEST(ObstacleFile, SurfacesLieBesideTheScene) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  folder.write("sub/solid.obj", tetrahedron);
  folder.write("sub/way.csv", "t,x,y,z,rx,ry,rz\n0, 0, 0, 0, 0, 0, 0\n1, 1, 0, 0, 0, 0, 90\n");
  const Scene scene = read_scene(folder.write(
      "scene.json",
      with_obstacle(
          R"("shape": {"type": "mesh", "file": "sub/solid.obj", "scale": 0.001, "cell": 2, "thicken": 3},
                       "motion": {"type": "recorded", "file": "sub/way.csv"})")));
  const auto& solid = std::get<MeshShape>(scene.obstacles.at(0).shape);
  EXPECT_EQ(solid.surface.positions.at(3), (Vec3d{0, 0, 0.001}));
  EXPECT_EQ(solid.surface.face_nodes, (std::vector<Index>{0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3}));
  EXPECT_EQ(solid.cell, 2);
  EXPECT_EQ(solid.thicken, 3);

  const TemporaryFolder elsewhere;
  const Scene copy = read_scene(elsewhere.write("scene.json", portable_scene_text(folder / "scene.json")),
                                {{folder.path()}});
  EXPECT_EQ(scene_digest(copy), scene_digest(scene));
}

// Absolute poses of the frame whose z = 0 is the top of the table.
TEST(ObstacleFile, RecordedPosesAreThoseOfTheFrame) {
  const TemporaryFolder folder;
  folder.write("way.csv", "1, 1, 2, 3, 0, 90, 0\n2, 5, 2, 3, 90, 0, 0\n");
  const Obstacle slab = read_obstacle(folder, R"("shape": {"type": "table", "size": [2, 1], "thickness": 0.5},
                               "motion": {"type": "recorded", "file": "way.csv"})");
  const auto expect_frame = [&](double t, const Vec3d& place, const std::array<Vec3d, 3>& axes) {
    const Pose pose = obstacle_pose(slab, t);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(norm(pose.axes[i] - axes[i]), 1e-14) << t << " axis " << i;
    EXPECT_LT(norm(pose.center + 0.25 * pose.axes[2] - place), 1e-14) << t;
  };
  const std::array<Vec3d, 3> about_y{Vec3d{0, 0, -1}, {0, 1, 0}, {1, 0, 0}},
      about_x{Vec3d{1, 0, 0}, {0, 0, 1}, {0, -1, 0}};
  expect_frame(0, {1, 2, 3}, about_y);
  expect_frame(1, {1, 2, 3}, about_y);
  expect_frame(2, {5, 2, 3}, about_x);
  expect_frame(3, {5, 2, 3}, about_x);
}

/// Where a frame of these poses has a vector of its own at time t.
Vec3d turned(const RecordedPoses& poses, double t, const Vec3d& local) {
  return rotated(keyframe_rotation(poses.motion, t), rotated(poses.rotation, local));
}

TEST(RecordedPoses, GoOnTurningBeyondWholeTurns) {
  // A wheel that is recorded every quarter turn, its vectors cut off at half a turn.
  std::vector<double> times;
  std::vector<Vec3d> positions, rotations;
  const Vec3d axis{0.6, 0, 0.8};
  for (int i = 0; i <= 12; ++i) {
    times.push_back(i);
    positions.push_back({0.1 * i, 0, 0});
    rotations.push_back(std::remainder(0.3 + i * pi / 2, 2 * pi) * axis);
  }
  const RecordedPoses wheel = keyframes_through(times, positions, rotations);
  ASSERT_EQ(wheel.motion.times, times) << "no key has been added";
  for (int i = 0; i <= 12; ++i)
    EXPECT_LT(norm(wheel.motion.rotations[static_cast<std::size_t>(i)] - (i * pi / 2) * axis), 1e-9) << i;
  for (const double t : {0.5, 3.5, 7.25, 11.9})
    EXPECT_LT(norm(turned(wheel, t, {0, 1, 0}) - rotated((0.3 + t * pi / 2) * axis, {0, 1, 0})), 1e-9) << t;
}

TEST(RecordedPoses, TumbleWithoutGoingTheLongWayRound) {
  // R(t) = exp(t x) exp(0.3 sin(2 t) y): comes near a whole turn from the start without passing through it.
  std::vector<double> times;
  std::vector<Vec3d> positions, rotations;
  const auto way = [](double t, const Vec3d& v) {
    return rotated({t, 0, 0}, rotated({0, 0.3 * std::sin(2 * t + 0.5), 0}, v));
  };
  // The vector of a rotation from what it does to the axes, by the angle's sine and cosine.
  const auto vector_of = [&way](double t) {
    const Vec3d x = way(t, {1, 0, 0}), y = way(t, {0, 1, 0}), z = way(t, {0, 0, 1});
    const Vec3d twice_sine{y.z - z.y, z.x - x.z, x.y - y.x};
    const double sine = norm(twice_sine) / 2, cosine = (x.x + y.y + z.z - 1) / 2;
    return (std::atan2(sine, cosine) / norm(twice_sine)) * twice_sine;
  };
  const double interval = 0.05;
  for (int i = 0; i < 400; ++i) {
    times.push_back(interval * i);
    positions.push_back({});
    rotations.push_back(vector_of(times.back()));
  }
  const RecordedPoses tumble = keyframes_through(times, positions, rotations);
  EXPECT_GT(tumble.motion.times.size(), times.size()) << "no vector is near about every whole turn";
  EXPECT_NO_THROW(validate_obstacle({.name = "tumble",
                                     .shape = PlaneShape{},
                                     .position = {},
                                     .rotation = {},
                                     .motion = tumble.motion,
                                     .friction = {}},
                                    "tumble"));
  // It turns by at most 1 + 0.6 a second, so between two rows nothing is further from either than this.
  for (double t = 0; t < times.back(); t += interval / 7) {
    for (const Vec3d& v : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}})
      ASSERT_LT(norm(turned(tumble, t, v) - way(t, v)), 1.6 * interval) << t;
  }
  for (const double t : times) EXPECT_LT(norm(turned(tumble, t, {0, 0, 1}) - way(t, {0, 0, 1})), 1e-9) << t;
}

TEST(ObstacleFile, NumbersHavePaths) {
  const Json root = parse_json(with_obstacle(R"("shape": {"type": "sphere", "radius": 1}, "motion":
    {"type": "oscillation", "amplitude": [1, 2, 3]})"),
                               "scene");
  const std::vector<NumberPath> numbers = number_paths(root, [](Keys& keys) {
    SceneSpec spec;
    describe_scene(keys, spec);
  });
  for (const std::string path :
       {"obstacles[0].friction.static", "obstacles[0].friction.dynamic", "obstacles[0].shape.radius",
        "obstacles[0].position[2]", "obstacles[0].motion.amplitude[1]", "contact.margin"})
    EXPECT_EQ(find_number(numbers, path, "test").path, path);
}

TEST(ObstacleFile, DigestTellsObstaclesApart) {
  const TemporaryFolder folder;
  folder.write("solid.obj", tetrahedron);
  const auto digest = [&](const std::string& keys) {
    return scene_digest(read_scene(folder.write("scene.json", scene_text(keys))));
  };
  const std::string ball = R"("obstacles": [{"shape": {"type": "sphere", "radius": 1})";
  std::vector<std::uint64_t> digests;
  for (
      const std::string& keys : std::vector<std::string>{
          R"("seed": 1)",
          ball + "}]",
          R"("obstacles": [{"shape": {"type": "sphere", "radius": 2}}])",
          R"("obstacles": [{"shape": {"type": "capsule", "radius": 1, "length": 1}}])",
          R"("obstacles": [{"shape": {"type": "cylinder", "radius": 1, "height": 1}}])",
          R"("obstacles": [{"shape": {"type": "cylinder", "radius": 1, "height": 1, "rounding": 0.25}}])",
          R"("obstacles": [{"shape": {"type": "box", "size": [1, 1, 1]}}])",
          R"("obstacles": [{"shape": {"type": "box", "size": [1, 1, 2]}}])",
          R"("obstacles": [{"shape": {"type": "mesh", "file": "solid.obj"}}])",
          R"("obstacles": [{"shape": {"type": "mesh", "file": "solid.obj", "cell": 1}}])",
          R"("obstacles": [{"shape": {"type": "height_field", "spacing": 1, "heights": {"samples": [2, 2], "values": [0, 0, 0, 0]}}}])",
          R"("obstacles": [{"shape": {"type": "height_field", "spacing": 1, "heights": {"samples": [2, 2], "values": [0, 0, 0, 1]}}}])",
          ball + R"(, "position": [0, 0, 1]}])",
          ball + R"(, "rotation_degrees": [0, 0, 1]}])",
          ball + R"(, "friction": {"static": 1, "dynamic": 0}}])",
          ball + R"(, "friction": {"static": 1}}])",
          ball + R"(, "motion": {"type": "oscillation", "amplitude": [1, 0, 0], "frequency": 1}}])",
          ball + R"(, "motion": {"type": "oscillation", "amplitude": [2, 0, 0], "frequency": 1}}])",
          ball + R"(}], "contact": {"margin": 1})",
          ball + R"(}], "contact": {"tolerance": 1})",
          ball + R"(}], "contact": {"resolve_initial_penetration": true})",
          ball +
              R"(}], "contact": {"pairs": [{"garment": "sheet", "obstacle": "obstacle 0", "static": 1}]})"})
    digests.push_back(digest(keys));
  for (std::size_t a = 0; a < digests.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(digests[a], digests[b]) << a << " and " << b;
  EXPECT_EQ(digests[1], digest(ball + "}]"));
}

struct BadObstacle {
  std::string content;
  const char* expected;
};

const BadObstacle bad_obstacles[] = {
    {scene_text(R"("obstacles": {})"), "scene.json: obstacles: found an object, expected a list of objects"},
    {scene_text(R"("obstacles": [3])"), "obstacles[0]: found 3, expected an object"},
    {scene_text(R"("obstacle": [])"), "the nearest is \"obstacles\""},
    {with_obstacle(R"("name": "a")"), "scene.json: obstacles[0].shape: not found"},
    {with_obstacle(R"("shape": {"radius": 1})"), "obstacles[0].shape: unknown key \"radius\", expected type"},
    {with_shape(R"("spere", "radius": 1)"),
     "obstacles[0].shape.type: found \"spere\", expected plane, sphere"},
    {with_shape(R"("spere", "radius": 1)"), "the nearest is \"sphere\""},
    {with_shape(R"("sphere")"), "obstacles[0].shape.radius: not found"},
    {with_shape(R"("sphere", "radius": 0)"), "obstacles[0].shape.radius: found 0, expected a number > 0"},
    {with_shape(R"("sphere", "radus": 1)"), "obstacles[0].shape: unknown key \"radus\""},
    {with_shape(R"("plane", "radius": 1)"), "obstacles[0].shape: unknown key \"radius\""},
    {with_shape(R"("box", "size": [1, 2])"), "obstacles[0].shape.size: found a list of 2"},
    {with_shape(R"("box", "size": [1, 2, 3], "rounding": 0.6)"),
     "obstacles[0].shape.rounding: found 0.6, expected at most 0.5, half of the shortest side"},
    {with_shape(R"("cylinder", "radius": 1, "height": 3, "rounding": 2)"),
     "obstacles[0].shape.rounding: found 2, expected at most 1"},
    {with_shape(R"("table", "size": [1, 2])"), "obstacles[0].shape.thickness: not found"},
    {with_shape(R"("table", "radius": 1, "thickness": 1)"), "obstacles[0].shape: unknown key \"radius\""},
    {with_shape(R"("height_field", "spacing": 1, "heights": {})"),
     "obstacles[0].shape.heights: found an empty object, expected file or values"},
    {with_shape(R"("height_field", "spacing": 1, "heights": {"file": "a", "values": []})"),
     "found both file and values"},
    {with_shape(R"("height_field", "spacing": 1, "heights": {"values": [1, 2, 3], "samples": [2, 2]})"),
     "obstacles[0].shape.heights: found 3 heights, expected 2 x 2 = 4, one per sample"},
    {with_shape(R"("height_field", "spacing": 1, "heights": {"values": [1, 2, 3], "samples": [3, 1]})"),
     "obstacles[0].shape.heights.samples[1]: found 1"},
    {with_shape(R"("height_field", "spacing": 1, "heights": {"file": "none.csv"})"), "none.csv: cannot read"},
    {with_shape(R"("height_field", "spacing": 1, "heights": {"file": "ragged.csv"})"),
     "ragged.csv:2: found 2 columns, expected 3: as many heights as in the rows before"},
    {with_shape(R"("height_field", "spacing": 1, "heights": {"file": "one.csv"})"),
     "obstacles[0].shape.samples[0]: found 1, expected at least 2"},
    {with_shape(R"("height_field", "spacing": 1, "heights": {"file": "empty.csv"})"),
     "empty.csv: found no rows of numbers"},
    {with_shape(R"("mesh", "file": "none.obj")"), "none.obj: cannot read"},
    {with_shape(R"("mesh", "file": "solid.step")"), "expected .obj, .ply or .stl"},
    {with_shape(R"("mesh", "file": "beyond.obj")"), "beyond.obj:"},
    {with_shape(R"("mesh", "file": "points.obj")"),
     "obstacles[0].shape.surface: found no faces, expected a closed surface"},
    {with_shape(R"("mesh", "file": "solid.obj", "thicken": -1)"), "obstacles[0].shape.thicken: found -1"},
    {with_shape(R"("mesh", "file": "solid.obj", "scale": 1e308)"),
     "obstacles[0].shape.surface.positions[1]: found 1e+308, expected at most 1e+09 m from the origin"},
    {with_obstacle(R"("shape": {"type": "plane"}, "position": [0, 0])"),
     "obstacles[0].position: found a list of 2"},
    {with_obstacle(R"("shape": {"type": "plane"}, "rotation": [0, 0, 0])"), "the nearest is \"position\""},
    {with_obstacle(R"("shape": {"type": "plane"}, "friction": {"dynamic": 1})"),
     "obstacles[0].friction.static: not found"},
    {with_obstacle(R"("shape": {"type": "plane"}, "friction": {"static": 1, "dynamic": 2})"),
     "obstacles[0].friction.dynamic: found 2, expected at most the static one, 1"},
    {with_obstacle(R"("shape": {"type": "plane"}, "friction": 0.5)"),
     "obstacles[0].friction: found 0.5, expected an object"},
    {with_obstacle(R"("shape": {"type": "plane"}, "motion": {"type": "wobble"})"),
     "obstacles[0].motion.type: found \"wobble\""},
    {with_obstacle(R"("shape": {"type": "plane"}, "motion": {"type": "keyframes", "times": [1, 0]})"),
     "obstacles[0].motion.times[1]: found 0, expected more than the time before it, 1"},
    {with_obstacle(R"("shape": {"type": "plane"}, "motion": {"type": "recorded", "file": "short.csv"})"),
     "short.csv:1: found 4 columns, expected 7: t, x, y, z and the rotation vector rx, ry, rz"},
    {with_obstacle(R"("shape": {"type": "plane"}, "motion": {"type": "recorded", "file": "back.csv"})"),
     "back.csv:3: found the time 0, expected more than the time before it, 1"},
    {with_obstacle(
         R"("shape": {"type": "plane"}, "position": [0, 0, 1], "motion": {"type": "recorded", "file": "way.csv"})"),
     "obstacles[0]: found position or rotation_degrees beside a recorded motion"},
    {scene_text(
         R"("obstacles": [{"shape": {"type": "plane"}}, {"name": "obstacle 0", "shape": {"type": "plane"}}])"),
     "obstacles[1].name: found \"obstacle 0\", already the name of obstacles[0]"},
    {scene_text(R"("contact": {"tolerance": 0})"), "contact.tolerance: found 0, expected a number > 0"},
    {scene_text(R"("contact": {"resolve_initial_penetration": 1})"),
     "contact.resolve_initial_penetration: found 1, expected true or false"},
    {scene_text(R"("contact": {"initial_penetration_time": -1})"),
     "contact.initial_penetration_time: found -1, expected a number >= 0"},
    {scene_text(R"("contact": {"margn": 1})"), "the nearest is \"margin\""},
    {scene_text(R"("contact": {"pairs": [{"garment": "sheet", "obstacle": "a", "static": 1}]})"),
     "contact.pairs[0].obstacle: found \"a\", expected a name, but there is none"},
    {scene_text(R"("obstacles": [{"shape": {"type": "plane"}}],
      "contact": {"pairs": [{"garment": "shet", "obstacle": "obstacle 0", "static": 1}]})"),
     "contact.pairs[0].garment: found \"shet\", expected a known name; the nearest is \"sheet\""},
    {scene_text(R"("obstacles": [{"shape": {"type": "plane"}}], "contact": {"pairs": [
      {"garment": "garment 1", "obstacle": "obstacle 0", "static": 1},
      {"garment": "garment 1[1]", "obstacle": "obstacle 0", "static": 1}]})"),
     "contact.pairs[1]: found \"garment 1[1]\" with \"obstacle 0\", already in pairs[0]"},
    {scene_text(R"("obstacles": [{"shape": {"type": "plane"}}], "contact": {"pairs": [
      {"garment": "sheet", "obstacle": "obstacle 0", "static": 1, "dynamic": 2}]})"),
     "contact.pairs[0].dynamic: found 2, expected at most the static one, 1"},
};

TEST(BadObstacle, IsRefusedInOneLine) {
  const TemporaryFolder folder;
  folder.write("solid.obj", tetrahedron);
  folder.write("solid.step", "");
  folder.write("points.obj", "v 0 0 0\n");
  folder.write("beyond.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n");
  folder.write("ragged.csv", "1,2,3\n4,5\n");
  folder.write("one.csv", "1\n2\n");
  folder.write("empty.csv", "# nothing\n");
  folder.write("short.csv", "0, 1, 2, 3\n");
  folder.write("back.csv", "0, 0, 0, 0, 0, 0, 0\n1, 0, 0, 0, 0, 0, 0\n0, 0, 0, 0, 0, 0, 0\n");
  folder.write("way.csv", "0, 0, 0, 0, 0, 0, 0\n");
  for (const BadObstacle& bad : bad_obstacles) {
    const auto path = folder.write("scene.json", bad.content);
    if (std::string(bad.expected) == "accepted") {
      EXPECT_NO_THROW(read_scene(path)) << bad.content;
      continue;
    }
    const std::string message = message_of<Error>([&] { read_scene(path); });
    EXPECT_NE(message.find(bad.expected), std::string::npos) << message << "\nexpected: " << bad.expected;
    EXPECT_NE(message.find("scene.json"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace isocloth
