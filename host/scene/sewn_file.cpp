#include "host/scene/sewn_file.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "engine/core/errors.hpp"
#include "engine/core/nearest_name.hpp"
#include "engine/core/text.hpp"
#include "host/files/hdf5_file.hpp"

namespace isocloth {
namespace {

constexpr const char* sewn_format = "isocloth sewn garments";
constexpr std::uint64_t sewn_version = 1;

/// Vectors of 2 or 3 numbers as rows of them.
template <class Vector>
std::vector<double> as_rows(const std::vector<Vector>& vectors) {
  std::vector<double> rows;
  for (const Vector& v : vectors) {
    rows.push_back(v.x);
    rows.push_back(v.y);
    if constexpr (requires { v.z; }) rows.push_back(v.z);
  }
  return rows;
}

template <class T>
void write_array(Hdf5File& file, const std::string& name, const std::vector<T>& values, hsize_t width = 1) {
  const hsize_t rows = values.size() / width;
  file.write(name, std::span<const T>(values), width == 1 ? Hdf5Shape{rows} : Hdf5Shape{rows, width});
}

template <class T>
std::vector<T> read_array(const Hdf5File& file, const std::string& name, hsize_t width = 1) {
  const hsize_t rows = file.stored_rows(name);
  return file.read<T>(name, width == 1 ? Hdf5Shape{rows} : Hdf5Shape{rows, width});
}

std::vector<Vec3d> read_vectors(const Hdf5File& file, const std::string& name) {
  const std::vector<double> rows = read_array<double>(file, name, 3);
  std::vector<Vec3d> vectors;
  for (std::size_t i = 0; i < rows.size(); i += 3) vectors.push_back({rows[i], rows[i + 1], rows[i + 2]});
  return vectors;
}

/// The ends of threads, one after another.
template <class Threads>
std::vector<Index> ends_of(const Threads& threads) {
  std::vector<Index> ends;
  for (const auto& thread : threads) ends.insert(ends.end(), {thread.a, thread.b});
  return ends;
}

void write_folds(Hdf5File& file, const std::string& at, const Mesh& mesh) {
  std::vector<Index> nodes;
  std::vector<double> numbers, factors;
  for (const Fold& fold : mesh.folds) {
    nodes.insert(nodes.end(), fold.nodes.begin(), fold.nodes.end());
    numbers.insert(numbers.end(), {fold.angle, fold.stiffness, fold.factor});
  }
  for (const FabricFactors& f : mesh.face_factors)
    factors.insert(factors.end(), {f.density, f.stretch, f.weft_stretch, f.shear, f.bending});
  write_array(file, at + "fold_nodes", nodes, 4);
  write_array(file, at + "fold_numbers", numbers, 3);
  write_array(file, at + "face_factors", factors, 5);
}

/// false: they are not those of the mesh.
bool read_folds(const Hdf5File& file, const std::string& at, Mesh& mesh) {
  const std::vector<Index> nodes = read_array<Index>(file, at + "fold_nodes", 4);
  const std::vector<double> numbers = read_array<double>(file, at + "fold_numbers", 3),
                            factors = read_array<double>(file, at + "face_factors", 5);
  for (std::size_t i = 0; i < factors.size(); i += 5)
    mesh.face_factors.push_back({factors[i], factors[i + 1], factors[i + 2], factors[i + 3], factors[i + 4]});
  if (nodes.size() / 4 != numbers.size() / 3 ||
      (!mesh.face_factors.empty() && std::ssize(mesh.face_factors) != mesh.face_count()))
    return false;
  for (std::size_t i = 0; i < nodes.size() / 4; ++i)
    mesh.folds.push_back({{nodes[4 * i], nodes[4 * i + 1], nodes[4 * i + 2], nodes[4 * i + 3]},
                          numbers[3 * i],
                          numbers[3 * i + 1],
                          numbers[3 * i + 2]});
  return true;
}

/// Zippers or drawstrings: the threads of each, a number of each thread, and what it does over time.
template <class Fastener>
void write_each(Hdf5File& file, const std::string& at, const std::vector<Fastener>& all,
                std::vector<Index> Fastener::*threads, std::vector<double> Fastener::*numbers,
                DrivenNumber Fastener::*driven) {
  std::vector<std::string> names;
  for (const Fastener& one : all) {
    const std::string own = text(at, "/", names.size(), "/");
    names.push_back(one.name);
    write_array(file, own + "threads", one.*threads);
    write_array(file, own + "numbers", one.*numbers);
    write_array(file, own + "times", (one.*driven).times);
    write_array(file, own + "values", (one.*driven).values);
  }
  file.write_texts(at + "/name", names);
}
void write_driven(Hdf5File& file, const std::string& at, const Garment& garment) {
  write_each(file, at + "zippers", garment.zippers, &Zipper::stitches, &Zipper::shares, &Zipper::closed);
  write_each(file, at + "drawstrings", garment.drawstrings, &Drawstring::bands, &Drawstring::lengths,
             &Drawstring::share);
}

/// false: they have other threads than those, `count` of them.
template <class Fastener>
bool read_each(const Hdf5File& file, const std::string& at, std::vector<Fastener>& all,
               std::vector<Index> Fastener::*threads, std::vector<double> Fastener::*numbers,
               DrivenNumber Fastener::*driven, std::size_t count) {
  for (const std::string& name : file.read_texts(at + "/name", file.stored_rows(at + "/name"))) {
    const std::string own = text(at, "/", all.size(), "/");
    Fastener& one = all.emplace_back();
    one.name = name;
    one.*threads = read_array<Index>(file, own + "threads");
    one.*numbers = read_array<double>(file, own + "numbers");
    (one.*driven).times = read_array<double>(file, own + "times");
    (one.*driven).values = read_array<double>(file, own + "values");
    const auto is_none = [count](Index i) { return i < 0 || static_cast<std::size_t>(i) >= count; };
    if ((one.*threads).size() != (one.*numbers).size() || std::ranges::any_of(one.*threads, is_none) ||
        (one.*driven).times.empty() || (one.*driven).times.size() != (one.*driven).values.size() ||
        !std::ranges::is_sorted((one.*driven).times))
      return false;
  }
  return true;
}
bool read_driven(const Hdf5File& file, const std::string& at, SewnPanels& sewn) {
  return read_each(file, at + "zippers", sewn.zippers, &Zipper::stitches, &Zipper::shares, &Zipper::closed,
                   sewn.mesh.stitches.size()) &&
         read_each(file, at + "drawstrings", sewn.drawstrings, &Drawstring::bands, &Drawstring::lengths,
                   &Drawstring::share, sewn.mesh.bands.size());
}

}  // namespace

bool is_sewn_file(const std::filesystem::path& path) { return path.extension() == ".h5"; }

void write_sewn_garments(const std::filesystem::path& path, const Scene& scene, const SewingPlan& plan) {
  Hdf5File file = Hdf5File::create(path, Checksums::on);
  file.write_attribute("format", std::string(sewn_format));
  file.write_attribute("version", sewn_version);
  std::vector<std::string> names;
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const Garment& garment = scene.garments[g];
    if (is_kinematic(garment)) continue;
    const std::string at = text("garments/", names.size(), "/");
    names.push_back(garment.name);
    const Mesh& mesh = garment.mesh;
    write_array(file, at + "rest_positions", as_rows(mesh.positions), 3);
    write_array(file, at + "positions", as_rows(start_positions(garment)), 3);
    write_array(file, at + "face_begin", mesh.face_begin);
    write_array(file, at + "face_nodes", mesh.face_nodes);
    write_array(file, at + "corner_uvs", as_rows(mesh.corner_uvs), 2);
    std::vector<double> lengths, buttons, bands;
    for (const Stitch& stitch : mesh.stitches) lengths.insert(lengths.end(), {stitch.length, stitch.slack});
    for (const Button& b : mesh.buttons)
      buttons.insert(buttons.end(), {b.distance, b.stiffness, b.force, b.strength});
    for (const Band& band : mesh.bands) bands.insert(bands.end(), {band.length, band.stiffness});
    write_array(file, at + "stitch_nodes", ends_of(mesh.stitches), 2);
    write_array(file, at + "stitch_numbers", lengths, 2);
    write_array(file, at + "button_nodes", ends_of(mesh.buttons), 2);
    write_array(file, at + "button_numbers", buttons, 4);
    write_array(file, at + "band_nodes", ends_of(mesh.bands), 2);
    write_array(file, at + "band_numbers", bands, 2);
    write_folds(file, at, mesh);
    write_driven(file, at, garment);
    const SeamNames none;
    const SeamNames& of = plan.names(g) != nullptr ? *plan.names(g) : none;
    file.write_texts(at + "seam_names", of.names);
    write_array(file, at + "seam_orders", of.orders);
    write_array(file, at + "stitch_seams", of.of_stitches);
  }
  file.write_texts("garments/name", names);
  file.close();
}

SewnPanels read_sewn_garment(const std::filesystem::path& path, const std::string& name,
                             const std::string& key) {
  const Hdf5File file = Hdf5File::open(path);
  const auto damaged = [&](const auto&... what) {
    throw FileError(text(path.string(), ": ", what..., "; the file is damaged"));
  };
  if (!file.has_attribute("format") || file.read_text_attribute("format") != sewn_format ||
      file.read_number_attribute("version") != sewn_version)
    throw FileError(text(path.string(), ": found no \"", sewn_format, "\" of version ", sewn_version,
                         ", expected the sewn.h5 of a result"));
  const std::vector<std::string> names = file.read_texts("garments/name", file.stored_rows("garments/name"));
  if (names.empty()) damaged("found no garment");
  if (name.empty() && names.size() > 1)
    throw SceneError(text(key, ".garment: missing, expected the name of one of the ", names.size(),
                          " garments of ", path.string()));
  const auto found = name.empty() ? names.begin() : std::ranges::find(names, name);
  if (found == names.end())
    throw SceneError(text(key, ".garment: found \"", name, "\", expected one of ", path.string(),
                          ": the nearest is \"", nearest_name(name, names), "\""));
  const std::string at = text("garments/", found - names.begin(), "/");

  SewnPanels sewn;
  Mesh& mesh = sewn.mesh;
  mesh.positions = read_vectors(file, at + "rest_positions");
  sewn.placed = read_vectors(file, at + "positions");
  mesh.face_begin = read_array<Index>(file, at + "face_begin");
  mesh.face_nodes = read_array<Index>(file, at + "face_nodes");
  if (sewn.placed.size() != mesh.positions.size())
    damaged("found ", sewn.placed.size(), " positions of ", mesh.positions.size(), " nodes");
  const auto corners = static_cast<Index>(mesh.face_nodes.size());
  if (mesh.face_begin.empty() || mesh.face_begin.front() != 0 || mesh.face_begin.back() != corners ||
      !std::ranges::is_sorted(mesh.face_begin))
    damaged("found a face_begin that does not go from 0 to ", corners);
  const std::vector<double> uvs = read_array<double>(file, at + "corner_uvs", 2);
  for (std::size_t i = 0; i < uvs.size(); i += 2) mesh.corner_uvs.push_back({uvs[i], uvs[i + 1]});
  const auto read_threads = [&](const char* what, hsize_t width, const auto& add) {
    const std::vector<Index> ends = read_array<Index>(file, text(at, what, "_nodes"), 2);
    const std::vector<double> numbers = read_array<double>(file, text(at, what, "_numbers"), width);
    if (ends.size() / 2 != numbers.size() / width)
      damaged("found ", ends.size() / 2, " ", what, "_nodes and numbers of ", numbers.size() / width);
    for (std::size_t i = 0; i < ends.size() / 2; ++i) add(ends[2 * i], ends[2 * i + 1], &numbers[i * width]);
  };
  read_threads("stitch", 2, [&](Index a, Index b, const double* n) {
    mesh.stitches.push_back({a, b, n[0], n[1]});
  });
  read_threads("button", 4, [&](Index a, Index b, const double* n) {
    mesh.buttons.push_back({a, b, n[0], n[1], n[2], n[3]});
  });
  read_threads("band", 2, [&](Index a, Index b, const double* n) {
    mesh.bands.push_back({a, b, n[0], n[1]});
  });
  sewn.seams.names = file.read_texts(at + "seam_names", file.stored_rows(at + "seam_names"));
  sewn.seams.orders = read_array<Index>(file, at + "seam_orders");
  sewn.seams.of_stitches = read_array<Index>(file, at + "stitch_seams");
  const auto seams = static_cast<Index>(sewn.seams.names.size());
  const auto is_none = [seams](Index seam) { return seam < 0 || seam >= seams; };
  if (sewn.seams.orders.size() != sewn.seams.names.size() ||
      (seams > 0 && sewn.seams.of_stitches.size() != mesh.stitches.size()) ||
      std::ranges::any_of(sewn.seams.of_stitches, is_none))
    damaged("found seams of other stitches than those of \"", *found, "\"");
  if (!read_folds(file, at, mesh))
    damaged("found folds or fabrics of other faces than those of \"", *found, "\"");
  if (!read_driven(file, at, sewn))
    damaged("found zippers or drawstrings of other threads than those of \"", *found, "\"");
  return sewn;
}

void start_as_sewn(const std::filesystem::path& path, Scene& scene) {
  std::vector<std::vector<Vec3d>> starts;
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const Garment& garment = scene.garments[g];
    starts.push_back(start_positions(garment));
    if (is_kinematic(garment)) continue;
    starts.back() = read_sewn_garment(path, garment.name, text("garments[", g, "]")).placed;
    if (starts.back().size() != garment.mesh.positions.size())
      throw FileError(text(path.string(), ": found ", starts.back().size(), " nodes of \"", garment.name,
                           "\", expected ", garment.mesh.positions.size()));
  }
  for (std::size_t g = 0; g < starts.size(); ++g) scene.garments[g].initial_positions = std::move(starts[g]);
}

}  // namespace isocloth
