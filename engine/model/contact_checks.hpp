// What is asked of a scene's contacts.
#pragma once

#include "engine/model/scene.hpp"

namespace isocloth {

/// The part of validate_scene that concerns contact.
void check_contact(const Scene& scene);

/// contact.tolerance where nobody chose one [m]: 0.1 mm and, with contact.cloth, at most a quarter of the
/// thinnest fabric, which is the most that check_contact() lets it be.
double default_contact_tolerance(const Scene& scene);

}  // namespace isocloth
