// What a build that is configured with ISOCLOTH_MODELS=OFF says of the models that it lacks.
#include "engine/model/models.hpp"
#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

constexpr const char* advice = ": not in this build; configure with -DISOCLOTH_MODELS=ON";

class MissingModels : public CommandTest {
 protected:
  /// What `check` says of a scene that it must refuse.
  std::string refusal(const Json& scene) const {
    write_scene("scene.json", scene);
    const Finished check = isocloth({"check", "scene.json"});
    EXPECT_EQ(check.code, 2);
    return check.errors;
  }
};

TEST_F(MissingModels, RecipesAreRefusedByName) {
  ASSERT_FALSE(models().missing.empty());
  for (const std::string_view recipe : models().missing) {
    Json scene = shaken_sheet(5);
    scene["recipe"] = recipe;
    EXPECT_EQ(refusal(scene), "isocloth: scene.json: recipe " + std::string(recipe) + advice + "\n");
  }
}

TEST_F(MissingModels, AirAndShapesAtTheStartAreRefused) {
  Json air = shaken_sheet(5);
  air["wind"] = {{"model", "panels"}, {"velocity", {5, 0, 0}}};
  EXPECT_EQ(refusal(air), std::string("isocloth: scene.json: wind.model \"panels\"") + advice + "\n");
  Json hung = shaken_sheet(5);
  hung["garments"][0]["initial"] = {{"drape", "laplace"}};
  EXPECT_EQ(refusal(hung),
            std::string("isocloth: scene.json: garments[0].initial.drape \"laplace\"") + advice + "\n");
}

TEST_F(MissingModels, CommandsAreRefused) {
  write_scene("scene.json", shaken_sheet(5));
  expect_refused(isocloth({"drape", "scene.json", "-o", "out", "--method", "weil"}),
                 std::string("the command drape") + advice);
  expect_refused(isocloth({"rest", "scene.json", "-o", "out", "--recipe", "breen1994"}),
                 std::string("recipe breen1994") + advice);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

}  // namespace
}  // namespace isocloth
