#include "host/meshes/mesh_file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

template <class Number>
void append(std::string& bytes, Number value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

const std::string triangle_vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

TEST(MeshFile, PlyKeepsEveryBitOfAMixedMesh) {
  Mesh mesh = irregular_triangles(5, 12, 0.3, 0.7, 3);
  const Index base = mesh.node_count();
  for (const Vec3d p : {Vec3d{2, 0, 1. / 3}, {3, 0, 0.1}, {3, 1, 1e-17}, {2, 1, -0.7}})
    mesh.positions.push_back(p);
  mesh.add_face({base, base + 1, base + 2, base + 3});
  mesh.corner_uvs.clear();
  const TemporaryFolder folder;
  write_ply(folder / "mesh.ply", mesh, mesh.positions);
  const Mesh read = read_mesh(folder / "mesh.ply");
  EXPECT_EQ(read.positions, mesh.positions);
  EXPECT_EQ(read.face_begin, mesh.face_begin);
  EXPECT_EQ(read.face_nodes, mesh.face_nodes);
  EXPECT_TRUE(read.corner_uvs.empty());
}

TEST(MeshFile, ObjReadsEveryFormOfCorner) {
  const std::string head =
      "# cloth\r\nv 0 0 0\r\nv 1 0 0 1\r\nv\t1 1 0\nv 0 +1e0 0\nvn 0 0 1\nvt 0 0\nvt 2 0\nvt 2 2\nvt 0 2 0\n";
  const std::vector<Index> expected{0, 1, 2, 3};
  for (const char* face :
       {"f 1 2 3 4", "f 1/1 2/2 3/3 4/4", "f 1//1 2//1 3//1 4//1", "f 1/1/1 2/2/1 3/3/1 4/4/1",
        "f -4 -3 -2 -1", "f -4/-4 -3/-3 -2/-2 -1/-1  # last"}) {
    const Mesh mesh = parse_obj(head + face, "cloth.obj");
    EXPECT_EQ(mesh.face_nodes, expected) << face;
    EXPECT_EQ(mesh.positions[3], (Vec3d{0, 1, 0}));
    const bool has_uvs = std::strstr(face, "/") && !std::strstr(face, "//");
    ASSERT_EQ(mesh.corner_uvs.size(), has_uvs ? 4 : 0) << face;
    if (has_uvs) {
      EXPECT_EQ(mesh.corner_uvs[2], (Vec2d{2, 2}));
    }
  }
}

TEST(MeshFile, ObjKeepsUvsOnlyWhenEveryCornerHasOne) {
  const std::string head = triangle_vertices + "v 1 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n";
  EXPECT_EQ(parse_obj(head, "a.obj").corner_uvs.size(), 3);
  EXPECT_TRUE(parse_obj(head + "f 2 4 3\n", "a.obj").corner_uvs.empty());
  EXPECT_TRUE(parse_obj(head + "f 2/2 4 3/3\nf 2/1 4/2 3/3\n", "a.obj").corner_uvs.empty());
}

TEST(MeshFile, PlyReadsAsciiAndBinaryAlike) {
  const std::string properties =
      "comment made by hand\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
      "property uchar red\nproperty float s\nproperty float t\nelement edge 1\nproperty int a\nelement face "
      "1\n"
      "property uchar flags\nproperty list uchar uint vertex_index\nend_header\n";
  const std::string ascii = "ply\nformat ascii 1.0\n" + properties +
                            "0 0 0 9 0 0\n1 0 0 9 2 0\n1 1 0.5 9 2 2\n0 1 0 9 0 2\n7\n1 4 0 1 2 3\n";
  std::string binary = "ply\nformat binary_little_endian 1.0\n" + properties;
  const float vertices[4][5] = {{0, 0, 0, 0, 0}, {1, 0, 0, 2, 0}, {1, 1, 0.5F, 2, 2}, {0, 1, 0, 0, 2}};
  for (const auto& v : vertices) {
    for (int i = 0; i < 3; ++i) append(binary, v[i]);
    append(binary, static_cast<unsigned char>(9));
    append(binary, v[3]);
    append(binary, v[4]);
  }
  append(binary, 7);
  append(binary, static_cast<unsigned char>(1));
  append(binary, static_cast<unsigned char>(4));
  for (const unsigned node : {0U, 1U, 2U, 3U}) append(binary, node);
  for (const std::string& content : {ascii, binary}) {
    const Mesh mesh = parse_ply(content, "a.ply");
    EXPECT_EQ(mesh.positions[2], (Vec3d{1, 1, 0.5}));
    EXPECT_EQ(mesh.face_nodes, (std::vector<Index>{0, 1, 2, 3}));
    ASSERT_EQ(mesh.corner_uvs.size(), 4);
    EXPECT_EQ(mesh.corner_uvs[1], (Vec2d{2, 0}));
  }
}

TEST(MeshFile, WriteRefusesWhatIsNotFinite) {
  const TemporaryFolder folder;
  const Mesh mesh = quad_grid(2, 2, 1, 1);
  std::vector<Vec3d> positions = mesh.positions;
  positions[3].y = std::nan("");
  const std::string message =
      message_of<NumericalError>([&] { write_ply(folder / "mesh.ply", mesh, positions); });
  EXPECT_NE(message.find("node 3"), std::string::npos) << message;
  positions.pop_back();
  message_of<ShapeError>([&] { write_ply(folder / "mesh.ply", mesh, positions); });
  EXPECT_EQ(folder.entry_count(), 0);
}

struct BadMesh {
  const char* name;
  std::string content;
  const char* expected;
};

const std::string ply_head =
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
const std::string ply_faces = "element face 1\nproperty list uchar int vertex_indices\nend_header\n";

const BadMesh bad_meshes[] = {
    {"a.obj", "", "empty"},
    {"a.obj", "just some words\n", "empty"},
    {"a.obj", "v 0 0 0\nv 1 nan 0\n", "a.obj:2: v: found \"nan\""},
    {"a.obj", "v 0 0 0\nv 1 inf 0\n", "a.obj:2: v: found \"inf\""},
    {"a.obj", "v 0 0 1e999\n", "a.obj:1: v: found \"1e999\""},
    {"a.obj", "v 0 0\n", "a.obj:1: v: found too few numbers, expected 3"},
    {"a.obj", "v 0 0 0\nvt 0\n", "a.obj:2: vt: found too few numbers, expected 2"},
    {"a.obj", "v 0 0 0x\n", "found \"0x\""},
    {"a.obj", triangle_vertices + "f 1 2 4\n", "a.obj:4: f: found vertex 4, expected one of the 3"},
    {"a.obj", triangle_vertices + "f 0 1 2\n", "found vertex 0"},
    {"a.obj", triangle_vertices + "f -4 1 2\n", "found vertex -4"},
    {"a.obj", triangle_vertices + "f 1 2\n", "found 2 corners, expected 3 or more"},
    {"a.obj", triangle_vertices + "f 1 2 3 1 2\n", "more than 4 corners"},
    {"a.obj", triangle_vertices + "f 1/1 2/1 3/1\n", "found vt 1, expected one of the 0"},
    {"a.obj", triangle_vertices + "f a b c\n", "found \"a\", expected the number of a vertex"},
    {"a.obj", triangle_vertices + "f 99999999999999999999 1 2\n", "expected the number of a vertex"},
    {"a.obj", triangle_vertices + "f 1 2 2\n", "a.obj"},
    {"a.stl", "solid", "found a mesh file of type \".stl\", expected .obj or .ply"},
    {"a.ply", "", "a.ply:1: found the end of the file"},
    {"a.ply", "plyy\n", "a.ply:1: found no \"ply\""},
    {"a.ply", "ply\nformat binary_big_endian 1.0\nend_header\n",
     "a.ply:2: found the format \"binary_big_endian\""},
    {"a.ply", "ply\nend_header\n", "no format line"},
    {"a.ply", "ply\nformat ascii 1.0\nelement vertex 99999999999999\n", "element vertex: found the count"},
    {"a.ply", "ply\nformat ascii 1.0\nelement vertex -1\n", "element vertex: found the count"},
    {"a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty real x\n",
     "found the property type \"real\""},
    {"a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nend_header\n0\n0\n0\n",
     "without x, y, z"},
    {"a.ply", "ply\nformat ascii 1.0\nelement foo 2000000000\nend_header\n", "without properties"},
    {"a.ply", ply_head + ply_faces + "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "a.ply:13: face 0: found vertex 3"},
    {"a.ply", ply_head + ply_faces + "0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "face 0: found vertex -1"},
    {"a.ply", ply_head + ply_faces + "0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n", "a.ply:11: vertex 1: found \"nan\""},
    {"a.ply", ply_head + ply_faces + "0 0 0\n1 0 0\n0 1 0\n5 0 1 2 0 1\n",
     "more than 4 corners that cross themselves"},
    {"a.ply", ply_head + ply_faces + "0 0 0\n1 0 0\n0 1 0\n1e300 0 1 2\n", "end of the file"},
    {"a.ply", ply_head + ply_faces + "0 0 0\n1 0 0\n", "vertex 2: found the end of the file"},
    {"a.ply", "ply\nformat binary_little_endian 1.0\n" + ply_head.substr(21) + ply_faces + "abc",
     "a.ply: vertex 0: found the end"},
};

TEST(MeshFile, BadFilesAreRefusedInOneLine) {
  for (const BadMesh& bad : bad_meshes) {
    const TemporaryFolder folder;
    folder.write(bad.name, bad.content);
    const std::string message = message_of<Error>([&] { read_mesh(folder / bad.name); });
    EXPECT_NE(message.find(bad.expected), std::string::npos) << message << "\nexpected: " << bad.expected;
    EXPECT_NE(message.find(bad.name), std::string::npos) << message;
  }
  const TemporaryFolder folder;
  EXPECT_NE(message_of<FileError>([&] { read_mesh(folder / "missing.obj"); }).find("No such file"),
            std::string::npos);
  std::filesystem::create_directory(folder / "folder.obj");
  EXPECT_NE(message_of<FileError>([&] { read_mesh(folder / "folder.obj"); }).find("directory"),
            std::string::npos);
}

TEST(MeshFile, DamagedFilesNeverCrash) {
  const TemporaryFolder folder;
  const Mesh grid = quad_grid(4, 3, 1, 1);
  write_ply(folder / "grid.ply", grid, grid.positions);
  const std::string binary = read_whole_file(folder / "grid.ply");
  const std::string ascii = ply_head + ply_faces + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
  const std::string obj = triangle_vertices + "vt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n";
  std::mt19937 random(7);
  int read = 0, refused = 0;
  for (const std::string& whole : {binary, ascii, obj}) {
    for (int i = 0; i < 3000; ++i) {
      std::string damaged = whole;
      for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      if (random() % 3 == 0) damaged.resize(random() % damaged.size());
      try {
        const Mesh mesh = whole == obj ? parse_obj(damaged, "a.obj") : parse_ply(damaged, "a.ply");
        for (const Index node : mesh.face_nodes) ASSERT_TRUE(node >= 0 && node < mesh.node_count());
        ++read;
      } catch (const FileError& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        ++refused;
      }
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1000);
}

/// A tetrahedron: every triangle with corners of its own, and one without area.
const Vec3d stl_corners[] = {{0, 0, 0},    {0, 1, 0},    {1, 0, 0},    {0, 0, 0}, {1, 0, 0},
                             {0, 0, 0.25}, {0, 0, 0},    {0, 0, 0.25}, {0, 1, 0}, {1, 0, 0},
                             {0, 1, 0},    {0, 0, 0.25}, {0, 1, 0},    {0, 1, 0}, {1, 0, 0}};

std::string ascii_stl() {
  std::string content = "solid thing\n";
  for (std::size_t i = 0; i < std::size(stl_corners); ++i) {
    const Vec3d& p = stl_corners[i];
    if (i % 3 == 0) content += " facet normal 0 0 1\r\n  outer loop\n";
    content +=
        "   vertex " + std::to_string(p.x) + " " + std::to_string(p.y) + "\t" + std::to_string(p.z) + "\n";
    if (i % 3 == 2) content += "  endloop\n endfacet\n";
  }
  return content + "endsolid thing\n";
}

std::string binary_stl() {
  std::string content(80, ' ');
  content.replace(0, 5, "solid");
  append(content, static_cast<std::uint32_t>(std::size(stl_corners) / 3));
  for (std::size_t i = 0; i < std::size(stl_corners); ++i) {
    for (int k = 0; i % 3 == 0 && k < 3; ++k) append(content, 0.f);
    const Vec3d& p = stl_corners[i];
    for (const double x : {p.x, p.y, p.z}) append(content, static_cast<float>(x));
    if (i % 3 == 2) append(content, std::uint16_t{7});
  }
  return content;
}

TEST(StlFile, WeldsCornersOfBothKinds) {
  const TemporaryFolder folder;
  for (const std::string& content : {ascii_stl(), binary_stl()}) {
    const Mesh mesh = read_surface(folder.write("thing.STL", content));
    EXPECT_EQ(mesh.positions, (std::vector<Vec3d>{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 0.25}}));
    EXPECT_EQ(mesh.face_nodes, (std::vector<Index>{0, 1, 2, 0, 2, 3, 0, 3, 1, 2, 1, 3}));
    EXPECT_EQ(mesh.face_begin, (std::vector<Index>{0, 3, 6, 9, 12}));
  }
  EXPECT_NE(message_of<FileError>([&] { read_mesh(folder / "thing.STL"); }).find("expected .obj or .ply;"),
            std::string::npos)
      << "cloth keeps an order of vertices, which STL has not";
}

TEST(StlFile, RefusesDamage) {
  const auto message = [](const std::string& content) {
    return message_of<FileError>([&] { parse_stl(content, "a.stl"); });
  };
  EXPECT_NE(message("").find("a.stl: found 0 bytes that are neither"), std::string::npos);
  std::string binary = binary_stl();
  binary[0] = 'x';
  EXPECT_NE(message(binary.substr(0, 200)).find("neither"), std::string::npos);
  binary.replace(84 + 50 + 12, 4, "\xff\xff\xff\x7f", 4);
  EXPECT_NE(message(binary).find("a.stl: triangle 1: found"), std::string::npos);
  EXPECT_EQ(message("solid\nvertex 0 0 0\nvertex 0 1 x\n"),
            "a.stl:3: vertex: found \"x\", expected a finite number");
  EXPECT_EQ(message("solid\nvertex 0 0 0\nvertex 0 1 1\nendloop\n"),
            "a.stl:4: found a facet of 2 vertices, expected 3; is the file damaged?");
  EXPECT_EQ(message("solid\nvertex 0 0 0\n"), "a.stl:3: found the end of the file inside a facet");
}

}  // namespace
}  // namespace isocloth
