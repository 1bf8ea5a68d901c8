// What contacts and grippers keep from step to step, between a GarmentState and the memory of a device.
#pragma once

#include <vector>

#include "host/state/garment_state.hpp"
#include "kernels/samples/contact_state.hpp"

namespace isocloth {

/// A state without contacts in which nothing is held; shape [layout.size()].
std::vector<double> no_contacts(const ContactStateLayout& layout);
/// Contacts and holds of the state as one array, shape [layout.size()].
std::vector<double> flat_contacts(const GarmentState& state, const ContactStateLayout& layout);
/// The other way; `flat` has shape [layout.size()].
void set_contacts(const std::vector<double>& flat, const ContactStateLayout& layout, GarmentState& state);

}  // namespace isocloth
