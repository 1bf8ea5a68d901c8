// Contacts, holds and external forces of one garment that is stepped kernel by kernel.
#pragma once

#include "engine/model/scene.hpp"
#include "host/garment/row_evaluator.hpp"
#include "host/garment/sample_arrays.hpp"
#include "host/surroundings/obstacle_table.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/samples/act_on_samples.hpp"
#include "kernels/samples/contact_state.hpp"

namespace isocloth {

/// What one cloth meets in one step.
template <class Real>
struct SurroundingsView {
  ObstaclesView<Real> obstacles;
  int obstacles_version = 0;  ///< another one: those at rest may be elsewhere
  GrippersView<Real> grippers;
  NodeForces<Real> forces;
  FacesView faces;
};

/// Largest depth and error of all samples, see ContactArrays.
struct ContactFit {
  double depth = 0;  ///< largest depth of a sample [m]
  double error = 0;  ///< largest error over the largest that is accepted
};

/// How the bodies move in an iteration; see UpdateSamples.
template <class Real>
struct BodyMoves {
  Index first = ObstaclesView<Real>::no_body;
  ArrayView<const Vec3<Real>> centers;
  ArrayView<const Real> moves;
};

/// Where a step began to look for contacts, and at which points of the samples.
template <class Real>
struct FirstIterate {
  std::vector<Vec3<Real>> positions;  ///< [m], shape [node_count]
  std::vector<Real> weights;          ///< see ContactArrays::weights
};

template <class Real>
class GarmentContacts {
 public:
  /// Nothing surrounds the garment: everything below does nothing.
  GarmentContacts() = default;
  GarmentContacts(const Device& device, const Garment& garment, const GarmentArrays<Real>& arrays,
                  const Scene& scene);

  bool exist() const { return pattern_.sample_count() > 0; }
  /// Number of nodes that may be held: all, or none.
  std::size_t hold_count() const { return inverse_masses_.size(); }
  ContactStateLayout layout() const {
    return {static_cast<std::size_t>(pattern_.contact_count()), hold_count(),
            static_cast<std::size_t>(pattern_.eased_count())};
  }

  /// A part of a step begins at `start` with this state (see layout()), `base` the integrator's x^; what
  /// follows is meant for it.
  void begin(const SurroundingsView<Real>& surroundings, const ContactControl<Real>& control,
             const Buffer<Vec3<Real>>& start, const Buffer<Vec3<Real>>& base, ArrayView<Real> state);
  /// Grippers let go and take hold, and depths at the start go on; once before the first part of a step, or
  /// again.
  void begin_step();
  /// How deep what started inside may be when the step of the last part ends [m]. `rows` reduces.
  double depenetration_depth(RowEvaluator<Real>& rows) const;
  /// Puts nodes that are held rigidly where their grippers are when the part ends.
  void place_held(Buffer<Vec3<Real>>& positions);
  /// Whether grippers or forces of NodeForces act in this part of a step.
  bool has_external_forces() const { return exist() && last_.has_external_forces(); }
  /// Finds forces and stiffness of grippers and NodeForces alone, at `positions`.
  void act_without_contacts(const Buffer<Vec3<Real>>& positions);
  /// Launches the search for contacts at the iterate of iteration `number`.
  void find(const Buffer<Vec3<Real>>& iterate, int number);
  /// Depths and errors of samples at the last find(), see ContactArrays; empty: there are no obstacles.
  ArrayView<const Real> depths() const { return of_obstacles(depths_); }
  ArrayView<const Real> errors() const { return of_obstacles(errors_); }
  /// Finds the contacts of a step that has been taken where it ended, at `end`, with what they keep after it,
  /// `state` (see layout()), for those who look at it: as ContactArrays::began what they kept before, and no
  /// point of an element moves. `iterate`: the first one of the step.
  void go_to_end(Buffer<Vec3<Real>>& iterate, const std::vector<Vec3<Real>>& end,
                 const std::vector<Real>& state);
  const FirstIterate<Real>& first_iterate() const { return first_; }  ///< of go_to_end()
  /// Updates the forces after a correction.
  void update(const Buffer<Vec3<Real>>& correction, const BodyMoves<Real>& bodies);
  /// What find() found, for the kernels of bodies.
  const ActOnSamples<Real>& sample_arguments() const { return last_; }
  const SampleArrays& samples() const { return samples_; }
  /// Forces on samples for the matrix and the right side of the system.
  SampleForces<Real> forces() const;
  KeptForces<Real> kept_forces() const;
  /// Inverse masses 1 / m_i, 0: pinned or held rigidly [1/m^2], shape [node_count].
  ArrayView<const Real> inverse_masses() const;

  std::size_t memory_bytes() const;

  Real offset = 0, tolerance = 0, accuracy = 0;  ///< see ContactControl
  Compression compression;
  CompressionCurve<Real> curve{};

 private:
  Clearances<Real> clearances();  ///< of a part of a step that begins
  ArrayView<const Real> of_obstacles(const Buffer<Real>& values) const {
    return exist() && last_.obstacles.size() > 0 ? values.view() : ArrayView<const Real>{};
  }

  const Device* device_ = nullptr;
  const StepKernels<Real>* kernels_ = nullptr;
  const GarmentArrays<Real>* garment_ = nullptr;
  SampleArrays samples_;
  SamplePattern pattern_;
  Buffer<Real> normals_, pulls_, stiffness_, began_, mismatches_, weights_, depths_, errors_, shared_with_,
      shared_areas_, sample_stiffness_, sample_forces_, near_, inverse_masses_, ways_, rooms_;
  Buffer<Vec3<Real>> seen_at_;  ///< of Clearances, as ways_, rooms_ and near_obstacles_
  Buffer<std::uint32_t> near_obstacles_;
  int obstacles_version_ = 0;  ///< of which rooms are known
  ActOnSamples<Real> last_;    ///< arguments of the kernels in the part of a step
  ArrayView<Real> state_;      ///< see begin()
  FirstIterate<Real> first_;
};

}  // namespace isocloth
