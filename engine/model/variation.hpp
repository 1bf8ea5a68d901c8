// A number that differs from one replica, or one case of a sweep, to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isocloth {

enum class Scale { linear, log };
enum class Sampling { even, uniform };

/// Either a list of values or a range.
struct Variation {
  bool is_list = false;        ///< `values`, else the range
  std::vector<double> values;  ///< one per replica
  double from = 0, to = 0;     ///< ends of the range, both included
  Scale scale = Scale::linear;
  Sampling sampling = Sampling::even;  ///< uniform: random, uniform on the scale
};

/// The `count` values of a variation: the list itself; or with u_i = i / (count - 1) (0 when count = 1), or
/// u_i uniform in [0, 1) from `seed`, (1 - u_i) from + u_i to, or from^(1 - u_i) to^u_i on a log scale; the
/// ends are exact. Random values are the same on every machine, on a log scale up to the last digit of its
/// pow. Cost O(count). Throws SceneError beginning with `key`: a list of another length, ends that are not
/// finite, or not positive on a log scale.
std::vector<double> variation_values(const Variation& variation, std::size_t count, std::uint64_t seed,
                                     const std::string& key);

/// A seed of its own for each of many random sequences: FNV-1a over the bytes of seed, number and name.
std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t number, std::string_view name);

}  // namespace isocloth
