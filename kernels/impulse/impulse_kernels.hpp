// The phases of a step of impulses as launches of their own, for one large cloth.
#pragma once

#include "kernels/impulse/impulse_phases.hpp"

namespace isocloth {

template <class Real>
struct ImpulseLaunch {
  ImpulseCloths<Real> cloths;  ///< one
  ImpulseWork<Real> work;
  Index step = 0;  ///< number of the step in `targets`
  int part = 0;
  /// What the phase tells of each item; of CorrectRows the error, and the last sweep with an impulse.
  ArrayView<Real> told, last_sweeps;
};

/// A kernel of each phase, which takes ImpulseLaunch.
template <class Real, Items... Rows>
using KernelsOfRows = PhaseKernels<
    ImpulseLaunch<Real>, phases::BeginNodes, phases::BeginContacts, phases::Ease, phases::MeasureEased,
    phases::Grasp, phases::WeighRows<Rows>..., phases::Bend, phases::PullStructural, phases::PullShear,
    phases::PullBend, phases::Preview, phases::PreviewExternal, phases::PreviewPinned,
    phases::CorrectRows<Real, Rows, true>..., phases::CorrectRows<Real, Rows, false>..., phases::ListNear,
    phases::PushOut, phases::PushBack, phases::MeasureDepths, phases::Advance, phases::EndContacts,
    phases::EndHolds, phases::MeasureRows<Rows>..., phases::MeasureDisplacements, phases::EndNodes,
    phases::BeginSprings<Items::structural_springs>, phases::BeginSprings<Items::shear_springs>,
    phases::BeginSprings<Items::bend_springs>, phases::EndSprings<Items::structural_springs>,
    phases::EndSprings<Items::shear_springs>, phases::EndSprings<Items::bend_springs>>;
template <class Real>
using ImpulseKernels = KernelsOfRows<Real, Items::metric_stencils, Items::scalar_stencils, Items::edges>;

namespace ISOCLOTH_BACKEND {
template <class Real>
ImpulseKernels<Real> impulse_kernels();
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
