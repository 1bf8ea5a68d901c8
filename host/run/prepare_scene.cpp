#include "host/run/prepare_scene.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <new>
#include <set>

#include "engine/core/bound_text.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/members.hpp"
#include "engine/core/text.hpp"
#include "engine/geometry/enclosure.hpp"
#include "engine/mesh/weld.hpp"
#include "engine/model/taut_pins.hpp"
#include "host/files/error_text.hpp"
#include "host/files/in_file.hpp"
#include "host/results/metric_columns.hpp"
#include "host/run/fabric_warnings.hpp"

namespace isocloth {
namespace {

/// Warnings by kind: of each the first, and how many garments more have it.
class Warnings {
 public:
  void add(const std::string& kind, const std::string& line) {
    const auto [at, is_new] = places_.emplace(kind, lines_.size());
    if (is_new) {
      lines_.push_back(line);
      more_.push_back(0);
    } else {
      ++more_[at->second];
    }
  }
  std::vector<std::string> take() {
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (more_[i] > 0) lines_[i] += text(" (so it is with ", more_[i], " more)");
    return std::move(lines_);
  }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<std::string> lines_;
  std::vector<std::size_t> more_;
};

void warn_of_units(const Garment& garment, const std::string& what, Warnings& warnings) {
  constexpr double longest = 20, shortest_side = 0.005, heaviest = 20;
  const double size = bounds_of(start_positions(garment)).longest();
  if (size > longest)
    warnings.add("large",
                 text(what, " is ", size,
                      " m long; coordinates are metres: for millimetres set transform.scale to 0.001"));
  if (size < shortest_side)
    warnings.add("small", text(what, " is only ", size, " m long; coordinates are metres"));
  if (garment.fabric.density > heaviest)
    warnings.add("density", text(what, ": fabric.density is ", garment.fabric.density,
                                 " kg/m^2, more than any cloth; for g/m^2 divide by 1000"));
  const ToldApart delta = told_apart(garment.fabric.gravity_density, garment.fabric.density, 9, true);
  if (garment.fabric.gravity_density > (1 + 1e-9) * garment.fabric.density)
    warnings.add("gravity_density", text(what, ": fabric.gravity_density, which gravity pulls at, is ",
                                         delta.found, " kg/m^2, more than fabric.density, ", delta.bound,
                                         ": it falls faster than a stone; set both"));
  if (garment.fabric.thickness > 0.1 * size)
    warnings.add("thickness", text(what, ": fabric.thickness is ", garment.fabric.thickness,
                                   " m, more than a tenth of its length, ", size, " m; it is in metres"));
}

void warn_of_curves(const Garment& garment, const std::string& what, Warnings& warnings) {
  const StressCurves& curves = garment.fabric.curves;
  if (garment.fabric.bending != BendingModel::discrete_shells &&
      (curves.bend.exists() || curves.weft_bend.exists()))
    warnings.add("bend",
                 text(what,
                      ": fabric.curves.bend is read by isocloth rest --recipe breen1994, and by steps where "
                      "fabric.bending is \"discrete_shells\"; others bend by bending_stiffness"));
}

/// Returns whether there was something to warn of.
bool warn_of_pieces(const Garment& garment, const std::string& what, Warnings& warnings) {
  constexpr double near = 0.01;  // of an element
  const Index pieces = piece_count(garment.mesh);
  if (!garment.mesh.stitches.empty() && pieces == 1) return false;
  Mesh mesh = garment.mesh;  // as it starts
  mesh.positions = start_positions(garment);
  double within = near * mean_element_size(mesh);
  // Nodes of one thin face are no seam.
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (std::size_t c = 0; c < mesh.face(f).size(); ++c)
      within = std::min(within, norm(mesh.positions[mesh.face(f)[c]] -
                                     mesh.positions[mesh.face(f)[(c + 1) % mesh.face(f).size()]]) /
                                    4);
  const OpenSeam seam = find_open_seam(mesh, within);
  if (pieces == 1 && seam.pair_count == 0) return false;
  std::string line = pieces > 1 ? text(what, " consists of ", pieces, " parts that nothing connects")
                                : text(what, " has an open seam");
  if (seam.pair_count > 0) {
    const double distance = std::max(1.5 * seam.gap, 1e-6 * bounds_of(mesh.positions).longest());
    line += text(": ", seam.pair_count, " nodes on open edges lie on others (", seam.a, " and ", seam.b,
                 "; gaps up to ", seam.gap, " m); ",
                 garment.mesh.stitches.empty() ? text("set mesh.weld to ", distance, " to sew them")
                                               : "a seam of their edges would sew them");
  }
  warnings.add(pieces > 1 ? "pieces" : "seam", line);
  return true;
}

/// Cloth that is thicker than some edges are long meets itself nearer there, see check_contact().
void warn_of_short_edges(const Garment& garment, const std::string& what, Warnings& warnings) {
  const double thickness = garment.fabric.thickness;
  const Mesh& mesh = garment.mesh;
  std::set<std::array<Index, 2>> edges;
  double shortest = thickness;
  std::array<Index, 2> between{};
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (std::size_t k = 0; k < mesh.face(f).size(); ++k) {
      const auto [low, high] =
          std::minmax(mesh.face(f)[k], mesh.face(f)[k + 1 == mesh.face(f).size() ? 0 : k + 1]);
      const double length = norm(mesh.positions[high] - mesh.positions[low]);
      if (!(length < thickness)) continue;
      edges.insert({low, high});
      if (length < shortest) between = {low, high};
      shortest = std::min(shortest, length);
    }
  if (edges.empty()) return;
  const ToldApart told = told_apart(shortest, thickness, 9, true);
  warnings.add("short_edges",
               text(what, ": ", edges.size(), edges.size() == 1 ? " edge is" : " edges are",
                    " shorter than fabric.thickness, ", told.bound, " m (the shortest ", told.found,
                    " m, between nodes ", between[0], " and ", between[1],
                    "): what is that near at rest meets itself at half of its distance there"));
}

/// Times of a garment's clock at which pins may be farthest apart [s].
std::vector<double> times_to_watch(const Garment& garment, const Scene& scene) {
  constexpr int samples = 64;
  const double begin = garment.time_offset, end = begin + scene.duration;
  std::vector<double> times;
  for (int i = 0; i <= samples; ++i) times.push_back(begin + scene.duration * i / samples);
  const auto add = [&](const std::vector<double>& keys) {
    const std::size_t stride = 1 + keys.size() / 1000;
    for (std::size_t k = 0; k < keys.size(); k += stride)
      if (keys[k] > begin && keys[k] < end) times.push_back(keys[k]);
  };
  for (const Pin& pin : garment.pins) {
    if (const auto* const keys = std::get_if<KeyframeMotion>(&pin.motion)) add(keys->times);
    if (const auto* const recorded = std::get_if<RecordedMotion>(&pin.motion)) add(recorded->times);
  }
  std::sort(times.begin(), times.end());
  return times;
}

void warn_of_pins(const Garment& garment, const ResolvedScene& resolved, const std::string& what,
                  Warnings& warnings) {
  bool may_part = garment.pins.size() > 1 || !garment.initial_positions.empty(), moves = false;
  for (const Pin& pin : garment.pins) {
    moves = moves || !std::holds_alternative<FixedMotion>(pin.motion);
    may_part = may_part || pin.ramp > 0 || std::holds_alternative<RecordedMotion>(pin.motion);
  }
  if (is_kinematic(garment)) {
    if (resolved.scene.contact.cloth || !resolved.scene.bodies.empty()) return;
    warnings.add("pinned",
                 text(what, ": all ", garment.mesh.positions.size(),
                      " nodes are pinned: none is simulated, and cloth meets them with contact.cloth alone"));
  }
  if (!may_part || (!moves && garment.initial_positions.empty())) return;
  const Tearing tearing = tearing_of(resolved, garment);
  if (!std::isfinite(tearing.stretch)) return;
  const OverstretchedPins search(garment, tearing.across_quads);
  for (const double t : times_to_watch(garment, resolved.scene)) {
    const TornPins torn = search.at(t, tearing.stretch);
    if (torn.a < 0) continue;
    warnings.add("torn", text(what, ": from about t = ", t, " s on ", describe(torn)));
    return;
  }
}

/// Cloth that begins inside of a driven one, which is as closed as a body: contacts keep it in there.
void warn_of_enclosed(const Scene& scene, Warnings& warnings) {
  if (!scene.contact.cloth) return;
  for (std::size_t b = 0; b < scene.garments.size(); ++b) {
    const Garment& body = scene.garments[b];
    if (!is_kinematic(body) || !is_watertight(body.mesh)) continue;
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      const Garment& garment = scene.garments[g];
      const bool meets = !scene.bodies.empty() || garment.world == body.world ||
                         garment.world == Garment::every_world || body.world == Garment::every_world;
      if (g == b || !meets || is_kinematic(garment)) continue;
      const Enclosed inside = enclosed_points(body.mesh, start_positions(body), start_positions(garment));
      if (inside.count == 0) continue;
      warnings.add("enclosed",
                   text("garments[", g, "] \"", garment.name, "\": ", inside.count, " of ",
                        garment.mesh.positions.size(), " nodes start inside of the closed garment \"",
                        body.name, "\", whose nodes are all pinned, the deepest, ", inside.deepest, ", by ",
                        inside.depth, " m: they stay in there; move the cloth out in the file"));
    }
  }
}

/// Distance from a rounded box (2D: of radius and height) with half sizes that include the rounding.
double rounded_distance(std::initializer_list<double> beyond, double rounding) {
  double outside = 0, inside = -std::numeric_limits<double>::infinity();
  for (const double q : beyond) {
    outside += std::max(q + rounding, 0.0) * std::max(q + rounding, 0.0);
    inside = std::max(inside, q + rounding);
  }
  return std::sqrt(outside) + std::min(inside, 0.0) - rounding;
}

struct RegionDistance {
  const Vec3d& p;
  double operator()(const SphereShape& s) const { return norm(p) - s.radius; }
  double operator()(const CylinderShape& s) const {
    return rounded_distance({std::hypot(p.x, p.y) - s.radius, std::abs(p.z) - s.height / 2}, s.rounding);
  }
  double operator()(const BoxShape& s) const {
    return rounded_distance(
        {std::abs(p.x) - s.size.x / 2, std::abs(p.y) - s.size.y / 2, std::abs(p.z) - s.size.z / 2},
        s.rounding);
  }
};

}  // namespace

double Bounds::longest() const { return std::max({high.x - low.x, high.y - low.y, high.z - low.z}); }

Bounds bounds_of(const std::vector<Vec3d>& positions) {
  Bounds bounds{positions.front(), positions.front()};
  for (const Vec3d& p : positions) {
    bounds.low = {std::min(bounds.low.x, p.x), std::min(bounds.low.y, p.y), std::min(bounds.low.z, p.z)};
    bounds.high = {std::max(bounds.high.x, p.x), std::max(bounds.high.y, p.y), std::max(bounds.high.z, p.z)};
  }
  return bounds;
}

Reach first_reach(const Garment& garment, const Gripper& gripper) {
  const double first = gripper.holds.empty() ? 0 : gripper.holds.front().from;
  Reach reach{.time = std::max(first, garment.time_offset),
              .node_count = 0,
              .nearest = std::numeric_limits<double>::infinity()};
  const Pose pose = gripper_pose(gripper, reach.time);
  for (const Vec3d& p : start_positions(garment)) {
    const Vec3d r = p - pose.center;
    const Vec3d local{dot(pose.axes[0], r), dot(pose.axes[1], r), dot(pose.axes[2], r)};
    const double distance = std::visit(RegionDistance{local}, gripper.region);
    reach.nearest = std::min(reach.nearest, distance);
    reach.node_count += distance <= 0;
  }
  return reach;
}

bool fits_a_frame(const std::vector<Vec3d>& positions, const FrameMetrics& metrics) {
  constexpr double largest = std::numeric_limits<float>::max();
  for (const Vec3d& p : positions)
    for (const double x : {p.x, p.y, p.z})
      if (!(std::fabs(x) <= largest)) return false;
  const auto& columns = metric_columns();
  return std::all_of(columns.begin(), columns.end(),
                     [&](const MetricColumn& column) { return std::isfinite(column.get(metrics)); });
}

Simulation start_simulation(const Scene& scene, const std::filesystem::path& file,
                            const ExecutionOptions& options) {
  try {
    return in_file(file, [&] {
      Simulation simulation(scene, options);
      const std::vector<std::vector<Vec3d>> positions = simulation.positions();
      const std::vector<Measures> measures = simulation.measure();
      for (std::size_t g = 0; g < scene.garments.size(); ++g) {
        FrameMetrics metrics;
        metrics.measures = measures[g];
        if (fits_a_frame(positions[g], metrics)) continue;
        throw SceneError(
            text("garments[", g, "] \"", scene.garments[g].name,
                 "\": found no finite strain or energy at the start, expected numbers below 3e38; "
                 "check sizes, fabric and velocities"));
      }
      return simulation;
    });
  } catch (const std::exception& error) {
    if (!is_of_memory(error)) throw;
    std::size_t largest = 0;
    double nodes = 0;
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      nodes += static_cast<double>(scene.garments[g].mesh.positions.size());
      if (scene.garments[g].mesh.positions.size() > scene.garments[largest].mesh.positions.size())
        largest = g;
    }
    const bool has_solids = scene.obstacles.size() + scene.bodies.size() > 0;
    throw SceneError(text(file.string(), ": memory ran out while a simulation of ", nodes, " nodes in ",
                          scene.garments.size(), " garments was set up",
                          has_solids ? " with their obstacles and bodies" : "", "; the largest, garments[",
                          largest, "] \"", scene.garments[largest].name, "\", has ",
                          scene.garments[largest].mesh.positions.size(), "; make meshes smaller",
                          has_solids ? ", or shape.cell of those of files larger" : ""));
  }
}

IntersectionReport start_intersections(const Scene& scene, const Simulation& simulation) {
  const IntersectionReport* const found = simulation.start_intersections();
  return found != nullptr ? *found : SceneIntersections(scene).of_start();
}

std::vector<std::string> start_warnings(const Scene& scene, const IntersectionReport& start,
                                        const std::filesystem::path& file, Precision precision,
                                        const Separation& separation) {
  const ResolvedScene resolved(scene);
  Warnings warnings;
  for (const std::string& line : solver_warnings(resolved)) warnings.add(line, line);
  double nodes = 0;
  // The last without open seams, and the last without a warning of its fabric: replicas are so, too.
  const Garment *whole = nullptr, *sound = nullptr;
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const Garment& garment = scene.garments[g];
    const std::string what = text("garments[", g, "] \"", garment.name, "\"");
    nodes += static_cast<double>(garment.mesh.positions.size());
    warn_of_units(garment, what, warnings);
    warn_of_curves(garment, what, warnings);
    if (scene.contact.cloth && !is_kinematic(garment)) warn_of_short_edges(garment, what, warnings);
    const bool is_sound = sound != nullptr && alike(garment.mesh, sound->mesh) &&
                          alike(garment.fabric, sound->fabric) && garment.pressure == sound->pressure;
    if (!is_sound) {
      in_file(file, [&] { require_thin_plate(resolved.recipe, garment, text("garments[", g, "]")); });
      const auto lines = fabric_warnings(resolved, garment, precision, what);
      for (const auto& [kind, line] : lines) warnings.add(kind, line);
      if (lines.empty()) sound = &garment;
    }
    const bool is_whole = whole != nullptr && alike(garment.mesh, whole->mesh) &&
                          start_positions(garment) == start_positions(*whole);
    if (!is_whole && !warn_of_pieces(garment, what, warnings)) whole = &garment;
    warn_of_pins(garment, resolved, what, warnings);
    for (std::size_t i = 0; i < garment.grippers.size(); ++i) {
      if (garment.grippers[i].holds.empty()) {
        warnings.add("holds", text(what, ": gripper \"", garment.grippers[i].name,
                                   "\" has no holds: only commands close it"));
        continue;
      }
      const Reach reach = first_reach(garment, garment.grippers[i]);
      if (reach.node_count > 0) continue;
      // Cloth may fall or fly into the region until then; whether it did the run says at its end.
      const double wait = reach.time - garment.time_offset;
      double speed = 0;
      for (const Vec3d& v : garment.initial_velocities) speed = std::max(speed, norm(v));
      const double way = wait * (speed + 0.5 * std::abs(garment.gravity.value_or(scene.gravity)) * wait);
      if (reach.nearest <= way && wait <= scene.duration) continue;
      const std::string which = text(what, ": gripper \"", garment.grippers[i].name, "\"");
      if (reach.time > garment.time_offset + scene.duration)
        warnings.add("late", text(which, " closes at ", reach.time, " s, after the run has ended"));
      else
        warnings.add("reach",
                     text(which, " closes at ", reach.time, " s where no node starts: the nearest starts ",
                          reach.nearest, " m outside of its region"));
    }
  }
  warn_of_enclosed(scene, warnings);
  if (scene.wind.model == WindModel::drag && norm(scene.wind.velocity) > 0 &&
      std::none_of(scene.garments.begin(), scene.garments.end(),
                   [](const Garment& garment) { return garment.fabric.drag.exists(); }))
    warnings.add("wind", "wind: no effect on garments without fabric.drag");
  if (const ContactSettings& c = scene.contact; !c.cloth) {
    if (c.cloth_friction.static_ > 0 || c.cloth_friction.dynamic > 0)
      warnings.add("cloth friction",
                   "contact.cloth_friction is not used without contact.cloth: cloth passes "
                   "through cloth");
    if (!c.cloth_pairs.empty())
      warnings.add("cloth pairs",
                   "contact.pairs of garment and other_garment are not used without "
                   "contact.cloth: cloth passes through cloth");
  }
  constexpr double longest_obstacle = 100;
  for (std::size_t o = 0; o < scene.obstacles.size(); ++o) {
    const auto* const mesh = std::get_if<MeshShape>(&scene.obstacles[o].shape);
    if (mesh == nullptr) continue;
    if (const double size = bounds_of(mesh->surface.positions).longest(); size > longest_obstacle)
      warnings.add("obstacle", text("obstacles[", o, "] \"", scene.obstacles[o].name, "\" is ", size,
                                    " m long; for a file in millimetres set shape.scale to 0.001"));
  }
  constexpr double bytes_per_position = 12, most_bytes = 20e9;
  const double frames =
      1 + std::ceil(static_cast<double>(step_count(scene)) / static_cast<double>(steps_per_frame(scene)));
  if (const double bytes = frames * nodes * bytes_per_position; bytes > most_bytes)
    warnings.add("frames", text("frame_interval: found ", frames, " frames of ", nodes, " nodes, ",
                                std::round(bytes / 1e9), " GB; make it larger, or use --frames-of"));
  if (const std::string line = describe(start, scene.contact.cloth); !line.empty()) {
    if (scene.contact.cloth) throw SceneError(text(file.string(), ": ", line));
    warnings.add("start", line);
  } else if (const std::string lies = describe_coincident(start.near, scene); !lies.empty()) {
    if (scene.contact.cloth) throw SceneError(text(file.string(), ": ", lies));
    warnings.add("start", lies);
  } else if (const std::string near = describe_near(start.near, scene, separation); !near.empty()) {
    warnings.add("start", near);
  }
  return warnings.take();
}

}  // namespace isocloth
