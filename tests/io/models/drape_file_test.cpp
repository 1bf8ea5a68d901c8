// `initial` of a garment, and OBJ files of shapes.
#include <chrono>
#include <thread>

#include "engine/core/errors.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/models/drape/drape.hpp"
#include "host/scene/start_shape.hpp"
#include "tests/io/changed_scene.hpp"

namespace isocloth {
namespace {

constexpr const char* good = R"({
  "step": 0.01, "duration": 0.1,
  "garments": [{
    "mesh": {"generator": "quad_grid", "nodes": [9, 9], "size": [1, 1]},
    "initial": {"drape": "weil", "places": [[0.1, 0.1, 0], [0.9, 0.1, 0], [0.1, 0.9, 0], [0.9, 0.9, 0.2]]},
    "pins": [{"select": {"nodes": [0, 8]}}, {"select": {"nearest": [[0, 1, 0], [1, 1, 0]]}}]}]})";

class DrapeFile : public ChangedScene {
 protected:
  DrapeFile() : ChangedScene(good) {}
  Scene changed(const std::function<void(Json&)>& change) {
    Json scene = parse_json(good, "good");
    change(scene["garments"][0]);
    return read(scene);
  }
  std::string message_of(const std::function<void(Json&)>& change) {
    return message([&](Json& scene) { change(scene["garments"][0]); });
  }
};

TEST_F(DrapeFile, GarmentStartsHanging) {
  for (const DrapeMethod method : {DrapeMethod::weil, DrapeMethod::laplace}) {
    const Scene scene = changed([&](Json& g) { g["initial"]["drape"] = to_string(method); });
    const Garment& garment = scene.garments[0];
    EXPECT_EQ(garment.mesh.positions[8], (Vec3d{1, 0, 0}));  // at rest as without
    const Vec3d places[] = {{0.1, 0.1, 0}, {0.9, 0.1, 0}, {0.1, 0.9, 0}, {0.9, 0.9, 0.2}};
    std::vector<HangingPoint> points;
    for (const auto& [k, node] : {std::pair{0, 0}, {1, 8}, {2, 72}, {3, 80}}) {
      points.push_back({node, places[k]});
      EXPECT_EQ(garment.initial_positions[node], places[k]);
    }
    EXPECT_EQ(garment.initial_positions, drape(garment.mesh, points, {.method = method}, ""));
    EXPECT_LT(garment.initial_positions[40].z, -0.1);
  }
}

// A relaxation of all its passes: minutes.
TEST_F(DrapeFile, AMonitorEndsItWithinASecond) {
  Json scene = parse_json(good, "good");
  Json& garment = scene["garments"][0];
  garment["mesh"]["nodes"] = {201, 201};
  garment["initial"]["angles"] = true;
  garment["pins"] = {{{"select", {{"nearest", {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}}}}}};
  const std::filesystem::path file = folder_.write("large.json", scene.dump());
  Monitor monitor;
  std::thread stop([&monitor] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    monitor.stop = true;
  });
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> warnings;
  EXPECT_THROW(read_scene(file, warnings, {}, MonitorView(&monitor)), Interrupted);
  stop.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST_F(DrapeFile, OptionsReachTheMethod) {
  const std::vector<Vec3d> plain = changed([](Json&) {}).garments[0].initial_positions;
  for (const auto& [key, value] :
       {std::pair<const char*, Json>{"angles", true}, {"least_angle", 170}, {"resolution", 1.0}})
    EXPECT_NE(changed([&](Json& g) { g["initial"][key] = value; }).garments[0].initial_positions, plain)
        << key;
  const auto laplace = [&](bool diagonals) {
    return changed([&](Json& g) {
             g["initial"]["drape"] = "laplace";
             g["initial"]["diagonals"] = diagonals;
           })
        .garments[0]
        .initial_positions;
  };
  EXPECT_NE(laplace(true), laplace(false));
}

TEST_F(DrapeFile, PlacesAreThoseAtRestUnlessSaid) {
  const Scene scene = changed([](Json& g) {
    g["initial"].erase("places");
    g["transform"] = {{"translation", {0, 0, 2}}};
    g["pins"] = Json::array({{{"select", {{"nodes", {0, 8}}}}}});
  });
  EXPECT_EQ(scene.garments[0].initial_positions[8], (Vec3d{1, 0, 2}));
  EXPECT_LT(scene.garments[0].initial_positions[80].z, 1.2);
}

TEST_F(DrapeFile, SpinsAboutTheCentreOfTheShape) {
  const Scene scene = changed([](Json& g) { g["initial_angular_velocity"] = {1, 0, 0}; });
  const Garment& garment = scene.garments[0];
  // v = w x (x - c): -(z - c_z) in y.
  const double height = garment.initial_positions[40].z + garment.initial_velocities[40].y;
  EXPECT_NEAR(garment.initial_positions[0].z + garment.initial_velocities[0].y, height, 1e-12);
  EXPECT_LT(height, -0.1);
}

TEST_F(DrapeFile, ReplicasHangEachFromItsPlaces) {
  const Scene scene = changed([](Json& g) {
    g["replicas"] = 3;
    g["vary"] = {{"initial.places[3][2]", {{"values", {0, 0.1, 0.2}}}}};
  });
  ASSERT_EQ(scene.garments.size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(scene.garments[i].initial_positions[80].z, 0.1 * i);
  EXPECT_GT(scene.garments[2].initial_positions[40].z, scene.garments[0].initial_positions[40].z);
}

TEST_F(DrapeFile, RefusesWithTheKey) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nexpected: " << part;
  };
  has(message_of([](Json& g) { g["initial"]["drape"] = "wiel"; }),
      "garments[0].initial.drape: found \"wiel\"");
  has(message_of([](Json& g) { g["initial"]["drape"] = "wiel"; }), "weil");
  has(message_of([](Json& g) { g["initial"]["diagonals"] = true; }), "unknown key \"diagonals\"");
  has(message_of([](Json& g) { g["initial"]["places"].erase(3); }),
      "scene.json: garments[0].initial.places: found 3 places, expected 4, one for each pinned node");
  has(message_of([](Json& g) {
        g["initial"].erase("places");
        g["pins"] = Json::array({{{"select", {{"nodes", {3}}}}}});
      }),
      "garments[0].initial: found 1 pinned node, expected at least 2");
  has(message_of([](Json& g) {
        g["initial"]["places"][1] = {1.6, 0.1, 0};
      }),
      "garments[0].initial: nodes 0 and 8 hang 1.5 m apart, expected at most 1 m");
  has(message_of([](Json& g) {
        g["mesh"] = {{"generator", "tube"}, {"along", 9},  {"around", 9},
                     {"radius", 0.2},       {"height", 1}, {"faces", "quads"}};
      }),
      "garments[0].initial: found a mesh that");
  has(message_of([](Json& g) { g["initial"]["least_angle"] = 190; }),
      "garments[0].initial.least_angle: found 190");
}

TEST_F(DrapeFile, ObjReadsBackTheSame) {
  const Garment garment = changed([](Json&) {}).garments[0];
  const std::vector<Vec3d>& x = garment.initial_positions;
  write_obj(folder_ / "drape.obj", garment.mesh, {x.data(), x.size()});
  const Mesh mesh = read_mesh(folder_ / "drape.obj");
  EXPECT_EQ(mesh.positions, x);
  EXPECT_EQ(mesh.face_nodes, garment.mesh.face_nodes);
  EXPECT_EQ(mesh.corner_uvs, garment.mesh.corner_uvs);
  EXPECT_THROW(write_obj(folder_ / "drape.obj", garment.mesh, {x.data(), 3}), ShapeError);
}

}  // namespace
}  // namespace isocloth
