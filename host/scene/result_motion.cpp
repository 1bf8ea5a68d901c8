#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/hdf5_file.hpp"
#include "host/scene/recorded_motion.hpp"

namespace isocloth {
namespace {

/// Where a garment lies among the nodes and faces of a result.
struct GarmentPlace {
  hsize_t number = 0;               ///< number of the garment among those whose positions are kept
  hsize_t garments = 0, nodes = 0;  ///< numbers of all garments and nodes whose positions are kept
  Index node_begin = 0, node_count = 0, face_begin = 0, face_count = 0;
};

void check_format(const Hdf5File& file) {
  constexpr const char* format = "isocloth trajectory";  // host/results/trajectory_file.hpp describes it
  constexpr std::uint64_t version = 3;
  if (!file.has_attribute("format") || file.read_text_attribute("format") != format ||
      file.read_number_attribute("version") != version)
    throw FileError(text(file.path().string(), ": found no \"", format, "\" of version ", version,
                         ", expected the trajectory.h5 of a result"));
}

GarmentPlace place_of(const Hdf5File& file, const std::string& garment, const std::string& key) {
  const hsize_t count = file.stored_rows("garments/node_count");
  const std::vector<std::string> names = file.read_texts("garments/name", count);
  auto found = names.begin();
  if (names.empty()) throw FileError(text(file.path().string(), ": found no garment, expected one at least"));
  if (garment.empty() && count != 1)
    throw SceneError(text(key, ".garment: missing, expected the name of one of the ", count, " garments of ",
                          file.path().string()));
  if (!garment.empty()) found = std::ranges::find(names, garment);
  if (found == names.end())
    throw SceneError(text(key, ".garment: found \"", garment, "\", expected one of ", file.path().string(),
                          ": the first is \"", names.front(), "\""));
  const auto number = found - names.begin();
  const auto read = [&](const char* column) {
    return file.read<Index>(column, {count})[static_cast<std::size_t>(number)];
  };
  const auto node_counts = file.read<Index>("garments/node_count", {count});
  const auto is_kept = [](Index nodes) { return nodes > 0; };
  const auto kept_before = [&](std::ptrdiff_t end) {
    return static_cast<hsize_t>(std::count_if(node_counts.begin(), node_counts.begin() + end, is_kept));
  };
  const GarmentPlace place{.number = kept_before(number),
                           .garments = kept_before(std::ssize(node_counts)),
                           .nodes = file.stored_rows("rest_positions"),
                           .node_begin = read("garments/node_begin"),
                           .node_count = node_counts[static_cast<std::size_t>(number)],
                           .face_begin = read("garments/face_begin"),
                           .face_count = read("garments/face_count")};
  if (place.node_count == 0)
    throw FileError(text(file.path().string(), ": has no positions of \"", *found,
                         "\", expected those of a garment of which the run kept them"));
  const auto lies_within = [](Index begin, Index size, hsize_t all) {
    return begin >= 0 && size > 0 && static_cast<hsize_t>(begin) + static_cast<hsize_t>(size) <= all;
  };
  if (!lies_within(place.node_begin, place.node_count, place.nodes) ||
      !lies_within(place.face_begin, place.face_count, file.stored_rows("faces")))
    throw FileError(text(file.path().string(), ": garments: found nodes or faces of \"", *found,
                         "\" that are not there; the file is damaged"));
  return place;
}

Mesh faces_of(const Hdf5File& file, const GarmentPlace& place) {
  const auto begin = static_cast<hsize_t>(place.face_begin), count = static_cast<hsize_t>(place.face_count);
  const std::vector<Index> corners = file.read_rows<Index>("faces", begin, count, 4);
  Mesh mesh;
  mesh.face_begin = {0};
  for (std::size_t f = 0; f < count; ++f) {
    for (std::size_t i = 0; i < 4; ++i)
      if (const Index node = corners[4 * f + i]; node >= 0)
        mesh.face_nodes.push_back(node - place.node_begin);
    mesh.face_begin.push_back(static_cast<Index>(mesh.face_nodes.size()));
  }
  return mesh;
}

}  // namespace

bool is_result(const std::filesystem::path& path) { return path.extension() == ".h5"; }

RecordedMotion read_result_motion(const std::filesystem::path& path, const RecordedMotion& spec,
                                  const Mesh& mesh, const std::string& key) {
  if (spec.frames_per_second > 0)
    throw SceneError(text(key, ".frames_per_second: found ", spec.frames_per_second,
                          ", expected none: ", spec.file, " has times of its own"));
  const Hdf5File file = Hdf5File::open(path);
  const auto refuse = [&](const auto&... what) { throw FileError(text(path.string(), ": ", what...)); };
  check_format(file);
  const GarmentPlace place = place_of(file, spec.garment, key);
  if (place.node_count != mesh.node_count())
    refuse("found ", place.node_count, " nodes, expected ", mesh.node_count(), ", the nodes of the mesh");
  if (!have_same_faces(faces_of(file, place), mesh))
    refuse("found other faces than those of the mesh, expected the same");

  RecordedMotion motion = spec;
  // A run that was killed may have written less of one dataset than of another.
  const hsize_t frames =
      std::min({file.stored_rows("times"), file.stored_rows("origins"), file.stored_rows("positions")});
  if (frames == 0) refuse("found no frame, expected at least one");
  motion.times = file.read_rows<double>("times", 0, frames, 1);
  for (std::size_t f = 0; f < frames; ++f) {
    if (!std::isfinite(motion.times[f]) || (f > 0 && !(motion.times[f] > motion.times[f - 1])))
      refuse("frame ", f, ": found time ", motion.times[f], " s, expected finite times that ascend");
    const std::vector<double> row = file.read_rows<double>("positions", f, 1, 3 * place.nodes);
    const std::vector<double> origins = file.read_rows<double>("origins", f, 1, 3 * place.garments);
    const double* const origin = &origins[3 * place.number];
    for (Index i = 0; i < place.node_count; ++i) {
      const double* const p = &row[3 * static_cast<std::size_t>(place.node_begin + i)];
      motion.positions.push_back({origin[0] + p[0], origin[1] + p[1], origin[2] + p[2]});
      if (const Vec3d& x = motion.positions.back(); !std::isfinite(x.x + x.y + x.z))
        refuse("frame ", f, ": found a position of node ", i, " that is not finite; the file is damaged");
    }
  }
  return motion;
}

}  // namespace isocloth
