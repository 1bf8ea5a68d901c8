// Derivatives of a step of garments that meet.
#pragma once

#include "host/projection/cloth_contact_adjoint.hpp"
#include "host/projection/projection_adjoint.hpp"

namespace isocloth {

/// StepAdjoint::gradient() of garments between which contacts push: w of all garments and nu of all contacts
/// are found together, by GMRES in the norm of a factor of the garments' matrices and of what holds contacts.
/// garments: as the contacts' features number them; losses: shape [garment]. Throws NumericalError where the
/// system cannot be solved.
std::vector<StepGradient> gradients_of_cloths(std::vector<StepAdjoint>& garments,
                                              const ClothContactAdjoint& contacts,
                                              const SurfaceFeatures& features,
                                              const std::vector<StateGradient>& losses);

}  // namespace isocloth
