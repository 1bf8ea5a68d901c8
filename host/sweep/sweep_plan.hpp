// What a sweep varies: parameters, and the cases that they make.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/variation.hpp"
#include "host/files/number_paths.hpp"
#include "host/scene/replicas.hpp"

namespace isocloth {

struct SweepParameter {
  std::string path;  ///< path of the number of the garment
  std::string unit;  ///< unit of the number; may be empty
  Scale scale = Scale::linear;
  std::vector<double> values;  ///< values along the axis of a grid, or of each case of samples
};

/// Cases are numbered with the last parameter of a grid running fastest.
struct SweepPlan {
  std::vector<SweepParameter> parameters;
  bool is_grid = true;     ///< whether the cases are all combinations, else samples
  std::uint64_t seed = 0;  ///< seed of samples
  std::size_t case_count = 0;

  double value(std::size_t index, std::size_t parameter) const;
  std::vector<NumberValue> values(std::size_t index) const;
};

/// Parses PATH=FROM:TO:COUNT[:log] and PATH=VALUE,VALUE,... for a grid, PATH=FROM:TO[:log] for `samples`
/// random cases. Throws SceneError naming the argument: another form, unknown paths, no number, a count that
/// is no whole number >= 1, the same path twice, more than ten million cases.
SweepPlan make_sweep_plan(const std::vector<std::string>& vary, std::optional<std::size_t> samples,
                          std::uint64_t seed, const std::vector<NumberPath>& numbers);

}  // namespace isocloth
