#include "host/sweep/sweep_plan.hpp"

#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

constexpr double most_cases = 10'000'000;

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : line) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// One --vary argument.
class Argument {
 public:
  Argument(const std::string& argument, std::optional<std::size_t> samples)
      : key_(text("--vary ", printable(argument, 200))), samples_(samples) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0) refuse("no PATH=", form());
    path_ = argument.substr(0, equals);
    range_ = argument.substr(equals + 1);
  }

  SweepParameter parameter(std::uint64_t seed, const std::vector<NumberPath>& numbers) const {
    const NumberPath& number = find_number(numbers, path_, "--vary");
    std::size_t count = samples_.value_or(0);
    const Variation variation = parse(count);
    return {path_, number.unit, variation.scale,
            variation_values(variation, count, derived_seed(seed, 0, path_), key_)};
  }

 private:
  Variation parse(std::size_t& count) const {
    Variation variation;
    std::vector<std::string> parts = split(range_, ':');
    if (parts.size() == 1 && !samples_) {
      variation.is_list = true;
      for (const std::string& word : split(range_, ',')) variation.values.push_back(number(word));
      count = variation.values.size();
      return variation;
    }
    if (parts.back() == "log") {
      variation.scale = Scale::log;
      parts.pop_back();
    }
    if (parts.size() != (samples_ ? 2u : 3u)) refuse(text("\"", printable(range_), "\""), form());
    variation.from = number(parts[0]);
    variation.to = number(parts[1]);
    for (const std::size_t end : {0u, 1u})
      if (variation.scale == Scale::log && !((end == 0 ? variation.from : variation.to) > 0))
        refuse(printable(parts[end]), "a number > 0 on a log scale");
    if (samples_) {
      variation.sampling = Sampling::uniform;
      return variation;
    }
    const double asked = number(parts[2]);
    if (!(asked >= 1 && asked <= most_cases && asked == std::floor(asked)))
      refuse(text("the count ", printable(parts[2])),
             text("a whole number from 1 to ", shortest(most_cases)));
    count = static_cast<std::size_t>(asked);
    return variation;
  }

  double number(const std::string& word) const {
    double value = 0;
    if (!parse_finite(word, value)) refuse(text("\"", printable(word), "\""), "a finite number");
    return value;
  }
  const char* form() const {
    return samples_ ? "PATH=FROM:TO[:log] with --sample" : "PATH=FROM:TO:COUNT[:log] or PATH=VALUE,VALUE,...";
  }
  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw SceneError(text(key_, ": found ", found, ", expected ", expected));
  }

  std::string key_, path_, range_;
  std::optional<std::size_t> samples_;
};

}  // namespace

double SweepPlan::value(std::size_t index, std::size_t parameter) const {
  if (!is_grid) return parameters[parameter].values[index];
  std::size_t stride = 1;
  for (std::size_t p = parameter + 1; p < parameters.size(); ++p) stride *= parameters[p].values.size();
  const std::vector<double>& values = parameters[parameter].values;
  return values[index / stride % values.size()];
}

std::vector<NumberValue> SweepPlan::values(std::size_t index) const {
  std::vector<NumberValue> all;
  for (std::size_t p = 0; p < parameters.size(); ++p) all.push_back({parameters[p].path, value(index, p)});
  return all;
}

SweepPlan make_sweep_plan(const std::vector<std::string>& vary, std::optional<std::size_t> samples,
                          std::uint64_t seed, const std::vector<NumberPath>& numbers) {
  SweepPlan plan;
  plan.is_grid = !samples;
  plan.seed = seed;
  double count = samples ? static_cast<double>(*samples) : 1;
  for (const std::string& argument : vary) {
    plan.parameters.push_back(Argument(argument, samples).parameter(seed, numbers));
    for (std::size_t p = 0; p + 1 < plan.parameters.size(); ++p) {
      if (plan.parameters[p].path == plan.parameters.back().path)
        throw SceneError(text("--vary ", printable(argument), ": found ", plan.parameters[p].path,
                              " a second time, expected each number once"));
    }
    if (plan.is_grid) count *= static_cast<double>(plan.parameters.back().values.size());
  }
  if (count > most_cases)
    throw SceneError(text("--vary: found ", count, " cases, expected at most ", most_cases));
  plan.case_count = static_cast<std::size_t>(count);
  return plan;
}

}  // namespace isocloth
