#include "tests/fuzz/seed_scenes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>

#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

constexpr int most_nodes = 6;   ///< along a side of a sheet
constexpr int most_steps = 30;  ///< of a scene

/// The index of a node on a grid of fewer nodes.
int moved_index(int node, const std::vector<int>& before, const std::vector<int>& after) {
  const auto along = [](int i, int from, int to) {
    return static_cast<int>(std::lround(static_cast<double>(i) * (to - 1) / (from - 1)));
  };
  const int i = along(node % before[0], before[0], after[0]),
            j = along(node / before[0], before[1], after[1]);
  return j * after[0] + i;
}

void shrink_mesh(Json& garment) {
  Json& mesh = garment["mesh"];
  const auto cut = [&mesh](const char* key, int most) {
    if (mesh.contains(key) && mesh[key] > most) mesh[key] = most;
  };
  cut("boundary_segments", 4);
  cut("interior_nodes", 16);
  cut("radial", 4);
  cut("around", 10);
  cut("along", 5);
  cut("triangles", 300);
  if (!mesh.contains("nodes")) return;
  const auto before = mesh["nodes"].get<std::vector<int>>();
  const double factor = std::min(1.0, most_nodes / static_cast<double>(std::max(before[0], before[1])));
  std::vector<int> after;
  for (const int n : before) after.push_back(std::max(3, static_cast<int>(std::lround(factor * n))));
  mesh["nodes"] = after;
  if (!garment.contains("pins")) return;
  for (Json& pin : garment["pins"])
    if (pin["select"].contains("nodes"))
      for (Json& node : pin["select"]["nodes"]) node = moved_index(node.get<int>(), before, after);
}

void shrink(Json& scene) {
  scene["duration"] = std::min(scene["duration"].get<double>(), most_steps * scene["step"].get<double>());
  for (Json& garment : scene["garments"]) {
    shrink_mesh(garment);
    if (garment.contains("replicas")) garment["replicas"] = 3;
    // A tank top of few triangles has fewer nodes than these boxes are wide.
    if (garment["mesh"].value("generator", "") == "tank_top" && garment.contains("pins"))
      for (Json& pin : garment["pins"])
        if (pin["select"].contains("box")) {
          pin["select"]["box"]["min"][1] = -0.02;
          pin["select"]["box"]["max"][1] = 0.02;
        }
  }
}

struct Surface {
  std::vector<std::vector<double>> points;
  std::vector<std::vector<int>> faces;
};

Surface torus(int around, int across) {
  Surface surface;
  for (int i = 0; i < around; ++i)
    for (int k = 0; k < across; ++k) {
      const double a = 2 * std::numbers::pi * i / around, b = 2 * std::numbers::pi * k / across;
      const double r = 0.12 + 0.05 * std::cos(b);
      surface.points.push_back({r * std::cos(a), r * std::sin(a), 0.05 * std::sin(b)});
      const int i1 = (i + 1) % around, k1 = (k + 1) % across;
      surface.faces.push_back({i * across + k, i1 * across + k, i1 * across + k1, i * across + k1});
    }
  return surface;
}

Surface sheet(int nx, int ny) {
  Surface surface;
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      surface.points.push_back({0.05 * i, 0.05 * j, 0});
      if (i + 1 < nx && j + 1 < ny)
        surface.faces.push_back({j * nx + i, j * nx + i + 1, (j + 1) * nx + i + 1, (j + 1) * nx + i});
    }
  return surface;
}

std::string obj(const Surface& surface) {
  std::string lines = "# a surface\n";
  for (const auto& p : surface.points) lines += text("v ", p[0], " ", p[1], " ", p[2], "\n");
  for (const auto& face : surface.faces) {
    lines += "f";
    for (const int node : face) lines += text(" ", node + 1);
    lines += "\n";
  }
  return lines;
}

template <class T>
void append_bytes(std::string& bytes, T value) {
  char block[sizeof value];
  std::memcpy(block, &value, sizeof value);
  bytes.append(block, sizeof value);
}

std::string ply(const Surface& surface, bool is_binary) {
  std::string file =
      text("ply\nformat ", is_binary ? "binary_little_endian" : "ascii", " 1.0\nelement vertex ",
           surface.points.size(), "\nproperty float x\nproperty float y\nproperty float z\nelement face ",
           surface.faces.size(), "\nproperty list uchar int vertex_indices\nend_header\n");
  for (const auto& p : surface.points) {
    for (const double x : p)
      is_binary ? append_bytes(file, static_cast<float>(x)) : void(file += text(x, " "));
    if (!is_binary) file += "\n";
  }
  for (const auto& face : surface.faces) {
    is_binary ? append_bytes(file, static_cast<unsigned char>(face.size()))
              : void(file += text(face.size(), " "));
    for (const int node : face)
      is_binary ? append_bytes(file, std::int32_t{node}) : void(file += text(node, " "));
    if (!is_binary) file += "\n";
  }
  return file;
}

std::string stl(const Surface& surface, bool is_binary) {
  std::vector<std::vector<int>> triangles;
  for (const auto& f : surface.faces)
    for (std::size_t k = 2; k < f.size(); ++k) triangles.push_back({f[0], f[k - 1], f[k]});
  std::string file = is_binary ? std::string(80, ' ') : "solid\n";
  if (is_binary) append_bytes(file, static_cast<std::uint32_t>(triangles.size()));
  for (const auto& triangle : triangles) {
    is_binary ? void(file.append(12, '\0')) : void(file += "facet normal 0 0 0\nouter loop\n");
    for (const int node : triangle) {
      const auto& p = surface.points[static_cast<std::size_t>(node)];
      if (is_binary)
        for (const double x : p) append_bytes(file, static_cast<float>(x));
      else
        file += text("vertex ", p[0], " ", p[1], " ", p[2], "\n");
    }
    is_binary ? void(file.append(2, '\0')) : void(file += "endloop\nendfacet\n");
  }
  return is_binary ? file : file + "endsolid\n";
}

/// Rows t and x, y, z of two nodes 0.15 m apart, lifted and shaken.
std::string pin_positions() {
  std::string csv = "t,x1,y1,z1,x2,y2,z2\n";
  for (int i = 0; i <= 15; ++i) {
    const double t = 0.02 * i, z = 0.05 * t, y = 0.15 + 0.01 * std::sin(10 * t);
    csv += text(t, ",0,", y, ",", z, ",0.15,", y, ",", z, "\n");
  }
  return csv;
}

std::string poses() {
  std::string csv = "t,x,y,z,rx,ry,rz\n";
  for (int i = 0; i <= 10; ++i) csv += text(0.02 * i, ",0.07,0.07,", -0.13 + 0.002 * i, ",0,0,", 2 * i, "\n");
  return csv;
}

/// What no shipped scene has: files of every kind, recorded motions, moving obstacles.
std::vector<SeedScene> scenes_of_files() {
  const Json fabric = {{"density", 0.2},
                       {"gravity_density", 0.2},
                       {"bending_stiffness", 1e-5},
                       {"mass_damping", 0.3},
                       {"thickness", 0.0005}};
  const Json pinned =
      Json::parse(R"({"select": {"nodes": [12, 15]}, "motion": {"type": "recorded", "file": "pins.csv"}})");
  const Json falling = {{"step", 0.005},
                        {"duration", 0.1},
                        {"contact", {{"tolerance", 1e-3}, {"margin", 1e-3}}},
                        {"projection", {{"max_substeps", 4}}}};
  std::vector<SeedScene> all;
  const auto add = [&all](const std::string& name, Json scene, std::map<std::string, std::string> files) {
    all.push_back({name, std::move(scene), std::move(files)});
  };
  const struct {
    const char* name;
    std::string content;
  } cloths[] = {{"sheet.obj", obj(sheet(4, 4))},
                {"sheet.ply", ply(sheet(4, 4), false)},
                {"binary.ply", ply(sheet(4, 4), true)}};
  for (const auto& cloth : cloths) {
    Json scene = {{"step", 0.01}, {"duration", 0.2}};
    scene["garments"] = Json::array({{{"name", "sheet"},
                                      {"mesh", {{"file", cloth.name}}},
                                      {"fabric", fabric},
                                      {"pins", Json::array({pinned})}}});
    add(text("recorded pins of ", cloth.name), scene,
        {{cloth.name, cloth.content}, {"pins.csv", pin_positions()}});
  }
  const Surface ring = torus(10, 6);
  const struct {
    const char* name;
    std::string content;
  } solids[] = {
      {"torus.stl", stl(ring, false)}, {"binary.stl", stl(ring, true)}, {"torus.ply", ply(ring, true)}};
  for (const auto& solid : solids) {
    Json scene = falling;
    scene["garments"] = Json::parse(
        R"([{"mesh": {"generator": "quad_grid", "nodes": [6, 6], "size": [0.4, 0.4]},
             "transform": {"translation": [-0.2, -0.2, 0.06]}, "rest_noise": {"normal_deviation": 0.0001}}])");
    scene["garments"][0]["fabric"] = fabric;
    scene["obstacles"] =
        Json::parse(R"([{"shape": {"type": "mesh", "cell": 0.01}, "friction": {"static": 0.3}}])");
    scene["obstacles"][0]["shape"]["file"] = solid.name;
    add(text("falling on ", solid.name), scene, {{solid.name, solid.content}});
  }
  Json scene = falling;
  scene["wind"] = {{"velocity", {1, 0, 0}}};
  scene["garments"] = Json::parse(
      R"([{"name": "held", "mesh": {"generator": "tube", "along": 4, "around": 8, "radius": 0.05, "height": 0.1},
           "grippers": [{"region": {"type": "box", "size": [0.2, 0.2, 0.02]}, "motion": {"type": "recorded", "file": "grip.csv"},
                         "holds": [{"from": 0, "to": 0.06}], "stiffness": 1000}]},
          {"name": "on top", "mesh": {"generator": "triangle_grid", "nodes": [4, 5], "size": [0.15, 0.2]},
           "initial_velocity": [0, 0, -0.5]}])");
  for (Json& garment : scene["garments"]) garment["fabric"] = fabric;
  scene["obstacles"] = Json::parse(
      R"([{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "motion": {"type": "recorded", "file": "poses.csv"}},
          {"name": "ground", "shape": {"type": "plane"}, "position": [0, 0, -0.3]}])");
  scene["bodies"] = Json::parse(
      R"([{"name": "brick", "shape": {"type": "box", "size": [0.05, 0.05, 0.05]}, "mass": 0.1,
           "position": [0.07, 0.07, 0.06], "friction": {"static": 0.4}}])");
  scene["contact"]["pairs"] =
      Json::parse(R"([{"garment": "on top", "body": "brick", "static": 0.1, "dynamic": 0.05}])");
  std::string grip = "t,x,y,z,rx,ry,rz\n0,0,0,0.1,0,0,0\n0.05,0,0,0.12,0,0,10\n0.1,0.02,0,0.12,0,5,10\n";
  add("recorded poses", scene, {{"grip.csv", grip}, {"poses.csv", poses()}});
  return all;
}

/// Names of files anywhere in a scene.
void collect_files(const Json& value, std::vector<std::string>& names) {
  if (value.is_object() && value.contains("file") && value["file"].is_string())
    names.push_back(value["file"]);
  if (value.is_structured())
    for (const Json& member : value) collect_files(member, names);
}

}  // namespace

std::vector<SeedScene> seed_scenes(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<SeedScene> all;
  for (const auto& path : paths) {
    SeedScene seed{path.stem().string(), Json::parse(read_whole_file(path)), {}};
    shrink(seed.scene);
    std::vector<std::string> names;
    collect_files(seed.scene, names);
    for (const std::string& name : names)
      seed.files[name] = name == "torus.obj" ? obj(torus(12, 8)) : read_whole_file(folder / name);
    all.push_back(std::move(seed));
  }
  for (SeedScene& seed : scenes_of_files()) all.push_back(std::move(seed));
  return all;
}

}  // namespace isocloth
