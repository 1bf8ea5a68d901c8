// Steps under loads that are computed before them, and the forces that programs compute.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "engine/core/text.hpp"
#include "engine/model/checks.hpp"
#include "engine/rows/surface_element.hpp"
#include "host/simulation_members.hpp"

namespace isocloth {
namespace {

/// m_i = sum over the faces of the integral of N_i over the rest shape [m^2].
std::vector<double> lumped_areas(const Mesh& mesh) {
  std::vector<double> areas(mesh.positions.size(), 0);
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const ArrayView<const Index> face = mesh.face(f);
    const int size = mesh.face_size(f);
    Vec3d corners[4];
    for (int i = 0; i < size; ++i) corners[i] = mesh.positions[face[i]];
    for (int q = 0; q < gauss_point_count(size); ++q) {
      const auto point = gauss_point<double>(size, q);
      const double area = surface_point(point, corners, size).area;
      for (int i = 0; i < size; ++i) areas[face[i]] += point.value[i] * area;
    }
  }
  return areas;
}

bool have_same_faces(const Mesh& a, const Mesh& b) {
  return a.positions.size() == b.positions.size() && a.face_begin == b.face_begin &&
         a.face_nodes == b.face_nodes;
}

/// Marks the time in which forces are asked.
struct Asking {
  explicit Asking(bool& flag) : flag_(flag) { flag_ = true; }
  ~Asking() { flag_ = false; }
  bool& flag_;
};

}  // namespace

Loaded::Loaded(Scene& scene, NodeLoads loads) : scene_(scene), kept_(std::move(loads)) {
  for (std::size_t g = 0; g < kept_.size(); ++g) {
    if (kept_[g].empty()) continue;
    const std::vector<Vec3d>& own = scene.garments[g].forces;
    for (std::size_t i = 0; i < own.size(); ++i) kept_[g][i] += own[i];
    loaded_.push_back(g);
  }
  exchange();
}

void Loaded::exchange() {
  for (const std::size_t g : loaded_) std::swap(scene_.garments[g].forces, kept_[g]);
}

void Simulation::Members::require_idle(const char* call) const {
  if (is_asking)
    throw ShapeError(text(call, ": found a call from within a force, expected one between steps"));
}

void Simulation::Members::ask(const NodeForce& force, const ForceGroup& group, NodeLoads& loads) const {
  const std::size_t nodes = group.areas.size() / group.garments.size(), all = group.areas.size();
  std::vector<Vec3d> positions(all), velocities(all);
  std::vector<double> times, masses = group.areas;
  std::vector<Vec3d*> x, v;
  for (std::size_t i = 0; i < group.garments.size(); ++i) {
    const std::size_t g = group.garments[i];
    times.push_back(scene.garments[g].time_offset + static_cast<double>(clocks[g]) * scene.step);
    for (std::size_t k = i * nodes; k < (i + 1) * nodes; ++k) masses[k] *= scene.garments[g].fabric.rho;
    x.push_back(positions.data() + i * nodes);
    v.push_back(velocities.data() + i * nodes);
  }
  transfer_nodes(GarmentField::positions, group.garments, x);
  transfer_nodes(GarmentField::velocities, group.garments, v);
  ForceOutput found{.forces = std::vector<Vec3d>(all)};
  const std::string name = text("force \"", force.name, "\"");
  try {
    force.function({.garments = group.garments,
                    .times = times,
                    .step = scene.step,
                    .positions = positions,
                    .velocities = velocities,
                    .masses = masses},
                   found);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    std::throw_with_nested(ForceError(text(name, " at t = ", times.front(), " s: ", error.what())));
  } catch (...) {
    std::throw_with_nested(
        ForceError(text(name, " at t = ", times.front(), " s: threw what is no exception")));
  }
  if (found.forces.size() != all)
    throw ForceError(text(name, " at t = ", times.front(), " s: found ", found.forces.size(),
                          " forces, expected ", all, ": ", group.garments.size(), " garments of ", nodes,
                          " nodes"));
  const double largest = options.precision == Precision::float32
                             ? static_cast<double>(std::numeric_limits<float>::max())
                             : std::numeric_limits<double>::max();
  for (std::size_t k = 0; k < all; ++k) {
    const std::size_t i = k / nodes, g = group.garments[i];
    if (frozen[g] != 0) continue;
    const Vec3d& f = found.forces[k];
    for (const double component : {f.x, f.y, f.z})
      if (!(std::fabs(component) <= largest))
        throw ForceError(text(name, " at t = ", times[i], " s, garments[", g, "] \"", scene.garments[g].name,
                              "\", node ", k % nodes, ": found (", f.x, ", ", f.y, ", ", f.z,
                              "), expected finite numbers in the precision of the simulation"));
    loads[g].resize(nodes);
    loads[g][k % nodes] += f;
  }
}

void Simulation::Members::ask_forces(NodeLoads& loads) {
  const Asking asking(is_asking);
  for (const NodeForce& force : forces)
    for (const ForceGroup& group : force.groups) ask(force, group, loads);
}

std::vector<StepReport> Simulation::Members::step_with_loads() {
  NodeLoads loads(scene.garments.size());
  ask_forces(loads);
  std::vector<AirState> next = find_flow(loads);
  const Loaded loaded(scene, std::move(loads));
  std::vector<StepReport> reports = advance_solvers(1);
  for (std::size_t g = 0; g < sheets.size(); ++g)
    if (sheets[g] && frozen[g] == 0) air[g] = std::move(next[g]);
  return reports;
}

void Simulation::add_force(const std::string& name, const std::vector<std::size_t>& garments,
                           ForceFunction function) {
  Members& m = *members_;
  m.require_idle("add_force");
  const std::string key = text("force \"", name, "\"");
  if (name.empty()) throw ShapeError("force: found no name, expected one");
  if (!function) throw ShapeError(key + ": found no function, expected one");
  for (const Members::NodeForce& other : m.forces)
    if (other.name == name)
      throw ShapeError(key + ": found another of that name, expected none: remove_force() it before");
  if (garments.empty()) throw ShapeError(key + ".garments: found none, expected at least one");
  if (std::set(garments.begin(), garments.end()).size() != garments.size())
    throw ShapeError(key + ".garments: found one twice, expected each once");
  Members::NodeForce force{.name = name, .function = std::move(function), .groups = {}};
  for (const std::size_t g : garments) {
    check_index(g, garment_count());
    const Mesh& mesh = m.scene.garments[g].mesh;
    validate_forces(key, std::vector<Vec3d>(mesh.positions.size()), mesh.positions.size(), m.scene);
    auto group = std::find_if(force.groups.begin(), force.groups.end(), [&](const auto& own) {
      return have_same_faces(m.scene.garments[own.garments.front()].mesh, mesh);
    });
    if (group == force.groups.end()) group = force.groups.insert(group, Members::ForceGroup{});
    group->garments.push_back(g);
    const std::vector<double> areas = lumped_areas(mesh);
    group->areas.insert(group->areas.end(), areas.begin(), areas.end());
  }
  if (!has_surroundings(m.scene)) {
    // Solvers make room for forces where they see some.
    const std::size_t nodes = m.scene.garments[garments.front()].mesh.positions.size();
    NodeLoads none(m.scene.garments.size());
    none[garments.front()].resize(nodes);
    const Loaded loaded(m.scene, std::move(none));
    for (const auto& solver : m.solvers.solvers) solver->refresh();
  }
  m.forces.push_back(std::move(force));
}

void Simulation::add_force(const std::string& name, ForceFunction function) {
  std::vector<std::size_t> all(garment_count());
  for (std::size_t g = 0; g < all.size(); ++g) all[g] = g;
  add_force(name, all, std::move(function));
}

void Simulation::remove_force(const std::string& name) {
  members_->require_idle("remove_force");
  if (std::erase_if(members_->forces, [&](const auto& force) { return force.name == name; }) > 0) return;
  std::string known;
  for (const std::string& other : forces()) known += text(known.empty() ? "" : ", ", "\"", other, "\"");
  throw ShapeError(text("force: found \"", name, "\", expected ",
                        known.empty() ? "none: there are no forces" : "one of " + known));
}

std::vector<std::string> Simulation::forces() const {
  std::vector<std::string> names;
  for (const Members::NodeForce& force : members_->forces) names.push_back(force.name);
  return names;
}

}  // namespace isocloth
