#include "host/scene/fabric_maps.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/number_rows.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw SceneError(text(parts...));
}

/// The header of an image, word by word; # begins a comment.
class Header {
 public:
  Header(const std::string& bytes, const std::string& name) : bytes_(bytes), name_(name) {}
  std::string word() {
    while (at_ < bytes_.size() && (is_space() || bytes_[at_] == '#'))
      if (bytes_[at_++] == '#')
        while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
    const std::size_t begin = at_;
    while (at_ < bytes_.size() && !is_space()) ++at_;
    return bytes_.substr(begin, at_ - begin);
  }
  double number(const char* what, double least, double most) {
    const std::string found = word();
    double value = 0;
    if (!parse_finite(found, value) || !(value >= least && value <= most))
      throw FileError(text(name_, ": found ", what, " \"", printable(found), "\", expected a number from ",
                           least, " to ", most));
    return value;
  }
  /// Where the pixels begin: behind the one blank that ends the header.
  std::size_t end() const { return at_ + 1; }

 private:
  bool is_space() const { return std::strchr(" \t\r\n", bytes_[at_]) != nullptr; }
  const std::string& bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
};

Vec2d mean_of(const std::vector<Vec2d>& points) {
  Vec2d sum{0, 0};
  for (const Vec2d& p : points) sum = sum + p;
  return (1.0 / static_cast<double>(points.size())) * sum;
}

/// Where each corner of a face is in an image.
class ImagePlaces {
 public:
  ImagePlaces(const Mesh& mesh, const MapPlaces& places, bool has_texture)
      : mesh_(mesh), has_texture_(has_texture) {
    if (has_texture || places.first == places.end) return;
    low_ = high_ = place(mesh.face_begin[places.first]);
    for (Index c = mesh.face_begin[places.first]; c < mesh.face_begin[places.end]; ++c) {
      const Vec2d p = place(c);
      low_ = {std::min(low_.x, p.x), std::min(low_.y, p.y)};
      high_ = {std::max(high_.x, p.x), std::max(high_.y, p.y)};
    }
  }
  bool is_flat() const { return has_texture_ || (high_.x > low_.x && high_.y > low_.y); }
  double mean(const GreyImage& image, Index face) const {
    std::vector<Vec2d> corners;
    for (Index c = mesh_.face_begin[face]; c < mesh_.face_begin[face + 1]; ++c) corners.push_back(at(c));
    const Vec2d centre = mean_of(corners);
    double sum = image.at(centre.x, centre.y);
    for (const Vec2d& corner : corners) {
      const Vec2d between = 0.5 * (centre + corner);
      sum += image.at(between.x, between.y);
    }
    return sum / static_cast<double>(corners.size() + 1);
  }

 private:
  Vec2d place(Index corner) const {
    const Vec3d& p = mesh_.positions[static_cast<std::size_t>(mesh_.face_nodes[corner])];
    return {p.x, p.y};
  }
  Vec2d at(Index corner) const {
    if (has_texture_) return mesh_.corner_uvs[static_cast<std::size_t>(corner)];
    const Vec2d p = place(corner);
    return {(p.x - low_.x) / (high_.x - low_.x), (p.y - low_.y) / (high_.y - low_.y)};
  }

  const Mesh& mesh_;
  bool has_texture_;
  Vec2d low_{0, 0}, high_{0, 0};
};

void multiply(FabricFactors& factors, FabricMap::Of of, double x) {
  using enum FabricMap::Of;
  if (of == density || of == thickness) factors.density *= x;
  if (of == stretch_stiffness || of == thickness) {
    factors.stretch *= x;
    factors.weft_stretch *= x;
  }
  if (of == shear_stiffness || of == thickness) factors.shear *= x;
  if (of == bending_stiffness) factors.bending *= x;
  if (of == thickness) factors.bending *= x * x * x;
}

}  // namespace

void describe_maps(Keys& keys, std::vector<FabricMap>& maps) {
  keys.objects(
      "maps", "factors on numbers of the fabric that vary over the cloth; several are multiplied", 0,
      [&](Keys& k, std::size_t m) {
        maps.resize(m + 1);
        FabricMap& map = maps[m];
        k.choice(
            "of", map.of,
            {"density", "stretch_stiffness", "shear_stiffness", "bending_stiffness", "thickness"},
            "the number; stretch_stiffness along warp and weft, bending_stiffness likewise; thickness: of "
            "an even sheet: density and stiffness in its plane go with it, bending with its cube; contact "
            "keeps the thickness of the fabric");
        k.string("panel", map.panel, "name of the panel whose faces it is of; default: all faces");
        k.one_of("by", "the factors, more than 0", required,
                 {{"values", "", "one for all, or one for each node or face of the mesh",
                   [&map](Keys& v) {
                     v.list("values", map.values, positive, "as many as nodes, else as many as faces, or one",
                            required);
                   }},
                  {"file", "", "rows of one number, of each node or face",
                   [&map](Keys& v) {
                     v.string("file", map.file, "path, relative to the folder of the scene file", required);
                   }},
                  {"image", "", "a grey image over the texture coordinates, or over the box of x and y",
                   [&map](Keys& v) {
                     v.object("image", "its file and what its grey values stand for", required,
                              [&map](Keys& g) {
                                g.string("file", map.image,
                                         "PGM or PFM, relative to the folder of the scene file", required);
                                g.number("black", map.black, any_number, "factor of grey 0", required);
                                g.number("white", map.white, any_number, "factor of grey 1", required);
                              });
                   }}});
      });
}

std::vector<double> read_map_values(const std::filesystem::path& folder, const std::string& file) {
  return read_number_rows(folder / file, 1, "one number, of each node or face").values;
}

void apply_map(const FabricMap& map, const Mesh& mesh, const MapPlaces& places, bool has_texture,
               const std::filesystem::path& folder, const std::string& key,
               std::vector<FabricFactors>& factors) {
  const auto require = [&](double value, Index face) {
    if (!(value > 0) || !std::isfinite(value))
      fail(key, ": found a factor of ", value, " at face ", face, ", expected numbers > 0");
    return value;
  };
  if (!map.image.empty()) {
    const GreyImage image = read_grey_image(folder / map.image);
    const ImagePlaces at(mesh, places, has_texture);
    if (!at.is_flat())
      fail(key,
           ".image: found a mesh without texture coordinates and without an extent along x and y, expected "
           "one of them");
    for (Index f = places.first; f < places.end; ++f) {
      const double grey = at.mean(image, f);
      multiply(factors[static_cast<std::size_t>(f)], map.of,
               require(map.black + (map.white - map.black) * grey, f));
    }
    return;
  }
  const std::vector<double> values = map.file.empty() ? map.values : read_map_values(folder, map.file);
  const std::size_t nodes = mesh.positions.size(), faces = static_cast<std::size_t>(mesh.face_count());
  if (values.size() != 1 && values.size() != nodes && values.size() != faces)
    fail(key, map.file.empty() ? ".values" : ".file", ": found ", values.size(), " numbers, expected one, ",
         nodes, " of the nodes or ", faces, " of the faces of ", places.panel);
  for (Index f = places.first; f < places.end; ++f) {
    double value = values.front();
    if (values.size() == nodes) {
      value = 0;
      for (const Index node : mesh.face(f))
        value += values[static_cast<std::size_t>(node)] / static_cast<double>(mesh.face_size(f));
    } else if (values.size() == faces) {
      value = values[static_cast<std::size_t>(f)];
    }
    multiply(factors[static_cast<std::size_t>(f)], map.of, require(value, f));
  }
}

double GreyImage::at(double u, double v) const {
  const auto along = [](double t, std::size_t count) {
    const double x = std::clamp(t * static_cast<double>(count) - 0.5, 0.0, static_cast<double>(count - 1));
    const auto i = std::min(static_cast<std::size_t>(x), count > 1 ? count - 2 : 0);
    return std::pair{i, x - static_cast<double>(i)};
  };
  const auto [i, x] = along(u, width);
  const auto [j, y] = along(1 - v, height);
  const auto pixel = [&](std::size_t column, std::size_t row) {
    return values[std::min(row, height - 1) * width + std::min(column, width - 1)];
  };
  return (1 - y) * ((1 - x) * pixel(i, j) + x * pixel(i + 1, j)) +
         y * ((1 - x) * pixel(i, j + 1) + x * pixel(i + 1, j + 1));
}

GreyImage read_grey_image(const std::filesystem::path& path) {
  const std::string bytes = read_whole_file(path), name = path.string();
  Header header(bytes, name);
  const std::string kind = header.word();
  if (kind != "P2" && kind != "P5" && kind != "Pf")
    throw FileError(
        text(name, ": found ", quoted_word(kind),
             ", expected a grey image, PGM (P2 or P5) or PFM (Pf); other files a program for images "
             "turns into one"));
  GreyImage image;
  constexpr double most = 65536;
  image.width = static_cast<std::size_t>(header.number("a width of", 1, most));
  image.height = static_cast<std::size_t>(header.number("a height of", 1, most));
  const double scale = kind == "Pf" ? header.number("a byte order of", -1e9, 1e9)
                                    : header.number("a largest value of", 1, 65535);
  const std::size_t count = image.width * image.height;
  image.values.resize(count);
  if (kind == "P2") {
    for (double& value : image.values) value = header.number("a pixel of", 0, scale) / scale;
    return image;
  }
  const std::size_t size = kind == "Pf" ? 4 : scale > 255 ? 2 : 1, begin = header.end();
  if (bytes.size() < begin || (bytes.size() - begin) / size < count)
    throw FileError(text(name, ": found ", bytes.size() < begin ? 0 : (bytes.size() - begin) / size,
                         " pixels, expected ", image.width, " x ", image.height));
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = [&](std::size_t k) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[begin + i * size + k]));
    };
    if (kind == "P5") {
      image.values[i] = (size == 1 ? byte(0) : 256 * byte(0) + byte(1)) / scale;
      continue;
    }
    std::uint32_t word = 0;  // rows from below; a negative number says that the lowest byte comes first
    for (std::size_t k = 0; k < 4; ++k) word |= byte(k) << (8 * (scale < 0 ? k : 3 - k));
    const double value = std::bit_cast<float>(word);
    if (!std::isfinite(value))
      throw FileError(text(name, ": found pixel ", i, " of ", value, ", expected finite numbers"));
    image.values[(image.height - 1 - i / image.width) * image.width + i % image.width] = value;
  }
  return image;
}

}  // namespace isocloth
