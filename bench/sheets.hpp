// The shaken A3 sheet of Coltraro 2022, section 9, on any mesh.
#pragma once

#include <functional>
#include <string>

#include "engine/model/scene.hpp"

namespace isocloth::bench {

/// KIND_N with KIND quads, alternating or irregular: N x N nodes over the sheet, or about as many irregular
/// ones. Throws SceneError for another name.
Mesh sheet_mesh(const std::string& name);

/// The scene shake_fast_9x9 with that mesh; its shake begins at 1 s. Violations do not end a run.
Scene shaken_sheet(const Mesh& mesh);

/// The same with the motion beginning at step 0.
Scene shaken_sheet_at_once(const Mesh& mesh);

/// Gives the sheet that recipe; any but the published one, coltraro2022, takes the fabric of the scene
/// membrane_batch, which its rows can read.
void take_recipe(Scene& scene, const std::string& recipe);

/// Makes `count` of the scene's one garment. `vary` gives each a fabric of its own by a number that is spread
/// evenly over [-0.5, 0.5).
void repeat_garment(Scene& scene, std::size_t count,
                    const std::function<void(Fabric& fabric, double part)>& vary = {});

}  // namespace isocloth::bench
