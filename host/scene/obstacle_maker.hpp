// Obstacles from what a scene file says of them.
#pragma once

#include <filesystem>

#include "host/scene/obstacle_keys.hpp"

namespace isocloth {

/// Reads the files of a mesh, a height field or recorded poses, which lie in `folder`, and places the shape.
/// `key` of the obstacle in messages, `number` of it in the file. Throws SceneError (validate_obstacle, and a
/// place beside recorded poses) and FileError.
Obstacle make_obstacle(const ObstacleSpec& spec, const std::string& key, std::size_t number,
                       const std::filesystem::path& folder);

/// Makes a body as make_obstacle() makes an obstacle. Throws SceneError (validate_body, and unless either
/// mass or density is given), too.
RigidBody make_body(const BodySpec& spec, const std::string& key, std::size_t number,
                    const std::filesystem::path& folder);

}  // namespace isocloth
