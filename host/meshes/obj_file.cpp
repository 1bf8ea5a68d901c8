// Wavefront OBJ.
#include <algorithm>
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
  ObjReader(const std::string& source, MeshNames& names) : source_(source), names_(names) {
    names_ = {.of_node = "vertex", .first = 1, .nodes = {}, .faces = {}, .node_lines = {}, .face_lines = {}};
  }

  Mesh read(std::string_view content) {
    std::string joined;
    for (std::size_t next = 1; !content.empty();) {
      line_number_ = next;
      std::string_view line = take_line(content, next);
      if (is_continued(line)) {
        joined.assign(line);
        while (is_continued(joined) && !content.empty()) {
          joined.back() = ' ';
          joined += take_line(content, next);
        }
        if (joined.ends_with('\\')) joined.pop_back();  // at the end of the file
        line = joined;
      }
      read_line(line);
    }
    if (!every_corner_has_uv_) mesh_.corner_uvs.clear();
    return std::move(mesh_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw FileError(text(source_, ":", line_number_, ": ", message));
  }

  /// Cuts off the first line, which ends with \n, \r\n or \r.
  static std::string_view take_line(std::string_view& content, std::size_t& number) {
    ++number;
    const std::string_view line = content.substr(0, content.find_first_of("\r\n"));
    content.remove_prefix(line.size());
    if (content.starts_with("\r\n")) content.remove_prefix(1);
    if (!content.empty()) content.remove_prefix(1);
    return line;
  }
  /// Whether a line goes on, by a backslash at its end; comments, which may end with a path, do not.
  static bool is_continued(std::string_view line) {
    return line.ends_with('\\') && next_word(line).substr(0, 1) != "#";
  }

  void read_line(std::string_view line) {
    const std::string_view keyword = next_word(line);
    if (keyword == "v") {
      const double x = number(line, "v"), y = number(line, "v"), z = number(line, "v");
      mesh_.positions.push_back({x, y, z});
      names_.node_lines.push_back(line_number_);
      if (mesh_.positions.size() > max_count) fail("found too many vertices, expected at most 2^31 - 1");
    } else if (keyword == "vt") {
      const double u = number(line, "vt"), v = number(line, "vt");
      uvs_.push_back({u, v});
    } else if (keyword == "f") {
      read_face(line);
    } else if (!std::ranges::all_of(keyword.substr(0, keyword.find('#')), is_of_keyword)) {
      fail(text("found ", quoted_word(keyword), ", expected a keyword such as v, vt or f"));
    }
  }
  /// Keywords that are not read here are of such characters; what is not may be a damaged one.
  static bool is_of_keyword(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
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
      const std::size_t slash = corner.find('/');
      nodes.push_back(index(corner.substr(0, slash), mesh_.positions.size(), "vertex"));
      if (slash == std::string_view::npos) continue;
      const std::string_view after = corner.substr(slash + 1);
      const std::string_view uv = after.substr(0, after.find('/'));
      if (!uv.empty()) uvs.push_back(uvs_[index(uv, uvs_.size(), "vt")]);
    }
    if (nodes.size() < 3) fail(text("f: found ", nodes.size(), " corners, expected 3 or more"));
    if (uvs.size() != nodes.size()) every_corner_has_uv_ = false;
    if (mesh_.face_nodes.size() + nodes.size() > max_count)
      fail("found too many faces, expected at most 2^31 - 1 corners");
    mesh_.add_face(nodes);
    names_.face_lines.push_back(line_number_);
    if (every_corner_has_uv_) mesh_.corner_uvs.insert(mesh_.corner_uvs.end(), uvs.begin(), uvs.end());
  }

  static constexpr std::size_t max_count = std::numeric_limits<Index>::max();
  const std::string& source_;
  MeshNames& names_;
  Mesh mesh_;
  std::vector<Vec2d> uvs_;
  bool every_corner_has_uv_ = true;
  std::size_t line_number_ = 0;
};

}  // namespace

Mesh parse_obj(std::string_view content, const std::string& source, MeshNames* names) {
  MeshNames unused;
  return ObjReader(source, names != nullptr ? *names : unused).read(without_mark(content, source));
}

}  // namespace isocloth
