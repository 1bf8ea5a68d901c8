#include "engine/model/scene_features.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/fields.hpp"
#include "engine/core/text.hpp"
#include "engine/model/resolved_scene.hpp"

namespace isocloth {
namespace {

static_assert(member_count<Fabric>() == 25 && member_count<Garment>() == 16 && member_count<Scene>() == 15 &&
                  member_count<Wind>() == 7 && member_count<ContactSettings>() == 10 &&
                  member_count<Recipe>() == 7 && member_count<Mesh>() == 9,
              "of a new member: is it a feature, or does every method know it? Then count it here");

constexpr bool in_order() {
  for (std::size_t i = 0; i < feature_count; ++i)
    if (feature_list[i].feature != static_cast<Feature>(i) || feature_list[i].instead == nullptr)
      return false;
  return true;
}
static_assert(in_order(), "a feature has no line in its place of feature_list");

/// Takes note of features, and of where the first is that is not among those that are known.
struct Finder {
  FeatureSet known{};
  bool with_weak = true;
  std::string_view key{};
  FeatureSet all{};
  std::optional<FeatureUse> other{};

  template <class... Found>
  void note(Feature feature, bool exists, std::string_view name, const Found&... found) {
    if (!exists) return;
    all = all | FeatureSet{feature};
    if (!other && !known.has(feature)) other = {feature, text(key, name), text(found...)};
  }
  /// Of one that has no strength where !acts.
  template <class... Found>
  void note_strong(Feature feature, bool exists, bool acts, std::string_view name, const Found&... found) {
    note(feature, exists && (acts || with_weak), name, found...);
  }
};

bool has(const Friction& friction) { return friction.static_ > 0 || friction.dynamic > 0; }
bool has(const auto& pair) requires requires { pair.friction; }
{ return has(pair.friction); }
bool is_still(const auto& motion) { return std::holds_alternative<FixedMotion>(motion); }

Feature feature_of(const Recipe& recipe) {
  switch (recipe.solver) {
    case SolverFamily::projection:
      return Feature::projection;
    case SolverFamily::impulse:
      return Feature::impulses;
    case SolverFamily::impulse_system:
      return Feature::impulse_system;
    case SolverFamily::semi_implicit:
      return recipe.name == "terzopoulos1987_implicit" ? Feature::implicit_tensors : Feature::tensors;
  }
  return Feature::projection;
}

void note_recipe(Finder& finder, const Recipe& recipe) {
  const auto note = [&](Feature feature) {
    const std::string_view key = std::exchange(finder.key, {});
    finder.note(feature, true, "recipe", recipe.name);
    finder.key = key;
  };
  note(feature_of(recipe));
  for (const RowFamily family : recipe.rows) switch (family) {
      case RowFamily::isometry:
      case RowFamily::corner_shear:
      case RowFamily::boundary_edges:
      case RowFamily::edges:
        note(Feature::rigid_rows);
        break;
      case RowFamily::elastic_edges:
        note(Feature::elastic_edges);
        break;
      case RowFamily::membrane:
        note(Feature::membrane);
        break;
      case RowFamily::springs:
        note(Feature::springs);
        break;
      case RowFamily::flexion_springs:  // of fabric and mesh
      case RowFamily::edge_limits:
      case RowFamily::principal_limits:
      case RowFamily::bands:
      case RowFamily::hinges:
      case RowFamily::large_angles:
      case RowFamily::folds:
        break;
    }
  switch (recipe.strain) {
    case StrainMeasure::green:
      break;
    case StrainMeasure::engineering:
      note(Feature::engineering_strain);
      break;
    case StrainMeasure::corotational:
      note(Feature::corotational_strain);
      break;
  }
}

void note_bending(Finder& finder, const Fabric& fabric, const Recipe& recipe) {
  const bool acts = has_bending_matrix(recipe, fabric) || has_hinges(recipe, fabric);
  const auto note = [&](Feature feature, const char* name) {
    finder.note_strong(feature, true, acts, ".fabric.bending", '"', name, '"');
  };
  switch (bending_of(recipe, fabric).model) {
    case BendingModel::automatic:
    case BendingModel::isometric:
      note(Feature::isometric_bending, "isometric");
      break;
    case BendingModel::plate:
      note(Feature::plate_bending, "plate");
      break;
    case BendingModel::mid_edge:
      note(Feature::mid_edge_bending, "mid_edge");
      break;
    case BendingModel::discrete_shells:
      note(Feature::hinges, "discrete_shells");
      break;
  }
  finder.note_strong(Feature::large_angles, fabric.large_angles, has_large_angles(fabric),
                     ".fabric.large_angles", "true");
}

void note_fabric(Finder& finder, const Fabric& fabric) {
  const auto note_spring = [&](Feature feature, const char* name, const SpringDamper& spring) {
    finder.note(feature, spring.exists(), name, "stiffness ", spring.stiffness, " and damping ",
                spring.damping);
  };
  finder.note(Feature::curves, fabric.curves.exist(), ".fabric.curves", "some");
  finder.note(Feature::viscosity, fabric.viscosity.exists(),
              fabric.viscosity.curves.exist() ? ".fabric.viscosity_curves"
                                              : ".fabric.stretch_viscosity, shear_viscosity",
              "some");
  finder.note(Feature::poisson_ratio, fabric.poisson_ratio > 0, ".fabric.poisson_ratio",
              fabric.poisson_ratio);
  finder.note(Feature::alpha, fabric.mass_damping > 0, ".fabric.mass_damping", fabric.mass_damping);
  finder.note(Feature::beta, fabric.stiffness_damping > 0, ".fabric.stiffness_damping",
              fabric.stiffness_damping);
  note_spring(Feature::structural_spring, ".fabric.structural_spring", fabric.structural_spring);
  const double yield = fabric.plasticity.yield_strain;
  finder.note(Feature::plasticity, yield > 0, ".fabric.yield_strain", yield);
  finder.note(Feature::memory, fabric.memory.exists(), ".fabric.memory", "some");
  finder.note(Feature::strain_limit, fabric.strain_limit > 0, ".fabric.strain_limit", fabric.strain_limit);
  finder.note(Feature::principal_strain_limit, fabric.principal_strain_limit > 0,
              ".fabric.principal_strain_limit", fabric.principal_strain_limit);
  note_spring(Feature::shear_spring, ".fabric.shear_spring", fabric.shear_spring);
  note_spring(Feature::bend_spring, ".fabric.bend_spring", fabric.bend_spring);
  finder.note(Feature::compression, fabric.compression.exists(), ".fabric.compression", "some");
  finder.note(Feature::drag, fabric.drag.exists(), ".fabric.drag", "some");
}

void note_garment(Finder& finder, const Garment& garment) {
  const Mesh& mesh = garment.mesh;
  finder.note(Feature::bands, !mesh.bands.empty(), ".mesh", mesh.bands.size(), " pieces of elastic band");
  finder.note(Feature::folds, !mesh.folds.empty(), ".mesh", mesh.folds.size(), " folds");
  finder.note(Feature::fabric_factors, !mesh.face_factors.empty(), ".mesh", "faces of other fabrics");
  finder.note(Feature::driven_fasteners, !garment.zippers.empty(), ".zippers", garment.zippers.size(),
              " zippers");
  finder.note(Feature::driven_fasteners, !garment.drawstrings.empty(), ".drawstrings",
              garment.drawstrings.size(), " drawstrings");
  finder.note(Feature::seams, !mesh.stitches.empty(), ".mesh", mesh.stitches.size(), " stitches");
  finder.note(Feature::buttons, !mesh.buttons.empty(), ".mesh", mesh.buttons.size(), " buttons");
  for (std::size_t p = 0; p < garment.pins.size(); ++p)
    if (!is_still(garment.pins[p].motion))
      finder.note(Feature::moving_pins, true, text(".pins[", p, "].motion"), "a motion");
  finder.note(Feature::grippers, !garment.grippers.empty(), ".grippers", "some");
  finder.note(Feature::pressure, garment.pressure != 0, ".pressure", garment.pressure);
  finder.note(Feature::forces, !garment.forces.empty(), ".forces", "some");
  finder.note(Feature::force_slopes, !garment.force_slopes.empty(), ".force_slopes", "some");
}

void note_all(Finder& finder, const Garment& garment, const Recipe& recipe) {
  note_recipe(finder, recipe);
  note_bending(finder, garment.fabric, recipe);
  note_fabric(finder, garment.fabric);
  note_garment(finder, garment);
}

void note_settings(Finder& finder, const Scene& scene) {
  const ResolvedScene resolved(scene);
  if (!resolved.projects) return;
  switch (scene.projection.method) {
    case ProjectionMethod::proximal_newton:
      break;
    case ProjectionMethod::fast_projection:
      finder.note(Feature::fast_projection, true, "projection.method", "\"fast_projection\"");
      break;
  }
  switch (resolved.metric) {
    case Metric::implicit_b:
      break;
    case Metric::mass:
      finder.note(Feature::mass_metric, true, "projection.metric", "\"mass\"");
      break;
  }
  switch (resolved.integrator) {
    case Integrator::automatic:
    case Integrator::backward_euler:
      finder.note(Feature::backward_euler, true, "projection.integrator", "\"backward_euler\"");
      break;
    case Integrator::bdf2:
      finder.note(Feature::bdf2, true, "projection.integrator", "\"bdf2\"");
      break;
  }
  finder.note(Feature::budget, scene.projection.budget.exists(), "projection.budget", "some");
  finder.note(Feature::sleep, scene.projection.sleep.after > 0, "projection.sleep.after",
              scene.projection.sleep.after);
}

void note_wind(Finder& finder, const Scene& scene) {
  const Wind& wind = scene.wind;
  const auto feels =
      std::ranges::find_if(scene.garments, [](const Garment& g) { return g.fabric.drag.exists(); });
  const bool is_felt = feels != scene.garments.end();
  finder.note_strong(Feature::wind, !(wind.velocity == Vec3d{}), is_felt, "wind.velocity", "wind",
                     is_felt ? text(" and garments[", feels - scene.garments.begin(), "].fabric.drag") : "");
  finder.note(Feature::gusts, wind.gusts > 0, "wind.gusts", wind.gusts);
  switch (wind.model) {
    case WindModel::drag:
      break;
    case WindModel::panels:
      finder.note(Feature::flow, true, "wind.model", "\"panels\"");
      break;
  }
}

void note_around(Finder& finder, const Scene& scene) {
  const ContactSettings& contact = scene.contact;
  note_settings(finder, scene);
  finder.note(Feature::keyframes, !scene.keyframes.empty(), "keyframes", scene.keyframes.size());
  finder.note(Feature::bodies, !scene.bodies.empty(), "bodies", scene.bodies.size());
  note_wind(finder, scene);
  finder.note(Feature::obstacles, !scene.obstacles.empty(), "obstacles", "some");
  for (std::size_t o = 0; o < scene.obstacles.size(); ++o) {
    if (!is_still(scene.obstacles[o].motion))
      finder.note(Feature::moving_obstacles, true, text("obstacles[", o, "].motion"), "a motion");
    if (has(scene.obstacles[o]))
      finder.note(Feature::friction, true, text("obstacles[", o, "].friction"), "some");
  }
  finder.note(Feature::cloth_contact, contact.cloth, "contact.cloth", "true");
  const auto any = [](const auto& pairs) {
    return std::ranges::any_of(pairs, [](const auto& p) { return has(p); });
  };
  finder.note(Feature::friction,
              any(scene.bodies) || any(contact.pairs) || any(contact.body_pairs) ||
                  (contact.cloth && (has(contact.cloth_friction) || any(contact.cloth_pairs))),
              "contact", "friction");
  finder.note(Feature::resolve_initial_penetration, contact.resolve_initial_penetration,
              "contact.resolve_initial_penetration", "true");
}

}  // namespace

FeatureSet features_of(const Garment& garment, const Recipe& recipe) {
  Finder finder;
  note_all(finder, garment, recipe);
  return finder.all;
}

FeatureSet surroundings_of(const Scene& scene) {
  Finder finder;
  note_around(finder, scene);
  return finder.all;
}

std::optional<FeatureUse> find_other(FeatureSet known, const Garment& garment, const Recipe& recipe,
                                     const std::string& key, bool with_weak) {
  Finder finder{.known = known, .with_weak = with_weak, .key = key};
  note_all(finder, garment, recipe);
  return finder.other;
}

std::optional<FeatureUse> find_other(FeatureSet known, const Scene& scene, bool with_weak) {
  Finder finder{.known = known, .with_weak = with_weak};
  note_around(finder, scene);
  return finder.other;
}

}  // namespace isocloth
