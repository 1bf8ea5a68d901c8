// Grippers as the kernels see them, and what is kept of each held node.
#pragma once

#include "kernels/contact/contact_arrays.hpp"

namespace isocloth {

/// What a gripper does in a step.
enum class Grip : int {
  open,     ///< holds nothing
  closing,  ///< takes hold of what is in its region, and holds it
  closed,   ///< holds what it took
};

template <class Real>
struct GripperView {
  ShapeView<Real> region;
  Real stiffness{};  ///< [N/m^3], 0: rigid
};

/// The grippers of one cloth in one step.
template <class Real>
struct GrippersView {
  ArrayView<const GripperView<Real>> grippers;  ///< shape [gripper]
  ArrayView<const PoseView<Real>> begin, end;   ///< poses when the step begins and ends, shape [gripper]
  ArrayView<const Real> grips;                  ///< Grip, shape [gripper]

  ISOCLOTH_HD Index size() const { return static_cast<Index>(grippers.size()); }
  ISOCLOTH_HD Grip grip(Index g) const { return static_cast<Grip>(static_cast<int>(grips[g])); }
};

/// The grippers of several cloths in several steps; cloths with fewer have open ones that never close.
template <class Real>
struct GripperSets {
  ArrayView<const GripperView<Real>> grippers;  ///< shape [cloth, gripper]
  ArrayView<const PoseView<Real>> poses;        ///< when each step begins, and at last, shape [cloth, step +
                                                ///< 1, gripper]
  ArrayView<const Real> grips;                  ///< Grip, shape [cloth, step, gripper]
  Index count = 0, steps = 0;

  ISOCLOTH_HD GrippersView<Real> of(std::size_t cloth, Index step) const {
    const std::size_t n = static_cast<std::size_t>(count), all = static_cast<std::size_t>(steps),
                      at = static_cast<std::size_t>(step);
    const std::size_t pose = (cloth * (all + 1) + at) * n, grip = (cloth * all + at) * n;
    return {slice(grippers, cloth * n, (cloth + 1) * n), slice(poses, pose, pose + n),
            slice(poses, pose + n, pose + 2 * n), slice(grips, grip, grip + n)};
  }
};

/// What holds the nodes of one cloth.
template <class Real>
struct HoldArrays {
  Strided<Real> forces;           ///< force of the gripper times h^2 [kg m], shape [node_count, 3]
  Strided<Real> holders;          ///< number of the gripper, -1: none; shape [node_count]
  Strided<Real> local_positions;  ///< place of each node in the gripper's frame [m], shape [node_count, 3]
  /// 1 / m_i of nodes as they are held now [1/m^2], 0: pinned or held rigidly; shape [node_count].
  Strided<Real> inverse_masses;
};

}  // namespace isocloth
