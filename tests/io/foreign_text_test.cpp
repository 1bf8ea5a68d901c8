// Texts as other programs write them: byte-order marks, lines that go on, other ends of lines; and how
// messages name what is in them.
#include <gtest/gtest.h>

#include <cstdint>
#include <variant>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "host/files/error_text.hpp"
#include "host/files/number_rows.hpp"
#include "host/files/text_file.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

const std::string mark = "\xef\xbb\xbf";
const std::string square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

template <class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// ASCII as UTF-16, little endian.
std::string wide(const std::string& ascii) {
  std::string bytes;
  for (const char c : ascii) bytes += {c, '\0'};
  return bytes;
}

const std::pair<const char*, std::string> meshes[] = {
    {"a.obj", square + "f 1 2 3 4\n"},
    {"a.ply",
     "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement "
     "face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n"},
    {"a.stl",
     "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 "
     "0\nendloop\nendfacet\n"},
};

TEST(ForeignText, AMarkBeforeATextIsNoPartOfIt) {
  const TemporaryFolder folder;
  for (const auto& [name, content] : meshes) {
    const Mesh plain = read_surface(folder.write(name, content));
    const Mesh marked = read_surface(folder.write(name, mark + content));
    EXPECT_EQ(marked.positions, plain.positions) << name;
    EXPECT_EQ(marked.face_nodes, plain.face_nodes) << name;
    EXPECT_EQ(plain.positions.front(), Vec3d{}) << name;
  }
  const NumberRows rows = read_number_rows(folder.write("a.csv", mark + "1,2\n3,4\n"), 2, "two numbers");
  EXPECT_EQ(rows.values, (std::vector<double>{1, 2, 3, 4}));
  const std::string scene =
      R"({"step": 0.01, "duration": 0.1, "garments": [{"mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]},
          "fabric": {"preset": "cotton"}}]})";
  EXPECT_EQ(read_scene(folder.write("a.json", mark + scene)).garments.size(), 1U);
}

TEST(ForeignText, OtherEncodingsAreNamed) {
  const TemporaryFolder folder;
  const std::string expected =
      ": found a text of UTF-16 or UTF-32, expected UTF-8 or ASCII; save it as UTF-8";
  for (const auto& [name, content] : meshes)
    for (const std::string& bytes : {"\xff\xfe" + wide(content), wide(content), '\0' + wide(content),
                                     std::string("\xfe\xff\0v", 4), std::string("\0\0\xfe\xff", 4)}) {
      const std::filesystem::path path = folder.write(name, bytes);
      EXPECT_EQ(message_of([&] { read_surface(path); }), path.string() + expected);
    }
  const std::filesystem::path table = folder.write("a.csv", "\xff\xfe" + wide("1,2\n"));
  EXPECT_EQ(message_of([&] { read_number_rows(table, 2, "two numbers"); }), table.string() + expected);
}

TEST(ForeignText, ObjLinesGoOnBehindABackslashAndEndAsTheyLike) {
  for (const std::string face :
       {"f 1 2 3 4\n", "f 1 2 \\\n 3 4\n", "f 1 \\\r\n2 \\\r\n3 4", "f 1 2 \\\n\\\n3 4", "f 1 2 3 4 \\"}) {
    const Mesh mesh = parse_obj(square + face, "a.obj");
    EXPECT_EQ(mesh.face_nodes, (std::vector<Index>{0, 1, 2, 3})) << face;
  }
  // A path in a comment is no line that goes on.
  EXPECT_EQ(parse_obj("# C:\\meshes\\\n" + square + "f 1 2 3\n", "a.obj").positions.size(), 4U);
  std::string old = square + "f 1 2 3 4\n";
  for (char& c : old)
    if (c == '\n') c = '\r';
  EXPECT_EQ(parse_obj(old, "a.obj").positions.size(), 4U);
  EXPECT_EQ(parse_obj(old, "a.obj").face_count(), 1);
  EXPECT_EQ(message_of([&] { parse_obj(square + "f 1 2 \\\n 3 9\n", "a.obj"); }),
            "a.obj:5: f: found vertex 9, expected one of the 4 before this line, numbered from 1");
  EXPECT_EQ(message_of([&] { parse_obj(square + "f 1 2 \\\n 3 4\nv 0 x 0\n", "a.obj"); }),
            "a.obj:7: v: found \"x\", expected a finite number");
}

TEST(ForeignText, DamagedKeywordsOfObjAreNotSkipped) {
  EXPECT_EQ(message_of([&] { parse_obj("o a\nusemtl b-1\n?v 0 0 0\n", "a.obj"); }),
            "a.obj:3: found \"?v\", expected a keyword such as v, vt or f");
}

TEST(ForeignText, MessagesNameTheVerticesOfAnObjFileAsItDoes) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& content, double weld = 0) {
    const std::filesystem::path path = folder.write("a.obj", content);
    const std::string found = message_of([&] { read_mesh(path, {.weld = weld, .key = "garments[0].mesh"}); });
    return found.substr(found.find("a.obj"));
  };
  const std::string advice = "; or set mesh.repair to true, or use python -m isocloth repair";
  EXPECT_EQ(
      refusal(square + "f 1 2 4\nf 2 3 4\n# the same\nf 3 4 2\n"),
      "a.obj: face 3 (line 8) repeats face 2 (line 6): found nodes 3 4 2 twice, expected each face once; "
      "delete one of them" +
          advice);
  // Vertices 4 and 5 are one after welding, vertex 6 is of no face; the numbers stay those of the file.
  EXPECT_EQ(
      refusal(square + "v 0 1 0\nv 5 5 5\nf 1 2 3 4\nv 0 2 0\nf 5 3 7\nf 4 7 3\n", 1e-6),
      "a.obj: face 3 (line 10) repeats face 2 (line 9): found nodes 4 7 3 twice, expected each face once; "
      "delete one of them" +
          advice);
  // A polygon's triangles are called as it is, and what comes after them keeps its number.
  EXPECT_EQ(refusal(square + "v -1 0.5 0\nf 1 2 3 4 5\nf 1 3 3\n"),
            "a.obj: face 2 (line 7) repeats vertex 3 (line 3): found nodes 1 3 3, expected distinct nodes; "
            "delete the face" +
                advice);
}

TEST(ForeignText, AllFaultsOfAFileAreCountedAtOnce) {
  const TemporaryFolder folder;
  const std::filesystem::path path =
      folder.write("a.obj", square + "v 9 9 9\nv 1 2 0\nv 0 1 0\nf 1 2 3 4\nf 1 2 3 4\nf 2 3 2\nf 7 3 6\n");
  const std::string first =
      path.string() +
      ": face 3 (line 10) repeats vertex 2 (line 2): found nodes 2 3 2, expected distinct "
      "nodes; delete the face";
  EXPECT_EQ(
      message_of([&] { read_mesh(path); }),
      first +
          "; in all found 1 faces with a corner twice (first face 3 (line 10)), 1 vertices on others (first "
          "vertex 7 (line 7)), 1 faces that repeat another (first face 2 (line 9)); or set mesh.repair to "
          "true, or use python -m isocloth repair");
  std::vector<std::string> notes;
  MeshNames names;
  const Mesh mesh = read_mesh(path, {.repairs = true, .names = &names, .notes = &notes});
  EXPECT_EQ(mesh.node_count(), 5);
  EXPECT_EQ(mesh.face_count(), 2);
  EXPECT_EQ(names.node(4), "vertex 6 (line 6)");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(
      notes[0],
      path.string() +
          ": repaired: 1 unused vertices (first vertex 5 (line 5)), left out; 1 faces with a corner twice "
          "(first face 3 (line 10)), without the second, or left out; 1 vertices on others (first vertex 7 "
          "(line 7)), united; 1 faces that repeat another (first face 2 (line 9)), left out");
}

TEST(ForeignText, PolygonsAndUnusedVerticesAreNoFaults) {
  const TemporaryFolder folder;
  const std::filesystem::path path =
      folder.write("a.obj", "v 9 9 9\n" + square + "v -1 0.5 0\nf 2 3 4 5 6\n");
  std::vector<std::string> notes;
  const Mesh mesh = read_mesh(path, {.notes = &notes});
  EXPECT_EQ(mesh.node_count(), 5);
  EXPECT_EQ(mesh.face_count(), 3);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0],
            path.string() +
                ": 1 faces of more than 4 corners (first face 1 (line 7)), cut into triangles; 1 unused "
                "vertices (first vertex 1 (line 1)), left out");
  EXPECT_EQ(read_surface(path).face_count(), 3);
  const std::filesystem::path bow = folder.write(
      "b.obj", "v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nv 2 3 0\nv -1 3 0\nv 2 2 0\nf 1 2 3 4 5 6 7\n");
  EXPECT_EQ(
      message_of([&] { read_mesh(bow); }),
      bow.string() +
          ": found faults whose repair is a choice: 1 faces of more than 4 corners that cross themselves or "
          "have no area (first face 1 (line 8)), split or delete them");
}

TEST(ForeignText, APointCacheMayHaveAllVerticesOfAFile) {
  const TemporaryFolder folder;
  folder.write("a.obj", "v 0 0 0\nv 9 9 9\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 3 4 5\n");
  const auto read = [&](std::int32_t count) {
    std::string cache("POINTCACHE2\0", 12);
    const auto append = [&cache](auto value) {
      cache.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    for (const std::int32_t number : {1, count}) append(number);
    for (const float number : {0.0F, 1.0F}) append(number);
    append(std::int32_t{2});
    for (int frame = 0; frame < 2; ++frame)
      for (std::int32_t node = 0; node < count; ++node)
        for (const int axis : {0, 1, 2}) append(static_cast<float>(100 * frame + 10 * node + axis));
    folder.write("a.pc2", cache);
    const Scene scene =
        read_scene(folder.write("a.json", R"({"step": 0.1, "duration": 0.1, "garments": [{"mesh":
        {"file": "a.obj"}, "fabric": {"preset": "cotton"}, "pins": [{"select": {"all": true}, "motion": {"type":
        "recorded", "file": "a.pc2", "frames_per_second": 10}}]}]})"));
    return std::get<RecordedMotion>(scene.garments[0].pins[0].motion).positions;
  };
  EXPECT_EQ(read(4)[5], (Vec3d{110, 111, 112}));  // of the four that are left
  const std::vector<Vec3d> all = read(5);
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(all[0], (Vec3d{0, 1, 2}));
  EXPECT_EQ(all[5], (Vec3d{120, 121, 122}));
  const std::string message = message_of([&] { read(6); });
  EXPECT_NE(message.find("found 6 points, expected 4"), std::string::npos) << message;
}

TEST(ForeignText, ObstaclesAreMendedToo) {
  const TemporaryFolder folder;
  folder.write(
      "a.obj",
      "v .1 0 0\nv -.1 0 0\nv 0 .1 0\nv 0 -.1 0\nv 0 0 .1\nv 0 0 -.1\nv 5 5 5\nf 1 3 5\nf 3 2 5\nf 2 4 5\n"
      "f 4 5 1\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\nf 1 3 5\n");
  const auto read = [&](const std::string& repair) {
    return read_scene(
        folder.write("a.json", R"({"step": 0.1, "duration": 0.1, "garments": [{"mesh": {"generator":
        "quad_grid", "nodes": [3, 3], "size": [1, 1]}, "fabric": {"preset": "cotton"}, "transform": {"translation":
        [0, 0, 2]}}], "obstacles": [{"shape": {"type": "mesh", "file": "a.obj", "repair": )" +
                                   repair + "}}]}"));
  };
  const auto faces = [&](const std::string& repair) {
    return std::get<MeshShape>(read(repair).obstacles[0].shape).surface.face_count();
  };
  EXPECT_EQ(faces("false"), 9);
  EXPECT_EQ(faces("true"), 8);
}

TEST(ErrorText, SaysWhatHappenedInASentence) {
  EXPECT_EQ(error_sentence(SceneError("step: found 0, expected a number > 0")),
            "step: found 0, expected a number > 0");
  const std::string memory = error_sentence(std::bad_alloc());
  EXPECT_EQ(memory.rfind("out of memory", 0), 0U) << memory;
  std::string error;
  try {
    std::vector<double>().reserve(std::vector<double>().max_size() + 1);
  } catch (const std::exception& thrown) {
    error = error_sentence(thrown);
  }
  EXPECT_EQ(error, memory);
  try {
    static_cast<void>(std::vector<int>(1).at(3));
  } catch (const std::exception& thrown) {
    error = error_sentence(thrown);
  }
  EXPECT_EQ(error.rfind("an error of the program itself, which no scene or file should cause", 0), 0U)
      << error;
}

TEST(ErrorText, SaysWhatDidNotFitIntoMemory) {
  const auto fail = []() -> int { throw std::bad_alloc(); };
  const auto inner = [&] { return within_memory_of("motion.csv", fail); };
  EXPECT_EQ(message_of([&] { within_memory_of("garments[0].mesh", inner); }),
            "motion.csv: does not fit into the memory of this machine or process; make it smaller");
  EXPECT_EQ(within_memory_of("a", [] { return 3; }), 3);
}

}  // namespace
}  // namespace isocloth
