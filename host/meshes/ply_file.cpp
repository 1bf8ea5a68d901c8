// Stanford PLY, ascii and binary little endian.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"
#include "host/meshes/mesh_file.hpp"

namespace isocloth {
namespace {

static_assert(std::endian::native == std::endian::little, "binary PLY is read in the machine's byte order");

enum class Type { i8, u8, i16, u16, i32, u32, f32, f64 };

struct Property {
  std::string name;
  bool is_list = false;
  Type count_type = Type::u8;
  Type type = Type::f32;
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};

template <class Number>
double as_double(const char* bytes) {
  Number value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

std::size_t size_of(Type type) {
  constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
  return sizes[static_cast<std::size_t>(type)];
}

double decode(Type type, const char* bytes) {
  switch (type) {
    case Type::i8:
      return as_double<std::int8_t>(bytes);
    case Type::u8:
      return as_double<std::uint8_t>(bytes);
    case Type::i16:
      return as_double<std::int16_t>(bytes);
    case Type::u16:
      return as_double<std::uint16_t>(bytes);
    case Type::i32:
      return as_double<std::int32_t>(bytes);
    case Type::u32:
      return as_double<std::uint32_t>(bytes);
    case Type::f32:
      return as_double<float>(bytes);
    case Type::f64:
      break;
  }
  return as_double<double>(bytes);
}

class PlyReader {
 public:
  PlyReader(std::string_view content, const std::string& source) : rest_(content), source_(source) {}

  Mesh read() {
    read_header();
    for (const Element& element : elements_) {
      if (element.name == "vertex") {
        read_vertices(element);
      } else if (element.name == "face") {
        read_faces(element);
      } else {
        for (std::uint64_t i = 0; i < element.count; ++i) read_row(element, i);
      }
    }
    return std::move(mesh_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw FileError(text(source_, ":", line_number_, ": ", message));
  }
  /// Refuses something in the body: binary files have no lines, so the element is named.
  [[noreturn]] void fail(const Element& element, std::uint64_t row, const std::string& message) const {
    const std::string where = binary_ ? std::string() : text(line_number_, ": ");
    throw FileError(
        text(source_, ":", where.empty() ? " " : "", where, element.name, " ", row, ": ", message));
  }

  std::string_view next_line() {
    ++line_number_;
    if (rest_.empty()) fail("found the end of the file in the header, expected end_header");
    std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

  static std::vector<std::string> words(std::string_view line) {
    std::vector<std::string> found;
    while (true) {
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      if (line.empty()) return found;
      found.emplace_back(line.substr(0, line.find_first_of(" \t")));
      line.remove_prefix(found.back().size());
    }
  }

  Type type(const std::string& word) const {
    constexpr std::string_view names[][2] = {{"char", "int8"},     {"uchar", "uint8"},   {"short", "int16"},
                                             {"ushort", "uint16"}, {"int", "int32"},     {"uint", "uint32"},
                                             {"float", "float32"}, {"double", "float64"}};
    for (std::size_t i = 0; i < std::size(names); ++i) {
      if (word == names[i][0] || word == names[i][1]) return static_cast<Type>(i);
    }
    fail(text("found the property type ", quoted_word(word),
              ", expected one of char to double, int8 to float64"));
  }

  void read_header() {
    if (next_line() != "ply") fail("found no \"ply\" in the first line, expected a PLY file");
    bool has_format = false;
    while (true) {
      const std::vector<std::string> line = words(next_line());
      if (line.empty() || line[0] == "comment" || line[0] == "obj_info") continue;
      if (line[0] == "end_header") break;
      if (line[0] == "format" && line.size() == 3) {
        if (line[1] != "ascii" && line[1] != "binary_little_endian") {
          fail(text("found the format ", quoted_word(line[1]), ", expected ascii or binary_little_endian"));
        }
        binary_ = line[1] != "ascii";
        has_format = true;
      } else if (line[0] == "element" && line.size() == 3) {
        add_element(line);
      } else if (line[0] == "property" && !elements_.empty()) {
        add_property(line);
      } else {
        fail(text("found ", quoted_word(line[0]), " with ", line.size() - 1,
                  " words, expected format, element, property or end_header"));
      }
    }
    ++line_number_;
    if (!has_format) fail("found no format line, expected one in the header");
    for (const Element& element : elements_) {
      // Without this a count alone could keep the reader busy for ever.
      if (element.properties.empty() && element.count > 0) {
        fail(text("found the element ", quoted_word(element.name),
                  " without properties, expected at least one"));
      }
    }
  }

  void add_element(const std::vector<std::string>& line) {
    Element element{line[1], 0, {}};
    const char* const end = line[2].data() + line[2].size();
    const auto [stop, error] = std::from_chars(line[2].data(), end, element.count);
    if (error != std::errc() || stop != end || element.count > std::numeric_limits<Index>::max()) {
      fail(text("element ", printable(line[1], 20), ": found the count ", quoted_word(line[2]),
                ", expected a number from 0 to 2^31 - 1"));
    }
    for (const Element& other : elements_) {
      if (other.name == element.name)
        fail(text("found a second element ", quoted_word(line[1]), ", expected one"));
    }
    if (element.name == "face" && (elements_.empty() || elements_[0].name != "vertex")) {
      fail("found the element face before vertex, expected vertex first");
    }
    elements_.push_back(std::move(element));
  }

  void add_property(const std::vector<std::string>& line) {
    Property property;
    property.is_list = line.size() == 5 && line[1] == "list";
    if (!property.is_list && line.size() != 3) {
      fail(text("found a property line of ", line.size(),
                " words, expected \"property TYPE NAME\" or \"property list TYPE TYPE NAME\""));
    }
    if (property.is_list) property.count_type = type(line[2]);
    property.type = type(line[line.size() - 2]);
    property.name = line.back();
    elements_.back().properties.push_back(std::move(property));
  }

  double scalar(const Element& element, std::uint64_t row, Type scalar_type) {
    if (binary_) {
      const std::size_t size = size_of(scalar_type);
      if (rest_.size() < size) fail(element, row, "found the end of the file, expected more numbers");
      const double value = decode(scalar_type, rest_.data());
      rest_.remove_prefix(size);
      return value;
    }
    while (!rest_.empty() && std::strchr(" \t\r\n", rest_[0])) {
      if (rest_[0] == '\n') ++line_number_;
      rest_.remove_prefix(1);
    }
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\r\n"));
    if (word.empty()) fail(element, row, "found the end of the file, expected more numbers");
    rest_.remove_prefix(word.size());
    double value = 0;
    if (!parse_finite(word, value)) {
      fail(element, row, text("found ", quoted_word(word), ", expected a finite number"));
    }
    return value;
  }

  /// Values of one element, lists flattened into list_values_ per property.
  void read_row(const Element& element, std::uint64_t row) {
    values_.assign(element.properties.size(), 0);
    lists_.resize(element.properties.size());
    for (std::size_t p = 0; p < element.properties.size(); ++p) {
      const Property& property = element.properties[p];
      if (!property.is_list) {
        values_[p] = scalar(element, row, property.type);
        continue;
      }
      const double count = scalar(element, row, property.count_type);
      if (!(count >= 0 && count == std::floor(count))) {
        fail(element, row, text("found a list of length ", count, ", expected a whole number >= 0"));
      }
      lists_[p].clear();
      for (double i = 0; i < count; ++i) lists_[p].push_back(scalar(element, row, property.type));
    }
  }

  static std::size_t find(const Element& element, std::initializer_list<std::string_view> names,
                          bool is_list) {
    for (std::size_t p = 0; p < element.properties.size(); ++p) {
      const Property& property = element.properties[p];
      if (property.is_list == is_list && std::find(names.begin(), names.end(), property.name) != names.end())
        return p;
    }
    return element.properties.size();
  }

  void read_vertices(const Element& element) {
    const std::size_t none = element.properties.size();
    const std::size_t x = find(element, {"x"}, false), y = find(element, {"y"}, false),
                      z = find(element, {"z"}, false);
    if (x == none || y == none || z == none)
      fail("found a vertex element without x, y, z, expected all three");
    const std::size_t u = find(element, {"s", "u", "texture_u"}, false);
    const std::size_t v = find(element, {"t", "v", "texture_v"}, false);
    has_uvs_ = u != none && v != none;
    for (std::uint64_t i = 0; i < element.count; ++i) {
      read_row(element, i);
      for (const std::size_t p : {x, y, z}) {
        if (!std::isfinite(values_[p]))
          fail(element, i, text("found ", values_[p], ", expected a finite number"));
      }
      mesh_.positions.push_back({values_[x], values_[y], values_[z]});
      if (!has_uvs_) continue;
      if (!std::isfinite(values_[u]) || !std::isfinite(values_[v])) {
        fail(element, i, "found a non-finite texture coordinate, expected finite numbers");
      }
      node_uvs_.push_back({values_[u], values_[v]});
    }
  }

  void read_faces(const Element& element) {
    const std::size_t list = find(element, {"vertex_indices", "vertex_index"}, true);
    if (list == element.properties.size()) {
      fail("found a face element without vertex_indices, expected a list of that name (or vertex_index)");
    }
    std::vector<Index> nodes;
    for (std::uint64_t i = 0; i < element.count; ++i) {
      read_row(element, i);
      const std::vector<double>& found = lists_[list];
      if (found.size() < 3) fail(element, i, text("found ", found.size(), " corners, expected 3 or more"));
      nodes.clear();
      for (const double node : found) {
        if (!(node >= 0 && node < mesh_.node_count() && node == std::floor(node))) {
          fail(element, i, text("found vertex ", node, ", expected one from 0 to ", mesh_.node_count() - 1));
        }
        nodes.push_back(static_cast<Index>(node));
        if (has_uvs_) mesh_.corner_uvs.push_back(node_uvs_[static_cast<std::size_t>(node)]);
      }
      if (mesh_.face_nodes.size() + nodes.size() > std::numeric_limits<Index>::max()) {
        fail(element, i, "found too many faces, expected at most 2^31 - 1 corners");
      }
      mesh_.add_face(nodes);
    }
  }

  std::string_view rest_;
  const std::string& source_;
  std::size_t line_number_ = 0;
  bool binary_ = false;
  bool has_uvs_ = false;
  std::vector<Element> elements_;
  std::vector<double> values_;              // of the row read last, shape [property_count]
  std::vector<std::vector<double>> lists_;  // of the row read last, shape [property_count][list length]
  std::vector<Vec2d> node_uvs_;
  Mesh mesh_;
};

}  // namespace

Mesh parse_ply(std::string_view content, const std::string& source) {
  return PlyReader(without_mark(content, source), source).read();
}

}  // namespace isocloth
