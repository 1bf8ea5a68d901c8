#include "host/scene/garment_maker.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/core/bound_text.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/material_frame.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/mesh/validate.hpp"
#include "engine/mesh/weld.hpp"
#include "engine/rows/face_fabric.hpp"
#include "host/files/error_text.hpp"
#include "host/files/number_rows.hpp"
#include "host/files/text_file.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/scene/recorded_motion.hpp"
#include "host/scene/rest_noise.hpp"
#include "host/scene/sewn_file.hpp"
#include "host/scene/start_shape.hpp"

namespace isocloth {

Vec3d placed(const Vec3d& p, const TransformSpec& transform) {
  return rotated(std::numbers::pi / 180 * transform.rotation, transform.scale * p) + transform.translation;
}

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& message) { throw SceneError(message); }

void check_size(const std::string& key, const char* keys, double node_count) {
  require_memory(text(key, ".", keys), text("a mesh of ", shortest(std::round(node_count)), " nodes"),
                 node_count);
}

/// Springs that hold the nodes of a pin where they start.
void hold_softly(Garment& garment, const Pin& pin, const Mesh& shown, double stiffness, double strength,
                 const std::string& key) {
  if (!std::holds_alternative<FixedMotion>(pin.motion) || pin.ramp > 0)
    fail(text(key, ".motion: found one of a pin with a stiffness of ", stiffness,
              " N/m, expected none: soft pins rest; use a gripper with stiffness, which moves"));
  garment.forces.resize(shown.positions.size());
  garment.force_slopes.resize(shown.positions.size());
  for (const Index node : pin.nodes) {
    ForceSlope& slope = garment.force_slopes[static_cast<std::size_t>(node)];
    if (slope.stiffness != SymmetricTensor{})
      fail(text(key, ": found node ", node, ", which another soft pin holds, expected each node once"));
    slope.stiffness = isotropic_tensor(stiffness);
    slope.strength = strength;
    slope.position = shown.positions[static_cast<std::size_t>(node)];
  }
}

Mesh make_mesh(const MeshSpec& spec, const std::string& key, const fs::path& folder, std::uint64_t seed,
               MeshNames& names, std::vector<std::string>& notes) {
  if (spec.generator.empty())
    return read_mesh(folder / spec.file, {spec.weld, key, spec.repair, &names, &notes});
  const auto nx = static_cast<Index>(spec.nodes[0]), ny = static_cast<Index>(spec.nodes[1]);
  const double width = spec.size[0], height = spec.size[1];
  if (spec.generator == "quad_grid" || spec.generator == "triangle_grid") {
    check_size(key, "nodes", spec.nodes[0] * spec.nodes[1]);
    return spec.generator == "quad_grid" ? quad_grid(nx, ny, width, height)
                                         : triangle_grid(nx, ny, width, height, spec.diagonals);
  }
  if (spec.generator == "irregular_triangles") {
    check_size(key, "interior_nodes and boundary_segments",
               4.0 * spec.boundary_segments + spec.interior_nodes);
    const auto own_seed = static_cast<std::uint64_t>(spec.seed.value_or(static_cast<double>(seed)));
    return irregular_triangles(spec.boundary_segments, spec.interior_nodes, width, height, own_seed);
  }
  if (spec.generator == "tank_top") {
    check_size(key, "triangles", spec.triangles / 2.0);
    return tank_top(spec.triangles);
  }
  check_size(key, spec.generator == "tube" ? "along and around" : "radial and around",
             static_cast<double>(spec.around) * std::max(spec.radial, spec.along));
  if (spec.generator == "disc") return disc(spec.radial, spec.around, spec.radius, spec.faces);
  if (spec.generator == "tube") return tube(spec.along, spec.around, spec.radius, spec.height, spec.faces);
  if (spec.outer_radius <= spec.inner_radius) {
    fail(text(key, ".outer_radius: found ", spec.outer_radius, ", expected more than inner_radius, ",
              spec.inner_radius));
  }
  return ring(spec.radial, spec.around, spec.inner_radius, spec.outer_radius, spec.faces, spec.phase);
}

/// Most nodes of a panel meshed with edges of h [m], by the box and the polygon of its corners and control
/// points.
double most_panel_nodes(const Panel& panel, double h) {
  std::vector<Vec2d> points;
  for (std::size_t i = 0; i < panel.outline.size(); ++i) {
    points.push_back(panel.outline[i]);
    for (const Panel::Curve& curve : panel.curves)
      if (curve.edge == static_cast<Index>(i))
        points.insert(points.end(), curve.control.begin(), curve.control.end());
  }
  if (points.empty()) return 0;
  const auto [left, right] = std::ranges::minmax(points, {}, &Vec2d::x);
  const auto [low, high] = std::ranges::minmax(points, {}, &Vec2d::y);
  double around = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec2d way = points[(i + 1) % points.size()] - points[i];
    around += std::hypot(way.x, way.y);
  }
  return (right.x - left.x + h) * (high.y - low.y + h) / (0.8 * h * h) + around / h;
}

void apply_transform(Mesh& mesh, const TransformSpec& transform) {
  for (Vec3d& p : mesh.positions) p = placed(p, transform);
  for (Vec2d& uv : mesh.corner_uvs) uv = transform.scale * uv;
  for (Stitch& stitch : mesh.stitches) stitch.length *= transform.scale;
  for (Band& band : mesh.bands) band.length *= transform.scale;
  for (Fold& fold : mesh.folds) fold.stiffness *= transform.scale;
}

/// Sets zippers and drawstrings as they are at the start.
void set_driven(Garment& garment, double scale, const std::string& key) {
  const auto require = [&key](const DrivenNumber& number, const std::string& what) {
    if (number.values.size() != number.times.size() || number.times.empty())
      fail(text(key, ".mesh: found ", number.times.size(), " times and ", number.values.size(),
                " numbers of ", what, ", expected as many of both, at least one"));
  };
  for (const Zipper& zipper : garment.zippers) require(zipper.closed, "the zipper " + zipper.name);
  for (Drawstring& string : garment.drawstrings) {
    require(string.share, "the drawstring " + string.name);
    for (double& length : string.lengths) length *= scale;
  }
  set_fasteners(garment.zippers, garment.drawstrings, garment.time_offset, garment.mesh);
}

std::vector<Index> nearest_nodes(const std::vector<Vec3d>& points, const Mesh& mesh, const std::string& key) {
  std::vector<Index> nodes;
  for (const Vec3d& point : points) {
    const auto distance = [&](const Vec3d& p) { return dot(p - point, p - point); };
    const auto nearest =
        std::min_element(mesh.positions.begin(), mesh.positions.end(),
                         [&](const Vec3d& a, const Vec3d& b) { return distance(a) < distance(b); });
    const auto node = static_cast<Index>(nearest - mesh.positions.begin());
    const auto earlier = std::find(nodes.begin(), nodes.end(), node);
    if (earlier != nodes.end()) {
      fail(text(key, ".nearest[", nodes.size(), "]: found node ", node, ", which is also nearest to point ",
                earlier - nodes.begin(), ", expected distinct nodes"));
    }
    nodes.push_back(node);
  }
  return nodes;
}

template <class Inside>
std::vector<Index> nodes_inside(const Mesh& mesh, const Inside& inside) {
  std::vector<Index> nodes;
  for (Index i = 0; i < mesh.node_count(); ++i) {
    if (inside(mesh.positions[i])) nodes.push_back(i);
  }
  return nodes;
}

std::vector<Index> selected_nodes(const SelectSpec& select, const Mesh& mesh, const fs::path& folder,
                                  const std::string& key) {
  switch (select.kind) {
    case SelectSpec::Kind::nodes:
      return {select.nodes.begin(), select.nodes.end()};
    case SelectSpec::Kind::nearest:
      return nearest_nodes(select.nearest, mesh, key);
    case SelectSpec::Kind::box:
      return nodes_inside(mesh, [&](const Vec3d& p) {
        return p.x >= select.min.x && p.y >= select.min.y && p.z >= select.min.z && p.x <= select.max.x &&
               p.y <= select.max.y && p.z <= select.max.z;
      });
    case SelectSpec::Kind::sphere:
      return nodes_inside(mesh, [&](const Vec3d& p) { return norm(p - select.center) <= select.radius; });
    case SelectSpec::Kind::all:
      if (!select.all) fail(text(key, ".all: found false, expected true, or another selector"));
      return nodes_inside(mesh, [](const Vec3d&) { return true; });
    case SelectSpec::Kind::weights: {
      const std::vector<double> weights = read_map_values(folder, select.weights_file);
      if (weights.size() != mesh.positions.size())
        fail(text(key, ".weights.file: found ", weights.size(), " numbers, expected ", mesh.positions.size(),
                  ", one for each node"));
      std::vector<Index> nodes;
      for (std::size_t i = 0; i < weights.size(); ++i)
        if (weights[i] > select.above) nodes.push_back(static_cast<Index>(i));
      return nodes;
    }
    case SelectSpec::Kind::boundary_loop:
      break;
  }
  const Topology topology = build_topology(mesh);
  const std::size_t count = topology.boundary_loops.size();
  if (select.boundary_loop >= count) {
    fail(text(key, ".boundary_loop: found ", select.boundary_loop, ", expected less than ", count,
              ", the number of closed boundary curves of the mesh"));
  }
  return topology.boundary_loops[select.boundary_loop];
}

StressCurve stress_curve(const CurveSpec& spec, const std::string& key, const std::filesystem::path& folder) {
  StressCurve curve;
  curve.between = spec.between;
  curve.polynomial = spec.polynomial;
  curve.up_to = spec.up_to;
  if (curve.exists()) return curve;
  const auto require_points = [&] {
    if (spec.is_given && !curve.exists())
      fail(text(key, ": found no point", spec.file.empty() ? "" : " but the origin",
                ", expected at least one"));
  };
  if (!spec.file.empty()) {
    const NumberRows rows =
        read_number_rows(folder / spec.file, 2, "two numbers of each point, in the units of the schema");
    for (std::size_t i = 0; i < rows.values.size(); i += 2)
      if (i > 0 || rows.values[0] != 0 || rows.values[1] != 0)  // the origin may be given
        curve.points.push_back({rows.values[i], rows.values[i + 1]});
    require_points();
    return curve;
  }
  if (spec.strain.size() != spec.force.size())
    fail(text(key, ": found ", spec.strain.size(), " and ", spec.force.size(),
              " numbers, expected as many of one as of the other"));
  for (std::size_t i = 0; i < spec.strain.size(); ++i)
    curve.points.push_back({spec.strain[i], spec.force[i]});
  require_points();
  return curve;
}

}  // namespace

void require_memory(const std::string& key, const std::string& found, double node_count) {
  constexpr double bytes_per_node = 4000;  // of mesh, rows and factor, at least
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  const double most = std::floor(std::min(100e6, memory / bytes_per_node));
  if (node_count <= most) return;
  throw SceneError(text(key, ": found ", found, ", expected at most ", shortest(most),
                        " nodes in all on this machine with its ", shortest(std::round(memory / 1e9)),
                        " GB of memory"));
}

Garment GarmentMaker::make(const GarmentSpec& spec, const std::string& key, std::size_t number) {
  monitor_.check();
  Garment garment = spec.given;
  garment.name = spec.name.empty() ? text("garment ", number) : spec.name;
  garment.mesh = within_memory_of(key + ".mesh", [&] { return mesh(spec.mesh, key + ".mesh"); });
  for (const Vec3d& p : last_placed_) garment.initial_positions.push_back(placed(p, spec.transform));
  garment.zippers = last_zippers_;
  garment.drawstrings = last_drawstrings_;
  TransformSpec of_rest = spec.transform;
  if (!last_placed_.empty())
    of_rest.rotation = of_rest.translation = {};  // a pattern stays flat where it lies
  apply_transform(garment.mesh, of_rest);
  set_driven(garment, of_rest.scale, key);
  if (spec.rest_noise.normal_deviation > 0) {
    if (!last_placed_.empty())
      fail(text(key, ".rest_noise.normal_deviation: found ", spec.rest_noise.normal_deviation,
                ", expected none with panels, which are flat"));
    const auto own_seed = spec.rest_noise.seed;
    const std::uint64_t seed = own_seed ? static_cast<std::uint64_t>(*own_seed) : seed_ + number;
    add_normal_noise(garment.mesh, spec.rest_noise.normal_deviation, seed);
  }
  // Noise may fold a quad, and a transform may leave the finite numbers.
  validate_mesh(garment.mesh, key + ".mesh");
  Mesh shown = garment.mesh;
  shown.positions = start_positions(garment);
  garment.fabric = spec.fabric;
  if (!spec.fabric_fault.empty()) fail(text(key, ".fabric.", spec.fabric_fault));
  for (const std::string& idle : spec.unused_keys)
    if (std::string line = text(key, ".fabric.", idle); std::ranges::find(warnings_, line) == warnings_.end())
      warnings_.push_back(std::move(line));
  for (const auto& [of_spec, curve, name] :
       {std::tuple{&spec.warp_curve, &garment.fabric.curves.warp, ".curves.warp"},
        {&spec.weft_curve, &garment.fabric.curves.weft, ".curves.weft"},
        {&spec.shear_curve, &garment.fabric.curves.shear, ".curves.shear"},
        {&spec.bend_curve, &garment.fabric.curves.bend, ".curves.bend"},
        {&spec.weft_bend_curve, &garment.fabric.curves.weft_bend, ".curves.weft_bend"},
        {&spec.warp_viscosity, &garment.fabric.viscosity.curves.warp, ".viscosity_curves.warp"},
        {&spec.weft_viscosity, &garment.fabric.viscosity.curves.weft, ".viscosity_curves.weft"},
        {&spec.shear_viscosity, &garment.fabric.viscosity.curves.shear, ".viscosity_curves.shear"}})
    if (const StressCurve found = stress_curve(*of_spec, key + ".fabric" + name, folder_); found.exists())
      *curve = found;
  vary_fabric(garment, spec, key);
  for (std::size_t p = 0; p < spec.pins.size(); ++p) {
    const std::string own_key = text(key, ".pins[", p, "]");
    Pin own = pin(spec.pins[p], spec.transform, shown, own_key, p);
    if (spec.pins[p].stiffness > 0) {
      hold_softly(garment, own, shown, spec.pins[p].stiffness, spec.pins[p].strength, own_key);
      continue;
    }
    if (spec.pins[p].strength > 0)
      fail(text(own_key, ".strength: found ", spec.pins[p].strength,
                " N of a rigid pin, expected 0, or a stiffness with it"));
    garment.pins.push_back(std::move(own));
  }
  if (const Index bare = count_without_texture_area(garment.mesh); bare > 0 && !is_kinematic(garment))
    warnings_.push_back(text(key, ".mesh: ", bare, " of ", garment.mesh.face_count(),
                             " faces have texture coordinates without area: their threads run along x"));
  if (spec.initial.drape) {
    validate_garment(garment, key);
    hang(garment, spec.initial, key + ".initial");
  }
  if (!(spec.initial_velocity == Vec3d{}) || !(spec.initial_angular_velocity == Vec3d{})) {
    shown.positions = start_positions(garment);
    const Vec3d center = area_centroid(shown);
    for (const Vec3d& p : shown.positions) {
      garment.initial_velocities.push_back(spec.initial_velocity +
                                           cross(spec.initial_angular_velocity, p - center));
    }
  }
  const auto is_recorded = [](const Pin& pin) {
    return std::holds_alternative<RecordedMotion>(pin.motion) && pin.ramp == 0;
  };
  if (is_kinematic(garment) && std::all_of(garment.pins.begin(), garment.pins.end(), is_recorded)) {
    // A body starts where its recording has it, whatever pose its mesh is in.
    std::vector<Vec3d> start(garment.mesh.positions.size());
    for (const Pin& pin : garment.pins)
      for (std::size_t i = 0; i < pin.nodes.size(); ++i)
        start[static_cast<std::size_t>(pin.nodes[i])] = pin_position(garment, pin, i, garment.time_offset);
    garment.initial_positions = std::move(start);
  }
  for (std::size_t i = 0; i < spec.grippers.size(); ++i) {
    const std::string gripper_key = text(key, ".grippers[", i, "]");
    garment.grippers.push_back(make_gripper(spec.grippers[i], gripper_key, i, folder_));
  }
  validate_garment(garment, key);
  require_pins_at_start(garment, key);
  return garment;
}

void GarmentMaker::vary_fabric(Garment& garment, const GarmentSpec& spec, const std::string& key) {
  const std::vector<PanelFabric>& fabrics = spec.mesh.sewn.fabrics;
  const bool are_others = std::ranges::any_of(fabrics, [](const PanelFabric& f) { return f.exists(); });
  if (!are_others && spec.maps.empty()) return;
  std::vector<FabricFactors>& factors = garment.mesh.face_factors;
  const std::vector<FabricFactors> before = factors;
  factors.resize(static_cast<std::size_t>(garment.mesh.face_count()));
  for (std::size_t p = 0; p < fabrics.size(); ++p) {
    const FabricFactors of_panel = factors_of(fabrics[p], garment.fabric, text(key, ".mesh.panels[", p, "]"));
    std::fill(factors.begin() + last_panels_[p], factors.begin() + last_panels_[p + 1], of_panel);
  }
  for (std::size_t m = 0; m < spec.maps.size(); ++m) {
    const FabricMap& map = spec.maps[m];
    const std::string own = text(key, ".maps[", m, "]");
    MapPlaces places{0, garment.mesh.face_count(), "the mesh"};
    if (!map.panel.empty()) {
      const std::vector<Panel>& panels = spec.mesh.sewn.panels;
      const auto found = std::ranges::find(panels, map.panel, &Panel::name);
      if (found == panels.end())
        fail(text(own, ".panel: found \"", map.panel, "\", expected ",
                  panels.empty() ? "none: the mesh has no panels" : "the name of a panel of the mesh"));
      const auto p = static_cast<std::size_t>(found - panels.begin());
      places = {last_panels_[p], last_panels_[p + 1], "the mesh, all panels together"};
    }
    // Those of generators and panels are places of threads, in metres.
    const bool has_texture = !spec.mesh.file.empty() && !last_read_.corner_uvs.empty();
    apply_map(map, last_read_, places, has_texture, folder_, own + ".by", factors);
  }
  follow_factors(before, garment.mesh);
}

void GarmentMaker::hang(Garment& garment, const InitialSpec& initial, const std::string& key) {
  std::vector<Vec3d> start = start_positions(garment);
  std::size_t pinned = 0;
  for (const Pin& pin : garment.pins)
    for (const Index node : pin.nodes) {
      if (pinned < initial.positions.size()) start[node] = initial.positions[pinned];
      ++pinned;
    }
  if (!initial.positions.empty() && initial.positions.size() != pinned)
    fail(text(key, ".places: found ", initial.positions.size(), " places, expected ", pinned,
              ", one for each pinned node"));
  garment.initial_positions = std::move(start);
  Hung hung{garment.mesh.positions, garment.mesh.face_nodes, hanging_points(garment, garment.time_offset),
            *initial.drape};
  if (last_hung_ != hung) {
    last_drape_ = start_shape(garment.mesh, hung.points, hung.settings, key, monitor_);
    last_hung_ = std::move(hung);
  }
  garment.initial_positions = last_drape_;
}

Mesh GarmentMaker::mesh(const MeshSpec& spec, const std::string& key) {
  const auto take = [this](SewnPanels sewn) {
    warnings_.insert(warnings_.end(), sewn.notes.begin(), sewn.notes.end());
    last_mesh_ = std::move(sewn.mesh);
    last_placed_ = std::move(sewn.placed);
    if (!sewn.seams.names.empty()) last_seams_ = std::make_shared<const SeamNames>(std::move(sewn.seams));
    last_panels_ = std::move(sewn.panel_begin);
    last_zippers_ = std::move(sewn.zippers);
    last_drawstrings_ = std::move(sewn.drawstrings);
  };
  if (last_spec_ != spec) {
    last_seams_.reset();
    if (spec.sewn.panels.empty() && spec.generator.empty() && is_sewn_file(spec.file)) {
      if (spec.weld != 0 || spec.uv_scale != 0 || spec.grain != 0)
        fail(text(key, ": found weld, uv_scale or grain with ", spec.file,
                  ", expected none: its seams and threads are as they were sewn"));
      take(read_sewn_garment(folder_ / spec.file, spec.garment, key));
    } else if (spec.sewn.panels.empty()) {
      if (!spec.garment.empty())
        fail(text(key, ".garment: found \"", spec.garment, "\", expected none: ", spec.file,
                  " has no garments; sewn.h5 of a result has"));
      if (spec.grain != 0 && !(spec.uv_scale > 0))
        fail(text(key, ".grain: found ", spec.grain, ", expected none without uv_scale"));
      last_names_ = {};
      last_mesh_ = make_mesh(spec, key, folder_, seed_, last_names_, warnings_);
      last_placed_.clear();
      last_panels_.clear();
      last_zippers_.clear();
      last_drawstrings_.clear();
      last_read_ = last_mesh_;
      if (spec.uv_scale > 0) {
        SewnPanels sewn = sew_islands(last_mesh_, spec.uv_scale, spec.grain, key + ".uv_scale", last_names_);
        warn_of_size(sewn.stretch, spec.uv_scale, key + ".uv_scale");
        take(std::move(sewn));
      }
    } else {
      double count = 0;
      for (const Panel& panel : spec.sewn.panels) count += most_panel_nodes(panel, spec.sewn.edge_length);
      check_size(key, "edge_length", count);
      take(sew_panels(spec.sewn.panels, spec.sewn.seams, spec.sewn.edge_length, key, spec.sewn.fasteners));
      last_read_ = last_mesh_;
    }
    last_spec_ = spec;
  }
  return last_mesh_;
}

void GarmentMaker::warn_of_size(double stretch, double scale, const std::string& key) {
  constexpr double most = 1.25;  // what is drawn together or let out by more is hardly meant
  if (stretch > most || stretch < 1 / most)
    warnings_.push_back(
        text(key, ": edges are ", stretch,
             " times as long in the pattern as in space (half of them more, half less), which "
             "the first steps even out; the same size has ",
             scale / stretch));
}

void GarmentMaker::warn_of_distant_points(const SelectSpec& select, const Mesh& mesh,
                                          const std::vector<Index>& nodes, const std::string& key) {
  if (select.kind != SelectSpec::Kind::nearest) return;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double distance = norm(mesh.positions[nodes[i]] - select.nearest[i]);
    if (const double size = mean_element_size(mesh); distance > size) {
      const ToldApart told = told_apart(distance, size, 9, true);
      warnings_.push_back(text(key, ".select.nearest[", i, "]: the nearest node, ", nodes[i], ", lies ",
                               told.found, " m away, more than an element, ", told.bound, " m"));
      return;
    }
  }
}

Pin GarmentMaker::pin(const PinSpec& spec, const TransformSpec& transform, const Mesh& mesh,
                      const std::string& key, std::size_t number) {
  Pin pin{spec.name.empty() ? text("pin ", number) : spec.name,
          selected_nodes(spec.select, mesh, folder_, key + ".select"), spec.motion, spec.ramp};
  warn_of_distant_points(spec.select, mesh, pin.nodes, key);
  if (pin.nodes.empty()) {
    fail(text(key,
              ".select: found no node, expected at least one; check the selector against the initial shape"));
  }
  if (auto* const recorded = std::get_if<RecordedMotion>(&pin.motion)) {
    if (!recorded->garment.empty() && !is_result(recorded->file))
      fail(text(key, ".motion.garment: found \"", recorded->garment, "\", expected none: ", recorded->file,
                " is no result"));
    *recorded =
        is_point_cache(recorded->file) || is_mesh_sequence(recorded->file) || is_result(recorded->file)
            ? within_memory_of(
                  (folder_ / recorded->file).string(),
                  [&] { return cached_motion(*recorded, transform, mesh, pin.nodes, key + ".motion"); })
            : recorded_motion(*recorded, pin.nodes.size(), key + ".motion");
  }
  return pin;
}

const RecordedMotion& GarmentMaker::recorded_motion(const RecordedMotion& spec, std::size_t node_count,
                                                    const std::string& key) {
  const std::string extension = std::filesystem::path(spec.file).extension();
  if (const auto is_text = {"", ".csv", ".txt", ".tsv", ".dat"};
      std::find(is_text.begin(), is_text.end(), extension) == is_text.end())
    fail(text(key, ".file: found \"", spec.file,
              "\", expected .csv, .pc2, .mdd, a result's .h5 or numbered meshes as walk_%04d.obj; \"python "
              "-m isocloth import\" "
              "makes one of glTF, USD and FBX"));
  if (spec.frames_per_second > 0)
    fail(text(key, ".frames_per_second: found ", spec.frames_per_second, ", expected none: ", spec.file,
              " has times of its own"));
  if (!motion_ || motion_->file != spec.file ||
      motion_->positions.size() != motion_->times.size() * node_count)
    motion_ = read_recorded_motion(folder_ / spec.file, spec.file, node_count);
  return *motion_;
}

RecordedMotion GarmentMaker::cached_positions(const RecordedMotion& spec, std::size_t count,
                                              const std::string& key) {
  const fs::path path = folder_ / spec.file;
  // A cache may have all vertices of the file, those that are left out or united with others, too.
  const std::size_t of_file = last_names_.node_lines.size();
  const std::vector<Index>& numbers = last_names_.nodes;
  if (numbers.size() != count || of_file == count)
    return read_point_cache(path, spec.file, count, spec.frames_per_second, key);
  try {
    return read_point_cache(path, spec.file, count, spec.frames_per_second, key);
  } catch (const FileError& error) {
    RecordedMotion all;
    try {
      all = read_point_cache(path, spec.file, of_file, spec.frames_per_second, key);
    } catch (const FileError&) {
      throw error;
    }
    std::vector<Vec3d> kept;
    for (std::size_t frame = 0; frame < all.times.size(); ++frame)
      for (const Index number : numbers)
        kept.push_back(all.positions[frame * of_file + static_cast<std::size_t>(number)]);
    all.positions = std::move(kept);
    return all;
  }
}

RecordedMotion GarmentMaker::cached_motion(const RecordedMotion& spec, const TransformSpec& transform,
                                           const Mesh& mesh, const std::vector<Index>& nodes,
                                           const std::string& key) {
  const std::size_t count = mesh.positions.size();
  const bool from_result = is_result(spec.file);
  if (!motion_ || motion_->file != spec.file || motion_->frames_per_second != spec.frames_per_second ||
      motion_->garment != spec.garment || motion_->positions.size() != motion_->times.size() * count)
    motion_ = from_result ? read_result_motion(folder_ / spec.file, spec, mesh, key)
              : is_mesh_sequence(spec.file)
                  ? read_mesh_sequence(folder_ / spec.file, spec.file, mesh, spec.frames_per_second, key)
                  : cached_positions(spec, count, key);
  RecordedMotion motion = *motion_;
  motion.positions.clear();
  for (std::size_t frame = 0; frame < motion.times.size(); ++frame)
    for (const Index node : nodes) {
      const Vec3d& p = motion_->positions[frame * count + static_cast<std::size_t>(node)];
      motion.positions.push_back(from_result ? p : placed(p, transform));
    }
  return motion;
}

}  // namespace isocloth
