// What methods say that they know of scenes.
#include "engine/model/methods.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "tests/support/feature_scenes.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

std::string refusal(const auto& ask) {
  try {
    ask();
  } catch (const SceneError& error) {
    return error.what();
  }
  return "";
}

TEST(Methods, RefuseWhatIsNew) {
  const auto made_up = static_cast<Feature>(feature_count);
  for (const Method* method : all_methods()) {
    const std::string said = refusal([&] { require_known(*method, made_up, "garments[0].magnet", "some"); });
    EXPECT_TRUE(said.starts_with(text("garments[0].magnet: found some, expected none with ", method->name)))
        << said;
  }
}

TEST(Methods, RefuseWhatTheirListDoesNotName) {
  for (const Method* method : all_methods())
    for (const FeatureInfo& info : feature_list) {
      const bool accepts = method->accepts({info.feature});
      EXPECT_EQ(refusal([&] { require_known(*method, info.feature, "key", "some"); }).empty(), accepts)
          << method->name << ' ' << info.name;
      EXPECT_FALSE(method->known.has(info.feature) && method->idle.has(info.feature)) << info.name;
    }
}

TEST(Methods, OfRecipesAreTheirOwn) {
  for (const Recipe& recipe : recipes()) {
    EXPECT_EQ(method_of(recipe).name, text("the recipe ", recipe.name));
    Scene scene = plain_scene(std::string(recipe.name));
    if (recipe.has_edge_springs()) scene.garments[0].fabric.structural_spring.stiffness = 100;
    EXPECT_EQ(refusal([&] { validate_scene(scene); }), "");
  }
  Recipe other = recipes().front();
  other.name = "another";
  EXPECT_NE(refusal([&] { require_known(method_of(other), plain_scene()); }), "");
}

TEST(Methods, FindEachFeatureOfAScene) {
  for (const FeatureInfo& info : feature_list) {
    if (info.feature == Feature::program_forces) continue;
    const Scene scene = scene_with(info.feature);
    const bool is_in_build = models().missing.empty() || scene.wind.model != WindModel::panels;
    if (!has_recipe(scene.recipe) || !is_in_build) continue;  // ISOCLOTH_MODELS=OFF
    EXPECT_EQ(refusal([&] { validate_scene(scene); }), "") << info.name;
    EXPECT_TRUE(all_features(scene).has(info.feature)) << info.name;
    // Where it is, and what: a method that knows everything else refuses it.
    FeatureSet others;
    for (const FeatureInfo& other : feature_list)
      if (other.feature != info.feature) others = others | FeatureSet{other.feature};
    const Method blind{"a method", others};
    const std::string said = refusal([&] { require_known(blind, scene); });
    EXPECT_NE(said.find(text(", expected ", info.instead, " with a method")), std::string::npos) << said;
  }
}

TEST(Methods, SayWhereAndWhatToDo) {
  Scene scene = scene_with(Feature::drag);
  EXPECT_EQ(refusal([&] { require_known(methods::gradients, scene); }),
            "garments[0].fabric.drag: found some, expected none with gradients (Tape): a run has no gradient "
            "with it");
  scene = scene_with(Feature::bands);
  scene.recipe = "coltraro2022";
  EXPECT_EQ(refusal([&] { validate_scene(scene); }),
            "garments[0].mesh: found 1 pieces of elastic band, expected none with the recipe coltraro2022, "
            "whose rows are not elastic: use membrane");
}

// Without strength hinges are refused by recipes alone: a fabric may get it.
TEST(Methods, LookPastWhatHasNoStrength) {
  Scene scene = scene_with(Feature::hinges);
  scene.garments[0].fabric.bending_stiffness = 0;
  EXPECT_EQ(refusal([&] { require_known(methods::gradients, scene); }), "");
  scene.recipe = "coltraro2022";
  EXPECT_NE(refusal([&] { validate_scene(scene); }), "");
  scene = scene_with(Feature::wind);
  EXPECT_NE(refusal([&] { require_known(methods::static_sheet, scene); }), "");
  scene.garments[0].fabric.drag = {};
  EXPECT_EQ(refusal([&] { require_known(methods::static_sheet, scene); }), "");
}

/// The page of what methods know.
std::string page() {
  std::ostringstream out;
  out << "# What methods know\n\n"
         "What a scene has and what takes it: x acts, o may be there and has no part, all else is refused "
         "with "
         "the key. The lists are\n[methods.cpp](../../engine/model/methods.cpp); a test compares this page "
         "with "
         "them.\n\n";
  std::string columns = "\n| |";
  for (std::size_t m = 1; m <= all_methods().size(); ++m) {
    out << m << ". " << all_methods()[m - 1]->name << '\n';
    columns += text(' ', m, " |");
  }
  out << columns;
  out << "\n|---|";
  for (std::size_t m = 0; m < all_methods().size(); ++m) out << "---|";
  for (const FeatureInfo& info : feature_list) {
    out << "\n| " << info.name << " |";
    for (const Method* method : all_methods())
      out << (method->known.has(info.feature) ? " x |" : method->idle.has(info.feature) ? " o |" : " |");
  }
  out << '\n';
  return out.str();
}

TEST(Methods, AreThoseOfThePage) {
  std::ifstream file(ISOCLOTH_SOURCE_DIR "/host/docs/FEATURES.md");
  std::stringstream found;
  found << file.rdbuf();
  const std::string right = testing::TempDir() + "FEATURES.md";
  if (found.str() != page()) std::ofstream(right) << page();
  EXPECT_TRUE(found.str() == page()) << "host/docs/FEATURES.md differs from the lists; copy " << right;
}

}  // namespace
}  // namespace isocloth
