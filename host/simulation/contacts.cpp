// What touches and holds garments and bodies after a step.
#include "engine/core/text.hpp"
#include "host/garment/node_areas.hpp"
#include "host/simulation/simulation_members.hpp"
#include "host/surroundings/contact_points.hpp"
#include "host/surroundings/host_shapes.hpp"
#include "kernels/contact/contact_arrays.hpp"

namespace isocloth {

/// Contacts of a garment in a state of it, see Simulation::contacts().
static ContactMeasures contacts_in(const GarmentState& state, const ResolvedScene& resolved,
                                   std::size_t garment) {
  const Scene& scene = resolved.scene;
  const double h = scene.step, unit = resolved.contact_unit(scene.garments[garment].fabric, h);
  ContactMeasures found;
  found.forces.resize(scene.obstacles.size() + scene.bodies.size());
  for (const ContactState& contact : state.contacts) {
    // One without a force was touched while the step was sought, and let go.
    if (contact.obstacle < 0 || contact.force == Vec3d{}) continue;
    const Vec3d force = unit / (h * h) * contact.force;
    ++found.count;
    found.rubbing += contact.mode != ContactMode::none && contact.mode != ContactMode::smooth;
    found.sticking += contact.mode == ContactMode::stick;
    found.force += force;
    found.forces[contact.obstacle] += force;
  }
  return found;
}
ContactMeasures Simulation::contacts(std::size_t garment) const {
  return contacts_in(state(garment), members().resolved, garment);
}
std::vector<ContactMeasures> Simulation::contacts() const {
  const std::vector<GarmentState> states = members().states();
  std::vector<ContactMeasures> all;
  for (std::size_t g = 0; g < states.size(); ++g)
    all.push_back(contacts_in(states[g], members().resolved, g));
  return all;
}
std::vector<ClothLoads> Simulation::cloth_loads() const {
  std::vector<ClothLoads> all = members().of_all([](GarmentSolver& solver) { return solver.cloth_loads(); });
  const double h = members().scene.step;
  for (std::size_t g = 0; g < all.size(); ++g) {
    const std::size_t count = members().scene.garments[g].mesh.positions.size();
    all[g].forces.resize(count);
    all[g].loads.resize(count);
    for (Vec3d& force : all[g].forces) force = 1 / (h * h) * force;
    for (double& load : all[g].loads) load /= h * h;
  }
  return all;
}
/// Holds of a garment in a state of it, see Simulation::holds().
static HoldMeasures holds_in(const GarmentState& state, const Scene& scene, std::size_t garment) {
  HoldMeasures found;
  found.forces.resize(scene.garments[garment].grippers.size());
  for (const HoldState& hold : state.holds) {
    if (hold.gripper < 0) continue;
    const Vec3d force = 1 / (scene.step * scene.step) * hold.force;
    ++found.count;
    found.force += force;
    found.forces[hold.gripper] += force;
  }
  return found;
}
HoldMeasures Simulation::holds(std::size_t garment) const {
  return holds_in(state(garment), members().scene, garment);
}
std::vector<HoldMeasures> Simulation::holds() const {
  const std::vector<GarmentState> states = members().states();
  std::vector<HoldMeasures> all;
  for (std::size_t g = 0; g < states.size(); ++g) all.push_back(holds_in(states[g], members().scene, g));
  return all;
}
std::vector<Pose> Simulation::Members::shape_poses(Index world, const Moment& moment) const {
  std::vector<Pose> poses;
  for (const Obstacle& obstacle : scene.obstacles) poses.push_back(obstacle_pose(obstacle, world, moment));
  const std::vector<BodyState> states = solvers.solvers.front()->bodies();
  for (std::size_t b = 0; b < states.size(); ++b)
    poses.push_back(shape_pose(states[b].pose, mass_properties(scene.bodies[b].shape)));
  return poses;
}

std::vector<Pose> Simulation::poses(Index world) const {
  return members().shape_poses(world, {.of_garment = time(), .of_simulation = time()});
}

const Simulation::Members::ContactPlaces& Simulation::Members::contact_places(std::size_t garment) const {
  known_places.resize(scene.garments.size());
  if (known_places[garment]) return *known_places[garment];
  const Mesh& mesh = scene.garments[garment].mesh;
  const auto is_like = [&](std::size_t other) {
    const Mesh& m = scene.garments[other].mesh;
    return known_places[other] && m.positions == mesh.positions && m.face_begin == mesh.face_begin &&
           m.face_nodes == mesh.face_nodes;
  };
  if (garment > 0 && is_like(garment - 1))
    known_places[garment] = known_places[garment - 1];
  else
    known_places[garment] = std::make_shared<const ContactPlaces>(
        ContactSamples(scene, scene.garments[garment]), node_areas(mesh));
  return *known_places[garment];
}

std::vector<ContactPoint> Simulation::contact_points(std::size_t garment) const {
  const Members& m = members();
  const GarmentState own = state(garment);
  if (!m.solvers.obstacle_shapes) return {};
  if (!m.shapes) m.shapes = m.solvers.obstacle_shapes();
  const auto& [samples, areas] = m.contact_places(garment);
  const Garment& cloth = m.scene.garments[garment];
  return isocloth::contact_points(m.resolved, cloth, samples, own, areas,
                                  m.shape_poses(cloth.world, {time(garment), time()}), *m.shapes);
}

std::vector<std::vector<Wrench>> Simulation::wrenches() const {
  const Members& m = members();
  const std::vector<GarmentState> states = m.states();
  const std::size_t bodies = m.scene.obstacles.size() + m.scene.bodies.size();
  std::vector<std::vector<Wrench>> all(states.size(), std::vector<Wrench>(bodies));
  for (std::size_t g = 0; bodies > 0 && g < states.size(); ++g) {
    const Garment& garment = m.scene.garments[g];
    const std::vector<Pose> poses = m.shape_poses(garment.world, {time(g), time()});
    const double h = m.scene.step, unit = m.resolved.contact_unit(garment.fabric, h) / (h * h);
    for_each_push(states[g], m.contact_places(g).samples,
                  [&](const ContactState& contact, const Vec3d& x, const auto&, const auto&) {
                    const auto o = static_cast<std::size_t>(contact.obstacle);
                    all[g][o].force -= unit * contact.force;
                    all[g][o].torque -= unit * cross(x - poses[o].center, contact.force);
                  });
  }
  return all;
}

std::vector<Wrench> Simulation::body_wrenches() const {
  return members().solvers.solvers.front()->body_wrenches();
}

}  // namespace isocloth
