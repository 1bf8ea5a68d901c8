#include "host/io/scene_digest.hpp"

#include <cstring>

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

void add(Digest& digest, const Garment& garment) {
  digest.add(garment.name);
  add(digest, garment.mesh.positions);
  add(digest, garment.mesh.face_begin);
  add(digest, garment.mesh.face_nodes);
  digest.add(static_cast<std::int64_t>(garment.mesh.corner_uvs.size()));
  for (const Vec2d& uv : garment.mesh.corner_uvs) {
    digest.add(uv.x);
    digest.add(uv.y);
  }
  add(digest, garment.initial_positions);
  add(digest, garment.initial_velocities);
  const Fabric& fabric = garment.fabric;
  for (const double x :
       {fabric.rho, fabric.delta, fabric.kappa, fabric.alpha, fabric.beta, fabric.shear_spring.stiffness,
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
  }
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
  return digest.value();
}

}  // namespace isocloth
