// What is asked of a scene's contacts.
#pragma once

#include "engine/model/scene.hpp"

namespace isocloth {

/// The part of validate_scene that concerns contact.
void check_contact(const Scene& scene);

}  // namespace isocloth
