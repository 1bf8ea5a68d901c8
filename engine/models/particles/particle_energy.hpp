// Energies of particles that see lengths and angles between their neighbours, gravity and obstacles.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "engine/core/vec3.hpp"
#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// An energy [J] of one number and its two derivatives; infinite where it forbids a state.
struct LawValue {
  double value = 0, first = 0, second = 0;
};
using EnergyLaw = std::function<LawValue(double)>;

/// One law of the distance |x_a - x_b| [m] for many pairs.
struct LengthTerms {
  std::string name;
  EnergyLaw law;
  std::vector<std::array<Index, 2>> pairs;
};
/// One law of the cosine of the angle at the middle of (a, middle, b) for many triples.
struct AngleTerms {
  std::string name;
  EnergyLaw law;
  std::vector<std::array<Index, 3>> triples;
};

/// Distance from what particles must not enter, < 0 inside [m], and its gradient.
struct Gap {
  double value = 0;
  Vec3d normal;
};

struct ParticleModel {
  std::vector<double> masses;  ///< [kg], shape [particle]
  std::vector<char> is_held;   ///< shape [particle]
  double spacing = 0;          ///< w [m]
  Vec3d gravity;               ///< [m/s^2]
  std::vector<LengthTerms> lengths;
  std::vector<AngleTerms> angles;
  /// Law of every pair nearer than `spacing`; none: particles pass through each other.
  EnergyLaw repulsion;
  std::function<Gap(Vec3d)> gap;  ///< none: no obstacles
  double contact_stiffness = 0;   ///< k of k gap^2 / 2 where gap < 0 [N/m]
};

/// E(a - middle, b - middle) of an angle term: value, gradients by u and v, Hessian by (u, v), row by row.
struct AngleValue {
  double energy = 0;
  Vec3d by_u, by_v;
  std::array<double, 36> hessian{};
};
/// c = u.v / (|u| |v|); dc/du = (v^ - c u^) / |u|, and second derivatives in closed form. The Hessian is
/// left zero unless asked for. Checked against differences in tests/engine/models/particles_test.cpp.
AngleValue angle_value(const EnergyLaw& law, Vec3d u, Vec3d v, bool with_hessian);

/// U(x) = sum of laws + sum of -m g.x + contact. Every pair and angle counts once. The sums that Breen et al.
/// write for a particle i (four stretches, six bends, trellises around it) are what changes when i moves.
class ParticleEnergy {
 public:
  /// Throws ShapeError for a particle that does not exist.
  explicit ParticleEnergy(ParticleModel model);
  const ParticleModel& model() const { return model_; }
  std::size_t size() const { return model_.masses.size(); }

  /// [J]; infinite where a law forbids x [m], shape [particle].
  double value(const std::vector<Vec3d>& x);
  /// dU/dx [N]; zero for held particles.
  std::vector<Vec3d> gradient(const std::vector<Vec3d>& x);
  /// Name and energy [J] of each term, in the order of the model, then repel, gravity, contact.
  std::vector<std::pair<std::string, double>> parts(const std::vector<Vec3d>& x);

  /// What changes when particle i alone moves [J]. Pairs that repel are those of the last follow().
  double local_value(const std::vector<Vec3d>& x, Index i) const;
  Vec3d local_gradient(const std::vector<Vec3d>& x, Index i) const;

  /// Looks for pairs that may repel, by a grid of cells of 1.5 w; exact until a particle has moved by w / 4.
  void follow(const std::vector<Vec3d>& x);
  /// Pairs within 1.5 w of each other when follow() was called.
  const std::vector<std::array<Index, 2>>& near_pairs() const { return near_; }
  LawValue contact(Vec3d x, Vec3d& normal) const;  ///< energy of contact by the gap [J]

 private:
  void follow_if_moved(const std::vector<Vec3d>& x);
  double weight_energy(const std::vector<Vec3d>& x, std::size_t i) const {
    return -model_.masses[i] * dot(model_.gravity, x[i]);
  }

  struct Member {
    bool is_angle;
    std::size_t group, item;
  };
  ParticleModel model_;
  std::vector<std::vector<Member>> members_;  ///< terms of each particle
  std::vector<Vec3d> followed_;
  std::vector<std::array<Index, 2>> near_;
  std::vector<std::vector<Index>> near_of_;
};

}  // namespace isocloth
