#include "engine/model/variation.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/enum_check.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

void check_range(const Variation& variation, const std::string& key) {
  const auto refuse = [&key](const char* end, double value, const char* expected) {
    throw SceneError(text(key, ".", end, ": found ", value, ", expected ", expected));
  };
  require_enum(key + ".scale", variation.scale, Scale::log);
  require_enum(key + ".sampling", variation.sampling, Sampling::uniform);
  for (const auto& [end, value] : {std::pair("from", variation.from), std::pair("to", variation.to)}) {
    if (!std::isfinite(value)) refuse(end, value, "a finite number");
    if (variation.scale == Scale::log && !(value > 0)) refuse(end, value, "a number > 0 on a log scale");
  }
}

}  // namespace

std::vector<double> variation_values(const Variation& variation, std::size_t count, std::uint64_t seed,
                                     const std::string& key) {
  if (variation.is_list) {
    if (variation.values.size() != count) {
      throw SceneError(text(key, ".values: found ", variation.values.size(), " values, expected ", count,
                            ", one per replica"));
    }
    return variation.values;
  }
  check_range(variation, key);
  const auto [low, high] = std::minmax(variation.from, variation.to);
  Random random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_random = variation.sampling == Sampling::uniform;
    const double even = count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    const double u = is_random ? random.uniform() : even;
    const double value = variation.scale == Scale::log
                             ? std::pow(variation.from, 1 - u) * std::pow(variation.to, u)
                             : (1 - u) * variation.from + u * variation.to;
    // Rounding may leave the range or miss its end.
    values.push_back(u == 1 ? variation.to : std::clamp(value, low, high));
  }
  return values;
}

std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t number, std::string_view name) {
  std::uint64_t value = 14695981039346656037u;
  const auto add = [&value](unsigned char byte) { value = (value ^ byte) * 1099511628211u; };
  for (const std::uint64_t word : {seed, number}) {
    for (int shift = 0; shift < 64; shift += 8) add(static_cast<unsigned char>(word >> shift));
  }
  for (const char c : name) add(static_cast<unsigned char>(c));
  return value;
}

}  // namespace isocloth
