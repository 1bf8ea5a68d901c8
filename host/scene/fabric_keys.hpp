// The keys of a fabric, in a scene or in a file of its own.
#pragma once

#include "host/scene/scene_keys.hpp"

namespace isocloth {

void describe_fabric(Keys& keys, GarmentSpec& garment);

}  // namespace isocloth
