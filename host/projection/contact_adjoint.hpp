// Derivatives of the forces that contacts of a garment with obstacles have when a step has ended.
#pragma once

#include <array>
#include <vector>

#include "host/projection/garment_contacts.hpp"
#include "host/projection/step_gradient.hpp"
#include "kernels/samples/act_on_samples.hpp"

namespace isocloth {

/// The contacts of one garment at the end of a step, in double on the CPU. The force of each is a function
/// P(y, ...) of where its point y is at the end, by the law of kernels/contact/compression_law.hpp as a step
/// leaves it,
///   g_v(y) = -s(F),   tau = z where it sticks, mu' F z / |z| where it slides,
/// of where the point and the obstacle were before and are now, and of what the contact kept. Which contacts
/// there are, at which points of edges and faces, for which areas, and which slide is taken as it is.
class ContactAdjoint {
 public:
  using Nodes = std::vector<Vec3d>;

  /// None.
  ContactAdjoint() = default;
  /// `samples`: as GarmentContacts::go_to_end() left them, `first`: as it found them; both must outlive this.
  ContactAdjoint(const ActOnSamples<double>& samples, const FirstIterate<double>& first);

  bool exist() const { return !contacts_.empty(); }
  /// Gives the samples of all contacts the forces of the law, and of its stiffness -dP/dy what is symmetric
  /// and positive: the matrix of a step as exact as a Cholesky factor can be.
  void settle_samples() const;
  /// Adds to y the product of the matrix's transpose with x beyond what settle_samples() put into it; by
  /// nodes.
  void add_beyond(const Nodes& x, Nodes& y) const;
  /// Adds to y the product of -dP/dy's transpose with x, all of it; by nodes.
  void add_whole(const Nodes& x, Nodes& y) const;
  /// Adds to a loss's derivatives by the places of nodes what it says of the forces after the step.
  void add_loss(const std::vector<ContactGradient>& loss, Nodes& by_nodes) const;
  /// Wrenches of all obstacles in a step of h [s], shape [obstacle].
  std::vector<Wrench> wrenches(double step) const;
  /// Adds what a loss says of these to what it says of forces, and to its derivatives by places of nodes and
  /// obstacles after the step.
  void add_wrenches(const std::vector<Wrench>& loss, double step, std::vector<ContactGradient>& by_contacts,
                    Nodes& by_nodes, StepGradient& found) const;
  /// Adds to `found` what comes of the force balance, by its adjoint w, and of `loss` of what contacts keep
  /// after the step; to by_first what comes by the first iterate. rate: of the integrator; step: h [s].
  void add_derivatives(const Nodes& w, const std::vector<ContactGradient>& loss, double rate, double step,
                       StepGradient& found, Nodes& by_first) const;

 private:
  /// What the force of a contact depends on: the first number of each.
  enum Input : std::size_t {
    to = 0,                ///< the point in the obstacle's frame after the step, and
    from = 3,              ///< before it
    turn = 6,              ///< rotation of that frame after the step, of what it makes of both
    began = 9,             ///< force of the contact before the step
    slip = 12,             ///< slip until the step began
    inertia = 13,          ///< of the point
    static_friction = 14,  ///< coefficients
    dynamic_friction = 15,
    input_count = 16,
  };
  struct Contact {
    std::size_t number = 0;
    Index sample = 0, obstacle = 0;
    Vec3d force;                                          ///< P
    std::array<std::array<double, input_count>, 3> by{};  ///< dP
    Vec3d stiffness[3] = {};                              ///< rows of -dP/dy
    Vec3d factored[3] = {};                               ///< what of it is in the matrix
    double inertia_per_metric = 0;             ///< inertia of the point over that of the metric [m^2]
    bool had_force = false, had_slip = false;  ///< when the step began
  };

  void add_contact(std::size_t number, Index sample);
  /// Adds what a contact's slip in the first iterate says, by which the slip until the step began is counted.
  void add_first_slip(const Contact& own, double by_slip, StepGradient& found, Nodes& by_first) const;
  /// From the obstacle's origin to the point after the step.
  Vec3d arm(const Contact& own) const;
  Vec3d point(const Contact& own, const Nodes& of_nodes) const;
  void spread(const Contact& own, const Vec3d& value, Nodes& to_nodes) const;
  template <class Visit>
  void each_slot(const Contact& own, const Visit& visit) const;

  const ActOnSamples<double>* all_ = nullptr;
  const FirstIterate<double>* first_ = nullptr;
  std::vector<Contact> contacts_;
};

}  // namespace isocloth
