// The shape in which a garment starts, as a scene file describes it.
#pragma once

#include <optional>

#include "engine/model/drape_settings.hpp"
#include "host/files/keys.hpp"

namespace isocloth {

struct InitialSpec {
  std::optional<DrapeSettings> drape;  ///< how the garment is hung; none: the rest shape
  std::vector<Vec3d>
      positions;  ///< positions of the pinned nodes [m]; empty: where they are in the rest shape
};

void describe_initial(Keys& keys, InitialSpec& initial);

}  // namespace isocloth
