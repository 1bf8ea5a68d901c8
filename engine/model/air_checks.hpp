// What is asked of garments in a wind that flows around panels.
#pragma once

#include "engine/model/scene.hpp"

namespace isocloth {

/// Whether air flows around the garment as around panels: around all but driven ones.
bool is_sheet_in_air(const Garment& garment, const Scene& scene);

/// Throws SceneError, where panels are asked for (WindModel::panels), for a garment that panel_grid()
/// refuses.
void check_air(const Scene& scene);

}  // namespace isocloth
