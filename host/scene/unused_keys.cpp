#include "host/scene/unused_keys.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/text.hpp"
#include "engine/model/fabric_numbers.hpp"

namespace isocloth {
namespace {

bool has(const Json& object, const char* key) { return object.is_object() && object.contains(key); }

/// Whether a description of a mesh may have seams.
bool may_be_sewn(const Json& mesh) {
  return has(mesh, "panels") || has(mesh, "uv_scale") || has(mesh, "garment");
}

}  // namespace

std::vector<std::string> unused_keys(const Json& root, const Recipe& recipe) {
  std::vector<std::string> lines;
  const bool projects = recipe.solver == SolverFamily::projection;
  if (const char* const idle = projects ? "impulse" : "projection"; has(root, idle))
    lines.push_back(text(idle, ": no effect with the recipe ", recipe.name,
                         projects ? "; see projection" : "; see impulse"));
  for (std::size_t g = 0; g < root["garments"].size(); ++g) {
    const Json& garment = root["garments"][g];
    const std::string key = text("garments[", g, "].");
    const Json fabric = garment.value("fabric", Json::object());
    for (const FabricNumber& number : fabric_numbers())
      if (number.acts_in && !number.acts_in(recipe) && has(fabric, number.name))
        lines.push_back(text(key, "fabric.", number.name, ": no effect with the recipe ", recipe.name,
                             recipe.is_elastic() ? ", whose springs have stretch_stiffness alone"
                                                 : ", whose rows do not stretch",
                             "; use membrane"));
    if (has(garment, "sewing") && !may_be_sewn(garment["mesh"]))
      lines.push_back(text(key, "sewing: no effect on a mesh without seams; see mesh.panels"));
    if (has(garment, "layer") && !has(root, "sewing"))
      lines.push_back(text(key, "layer: no effect without sewing of the scene"));
    for (const auto& [list, idle] : {std::pair{"seams", "order"}, {"panels", "layer"}}) {
      if (has(root, "sewing") || !has(garment["mesh"], list)) continue;
      const Json& all = garment["mesh"][list];
      const auto has_idle = [&](const Json& each) { return has(each, idle); };
      if (const auto found = std::ranges::find_if(all, has_idle); found != all.end())
        lines.push_back(text(key, "mesh.", list, "[", found - all.begin(), "].", idle,
                             ": no effect without sewing of the scene"));
    }
  }
  return lines;
}

}  // namespace isocloth
