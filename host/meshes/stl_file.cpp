// Stereolithography files: triangles, each with corners of its own, which are welded.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"
#include "host/meshes/mesh_file.hpp"

namespace isocloth {
namespace {

static_assert(std::endian::native == std::endian::little, "binary STL is read in the machine's byte order");

constexpr std::size_t header_size = 84, triangle_size = 50;

/// Collects triangles; corners at one place become one node.
class Welder {
 public:
  Index node(const Vec3d& p) {
    const auto [at, is_new] = known_.emplace(std::array{p.x, p.y, p.z}, mesh_.node_count());
    if (is_new) mesh_.positions.push_back(p);
    return at->second;
  }
  /// A triangle that has lost a corner has no area and is left out.
  void add(Index a, Index b, Index c) {
    if (a != b && b != c && c != a) mesh_.add_face({a, b, c});
  }
  Mesh take() { return std::move(mesh_); }

 private:
  Mesh mesh_;
  std::map<std::array<double, 3>, Index> known_;
};

/// The number of triangles that a binary file of this size says it has; none: it is no binary file.
std::size_t binary_count(std::string_view content) {
  if (content.size() < header_size) return 0;
  std::uint32_t count = 0;
  std::memcpy(&count, content.data() + header_size - sizeof count, sizeof count);
  return content.size() == header_size + triangle_size * std::size_t{count} ? count : 0;
}

Mesh read_binary(std::string_view content, std::size_t count, const std::string& source) {
  if (3 * count > static_cast<std::size_t>(std::numeric_limits<Index>::max()))
    throw FileError(text(source, ": found ", count, " triangles, expected at most 2^31 / 3"));
  Welder welder;
  for (std::size_t t = 0; t < count; ++t) {
    // A normal, three corners, two bytes that mean nothing.
    float values[12];
    std::memcpy(values, content.data() + header_size + triangle_size * t, sizeof values);
    Index corners[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const float* const p = values + 3 + 3 * k;
      for (std::size_t i = 0; i < 3; ++i) {
        if (!std::isfinite(p[i]))
          throw FileError(text(source, ": triangle ", t, ": found ", p[i], ", expected finite numbers"));
      }
      corners[k] = welder.node({p[0], p[1], p[2]});
    }
    welder.add(corners[0], corners[1], corners[2]);
  }
  return welder.take();
}

class AsciiReader {
 public:
  AsciiReader(std::string_view content, const std::string& source) : rest_(content), source_(source) {}

  Mesh read() {
    Welder welder;
    std::vector<Index> corners;
    for (std::string_view word = next_word(); !word.empty(); word = next_word()) {
      if (word == "vertex") {
        const double x = number(), y = number(), z = number();
        corners.push_back(welder.node({x, y, z}));
      } else if (word == "endloop") {
        if (corners.size() != 3)
          fail(text("found a facet of ", corners.size(), " vertices, expected 3; is the file damaged?"));
        welder.add(corners[0], corners[1], corners[2]);
        corners.clear();
      }
    }
    if (!corners.empty()) fail("found the end of the file inside a facet");
    return welder.take();
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw FileError(text(source_, ":", line_, ": ", message));
  }

  std::string_view next_word() {
    while (!rest_.empty() && std::string_view(" \t\r\v\f\n").find(rest_[0]) != std::string_view::npos) {
      if (rest_[0] == '\n') ++line_;
      rest_.remove_prefix(1);
    }
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\r\v\f\n"));
    rest_.remove_prefix(word.size());
    return word;
  }

  double number() {
    const std::string_view word = next_word();
    double value = 0;
    if (!parse_finite(word, value))
      fail(text("vertex: found ", quoted_word(word), ", expected a finite number"));
    return value;
  }

  std::string_view rest_;
  const std::string& source_;
  std::size_t line_ = 1;
};

}  // namespace

Mesh parse_stl(std::string_view content, const std::string& source) {
  // Binary files may begin with "solid" as well: their size tells them.
  if (const std::size_t count = binary_count(content)) return read_binary(content, count, source);
  content = without_mark(content, source);
  if (!content.starts_with("solid")) {
    throw FileError(text(source, ": found ", content.size(),
                         " bytes that are neither a text that begins with \"solid\" nor as long as their "
                         "number of triangles, expected an STL file"));
  }
  return AsciiReader(content, source).read();
}

}  // namespace isocloth
