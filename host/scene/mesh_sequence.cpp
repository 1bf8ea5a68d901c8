#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/repair.hpp"
#include "host/files/error_text.hpp"
#include "host/files/text_file.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/scene/recorded_motion.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

/// A name with the place of a number in it, as of printf: "walk_%04d.obj".
struct NumberedName {
  std::string before, after;
  std::size_t width = 0;  ///< zeros fill numbers up to it

  std::string of(int number) const {
    const std::string digits = text(number);
    return text(before, std::string(width - std::min(width, digits.size()), '0'), digits, after);
  }
  /// -1: not one of these.
  int number_of(const std::string& name) const {
    if (name.size() <= before.size() + after.size()) return -1;
    const char *const begin = name.data() + before.size(), *const end =
                                                               name.data() + name.size() - after.size();
    int number = -1;
    const auto [stop, error] = std::from_chars(begin, end, number);
    return error == std::errc() && stop == end && number >= 0 && of(number) == name ? number : -1;
  }
};

NumberedName numbered_name(const std::string& name, const std::string& key) {
  const std::size_t at = name.find('%'), letter = name.find_first_not_of("0123456789", at + 1);
  std::size_t width = 0;
  if (letter != std::string::npos) std::from_chars(&name[at + 1], &name[letter], width);
  constexpr std::size_t widest = 9;
  if (letter == std::string::npos || name[letter] != 'd' || name.find('%', letter) != std::string::npos ||
      width > widest || (width > 0 && name[at + 1] != '0'))
    throw SceneError(text(key, ".file: found \"", name, "\", expected one number in it, %d or %04d"));
  return {name.substr(0, at), name.substr(letter + 1), width};
}

/// Numbers of the files, ascending without a gap.
std::vector<int> frame_numbers(const fs::path& path, const NumberedName& name) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::vector<int> numbers;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (const int number = name.number_of(entry->path().filename().string()); number >= 0)
      numbers.push_back(number);
  if (error) throw FileError(text(folder.string(), ": cannot be listed: ", error.message()));
  std::sort(numbers.begin(), numbers.end());
  if (numbers.empty())
    throw FileError(text(path.string(), ": found none of these files, expected at least one"));
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] != numbers[i - 1] + 1)
      throw FileError(text((folder / name.of(numbers[i - 1] + 1)).string(),
                           ": missing, expected every number from ", numbers.front(), " to ",
                           numbers.back()));
  return numbers;
}

/// The nodes of every face, whatever its orientation and first corner, and in whichever order faces come.
std::vector<std::vector<Index>> face_sets(const Mesh& mesh) {
  std::vector<std::vector<Index>> faces;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    faces.emplace_back(face.begin(), face.end());
    std::sort(faces.back().begin(), faces.back().end());
  }
  std::sort(faces.begin(), faces.end());
  return faces;
}

}  // namespace

bool have_same_faces(const Mesh& a, const Mesh& b) { return face_sets(a) == face_sets(b); }

/// The faces of a file as they are, and the nodes that they have.
static Mesh read_frame(const fs::path& path) {
  return within_memory_of(path.string(), [&] {
    const std::string content = read_whole_file(path);
    MeshNames names;
    Mesh frame = path.extension() == ".ply" ? parse_ply(content, path.string())
                                            : parse_obj(content, path.string(), &names);
    if (frame.face_count() > 0) drop_unused_nodes(frame, names);
    return frame;
  });
}

/// Whether polygons have been cut into the faces of a mesh, wherever: that goes by where nodes are.
static bool are_cut_into(const Mesh& polygons, const Mesh& mesh) {
  const auto triangle_count = [](const Mesh& of) { return of.corner_count() - 2 * of.face_count(); };
  if (triangle_count(polygons) != triangle_count(mesh)) return false;
  std::vector<std::vector<Index>> sorted, at_node(polygons.positions.size());
  for (Index f = 0; f < polygons.face_count(); ++f) {
    const auto face = polygons.face(f);
    sorted.emplace_back(face.begin(), face.end());
    std::ranges::sort(sorted.back());
    for (const Index node : face) at_node[static_cast<std::size_t>(node)].push_back(f);
  }
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    std::vector<Index> nodes(face.begin(), face.end());
    std::ranges::sort(nodes);
    if (std::ranges::none_of(at_node[static_cast<std::size_t>(nodes[0])], [&](Index polygon) {
          return std::ranges::includes(sorted[static_cast<std::size_t>(polygon)], nodes);
        }))
      return false;
  }
  return true;
}

bool is_mesh_sequence(const fs::path& path) {
  const fs::path extension = path.extension();
  return (extension == ".obj" || extension == ".ply") &&
         path.filename().string().find('%') != std::string::npos;
}

RecordedMotion read_mesh_sequence(const fs::path& path, const std::string& name, const Mesh& mesh,
                                  double frames_per_second, const std::string& key) {
  if (!(frames_per_second > 0))
    throw SceneError(text(key, ".frames_per_second: found none or 0, expected the rate of ", name));
  const NumberedName frames = numbered_name(path.filename().string(), key);
  const std::vector<int> numbers = frame_numbers(path, frames);
  const auto folder_of = [](const fs::path& file) {
    return fs::weakly_canonical(fs::absolute(file)).parent_path();
  };
  const fs::path folder = folder_of(path);
  RecordedMotion motion;
  for (const int number : numbers) {
    const fs::path file = path.parent_path() / frames.of(number);
    const auto refuse = [&](const auto&... what) { throw FileError(text(file.string(), ": ", what...)); };
    if (folder_of(file) != folder) refuse("found a link out of its folder, expected a file in it");
    const Mesh frame = read_frame(file);
    if (frame.positions.size() != mesh.positions.size())
      refuse("found ", frame.positions.size(), " nodes, expected ", mesh.positions.size(),
             ", the nodes of the mesh");
    if (!have_same_faces(frame, mesh) && !are_cut_into(frame, mesh))
      refuse("found other faces than those of the mesh, expected the same in every file");
    for (std::size_t i = 0; i < frame.positions.size(); ++i)
      if (const Vec3d& p = frame.positions[i]; !std::isfinite(p.x + p.y + p.z))
        refuse("found a position of node ", i, " that is not finite");
    motion.times.push_back(static_cast<double>(number - numbers.front()) / frames_per_second);
    motion.positions.insert(motion.positions.end(), frame.positions.begin(), frame.positions.end());
  }
  motion.file = name;
  motion.frames_per_second = frames_per_second;
  return motion;
}

}  // namespace isocloth
