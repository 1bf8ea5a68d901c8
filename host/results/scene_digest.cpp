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
  const auto& [static_, dynamic] = friction;
  for (const double x : {static_, dynamic}) digest.add(x);
}

void add(Digest& digest, const Obstacle& obstacle) {
  const auto& [name, shape, position, rotation, motion, friction] = obstacle;
  digest.add(name);
  digest.add(static_cast<std::int64_t>(shape.index()));
  std::visit(AddShape{digest}, shape);
  add(digest, position);
  add(digest, rotation);
  digest.add(static_cast<std::int64_t>(motion.index()));
  std::visit(AddMotion{digest}, motion);
  add(digest, friction);
}

void add(Digest& digest, const Gripper& gripper) {
  const auto& [name, region, position, rotation, motion, holds, stiffness] = gripper;
  digest.add(name);
  digest.add(static_cast<std::int64_t>(region.index()));
  std::visit(AddShape{digest}, region);
  add(digest, position);
  add(digest, rotation);
  digest.add(static_cast<std::int64_t>(motion.index()));
  std::visit(AddMotion{digest}, motion);
  digest.add(static_cast<std::int64_t>(holds.size()));
  for (const auto& [from, to] : holds)
    for (const double x : {from, to}) digest.add(x);
  digest.add(stiffness);
}

void add(Digest& digest, const Wind& wind) {
  const auto& [velocity, gusts, period] = wind;
  add(digest, velocity);
  for (const double x : {gusts, period}) digest.add(x);
}

void add(Digest& digest, const RigidBody& body) {
  const auto& [name, shape, mass, position, rotation, velocity, angular_velocity, friction] = body;
  digest.add(name);
  digest.add(static_cast<std::int64_t>(shape.index()));
  std::visit(AddShape{digest}, shape);
  digest.add(mass);
  for (const Vec3d& v : {position, rotation, velocity, angular_velocity}) add(digest, v);
  add(digest, friction);
}

void add(Digest& digest, const ContactSettings& contact) {
  const auto& [tolerance, margin, pairs, body_pairs, push_out] = contact;
  for (const double x : {tolerance, margin}) digest.add(x);
  digest.add(static_cast<std::int64_t>(push_out));
  digest.add(static_cast<std::int64_t>(pairs.size()));
  for (const auto& [garment, obstacle, friction] : pairs) {
    for (const std::size_t number : {garment, obstacle}) digest.add(static_cast<std::int64_t>(number));
    add(digest, friction);
  }
  if (body_pairs.empty()) return;
  digest.add(static_cast<std::int64_t>(body_pairs.size()));
  for (const auto& [body, other, friction] : body_pairs) {
    for (const std::size_t number : {body, other}) digest.add(static_cast<std::int64_t>(number));
    add(digest, friction);
  }
}

void add(Digest& digest, const Drag& drag) {
  const auto& [normal, tangential] = drag;
  for (const double x : {normal, tangential}) digest.add(x);
}

void add(Digest& digest, const SpringDamper& spring) {
  const auto& [stiffness, damping] = spring;
  for (const double x : {stiffness, damping}) digest.add(x);
}

void add(Digest& digest, const Fabric& fabric) {
  const auto& [rho, delta, kappa, alpha, beta, stretch, thickness, drag, shear, bend, diagonals] = fabric;
  for (const double x : {rho, delta, kappa, alpha, beta, stretch, thickness}) digest.add(x);
  add(digest, drag);
  add(digest, shear);
  add(digest, bend);
  digest.add(static_cast<std::int64_t>(diagonals));
}

void add(Digest& digest, const ProjectionSettings& settings) {
  const auto& [method, metric, tolerance, iterations, eps, clamp, substeps, on_violation] = settings;
  for (const int x : {static_cast<int>(method), static_cast<int>(metric), iterations, substeps})
    digest.add(static_cast<std::int64_t>(x));
  for (const double x : {tolerance, eps, clamp}) digest.add(x);
}

void add(Digest& digest, const ImpulseSettings& settings) {
  const auto& [mode, tolerance, substeps, sweeps, relaxation, pass, solves, on_violation] = settings;
  for (const int x : {static_cast<int>(mode), static_cast<int>(pass), substeps, sweeps, solves})
    digest.add(static_cast<std::int64_t>(x));
  for (const double x : {tolerance, relaxation}) digest.add(x);
}

void add(Digest& digest, const Pin& pin) {
  const auto& [name, nodes, motion, ramp] = pin;
  add(digest, nodes);
  digest.add(static_cast<std::int64_t>(motion.index()));
  std::visit(AddMotion{digest}, motion);
  if (ramp > 0) digest.add(ramp);
}

void add(Digest& digest, const Garment& garment) {
  const auto& [name, mesh, positions, velocities, fabric, pins, grippers, gravity, time_offset] = garment;
  digest.add(name);
  add_shape(digest, mesh);
  digest.add(static_cast<std::int64_t>(mesh.corner_uvs.size()));
  for (const Vec2d& uv : mesh.corner_uvs) {
    digest.add(uv.x);
    digest.add(uv.y);
  }
  add(digest, positions);
  add(digest, velocities);
  add(digest, fabric);
  digest.add(static_cast<std::int64_t>(gravity.has_value()));
  for (const double x : {gravity.value_or(0), time_offset}) digest.add(x);
  digest.add(static_cast<std::int64_t>(pins.size()));
  for (const Pin& pin : pins) add(digest, pin);
  digest.add(static_cast<std::int64_t>(grippers.size()));
  for (const Gripper& gripper : grippers) add(digest, gripper);
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
  // Names of all members: one that is new must be named here, too.
  const auto& [name, recipe, garments, obstacles, bodies, wind, gravity, step, duration, frame_interval, seed,
               projection, impulse, contact] = scene;
  Digest digest;
  digest.add(recipe);
  for (const double x : {gravity, step, frame_interval}) digest.add(x);
  add(digest, projection);
  add(digest, impulse);
  digest.add(static_cast<std::int64_t>(garments.size()));
  for (const Garment& garment : garments) add(digest, garment);
  digest.add(static_cast<std::int64_t>(obstacles.size()));
  for (const Obstacle& obstacle : obstacles) add(digest, obstacle);
  add(digest, contact);
  add(digest, wind);
  if (wind.gusts > 0) digest.add(static_cast<std::int64_t>(seed));
  for (const RigidBody& body : bodies) add(digest, body);
  return digest.value();
}

}  // namespace isocloth
