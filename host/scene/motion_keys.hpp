// The keys of motions, of pins and of obstacles.
#pragma once

#include <string>

#include "engine/shapes/motion.hpp"
#include "engine/shapes/obstacle.hpp"
#include "host/files/keys.hpp"

namespace isocloth {

/// The key "motion" of a pin; of a RecordedMotion only the file.
void describe_motion(Keys& keys, Motion& motion);

/// The key "motion" of an obstacle; `poses_file` receives the file of recorded poses and stays empty for the
/// other kinds.
void describe_motion(Keys& keys, ObstacleMotion& motion, std::string& poses_file);

}  // namespace isocloth
