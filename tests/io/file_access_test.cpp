// A scene reads from the tree of its own folder alone, unless somebody allows more.
#include "host/files/file_access.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "engine/core/errors.hpp"
#include "host/scene/scene_file.hpp"
#include "host/scene/scene_template.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

constexpr const char* triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

std::string garment_text(const std::string& garment, const std::string& more = "") {
  return R"({"step": 0.01, "duration": 1, "recipe": "membrane", "garments": [{)" + garment + "}]" + more +
         "}";
}
std::string mesh_text(const std::string& file) {
  return garment_text(R"("mesh": {"file": ")" + file + R"("})");
}
constexpr const char* grid = R"("mesh": {"generator": "quad_grid", "nodes": [2, 2], "size": [1, 1]})";

/// A scene in one folder, what it may not read in another beside it whose name begins alike.
class FileAccessTest : public ::testing::Test {
 protected:
  FileAccessTest() {
    fs::create_directories(folder_ / "scenes/sub");
    fs::create_directory(folder_ / "scenes_of_others");
    folder_.write("scenes_of_others/t.obj", triangle);
    folder_.write("scenes/sub/t.obj", triangle);
    root_ = fs::canonical(folder_.path());
  }
  Scene read(const std::string& text, const FileAccess& access = {}) const {
    return read_scene(folder_.write("scenes/scene.json", text), access);
  }
  void expect_refused(const std::string& text, const std::string& key, const fs::path& target) const {
    SCOPED_TRACE(text);
    const std::string message = message_of<SceneError>([&] { read(text); });
    for (const std::string& part :
         {"scene.json: " + key + ": found \"", "which is " + target.string(),
          "in the tree of " + (root_ / "scenes").string(), "--allow " + target.parent_path().string()})
      EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NO_THROW(read(text, {{target.parent_path()}}));
    EXPECT_NO_THROW(read(text, {{"/"}}));
    EXPECT_THROW(read(text, {{folder_ / "scenes/sub"}}), SceneError);
  }
  const TemporaryFolder folder_;
  fs::path root_;
};

TEST_F(FileAccessTest, FilesBelowTheSceneAreRead) {
  for (const std::string name : {"sub/t.obj", "sub/../sub/t.obj", "./sub//t.obj"})
    EXPECT_NO_THROW(read(mesh_text(name))) << name;
  EXPECT_NO_THROW(read(mesh_text((folder_ / "scenes/sub/t.obj").string())));
  fs::create_directory_symlink(folder_ / "scenes/sub", folder_ / "scenes/link");
  EXPECT_NO_THROW(read(mesh_text("link/t.obj")));
  // Named by a link, too, and from within its own folder.
  fs::create_directory_symlink(folder_ / "scenes", folder_ / "other_name");
  EXPECT_NO_THROW(read_scene(folder_ / "other_name/scene.json"));
  const fs::path here = fs::current_path();
  fs::current_path(folder_ / "scenes");
  EXPECT_NO_THROW(read_scene("scene.json"));
  fs::current_path(here);
}

TEST_F(FileAccessTest, FilesElsewhereAreRefused) {
  const fs::path other = root_ / "scenes_of_others/t.obj";
  expect_refused(mesh_text("../scenes_of_others/t.obj"), "garments[0].mesh.file", other);
  expect_refused(mesh_text(other.string()), "garments[0].mesh.file", other);
  fs::create_symlink(other, folder_ / "scenes/innocent.obj");
  expect_refused(mesh_text("innocent.obj"), "garments[0].mesh.file", other);
  fs::create_directory_symlink(root_ / "scenes_of_others", folder_ / "scenes/sub/deep");
  expect_refused(mesh_text("sub/deep/t.obj"), "garments[0].mesh.file", other);
}

TEST_F(FileAccessTest, EveryKeyIsAsked) {
  const fs::path others = root_ / "scenes_of_others";
  const auto out = [&](const std::string& name, const std::string& content) {
    folder_.write("scenes_of_others/" + name, content);
    return R"("file": "../scenes_of_others/)" + name + "\"";
  };
  const std::string way = out("way.csv", "0, 0, 0, 0\n2, 0, 0, 0\n"),
                    poses = out("poses.csv", "0, 0, 0, 0, 0, 0, 0\n2, 0, 0, 0, 0, 0, 0\n"),
                    curve = out("curve.csv", "0.1, 1\n0.2, 3\n"),
                    fabric = out("fabric.json", R"({"density": 0.2})"), heights = out("h.txt", "0 0\n0 0\n"),
                    solid = out("s.obj",
                                "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const std::string body = std::string(grid) + ", ";
  expect_refused(
      garment_text(body + R"("pins": [{"select": {"nodes": [0]}, "motion": {"type": "recorded", )" + way +
                   "}}]"),
      "garments[0].pins[0].motion.file", others / "way.csv");
  expect_refused(garment_text(body + R"("fabric": {)" + fabric + "}"), "garments[0].fabric.file",
                 others / "fabric.json");
  expect_refused(garment_text(body + R"("fabric": {"curves": {"warp": {)" + curve + "}}}"),
                 "garments[0].fabric.curves.warp.file", others / "curve.csv");
  expect_refused(garment_text(body + R"("grippers": [{"region": {"type": "sphere", "radius": 1},
                                          "motion": {"type": "recorded", )" +
                              poses + "}}]"),
                 "garments[0].grippers[0].motion.file", others / "poses.csv");
  const auto obstacle = [&](const std::string& keys) {
    return garment_text(grid, R"(, "obstacles": [{"position": [0, 0, -5], )" + keys + "}]");
  };
  expect_refused(obstacle(R"("shape": {"type": "height_field", "spacing": 1, "heights": {)" + heights + "}}"),
                 "obstacles[0].shape.heights.file", others / "h.txt");
  expect_refused(obstacle(R"("shape": {"type": "mesh", )" + solid + "}"), "obstacles[0].shape.file",
                 others / "s.obj");
  expect_refused(garment_text(grid, R"(, "bodies": [{"mass": 1, "position": [0, 0, -5],
                                          "shape": {"type": "mesh", )" +
                                        solid + "}}]"),
                 "bodies[0].shape.file", others / "s.obj");
  // What a file names that the scene may read.
  folder_.write("scenes/sub/soft.json",
                R"({"curves": {"warp": {"file": "../../scenes_of_others/curve.csv"}}})");
  const std::string message =
      message_of<SceneError>([&] { read(garment_text(body + R"("fabric": {"file": "sub/soft.json"})")); });
  EXPECT_NE(message.find("soft.json: curves.warp.file: found \"../../scenes_of"), std::string::npos)
      << message;
}

TEST_F(FileAccessTest, NamesThatMeanAnotherFileAreRefused) {
  // Resolved as a whole it lies below the scene; the system would open what stands before the zero.
  const std::string zero = "/../../../../.." + (folder_ / "scenes/sub/t.obj").string();
  const std::string message = message_of<SceneError>(
      [&] { read(mesh_text((folder_ / "scenes_of_others/t.obj").string() + "\\u0000" + zero)); });
  EXPECT_NE(message.find("a name with a zero byte"), std::string::npos) << message;
  fs::create_symlink("loop.obj", folder_ / "scenes/loop.obj");
  EXPECT_NE(message_of<SceneError>([&] { read(mesh_text("loop.obj")); }).find("lead in circles"),
            std::string::npos);
}

TEST_F(FileAccessTest, PipesAndHugeFilesBelowTheSceneAreRefusedAtOnce) {
  ASSERT_EQ(::mkfifo((folder_ / "scenes/pipe.obj").c_str(), 0600), 0);
  EXPECT_NE(message_of<FileError>([&] { read(mesh_text("pipe.obj")); }).find("found a pipe"),
            std::string::npos);
  const fs::path huge = folder_.write("scenes/huge.obj", triangle);
  fs::resize_file(huge, std::uintmax_t{10} << 30);  // takes no room on the disk
  EXPECT_NE(message_of<FileError>([&] {
              read(mesh_text("huge.obj"));
            }).find("found 10737418240 bytes, expected at most 2147483648"),
            std::string::npos);
}

TEST_F(FileAccessTest, CopiesAndTemplatesKeepWhatIsAllowed) {
  const fs::path path = folder_.write("scenes/scene.json", mesh_text("../scenes_of_others/t.obj"));
  const FileAccess allowed{{root_ / "scenes_of_others"}};
  EXPECT_THROW(portable_scene_text(path), SceneError);
  EXPECT_THROW(SceneTemplate{path}, SceneError);
  const fs::path copy = folder_.write("scenes/sub/copy.json", portable_scene_text(path, allowed));
  EXPECT_THROW(read_scene(copy), SceneError);
  EXPECT_EQ(read_scene(copy, allowed).garments[0].mesh.node_count(), 3);
  EXPECT_EQ(SceneTemplate(path, allowed).json_with({})["garments"][0]["mesh"]["file"],
            (folder_ / "scenes_of_others/t.obj").string());
}

}  // namespace
}  // namespace isocloth
