// Steps under loads that are computed before them, and the forces that programs compute.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "engine/core/checks.hpp"
#include "engine/core/text.hpp"
#include "host/garment/node_areas.hpp"
#include "host/simulation/simulation_members.hpp"

namespace isocloth {
namespace {

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

void add(const SymmetricTensor& from, SymmetricTensor& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}
Vec3d multiplied(const SymmetricTensor& m, const Vec3d& v) {
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[1] * v.x + m[3] * v.y + m[4] * v.z,
          m[2] * v.x + m[4] * v.y + m[5] * v.z};
}

/// Adds a given force of a node to a load.
void add(const Vec3d& force, const ForceSlope* slope, NodeLoad& to, std::size_t node) {
  to.forces[node] += force;
  if (slope == nullptr) return;
  ForceSlope& sum = to.slopes[node];
  to.forces[node] -= multiplied(slope->stiffness, sum.position - slope->position) +
                     multiplied(slope->damping, sum.velocity - slope->velocity);
  add(slope->stiffness, sum.stiffness);
  add(slope->damping, sum.damping);
}

}  // namespace

ScopedLoads::ScopedLoads(Scene& scene, std::vector<NodeLoad> loads) : scene_(scene), kept_(std::move(loads)) {
  for (std::size_t g = 0; g < kept_.size(); ++g) {
    NodeLoad& load = kept_[g];
    if (load.forces.empty()) continue;
    const Garment& own = scene.garments[g];
    const bool are_both_sloped = !load.slopes.empty() && !own.force_slopes.empty();
    if (load.slopes.empty()) load.slopes = own.force_slopes;
    for (std::size_t i = 0; i < own.forces.size(); ++i)
      add(own.forces[i], are_both_sloped ? &own.force_slopes[i] : nullptr, load, i);
    loaded_.push_back(g);
  }
  exchange();
}

void ScopedLoads::exchange() {
  for (const std::size_t g : loaded_) {
    std::swap(scene_.garments[g].forces, kept_[g].forces);
    std::swap(scene_.garments[g].force_slopes, kept_[g].slopes);
  }
}

void Simulation::Members::require_idle(const char* call) const {
  if (is_asking)
    throw ShapeError(text(call, ": found a call from within a force, expected one between steps"));
}

void Simulation::Members::ask(const NodeForce& force, const ForceGroup& group,
                              std::vector<NodeLoad>& loads) const {
  const std::size_t nodes = group.areas.size() / group.garments.size(), all = group.areas.size();
  std::vector<Vec3d> positions(all), velocities(all);
  std::vector<double> times, masses = group.areas;
  std::vector<Vec3d*> x, v;
  for (std::size_t i = 0; i < group.garments.size(); ++i) {
    const std::size_t g = group.garments[i];
    times.push_back(scene.garments[g].time_offset + static_cast<double>(clocks[g]) * scene.step);
    for (std::size_t k = i * nodes; k < (i + 1) * nodes; ++k) masses[k] *= scene.garments[g].fabric.density;
    x.push_back(positions.data() + i * nodes);
    v.push_back(velocities.data() + i * nodes);
  }
  transfer_nodes(GarmentField::positions, group.garments, x);
  transfer_nodes(GarmentField::velocities, group.garments, v);
  ForceOutput found{.forces = std::vector<Vec3d>(all), .stiffness = {}, .damping = {}};
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
  const auto require_size_of = [&](const char* what, std::size_t size) {
    if (size != all)
      throw ForceError(text(name, " at t = ", times.front(), " s: found ", size, " ", what, ", expected ",
                            all, ": ", group.garments.size(), " garments of ", nodes, " nodes"));
  };
  require_size_of("forces", found.forces.size());
  if (!found.stiffness.empty()) require_size_of("stiffnesses", found.stiffness.size());
  if (!found.damping.empty()) require_size_of("dampings", found.damping.size());
  const bool is_sloped = !found.stiffness.empty() || !found.damping.empty();
  const double largest = options.precision == Precision::float32
                             ? static_cast<double>(std::numeric_limits<float>::max())
                             : std::numeric_limits<double>::max();
  for (std::size_t k = 0; k < all; ++k) {
    const std::size_t i = k / nodes, g = group.garments[i], node = k % nodes;
    if (frozen[g] != 0) continue;
    const auto refuse = [&](const std::string& what, const char* expected) {
      throw ForceError(text(name, " at t = ", times[i], " s, garments[", g, "] \"", scene.garments[g].name,
                            "\", node ", node, ": found ", what, ", expected ", expected));
    };
    const Vec3d& f = found.forces[k];
    for (const double component : {f.x, f.y, f.z})
      if (!(std::fabs(component) <= largest))
        refuse(text("(", f.x, ", ", f.y, ", ", f.z, ")"),
               "finite numbers in the precision of the simulation");
    loads[g].forces.resize(nodes);
    loads[g].forces[node] += f;
    if (!is_sloped) continue;
    loads[g].slopes.resize(nodes);
    ForceSlope& slope = loads[g].slopes[node];
    slope.position = positions[k];
    slope.velocity = velocities[k];
    for (const auto& [what, from, to] : {std::tuple{"stiffness", &found.stiffness, &slope.stiffness},
                                         std::tuple{"damping", &found.damping, &slope.damping}}) {
      if (from->empty()) continue;
      if (!is_positive_semidefinite((*from)[k]))
        refuse(text("a ", what, " with a negative eigenvalue, or not finite"),
               "a positive semidefinite one: leave out what pushes away");
      add((*from)[k], *to);
    }
  }
}

void Simulation::Members::evaluate_user_forces(std::vector<NodeLoad>& loads) {
  const Asking asking(is_asking);
  for (const NodeForce& force : forces)
    for (const ForceGroup& group : force.groups) ask(force, group, loads);
}

std::vector<StepReport> Simulation::Members::step_with_loads() {
  std::vector<NodeLoad> loads(scene.garments.size());
  evaluate_user_forces(loads);
  if (keeps_steps) asked = loads;
  std::vector<AirState> next = find_flow(loads);
  const ScopedLoads loaded(scene, std::move(loads));
  std::vector<StepReport> reports = totals_of(advance_solvers(1));
  for (std::size_t g = 0; g < sheets.size(); ++g)
    if (sheets[g] && frozen[g] == 0) air[g] = std::move(next[g]);
  return reports;
}

void Simulation::add_force(const std::string& name, const std::vector<std::size_t>& garments,
                           ForceFunction function) {
  Members& m = members();
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
    const std::vector<double> areas = node_areas(mesh, &FabricFactors::density);
    group->areas.insert(group->areas.end(), areas.begin(), areas.end());
  }
  if (!has_surroundings(m.scene)) {
    // Solvers make room for forces where they see some.
    const std::size_t nodes = m.scene.garments[garments.front()].mesh.positions.size();
    std::vector<NodeLoad> none(m.scene.garments.size());
    none[garments.front()].forces.resize(nodes);
    const ScopedLoads loaded(m.scene, std::move(none));
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
  members().require_idle("remove_force");
  if (std::erase_if(members().forces, [&](const auto& force) { return force.name == name; }) > 0) return;
  std::string known;
  for (const std::string& other : forces()) known += text(known.empty() ? "" : ", ", "\"", other, "\"");
  throw ShapeError(text("force: found \"", name, "\", expected ",
                        known.empty() ? "none: there are no forces" : "one of " + known));
}

std::vector<std::string> Simulation::forces() const {
  std::vector<std::string> names;
  for (const Members::NodeForce& force : members().forces) names.push_back(force.name);
  return names;
}

}  // namespace isocloth
