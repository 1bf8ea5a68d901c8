#include "host/meshes/mesh_file.hpp"

#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <set>

#include "engine/core/bound_text.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/validate.hpp"
#include "engine/mesh/weld.hpp"
#include "host/files/error_text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

static_assert(std::endian::native == std::endian::little,
              "binary PLY is written in the machine's byte order");

template <class Number>
void append_bytes(std::string& bytes, Number value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

std::string extension(const std::filesystem::path& path) {
  std::string type = path.extension().string();
  for (char& c : type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return type;
}

/// A file of a format that has an order of vertices; `expected` names the formats that the caller takes.
Mesh read_ordered(const std::filesystem::path& path, const char* expected, MeshNames* names = nullptr) {
  const std::string type = extension(path);
  if (type != ".obj" && type != ".ply") {
    throw FileError(text(path.string(), ": found a mesh file of type \"", printable(type), "\", expected ",
                         expected, "; convert it"));
  }
  return within_memory_of(path.string(), [&] {
    const std::string content = read_whole_file(path);
    return type == ".obj" ? parse_obj(content, path.string(), names) : parse_ply(content, path.string());
  });
}

}  // namespace

Mesh read_surface(const std::filesystem::path& path) {
  const std::string type = extension(path);
  if (type != ".stl") return read_ordered(path, ".obj, .ply or .stl");
  return within_memory_of(path.string(), [&] { return parse_stl(read_whole_file(path), path.string()); });
}

Mesh read_mesh(const std::filesystem::path& path, double weld_distance, const std::string& key,
               MeshNames* names) {
  MeshNames own;
  if (names == nullptr) names = &own;
  *names = {};
  Mesh mesh = read_ordered(path, ".obj or .ply", names);
  weld_file(mesh, weld_distance, key, names);
  validate_mesh(mesh, path.string(), *names);
  return mesh;
}

void weld_file(Mesh& mesh, double distance, const std::string& key, MeshNames* names) {
  if (distance == 0) return;
  const double most = mean_element_size(mesh) / 2;
  if (!(distance <= most))
    throw SceneError(
        text(key, ".weld: ", found_above(distance, most, " m"), ", half of the mean element size"));
  const Mesh before = mesh;
  const std::vector<Index> numbers = weld(mesh, distance);
  if (names == nullptr) return;
  names->nodes.assign(mesh.positions.size(), 0);
  for (Index node = before.node_count(); node-- > 0;) names->nodes[numbers[node]] = node;
  std::set<Index> corners;
  for (Index f = 0; f < before.face_count(); ++f) {  // weld() drops what has fewer than three
    corners.clear();
    for (const Index node : before.face(f)) corners.insert(numbers[node]);
    if (corners.size() >= 3) names->faces.push_back(f);
  }
}

/// Throws ShapeError and NumericalError before anything is written.
static void require_positions(const std::filesystem::path& path, const Mesh& mesh,
                              ArrayView<const Vec3d> positions) {
  if (positions.size() != mesh.positions.size()) {
    throw ShapeError(text(path.string(), ": found ", positions.size(), " positions, expected ",
                          mesh.positions.size(), ", one per node"));
  }
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Vec3d& p = positions[i];
    if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) {
      throw NumericalError(
          text(path.string(), ": node ", i, " has a non-finite position; nothing was written"));
    }
  }
}

void write_ply(const std::filesystem::path& path, const Mesh& mesh, ArrayView<const Vec3d> positions) {
  require_positions(path, mesh, positions);
  std::string bytes = text("ply\nformat binary_little_endian 1.0\nelement vertex ", positions.size(),
                           "\nproperty double x\nproperty double y\nproperty double z\nelement face ",
                           mesh.face_count(), "\nproperty list uchar int vertex_indices\nend_header\n");
  for (const Vec3d& p : positions)
    for (const double coordinate : {p.x, p.y, p.z}) append_bytes(bytes, coordinate);
  for (Index f = 0; f < mesh.face_count(); ++f) {
    append_bytes(bytes, static_cast<unsigned char>(mesh.face_size(f)));
    for (const Index node : mesh.face(f)) append_bytes(bytes, node);
  }
  write_whole_file(path, bytes);
}

void write_obj(const std::filesystem::path& path, const Mesh& mesh, ArrayView<const Vec3d> positions) {
  require_positions(path, mesh, positions);
  std::string lines;
  for (const Vec3d& p : positions)
    lines += "v " + shortest(p.x) + " " + shortest(p.y) + " " + shortest(p.z) + "\n";
  for (const Vec2d& uv : mesh.corner_uvs) lines += "vt " + shortest(uv.x) + " " + shortest(uv.y) + "\n";
  for (Index f = 0; f < mesh.face_count(); ++f) {
    lines += "f";
    for (Index corner = mesh.face_begin[f]; corner < mesh.face_begin[f + 1]; ++corner) {
      lines += " " + std::to_string(mesh.face_nodes[corner] + 1);
      if (!mesh.corner_uvs.empty()) lines += "/" + std::to_string(corner + 1);
    }
    lines += "\n";
  }
  write_whole_file(path, lines);
}

}  // namespace isocloth
