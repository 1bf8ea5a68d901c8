// Wavefront OBJ.
#include <charconv>
#include <limits>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"
#include "host/meshes/mesh_file.hpp"

namespace isocloth {
namespace {

constexpr std::string_view spaces = " \t\r\v\f";

/// Cuts the first word off a line; empty at its end.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(spaces), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(spaces));
  line.remove_prefix(word.size());
  return word;
}

class ObjReader {
 public:
  explicit ObjReader(const std::string& source) : source_(source) {}

  Mesh read(std::string_view content) {
    while (!content.empty()) {
      ++line_number_;
      const std::string_view line = content.substr(0, content.find('\n'));
      content.remove_prefix(std::min(line.size() + 1, content.size()));
      read_line(line);
    }
    if (!every_corner_has_uv_) mesh_.corner_uvs.clear();
    return std::move(mesh_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw FileError(text(source_, ":", line_number_, ": ", message));
  }

  void read_line(std::string_view line) {
    const std::string_view keyword = next_word(line);
    if (keyword == "v") {
      const double x = number(line, "v"), y = number(line, "v"), z = number(line, "v");
      mesh_.positions.push_back({x, y, z});
      if (mesh_.positions.size() > max_count) fail("found too many vertices, expected at most 2^31 - 1");
    } else if (keyword == "vt") {
      const double u = number(line, "vt"), v = number(line, "vt");
      uvs_.push_back({u, v});
    } else if (keyword == "f") {
      read_face(line);
    }
  }

  double number(std::string_view& line, const char* keyword) const {
    const std::string_view word = next_word(line);
    double value = 0;
    if (!parse_finite(word, value)) {
      fail(word.empty() ? text(keyword, ": found too few numbers, expected ", keyword[1] == 't' ? 2 : 3)
                        : text(keyword, ": found ", quoted_word(word), ", expected a finite number"));
    }
    return value;
  }

  /// 0-based index from the 1-based or negative one of the file.
  Index index(std::string_view word, std::size_t count, const char* what) const {
    long long value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) {
      fail(text("f: found ", quoted_word(word), ", expected the number of a ", what));
    }
    const auto size = static_cast<long long>(count);
    const bool known = (value >= 1 && value <= size) || (value <= -1 && value >= -size);
    if (!known) {
      fail(text("f: found ", what, " ", value, ", expected one of the ", count,
                " before this line, numbered from 1"));
    }
    return static_cast<Index>(value > 0 ? value - 1 : size + value);
  }

  void read_face(std::string_view line) {
    std::vector<Index> nodes;
    std::vector<Vec2d> uvs;
    for (std::string_view corner = next_word(line); !corner.empty() && corner[0] != '#';
         corner = next_word(line)) {
      if (nodes.size() == 4)
        fail("f: found more than 4 corners, expected triangles and quads; split the polygon");
      const std::size_t slash = corner.find('/');
      nodes.push_back(index(corner.substr(0, slash), mesh_.positions.size(), "vertex"));
      if (slash == std::string_view::npos) continue;
      const std::string_view after = corner.substr(slash + 1);
      const std::string_view uv = after.substr(0, after.find('/'));
      if (!uv.empty()) uvs.push_back(uvs_[index(uv, uvs_.size(), "vt")]);
    }
    if (nodes.size() < 3) fail(text("f: found ", nodes.size(), " corners, expected 3 or 4"));
    if (uvs.size() != nodes.size()) every_corner_has_uv_ = false;
    if (mesh_.face_nodes.size() + nodes.size() > max_count)
      fail("found too many faces, expected at most 2^31 - 1 corners");
    mesh_.add_face(nodes);
    if (every_corner_has_uv_) mesh_.corner_uvs.insert(mesh_.corner_uvs.end(), uvs.begin(), uvs.end());
  }

  static constexpr std::size_t max_count = std::numeric_limits<Index>::max();
  const std::string& source_;
  Mesh mesh_;
  std::vector<Vec2d> uvs_;
  bool every_corner_has_uv_ = true;
  std::size_t line_number_ = 0;
};

}  // namespace

Mesh parse_obj(std::string_view content, const std::string& source) {
  return ObjReader(source).read(content);
}

}  // namespace isocloth
