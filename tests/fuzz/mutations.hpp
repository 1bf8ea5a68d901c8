// Changes at random to scenes as JSON values and to the bytes of files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/fuzz/choice.hpp"
#include "tests/fuzz/seed_scenes.hpp"

namespace isocloth {

/// A scene as it is written, its files, and how it came about.
struct FuzzCase {
  std::string name;  ///< of the seed
  std::string scene;
  std::map<std::string, std::string> files;
  std::vector<std::string> changes;
};

/// Anything may be wrong with it: values, types, keys, numbers, characters, its files.
FuzzCase broken_scene(const std::vector<SeedScene>& seeds, Choice& choice);

/// Numbers and parts are changed such that many can be run: violent motions, moved pins, other meshes,
/// fabrics, solvers and surroundings.
FuzzCase changed_scene(const std::vector<SeedScene>& seeds, Choice& choice);

/// Bits, bytes, lines and numbers of a file are changed; says what.
std::string damage(std::string& bytes, Choice& choice);

/// The same, with the structure kept: most bytes stay where they are.
std::string damage_in_place(std::string& bytes, Choice& choice);

}  // namespace isocloth
