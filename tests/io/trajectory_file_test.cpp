#include "host/io/trajectory_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <optional>
#include <random>

#include "engine/core/errors.hpp"
#include "host/io/obstacle_poses.hpp"
#include "host/io/obstacle_surface.hpp"
#include "tests/io/limited_process.hpp"
#include "tests/io/run_cases.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

TrajectoryFrame frame_at(const Scene& scene, std::int64_t step) {
  TrajectoryFrame frame{step, 0.01 * static_cast<double>(step), {}, metrics_at(scene, step)};
  for (const auto& garment : positions_at(scene, step)) {
    for (const Vec3d& p : garment) {
      for (const double x : {p.x, p.y, p.z}) frame.positions.push_back(static_cast<float>(x));
    }
  }
  frame.obstacle_poses = obstacle_poses(scene, trajectory_layout(scene).clock_offsets, frame.time);
  return frame;
}

void write_frames(const std::filesystem::path& path, const Scene& scene, int count) {
  TrajectoryWriter writer(path, trajectory_layout(scene));
  for (int i = 0; i < count; ++i) writer.append(frame_at(scene, 2 * i));
  writer.close();
}

TEST(TrajectoryFile, KeepsEverything) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  write_frames(folder / "t.h5", scene, 150);
  const TrajectoryFile file = read_trajectory(folder / "t.h5");
  const TrajectoryLayout& layout = file.layout();
  ASSERT_EQ(layout.garments.size(), 2);
  EXPECT_EQ(layout.garments[0].name, scene.garments[0].name);
  EXPECT_EQ(layout.garments[1].node_begin, 12);
  EXPECT_EQ(layout.garments[1].node_count, 9);
  EXPECT_EQ(layout.garments[1].face_begin, 6);
  EXPECT_EQ(layout.garments[1].face_count, 8);
  EXPECT_EQ(layout.faces, trajectory_layout(scene).faces);
  EXPECT_EQ(layout.faces[0][3], scene.garments[0].mesh.face(0)[3]);
  EXPECT_EQ(layout.faces[6][0], 12 + scene.garments[1].mesh.face(0)[0]);
  EXPECT_EQ(layout.faces[6][3], -1);
  EXPECT_EQ(layout.rest_positions, trajectory_layout(scene).rest_positions);
  ASSERT_EQ(file.frame_count(), 150);
  for (std::size_t f = 0; f < file.frame_count(); ++f) {
    const TrajectoryFrame expected = frame_at(scene, static_cast<std::int64_t>(2 * f)), found = file.frame(f);
    EXPECT_EQ(found.step, expected.step);
    EXPECT_EQ(found.time, expected.time);
    EXPECT_EQ(found.positions, expected.positions);
    EXPECT_TRUE(same(found.metrics, expected.metrics));
    EXPECT_TRUE(same(file.metrics(f, 1), expected.metrics[1]));
  }
}

TEST(TrajectoryFile, TheFileHasTheDocumentedDatasets) {
  const TemporaryFolder folder;
  write_frames(folder / "t.h5", two_garments(), 3);
  const Hdf5File file = Hdf5File::open(folder / "t.h5");
  EXPECT_EQ(file.shape("positions"), (Hdf5Shape{3, 21, 3}));
  EXPECT_EQ(file.shape("times"), (Hdf5Shape{3}));
  EXPECT_EQ(file.shape("faces"), (Hdf5Shape{14, 4}));
  EXPECT_EQ(file.shape("rest_positions"), (Hdf5Shape{21, 3}));
  EXPECT_EQ(file.read<std::int32_t>("garments/node_count", {2}), (std::vector<std::int32_t>{12, 9}));
  for (const char* name : {"residual", "strain_max", "strain_mean", "area_error_total", "area_error_mean",
                           "area_error_dispersion", "area_error_element_max", "iterations", "substeps",
                           "fallbacks", "status", "kinetic_energy", "potential_energy"}) {
    EXPECT_EQ(file.shape(std::string("diagnostics/") + name), (Hdf5Shape{3, 2})) << name;
  }
  EXPECT_EQ(file.read<std::int32_t>("diagnostics/status", {3, 2}),
            (std::vector<std::int32_t>{1, 1, 0, 0, 0, 0}));
}

TEST(TrajectoryFile, AnEmptyOneIsReadable) {
  const TemporaryFolder folder;
  write_frames(folder / "t.h5", two_garments(), 0);
  EXPECT_EQ(read_trajectory(folder / "t.h5").frame_count(), 0);
}

TEST(TrajectoryFile, AKilledRunLeavesAReadableFile) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  run_and_kill([&] {
    // Left open on purpose.
    auto* const writer = new TrajectoryWriter(folder / "t.h5", trajectory_layout(scene));
    for (int i = 0; i < 40; ++i) writer->append(frame_at(scene, i));
  });
  const TrajectoryFile file = read_trajectory(folder / "t.h5");
  ASSERT_EQ(file.frame_count(), 40);
  EXPECT_EQ(file.positions(39), frame_at(scene, 39).positions);
}

TEST(TrajectoryFile, LongRunsAreReadable) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  constexpr int frame_count = 3000;  // fills chunks of every dataset
  write_frames(folder / "t.h5", scene, frame_count);
  const TrajectoryFile file = read_trajectory(folder / "t.h5");
  ASSERT_EQ(file.frame_count(), frame_count);
  const TrajectoryFrame last = file.frame(frame_count - 1);
  EXPECT_TRUE(same(last.metrics, frame_at(scene, 2 * (frame_count - 1)).metrics));
  EXPECT_EQ(last.positions, frame_at(scene, 2 * (frame_count - 1)).positions);
}

/// Changes the number of rows of one dataset, as a run that is killed within a frame may leave it.
void set_length(const std::filesystem::path& path, const std::string& name, hsize_t length) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  std::array<hsize_t, 3> shape{};
  const hid_t space = H5Dget_space(dataset);
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  shape[0] = length;
  EXPECT_GE(H5Dset_extent(dataset, shape.data()), 0);
  H5Sclose(space);
  H5Dclose(dataset);
  EXPECT_GE(H5Fclose(file), 0);
}

TEST(TrajectoryFile, AFrameThatIsNotWholeIsLeftOut) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  for (const char* name : {"positions", "times", "steps", "diagnostics/status", "diagnostics/substeps",
                           "diagnostics/angular_momentum_z"}) {
    write_frames(folder / "t.h5", scene, 5);
    set_length(folder / "t.h5", name, 4);
    std::optional<TrajectoryFile> file(folder / "t.h5");
    ASSERT_EQ(file->frame_count(), 4) << name;
    EXPECT_EQ(file->times().size(), 4) << name;
    EXPECT_EQ(file->steps().size(), 4) << name;
    const TrajectoryFrame frame = file->frame(3);
    file.reset();
    EXPECT_EQ(frame.positions, frame_at(scene, 6).positions) << name;
    EXPECT_TRUE(same(frame.metrics, frame_at(scene, 6).metrics)) << name;
    set_length(folder / "t.h5", name, 3);
    const std::string message = message_of<FileError>([&] { read_trajectory(folder / "t.h5"); });
    EXPECT_NE(message.find("found datasets of 3 and of 5 frames"), std::string::npos) << message;
  }
}

TEST(TrajectoryFile, RefusesWhatIsNotFinite) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  TrajectoryWriter writer(folder / "t.h5", trajectory_layout(scene));
  writer.append(frame_at(scene, 0));
  TrajectoryFrame frame = frame_at(scene, 1);
  frame.positions[37] = std::numeric_limits<float>::infinity();
  std::string message = message_of<NumericalError>([&] { writer.append(frame); });
  EXPECT_NE(message.find("frame 1: found a non-finite position at node 12"), std::string::npos) << message;
  frame = frame_at(scene, 1);
  frame.metrics[1].measures.strain_mean = std::nan("");
  message = message_of<NumericalError>([&] { writer.append(frame); });
  EXPECT_NE(message.find("frame 1, garment 1: found strain_mean nan"), std::string::npos) << message;
  frame = frame_at(scene, 1);
  frame.metrics.pop_back();
  message_of<ShapeError>([&] { writer.append(frame); });
  writer.append(frame_at(scene, 1));
  writer.close();
  EXPECT_EQ(read_trajectory(folder / "t.h5").frame_count(), 2);
}

TEST(TrajectoryFile, AFullDiskIsAnErrorWithThePath) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  for (const rlim_t bytes : {rlim_t{100}, rlim_t{20000}, rlim_t{60000}, rlim_t{300000}}) {
    const std::string message =
        message_with_file_limit(bytes, [&] { write_frames(folder / "t.h5", scene, 2000); });
    EXPECT_EQ(message.find((folder / "t.h5").string() + ": cannot "), 0) << bytes << ": " << message;
    EXPECT_NE(message.find("File too large"), std::string::npos) << bytes << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(TrajectoryFile, MissingAndForeignFilesAreRefused) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& name) {
    return message_of<FileError>([&] { read_trajectory(folder / name); });
  };
  EXPECT_NE(message("none.h5").find("not found"), std::string::npos);
  folder.write("text.h5", "not HDF5");
  EXPECT_NE(message("text.h5").find("text.h5: cannot read as HDF5"), std::string::npos);
  Hdf5File other = Hdf5File::create(folder / "other.h5");
  other.write_attribute("format", std::string("something"));
  other.write_attribute("version", std::uint64_t{1});
  other.close();
  EXPECT_NE(message("other.h5").find("found \"something\" version 1"), std::string::npos);
  message_of<FileError>(
      [&] { TrajectoryWriter(folder / "none" / "t.h5", trajectory_layout(two_garments())); });
}

TEST(TrajectoryFile, DamagedFilesNeverCrash) {
  const TemporaryFolder folder;
  write_frames(folder / "t.h5", two_garments_and_obstacles(), 5);
  const std::string whole = read_whole_file(folder / "t.h5");
  std::mt19937 random(3);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::string damaged = whole;
    if (i % 4 == 0) damaged.resize(random() % damaged.size());
    for (int k = 0; k < 3 && !damaged.empty() && i % 4; ++k)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    folder.write("damaged.h5", damaged);
    try {
      const TrajectoryFile file = read_trajectory(folder / "damaged.h5");
      for (std::size_t f = 0; f < file.frame_count(); ++f) file.frame(f);
    } catch (const FileError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      ++refused;
    }
  }
  EXPECT_GE(refused, 100);
}

TEST(TrajectoryFile, KeepsObstacles) {
  const TemporaryFolder folder;
  const Scene scene = two_garments_and_obstacles();
  write_frames(folder / "t.h5", scene, 3);
  const TrajectoryFile file = read_trajectory(folder / "t.h5");
  const TrajectoryLayout& layout = file.layout();
  ASSERT_EQ(layout.obstacles.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const ObstacleSurface surface = obstacle_surface(scene.obstacles[i].shape);
    EXPECT_EQ(layout.obstacles[i].name, scene.obstacles[i].name);
    EXPECT_EQ(layout.obstacles[i].shape, shape_name(scene.obstacles[i].shape));
    ASSERT_EQ(layout.obstacles[i].vertices.size(), 3 * surface.vertices.size());
    EXPECT_EQ(layout.obstacles[i].vertices[4], static_cast<float>(surface.vertices[1].y));
    ASSERT_EQ(layout.obstacles[i].triangles.size(), 3 * surface.triangles.size());
    EXPECT_EQ(layout.obstacles[i].triangles[5], surface.triangles[1][2]);
  }
  EXPECT_EQ(layout.clock_offsets, (std::vector<double>{0, 0.25}));
  EXPECT_EQ(layout.garments[0].clock, 0);
  EXPECT_EQ(layout.garments[1].clock, 1);
  for (std::size_t f = 0; f < 3; ++f) {
    const std::vector<float> poses = file.frame(f).obstacle_poses;
    ASSERT_EQ(poses.size(), 2u * 2 * 7);
    for (std::size_t clock = 0; clock < 2; ++clock) {
      for (std::size_t o = 0; o < 2; ++o) {
        const double t = file.times()[f] + layout.clock_offsets[clock];
        const PackedPose expected = packed_pose(obstacle_pose(scene.obstacles[o], t));
        for (std::size_t k = 0; k < 7; ++k) EXPECT_EQ(poses[7 * (2 * clock + o) + k], expected[k]);
      }
    }
  }
}

TEST(TrajectoryFile, KeepsClocksOnlyOfGarmentsWithPositions) {
  const Scene scene = two_garments_and_obstacles();
  EXPECT_EQ(trajectory_layout(scene, 1).clock_offsets, std::vector<double>{0});
  EXPECT_EQ(trajectory_layout(scene, 1).garments[1].clock, 0);
  Scene alone = scene;
  alone.obstacles.clear();
  EXPECT_TRUE(trajectory_layout(alone).clock_offsets.empty());
  EXPECT_EQ(trajectory_layout(alone).pose_size(), 0u);
}

TEST(TrajectoryFile, RefusesPosesThatDoNotFit) {
  const TemporaryFolder folder;
  const Scene scene = two_garments_and_obstacles();
  TrajectoryWriter writer(folder / "t.h5", trajectory_layout(scene));
  TrajectoryFrame frame = frame_at(scene, 0);
  frame.obstacle_poses.pop_back();
  EXPECT_NE(message_of<ShapeError>([&] { writer.append(frame); }).find("found 27 numbers of obstacle poses"),
            std::string::npos);
  frame.obstacle_poses.push_back(std::numeric_limits<float>::quiet_NaN());
  EXPECT_NE(message_of<NumericalError>([&] { writer.append(frame); }).find("non-finite pose"),
            std::string::npos);
}

}  // namespace
}  // namespace isocloth
