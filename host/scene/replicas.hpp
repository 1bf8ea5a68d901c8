// One garment of a file as many: its replicas with the numbers that vary.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/files/number_paths.hpp"
#include "host/scene/scene_keys.hpp"

namespace isocloth {

/// What a sweep or a replica puts in place of the garment's own number.
struct NumberValue {
  std::string path;
  double value = 0;
};

/// "; with PATH = VALUE, ...", for the end of a message.
std::string with_values(const std::vector<NumberValue>& values);

/// A garment whose numbers can be replaced: as if the file said them in the first place.
class GarmentTemplate {
 public:
  /// `garment`: the object in the file, read without error; `key` of it in messages.
  GarmentTemplate(const Json& garment, std::string key);
  const std::vector<NumberPath>& numbers() const { return numbers_; }
  /// Throws SceneError with the message of the key itself, and which number was put there.
  GarmentSpec with(const std::vector<NumberValue>& values) const;

 private:
  Json garment_;  // without replicas and vary
  std::string key_;
  std::vector<NumberPath> numbers_;
};

/// The replicas of a garment, number `number` in the file, named name[0], name[1], ...; the garment itself
/// when it has neither replicas nor vary. Random numbers come from scene seed, garment number and path, so
/// that no other key changes them. Throws SceneError: unknown paths, lists that do not fit the count, numbers
/// that their keys refuse.
std::vector<GarmentSpec> replicas_of(const GarmentSpec& spec, const Json& garment, const std::string& key,
                                     std::size_t number, std::uint64_t scene_seed);

}  // namespace isocloth
