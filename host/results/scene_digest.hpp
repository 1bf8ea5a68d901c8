// One number that tells scenes apart.
#pragma once

#include <cstdint>

#include "engine/core/digest.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// Digest of all members of a scene and of what it holds but those that its states do not depend on: names of
/// scene and pins, files of motions, duration and on_violation, so that a run may be continued for longer;
/// the seed counts where there are gusts.
std::uint64_t scene_digest(const Scene& scene);

}  // namespace isocloth
