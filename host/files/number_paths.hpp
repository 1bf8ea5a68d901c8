// Numbers of a JSON object by their path, so that one of them can be replaced before the object is read.
#pragma once

#include <string>
#include <vector>

#include "host/files/json_text.hpp"
#include "host/files/keys.hpp"

namespace isocloth {

/// A number that a description names, e.g. "pins[0].motion.amplitude[1]".
struct NumberPath {
  std::string path;
  std::string unit;           ///< what its description has in brackets, e.g. "kg/m^2"; may be empty
  std::vector<double> tuple;  ///< defaults of the list that it is a part of, should the object lack it
};

/// Every number that `describe` names: of forms and lists those that the object has, of plain keys those that
/// it lacks too. Objects that it lacks count as empty.
std::vector<NumberPath> number_paths(const Json& object, const Keys::Describe& describe);

/// The one of that path; throws SceneError "KEY: unknown number ..." naming the nearest one.
const NumberPath& find_number(const std::vector<NumberPath>& numbers, const std::string& path,
                              const std::string& key);

/// Puts a number where the path says; objects and lists on the way are made.
void set_number(Json& object, const NumberPath& number, double value);

}  // namespace isocloth
