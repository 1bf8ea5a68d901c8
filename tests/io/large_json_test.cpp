// Scenes of ten megabytes take time in proportion to their length, whatever they are made of.
#include <gtest/gtest.h>

#include <ctime>

#include "engine/core/errors.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

template <class Item>
std::string repeated(int count, const Item& item) {
  std::string all;
  for (int i = 0; i < count; ++i) all += std::string(i == 0 ? "" : ",").append(item(std::to_string(i)));
  return all;
}
std::string scene(const std::string& garments, const std::string& more = "") {
  return R"({"step": 0.01, "duration": 0.02, "garments": [)" + garments + "]" + more + "}";
}
std::string sheet(const std::string& more = "", const std::string& nodes = "4, 4") {
  return R"({"name": "a", "mesh": {"generator": "quad_grid", "nodes": [)" + nodes +
         R"(], "size": [0.3, 0.3]})" + more + "}";
}

TEST(LargeJson, TakesTimeInProportionToItsLength) {
  const TemporaryFolder folder;
  const auto key = [](const std::string& i) { return "\"k" + i + "\": 1"; };
  const struct {
    const char* what;
    std::string scene, refusal;
  } cases[] = {
      {"empty objects", scene(repeated(3'000'000, [](const std::string&) { return "{}"; })),
       "garments[0].mesh"},
      {"empty lists", scene(repeated(3'000'000, [](const std::string&) { return "[]"; })), "garments[0]"},
      {"keys at the top", "{" + repeated(700'000, key) + "}", "unknown key \"k0\""},
      {"keys of an object", scene("{" + repeated(700'000, key) + "}"), "unknown key \"k0\""},
      {"a key twice", "{" + repeated(700'000, key) + ", \"k7\": 2}", "the key k7 twice in one object"},
      {"a long key", "{\"" + std::string(10'000'000, 'k') + "\": 1}", "unknown key \"kkk"},
      {"pins",
       scene(sheet(R"(, "pins": [)" +
                       repeated(200'000,
                                [](const std::string& i) {
                                  return R"({"name": "p)" + i + R"(", "select": {"nodes": [)" + i + "]}}";
                                }) +
                       "]",
                   "450, 450")),
       ""},
      {"obstacles",
       scene(sheet(), R"(, "obstacles": [)" +
                          repeated(100'000,
                                   [](const std::string& i) {
                                     return R"({"name": "o)" + i +
                                            R"(", "shape": {"type": "sphere", "radius": 0.1}})";
                                   }) +
                          "]"),
       ""},
      {"grippers",
       scene(sheet(
           R"(, "grippers": [)" +
           repeated(80'000,
                    [](const std::string& i) {
                      return R"({"name": "g)" + i +
                             R"(", "region": {"type": "sphere", "radius": 0.1}, "position": [0, 0, 0]})";
                    }) +
           "]")),
       ""},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    const auto file = folder.write("s.json", each.scene);
    const std::clock_t start = std::clock();  // of this process: others may hold it up
    if (each.refusal.empty()) {
      EXPECT_NO_THROW(read_scene(file));
    } else {
      const std::string message = message_of<SceneError>([&] { read_scene(file); });
      EXPECT_NE(message.find(each.refusal), std::string::npos) << message;
      EXPECT_LT(message.size(), 1000U);
    }
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, unless_sanitized(4, 60));
  }
}

}  // namespace
}  // namespace isocloth
