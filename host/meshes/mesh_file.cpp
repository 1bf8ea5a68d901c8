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

void require_weld(const Mesh& mesh, double distance, const std::string& key) {
  const double most = mean_element_size(mesh) / 2;
  if (!(distance <= most))
    throw SceneError(
        text(key, ".weld: ", found_above(distance, most, " m"), ", half of the mean element size"));
}

std::string extension(const std::filesystem::path& path) {
  std::string type = path.extension().string();
  for (char& c : type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return type;
}

/// The faces of a file as they are. `expected` names the formats that the caller takes.
Mesh read_faces(const std::filesystem::path& path, const char* expected, MeshNames& names, bool takes_stl) {
  const std::string type = extension(path);
  if (type != ".obj" && type != ".ply" && !(takes_stl && type == ".stl")) {
    throw FileError(text(path.string(), ": found a mesh file of type \"", printable(type), "\", expected ",
                         expected, "; convert it"));
  }
  names = {};
  return within_memory_of(path.string(), [&] {
    const std::string content = read_whole_file(path);
    return type == ".obj"   ? parse_obj(content, path.string(), &names)
           : type == ".ply" ? parse_ply(content, path.string())
                            : parse_stl(content, path.string());
  });
}

/// The faults of a mesh that was refused, where there is more to say than its first; and what mends them.
std::string further_faults(Mesh mesh, MeshNames names) {
  const std::vector<MeshFault> faults = repair_mesh(mesh, names);
  if (faults.empty()) return {};
  std::string line;
  if (faults.size() > 1 || faults.front().count > 1) {
    line = "; in all found";
    for (std::size_t i = 0; i < faults.size(); ++i)
      line +=
          text(i == 0 ? " " : ", ", faults[i].count, " ", faults[i].what, " (first ", faults[i].first, ")");
  }
  if (!has_left(faults) && mesh.face_count() > 0)
    line += "; or set mesh.repair to true, or use python -m isocloth repair";
  return line;
}

[[noreturn]] void refuse_left(const std::filesystem::path& path, const std::vector<MeshFault>& faults) {
  throw MeshError(text(path.string(), ": found faults whose repair is a choice: ", describe(faults)));
}

/// Makes a mesh of what a file holds: triangles and quads, every node at a face.
void make_plain(Mesh& mesh, MeshNames& names, const std::filesystem::path& path,
                std::vector<std::string>* notes) {
  std::vector<MeshFault> faults = split_polygons(mesh, names);
  if (has_left(faults)) {
    std::erase_if(faults, [](const MeshFault& fault) { return !fault.is_left; });
    refuse_left(path, faults);
  }
  if (mesh.face_count() > 0)
    for (MeshFault& fault : drop_unused_nodes(mesh, names)) faults.push_back(std::move(fault));
  if (notes != nullptr && !faults.empty()) notes->push_back(text(path.string(), ": ", describe(faults)));
}

}  // namespace

Mesh read_surface(const std::filesystem::path& path, bool repairs, double weld) {
  MeshNames names;
  Mesh mesh = read_faces(path, ".obj, .ply or .stl", names, true);
  if (!repairs) {
    make_plain(mesh, names, path, nullptr);
    return mesh;
  }
  const std::vector<MeshFault> faults = repair_mesh(mesh, names, {.weld = weld});
  if (has_left(faults)) refuse_left(path, faults);
  return mesh;
}

Mesh read_mesh(const std::filesystem::path& path, const MeshReading& how) {
  MeshNames own;
  MeshNames& names = how.names != nullptr ? *how.names : own;
  Mesh mesh = read_faces(path, ".obj or .ply", names, false);
  if (how.repairs) {
    if (how.weld > 0) require_weld(mesh, how.weld, how.key);
    const std::vector<MeshFault> faults =
        repair_mesh(mesh, names, {.weld = how.weld > 0 ? how.weld : RepairSettings{}.weld});
    if (has_left(faults)) refuse_left(path, faults);
    if (mesh.face_count() == 0)
      throw MeshError(text(path.string(), ": found no face that could stay, expected at least 1; ",
                           faults.empty() ? "the mesh is empty" : describe(faults)));
    if (how.notes != nullptr && !faults.empty())
      how.notes->push_back(text(path.string(), ": repaired: ", describe(faults)));
  } else {
    make_plain(mesh, names, path, how.notes);
    weld_file(mesh, how.weld, how.key, &names);
  }
  try {
    validate_mesh(mesh, path.string(), names);
  } catch (const MeshError& error) {
    if (how.repairs) throw;
    throw MeshError(error.what() + further_faults(mesh, names));
  }
  return mesh;
}

RepairedFile repair_file(const std::filesystem::path& path, const RepairSettings& settings) {
  RepairedFile file;
  file.mesh = read_faces(path, ".obj, .ply or .stl", file.names, true);
  file.faults = repair_mesh(file.mesh, file.names, settings);
  return file;
}

void weld_file(Mesh& mesh, double distance, const std::string& key, MeshNames* names) {
  if (distance == 0) return;
  require_weld(mesh, distance, key);
  const Mesh before = mesh;
  const std::vector<Index> numbers = weld(mesh, distance);
  if (names == nullptr) return;
  const std::vector<Index> old_nodes = std::move(names->nodes), old_faces = std::move(names->faces);
  const auto number = [](const std::vector<Index>& of_file, Index i) {
    return of_file.empty() ? i : of_file[static_cast<std::size_t>(i)];
  };
  names->nodes.assign(mesh.positions.size(), 0);
  for (Index node = before.node_count(); node-- > 0;) names->nodes[numbers[node]] = number(old_nodes, node);
  names->faces.clear();
  std::set<Index> corners;
  for (Index f = 0; f < before.face_count(); ++f) {  // weld() drops what has fewer than three
    corners.clear();
    for (const Index node : before.face(f)) corners.insert(numbers[node]);
    if (corners.size() >= 3) names->faces.push_back(number(old_faces, f));
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
