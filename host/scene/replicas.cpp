#include "host/scene/replicas.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/key_reader.hpp"

namespace isocloth {
namespace {

void describe_scratch(Keys& keys) {
  GarmentSpec scratch;
  describe_garment(keys, scratch);
}

}  // namespace

std::string with_values(const std::vector<NumberValue>& values) {
  std::string all;
  for (const auto& [path, value] : values) all += text(all.empty() ? "; with " : ", ", path, " = ", value);
  return all;
}

GarmentTemplate::GarmentTemplate(const Json& garment, std::string key)
    : garment_(garment), key_(std::move(key)) {
  garment_.erase("replicas");
  garment_.erase("vary");
  numbers_ = number_paths(garment_, describe_scratch);
}

GarmentSpec GarmentTemplate::with(const std::vector<NumberValue>& values) const {
  Json object = garment_;
  for (const auto& [path, value] : values) {
    set_number(object, find_number(numbers_, path, key_ + ".vary"), value);
  }
  GarmentSpec spec;
  try {
    read_object_keys(object, key_, [&spec](Keys& keys) { describe_garment(keys, spec); });
  } catch (const SceneError& error) {
    throw SceneError(error.what() + with_values(values));
  }
  return spec;
}

std::vector<GarmentSpec> replicas_of(const GarmentSpec& spec, const Json& garment, const std::string& key,
                                     std::size_t number, std::uint64_t scene_seed) {
  if (!spec.is_batch()) return {spec};
  const auto count = static_cast<std::size_t>(spec.replicas.value_or(1));
  const GarmentTemplate base(garment, key);
  std::vector<std::vector<double>> columns;  // shape [path, replica]
  for (const auto& [path, variation] : spec.vary) {
    find_number(base.numbers(), path, key + ".vary");
    columns.push_back(variation_values(variation, count, derived_seed(scene_seed, number, path),
                                       text(key, ".vary.", path)));
  }
  std::vector<GarmentSpec> replicas;
  std::vector<NumberValue> values(columns.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t v = 0; v < columns.size(); ++v) values[v] = {spec.vary[v].first, columns[v][i]};
    replicas.push_back(values.empty() ? spec : base.with(values));
    replicas.back().name = text(spec.name.empty() ? text("garment ", number) : spec.name, "[", i, "]");
  }
  return replicas;
}

}  // namespace isocloth
