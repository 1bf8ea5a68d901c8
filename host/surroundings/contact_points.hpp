// Where a garment is pushed by obstacles and bodies, read from its state.
#pragma once

#include <vector>

#include "engine/model/resolved_scene.hpp"
#include "host/garment/contact_samples.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/measures.hpp"

namespace isocloth {

struct HostShapes;

/// Contacts of a garment in a state of it. A contact keeps its force p, times the square of the step; of a
/// step in parts those of the last part. areas: of the garment's nodes, for pressures [m^2], shape
/// [node_count]; poses: of the shapes of obstacles and bodies.
std::vector<ContactPoint> contact_points(const ResolvedScene& resolved, const Garment& garment,
                                         const ContactSamples& samples, const GarmentState& state,
                                         const std::vector<double>& areas, const std::vector<Pose>& poses,
                                         const HostShapes& shapes);

}  // namespace isocloth
