// Repair of meshes, of files and of arrays.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "engine/mesh/ear_clipping.hpp"
#include "engine/mesh/repair.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/python/src/arrays.hpp"
#include "host/python/src/bindings.hpp"

namespace isocloth::python {

using namespace nb::literals;

namespace {

nb::dict as_dict(const MeshFault& fault) {
  nb::dict found;
  found["what"] = fault.what;
  found["count"] = fault.count;
  found["first"] = fault.first;
  found["outcome"] = fault.outcome;
  found["is_left"] = fault.is_left;
  return found;
}

/// Positions, numbers of corners of the faces, their nodes, their texture coordinates or None, node and face
/// of the source that each is, faults.
nb::tuple as_tuple(RepairedFile file) {
  Mesh& mesh = file.mesh;
  const auto node_count = static_cast<std::size_t>(mesh.node_count()),
             face_count = static_cast<std::size_t>(mesh.face_count()), corner_count = mesh.face_nodes.size();
  const auto numbers = [](std::vector<Index> numbers, std::size_t count) {
    for (auto i = static_cast<Index>(numbers.size()); i < static_cast<Index>(count); ++i)
      numbers.push_back(i);
    return to_array<std::int32_t>(std::move(numbers), {count});
  };
  std::vector<Index> sizes;
  for (Index f = 0; f < mesh.face_count(); ++f) sizes.push_back(mesh.face_size(f));
  nb::list faults;
  for (const MeshFault& fault : file.faults) faults.append(as_dict(fault));
  nb::object uvs = nb::none();
  if (!mesh.corner_uvs.empty())
    uvs = nb::cast(to_array<double>(std::move(mesh.corner_uvs), {corner_count, std::size_t{2}}));
  return nb::make_tuple(to_array(std::move(mesh.positions)),
                        to_array<std::int32_t>(std::move(sizes), {face_count}),
                        to_array<std::int32_t>(std::move(mesh.face_nodes), {corner_count}), uvs,
                        numbers(std::move(file.names.nodes), node_count),
                        numbers(std::move(file.names.faces), face_count), faults);
}

nb::tuple repair_arrays(const ArrayLike& positions, const std::vector<Index>& face_sizes,
                        const std::vector<Index>& face_nodes, const nb::object& uvs,
                        const RepairSettings& settings) {
  RepairedFile file;
  file.mesh.positions = to_rows(positions, "positions");
  std::size_t first = 0;
  for (const Index size : face_sizes) {
    if (size < 0 || first + static_cast<std::size_t>(size) > face_nodes.size())
      throw ShapeError(text("faces: found ", face_nodes.size(), " corners, expected the sum of their sizes"));
    const auto begin = face_nodes.begin() + static_cast<std::ptrdiff_t>(first);
    file.mesh.add_face({begin, begin + size});
    first += static_cast<std::size_t>(size);
  }
  if (!uvs.is_none()) {
    const auto rows = to_doubles(uvs, {file.mesh.face_nodes.size(), 2}, "uvs");
    for (std::size_t i = 0; i < file.mesh.face_nodes.size(); ++i)
      file.mesh.corner_uvs.push_back({rows.data()[2 * i], rows.data()[2 * i + 1]});
  }
  file.faults = repair_mesh(file.mesh, file.names, settings);
  return as_tuple(std::move(file));
}

}  // namespace

void bind_meshes(nb::module_& module) {
  module.def(
      "repair_file",
      [](const std::string& path, double weld, double least_altitude, double least_piece) {
        return as_tuple(repair_file(path, {weld, least_altitude, least_piece}));
      },
      "path"_a, "weld"_a, "least_altitude"_a, "least_piece"_a);
  module.def(
      "repair_arrays",
      [](const ArrayLike& positions, const std::vector<Index>& face_sizes,
         const std::vector<Index>& face_nodes, const nb::object& uvs, double weld, double least_altitude,
         double least_piece) {
        return repair_arrays(positions, face_sizes, face_nodes, uvs, {weld, least_altitude, least_piece});
      },
      "positions"_a, "face_sizes"_a, "face_nodes"_a, "uvs"_a.none(), "weld"_a, "least_altitude"_a,
      "least_piece"_a);
  module.def(
      "clip_ears",
      [](const ArrayLike& corners) {
        std::vector<std::array<Index, 3>> triangles = clip_ears(to_rows(corners, "corners"));
        const std::size_t count = triangles.size();
        return to_array<std::int32_t>(std::move(triangles), {count, std::size_t{3}});
      },
      "corners"_a);
}

}  // namespace isocloth::python
