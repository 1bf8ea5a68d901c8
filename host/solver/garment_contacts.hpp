// Contacts of one garment that is stepped kernel by kernel.
#pragma once

#include "host/solver/obstacle_table.hpp"
#include "host/solver/row_evaluator.hpp"
#include "host/solver/sample_arrays.hpp"
#include "kernels/contact/find_contacts.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {

template <class Real>
class GarmentContacts {
 public:
  /// None: everything below does nothing.
  GarmentContacts() = default;
  GarmentContacts(const Device& device, const Garment& garment, const GarmentArrays<Real>& arrays,
                  const Scene& scene);

  bool exist() const { return pattern_.sample_count() > 0; }
  std::size_t contact_count() const { return static_cast<std::size_t>(pattern_.contact_count()); }

  /// Contacts at the iterate; returns how deep the cloth lies [m]. `rows` reduces.
  double find(const ObstaclesView<Real>& obstacles, const ContactControl<Real>& control,
              const Buffer<Vec3<Real>>& start, const Buffer<Vec3<Real>>& iterate, RowEvaluator<Real>& rows);
  /// Forces after a correction.
  void update(const Buffer<Vec3<Real>>& correction);
  /// For the matrix and the right side of the system.
  SampleForces<Real> forces() const;

  /// What is kept from step to step: obstacle (-1: none) and p of every contact, shape [contact_count, 4].
  std::vector<double> state() const;
  void set_state(const std::vector<double>& state);
  /// Forces carry h^2.
  void scale(double factor);
  std::size_t memory_bytes() const;

  Real offset = 0, tolerance = 0;  ///< see ContactControl

 private:
  const Device* device_ = nullptr;
  const StepKernels<Real>* kernels_ = nullptr;
  const GarmentArrays<Real>* garment_ = nullptr;
  SampleArrays samples_;
  SamplePattern pattern_;
  Buffer<Real> forces_, obstacles_, normals_, pulls_, stiffness_, modes_, weights_, depths_,
      sample_stiffness_, sample_forces_, near_;
  FindContacts<Real> last_;  ///< of find()
};

}  // namespace isocloth
