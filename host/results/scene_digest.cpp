#include "host/results/scene_digest.hpp"

#include <initializer_list>

namespace isocloth {
namespace {

void add(Digest& digest, const Vec3d& v) {
  for (const double x : {v.x, v.y, v.z}) digest.add(x);
}

void add(Digest& digest, const std::vector<Vec3d>& vectors) {
  digest.add(static_cast<std::int64_t>(vectors.size()));
  for (const Vec3d& v : vectors) add(digest, v);
}

void add(Digest& digest, const std::vector<Index>& indices) {
  digest.add(static_cast<std::int64_t>(indices.size()));
  for (const Index i : indices) digest.add(static_cast<std::int64_t>(i));
}

struct AddMotion {
  Digest& digest;

  void operator()(const FixedMotion&) const {}
  void operator()(const OscillationMotion& motion) const {
    add(digest, motion.amplitude);
    for (const double x : {motion.frequency, motion.start, motion.duration}) digest.add(x);
  }
  void operator()(const KeyframeMotion& motion) const {
    digest.add(motion.times);
    add(digest, motion.translations);
    add(digest, motion.rotations);
    add(digest, motion.center);
  }
  void operator()(const RecordedMotion& motion) const {
    digest.add(motion.times);
    add(digest, motion.positions);
  }
};

void add_shape(Digest& digest, const Mesh& mesh) {
  add(digest, mesh.positions);
  add(digest, mesh.face_begin);
  add(digest, mesh.face_nodes);
}

struct AddShape {
  Digest& digest;

  void numbers(std::initializer_list<double> values) const {
    for (const double x : values) digest.add(x);
  }
  void operator()(const PlaneShape&) const {}
  void operator()(const SphereShape& shape) const { numbers({shape.radius}); }
  void operator()(const CapsuleShape& shape) const { numbers({shape.radius, shape.length}); }
  void operator()(const CylinderShape& shape) const { numbers({shape.radius, shape.height, shape.rounding}); }
  void operator()(const BoxShape& shape) const {
    add(digest, shape.size);
    numbers({shape.rounding});
  }
  void operator()(const HeightFieldShape& shape) const {
    for (const Index count : shape.samples) digest.add(static_cast<std::int64_t>(count));
    numbers({shape.spacing});
    digest.add(shape.heights);
  }
  void operator()(const MeshShape& shape) const {
    add_shape(digest, shape.surface);
    numbers({shape.cell, shape.thicken});
  }
};

void add(Digest& digest, const Friction& friction) {
  for (const double x : {friction.static_, friction.dynamic}) digest.add(x);
}

void add(Digest& digest, const Obstacle& obstacle) {
  digest.add(obstacle.name);
  digest.add(static_cast<std::int64_t>(obstacle.shape.index()));
  std::visit(AddShape{digest}, obstacle.shape);
  add(digest, obstacle.position);
  add(digest, obstacle.rotation);
  digest.add(static_cast<std::int64_t>(obstacle.motion.index()));
  std::visit(AddMotion{digest}, obstacle.motion);
  add(digest, obstacle.friction);
}

void add(Digest& digest, const Gripper& gripper) {
  digest.add(gripper.name);
  digest.add(static_cast<std::int64_t>(gripper.region.index()));
  std::visit(AddShape{digest}, gripper.region);
  add(digest, gripper.position);
  add(digest, gripper.rotation);
  digest.add(static_cast<std::int64_t>(gripper.motion.index()));
  std::visit(AddMotion{digest}, gripper.motion);
  digest.add(static_cast<std::int64_t>(gripper.holds.size()));
  for (const Hold& hold : gripper.holds)
    for (const double x : {hold.from, hold.to}) digest.add(x);
  digest.add(gripper.stiffness);
}

void add(Digest& digest, const Wind& wind) {
  add(digest, wind.velocity);
  for (const double x : {wind.gusts, wind.gust_period}) digest.add(x);
}

void add(Digest& digest, const RigidBody& body) {
  digest.add(body.name);
  digest.add(static_cast<std::int64_t>(body.shape.index()));
  std::visit(AddShape{digest}, body.shape);
  digest.add(body.mass);
  for (const Vec3d& v : {body.position, body.rotation, body.velocity, body.angular_velocity}) add(digest, v);
  add(digest, body.friction);
}

void add(Digest& digest, const ContactSettings& contact) {
  for (const double x : {contact.tolerance, contact.margin}) digest.add(x);
  digest.add(static_cast<std::int64_t>(contact.push_out));
  digest.add(static_cast<std::int64_t>(contact.pairs.size()));
  for (const FrictionPair& pair : contact.pairs) {
    for (const std::size_t number : {pair.garment, pair.obstacle})
      digest.add(static_cast<std::int64_t>(number));
    add(digest, pair.friction);
  }
  if (contact.body_pairs.empty()) return;
  digest.add(static_cast<std::int64_t>(contact.body_pairs.size()));
  for (const BodyFrictionPair& pair : contact.body_pairs) {
    for (const std::size_t number : {pair.body, pair.other}) digest.add(static_cast<std::int64_t>(number));
    add(digest, pair.friction);
  }
}

void add(Digest& digest, const Garment& garment) {
  digest.add(garment.name);
  add_shape(digest, garment.mesh);
  digest.add(static_cast<std::int64_t>(garment.mesh.corner_uvs.size()));
  for (const Vec2d& uv : garment.mesh.corner_uvs) {
    digest.add(uv.x);
    digest.add(uv.y);
  }
  add(digest, garment.initial_positions);
  add(digest, garment.initial_velocities);
  const Fabric& fabric = garment.fabric;
  for (const double x :
       {fabric.rho, fabric.delta, fabric.kappa, fabric.alpha, fabric.beta, fabric.stretch_stiffness,
        fabric.thickness, fabric.drag.normal, fabric.drag.tangential, fabric.shear_spring.stiffness,
        fabric.shear_spring.damping, fabric.bend_spring.stiffness, fabric.bend_spring.damping})
    digest.add(x);
  digest.add(static_cast<std::int64_t>(fabric.shear_diagonals));
  digest.add(static_cast<std::int64_t>(garment.gravity.has_value()));
  for (const double x : {garment.gravity.value_or(0), garment.time_offset}) digest.add(x);
  digest.add(static_cast<std::int64_t>(garment.pins.size()));
  for (const Pin& pin : garment.pins) {
    add(digest, pin.nodes);
    digest.add(static_cast<std::int64_t>(pin.motion.index()));
    std::visit(AddMotion{digest}, pin.motion);
    if (pin.ramp > 0) digest.add(pin.ramp);
  }
  digest.add(static_cast<std::int64_t>(garment.grippers.size()));
  for (const Gripper& gripper : garment.grippers) add(digest, gripper);
}

}  // namespace

void Digest::add_bytes(const void* bytes, std::size_t size) {
  const auto* const begin = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ begin[i]) * 1099511628211u;
}

void Digest::add(std::string_view bytes) {
  add(static_cast<std::int64_t>(bytes.size()));
  add_bytes(bytes.data(), bytes.size());
}

void Digest::add(double value) { add_bytes(&value, sizeof value); }

void Digest::add(std::int64_t value) { add_bytes(&value, sizeof value); }

void Digest::add(std::span<const double> values) {
  add(static_cast<std::int64_t>(values.size()));
  add_bytes(values.data(), values.size_bytes());
}

std::uint64_t scene_digest(const Scene& scene) {
  Digest digest;
  digest.add(scene.recipe);
  for (const double x : {scene.gravity, scene.step, scene.frame_interval}) digest.add(x);
  const ProjectionSettings& projection = scene.projection;
  for (const int x : {static_cast<int>(projection.method), static_cast<int>(projection.metric),
                      projection.max_iterations, projection.max_substeps}) {
    digest.add(static_cast<std::int64_t>(x));
  }
  for (const double x : {projection.tolerance, projection.eps, projection.clamp}) digest.add(x);
  const ImpulseSettings& impulse = scene.impulse;
  for (const int x : {static_cast<int>(impulse.mode), static_cast<int>(impulse.velocity_pass),
                      impulse.substeps, impulse.max_sweeps, impulse.max_solves}) {
    digest.add(static_cast<std::int64_t>(x));
  }
  for (const double x : {impulse.tolerance, impulse.relaxation}) digest.add(x);
  digest.add(static_cast<std::int64_t>(scene.garments.size()));
  for (const Garment& garment : scene.garments) add(digest, garment);
  digest.add(static_cast<std::int64_t>(scene.obstacles.size()));
  for (const Obstacle& obstacle : scene.obstacles) add(digest, obstacle);
  add(digest, scene.contact);
  add(digest, scene.wind);
  if (scene.wind.gusts > 0) digest.add(static_cast<std::int64_t>(scene.seed));
  for (const RigidBody& body : scene.bodies) add(digest, body);
  return digest.value();
}

}  // namespace isocloth
