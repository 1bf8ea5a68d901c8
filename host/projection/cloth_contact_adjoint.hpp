// Derivatives of contacts between cloths when a step has ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/array_view.hpp"
#include "host/cloth_collision/cloth_friction.hpp"
#include "host/cloth_collision/contact_warm_start.hpp"

namespace isocloth {

/// Contacts between cloths, in double on the CPU, at the end of a step that has converged: then each that
/// pushes keeps its distance and sticks, or slides under Coulomb's friction,
///   0 = q(x, x_n) = n . sum_i w_i x_i - delta - g_0(x_n), and of one that sticks the slip u,
///   P = gamma n + tau,   tau = -mu_d gamma u / |u| of one that slides,
/// u the part across n of sum_i w_i (x_i - x_i^n), g_0 what the law lets stay of a depth at the start
/// (kernels/contact/contact_law.hpp). gamma, and of a contact that sticks all of P, are unknowns as
/// multipliers are. Which contacts push, between which corners, and which slide is taken as it is. The
/// adjoint (w, nu) of places and of these unknowns solves
///   A^T w - (d(W^T P)/dx)^T w + C^T nu = dL/dx,   E w = 0,   C = dq/dx, E = (W^T dP/dgamma)^T,
/// and then dL/dtheta = w . d(W^T P)/dtheta - nu . dq/dtheta.
class ClothContactAdjoint {
 public:
  using Nodes = std::vector<Vec3d>;
  /// The nodes of all garments that meet, as `features` numbers them; of shape [node_count].
  struct Cloths {
    const SurfaceFeatures& features;
    const FrictionClasses& friction;
    const Nodes &before, &after;                 ///< where they were when the step began and ended [m]
    const std::vector<double>& inverse_inertia;  ///< 0: told where to be [1/kg]
    double tolerance = 0;                        ///< contact.tolerance [m]
  };

  /// kept: forces after the step. All of `cloths` must outlive it.
  ClothContactAdjoint(const Cloths& cloths, const ContactWarmStart& kept);

  bool exist() const { return !contacts_.empty(); }
  /// Number of unknowns nu.
  std::size_t force_count() const { return force_count_; }
  /// Stiffness by which nu is found along with w, of each unknown [kg], shape [force_count].
  std::vector<double> stiffness() const;
  /// Calls visit(i, j, rows) of free nodes with what is symmetric of C^T k E in the block of both, for the
  /// matrix that preconditions; once for i = j, else for one order of the two.
  template <class Visit>
  void each_block(const Visit& visit) const {
    for (const Contact& own : contacts_)
      for (std::size_t i = 0; i < own.count; ++i)
        for (std::size_t j = 0; j <= i; ++j)
          if (is_free(own, i) && is_free(own, j)) visit(own.nodes[i], own.nodes[j], block_of(own, i, j));
  }
  /// Adds to y what contacts are of the product with (w, nu), and C^T k E w; z = E w. Nodes that are told
  /// have no part.
  void multiply(const Nodes& w, const double* nu, Nodes& y, double* z) const;
  /// Adds to `pulled`, of told nodes too, what contacts are of the first row above, to by_start the
  /// derivatives by x_n. Returns that by the dynamic coefficients of friction, all of them together.
  double add_derivatives(const Nodes& w, const double* nu, Nodes& pulled, Nodes& by_start) const;

 private:
  using Rows = std::array<Vec3d, 3>;
  static constexpr std::size_t most = 12;  ///< coordinates of four nodes
  struct Contact {
    std::array<Index, 4> nodes{};
    std::size_t count = 0, first_count = 1;  ///< nodes, and those of the first side
    std::array<double, 4> weights{};
    Vec3d normal{}, push{}, by_friction{};  ///< n; dP/dgamma and dP/dmu_d, of one that slides
    bool sticks = false;
    std::size_t first_force = 0;
    double stiffness = 0;  ///< k [kg]
    /// Derivatives by coordinates after the step and before it: of w_i P, and of q.
    std::array<std::array<double, 2 * most>, most> by_force{};
    std::array<std::array<double, 2 * most>, 3> by_place{};

    std::size_t force_count() const { return sticks ? 3 : 1; }
  };

  void add_contact(std::uint64_t key, const Vec3d& force);
  /// Writes derivatives of a contact whose nodes and weights are known. weights_before: where its sides were
  /// nearest when the step began.
  void differentiate(Contact& own, const Vec3d& force, const std::array<double, 4>& weights_before,
                     const FrictionView<double>& friction) const;
  bool is_free(const Contact& own, std::size_t i) const { return cloths_.inverse_inertia[own.nodes[i]] > 0; }
  static Rows block_of(const Contact& own, std::size_t i, std::size_t j);
  /// E w of a contact, k of its numbers.
  static Vec3d pushed(const Contact& own, const Vec3d (&w)[4]);

  const Cloths cloths_;
  std::vector<Contact> contacts_;
  std::size_t force_count_ = 0;
};

}  // namespace isocloth
