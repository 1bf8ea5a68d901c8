#include "host/scene/unused_keys.hpp"

#include "engine/core/text.hpp"

namespace isocloth {
namespace {

bool has(const Json& object, const char* key) { return object.is_object() && object.contains(key); }

/// Of the four keys of elastic rows that no other check refuses: those that these rows have no place for.
std::vector<const char*> idle_stiffness(const Recipe& recipe) {
  if (recipe.solver == SolverFamily::semi_implicit) return {};
  if (!recipe.is_elastic())
    return {"stretch_stiffness", "weft_stretch_stiffness", "shear_stiffness", "poisson_ratio"};
  if (recipe.holds_edges()) return {"weft_stretch_stiffness", "shear_stiffness", "poisson_ratio"};
  return {};
}

/// Whether a description of a mesh may have seams.
bool may_be_sewn(const Json& mesh) { return has(mesh, "panels") || has(mesh, "uv_scale"); }

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
    for (const char* const idle : idle_stiffness(recipe))
      if (has(fabric, idle))
        lines.push_back(text(key, "fabric.", idle, ": no effect with the recipe ", recipe.name,
                             recipe.is_elastic() ? ", whose springs have stretch_stiffness alone"
                                                 : ", whose rows do not stretch",
                             "; use membrane"));
    if (has(garment, "sewing") && !may_be_sewn(garment["mesh"]))
      lines.push_back(text(key, "sewing: no effect on a mesh without seams; see mesh.panels"));
  }
  return lines;
}

}  // namespace isocloth
