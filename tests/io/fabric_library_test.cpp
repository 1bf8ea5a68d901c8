// The fabrics of bench/fabrics, as files that a scene names.
#include <gtest/gtest.h>

#include "engine/material/fabric_presets.hpp"
#include "host/files/text_file.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

const fs::path library = fs::path(ISOCLOTH_SOURCE_DIR) / "bench" / "fabrics";

Fabric read_fabric(const TemporaryFolder& folder, const fs::path& file, const std::string& recipe) {
  folder.write("scene.json", R"({"recipe": ")" + recipe + R"(", "step": 0.01, "duration": 0.1, "garments": [{
    "mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]},
    "fabric": {"file": ")" + file.string() +
                                 R"("}}]})");
  return read_scene(folder / "scene.json", {{library}}).garments[0].fabric;
}

TEST(FabricLibrary, IsReadWhole) {
  const TemporaryFolder folder;
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(library)) {
    const bool is_inextensible = entry.path().filename().string().starts_with("coltraro2022");
    const Fabric fabric = read_fabric(folder, entry.path(), is_inextensible ? "coltraro2022" : "membrane");
    EXPECT_GT(fabric.gravity_density, 0) << entry.path();
    EXPECT_EQ(fabric.mass_damping > 1, is_inextensible) << entry.path();
    ++count;
  }
  EXPECT_EQ(count, fabric_presets().size() + 8);
}

TEST(FabricLibrary, HasTheNumbersOfThePresets) {
  const TemporaryFolder folder;
  for (const FabricPreset& preset : fabric_presets()) {
    const Fabric fabric = read_fabric(folder, library / (std::string(preset.name) + ".json"), "membrane");
    SCOPED_TRACE(preset.name);
    for (const auto number : {&Fabric::density, &Fabric::gravity_density, &Fabric::bending_stiffness,
                              &Fabric::stretch_stiffness, &Fabric::weft_stretch_stiffness,
                              &Fabric::shear_stiffness, &Fabric::poisson_ratio, &Fabric::thickness})
      EXPECT_NEAR(fabric.*number, preset.fabric.*number, 1e-9 * preset.fabric.*number);
  }
}

}  // namespace
}  // namespace isocloth
