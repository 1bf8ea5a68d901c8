#include "host/results/trajectory_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "engine/core/errors.hpp"
#include "host/results/obstacle_poses.hpp"
#include "host/results/obstacle_surface.hpp"
#include "host/results/summary_file.hpp"
#include "host/results/trajectory_writer.hpp"
#include "tests/io/limited_process.hpp"
#include "tests/io/run_cases.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

TrajectoryFrame frame_at(const Scene& scene, std::int64_t step) {
  TrajectoryFrame frame{step, 0.01 * static_cast<double>(step), {}, metrics_at(scene, step)};
  for (const auto& garment : positions_at(scene, step)) {
    for (const Vec3d& p : garment) frame.positions.insert(frame.positions.end(), {p.x, p.y, p.z});
  }
  frame.obstacle_poses = obstacle_poses(scene, trajectory_layout(scene).clock_offsets, frame.time);
  return frame;
}

/// What a file keeps of positions whose origins are zero.
std::vector<double> rounded(std::vector<double> positions) {
  for (double& x : positions) x = static_cast<float>(x);
  return positions;
}

void write_frames(const std::filesystem::path& path, const Scene& scene, int count) {
  TrajectoryWriter writer(path, trajectory_layout(scene));
  for (int i = 0; i < count; ++i) writer.append(frame_at(scene, 2 * i));
  writer.close();
}

void write_attribute(const std::filesystem::path& path, const char* name, std::uint64_t value) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(file, name, H5T_NATIVE_UINT64, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, H5T_NATIVE_UINT64, &value), 0);
  H5Aclose(attribute);
  H5Sclose(space);
  EXPECT_GE(H5Fclose(file), 0);
}

void write_attribute(const std::filesystem::path& path, const char* name, const std::string& value) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, value.size());
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, type, value.data()), 0);
  H5Aclose(attribute);
  H5Tclose(type);
  H5Sclose(space);
  EXPECT_GE(H5Fclose(file), 0);
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
    EXPECT_EQ(found.positions, rounded(expected.positions));
    EXPECT_TRUE(same(found.metrics, expected.metrics));
    EXPECT_TRUE(same(file.metrics(f, 1), expected.metrics[1]));
  }
}

TEST(TrajectoryFile, TheFileHasTheDocumentedDatasets) {
  const TemporaryFolder folder;
  write_frames(folder / "t.h5", two_garments(), 3);
  const Hdf5File file = Hdf5File::open(folder / "t.h5");
  EXPECT_EQ(file.shape("positions"), (Hdf5Shape{3, 21, 3}));
  EXPECT_EQ(file.shape("origins"), (Hdf5Shape{3, 2, 3}));
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
    writer->flush();
    for (int i = 40; i < 44; ++i) writer->append(frame_at(scene, i));
  });
  const TrajectoryFile file = read_trajectory(folder / "t.h5");
  ASSERT_EQ(file.frame_count(), 40);
  EXPECT_EQ(file.positions(39), rounded(frame_at(scene, 39).positions));
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
  EXPECT_EQ(last.positions, rounded(frame_at(scene, 2 * (frame_count - 1)).positions));
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
  for (const char* name : {"positions", "origins", "times", "steps", "diagnostics/status",
                           "diagnostics/substeps", "diagnostics/angular_momentum_z"}) {
    run_and_kill([&] {
      auto* const writer = new TrajectoryWriter(folder / "t.h5", trajectory_layout(scene));
      for (int i = 0; i < 5; ++i) writer->append(frame_at(scene, 2 * i));
      writer->flush();
    });
    set_length(folder / "t.h5", name, 4);
    std::optional<TrajectoryFile> file(folder / "t.h5");
    ASSERT_EQ(file->frame_count(), 4) << name;
    EXPECT_EQ(file->times().size(), 4) << name;
    EXPECT_EQ(file->steps().size(), 4) << name;
    const TrajectoryFrame frame = file->frame(3);
    file.reset();
    EXPECT_EQ(frame.positions, rounded(frame_at(scene, 6).positions)) << name;
    EXPECT_TRUE(same(frame.metrics, frame_at(scene, 6).metrics)) << name;
    // One that is there in name only: the numbers themselves did not reach the disk.
    set_length(folder / "t.h5", name, 9);
    EXPECT_EQ(TrajectoryFile(folder / "t.h5").frame_count(), 4) << name;
  }
}

TEST(TrajectoryFile, AWrittenFileLacksNothing) {
  const TemporaryFolder folder;
  for (const char* name : {"positions", "times", "diagnostics/substeps"}) {
    write_frames(folder / "t.h5", two_garments(), 5);
    set_length(folder / "t.h5", name, 4);
    const std::string message = message_of<FileError>([&] { read_trajectory(folder / "t.h5"); });
    EXPECT_NE(message.find("found 4 frames, expected the 5 that were written"), std::string::npos) << message;
  }
}

TEST(TrajectoryFile, RefusesWhatIsNotFinite) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  TrajectoryWriter writer(folder / "t.h5", trajectory_layout(scene));
  writer.append(frame_at(scene, 0));
  TrajectoryFrame frame = frame_at(scene, 1);
  frame.positions[37] = std::numeric_limits<double>::infinity();
  std::string message = message_of<NumericalError>([&] { writer.append(frame); });
  EXPECT_NE(message.find("frame 1: found a non-finite position at node 12"), std::string::npos) << message;
  frame = frame_at(scene, 1);
  frame.metrics[1].steps.strain.mean = std::nan("");
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

TEST(TrajectoryFile, AFullDiskLeavesTheFramesBefore) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  std::size_t most = 0;
  for (rlim_t bytes = 150000; bytes < 1200000; bytes += 97777) {
    const std::string message = message_with_file_limit(bytes, [&] {
      TrajectoryWriter writer(folder / "t.h5", trajectory_layout(scene), 20000);
      for (int i = 0; i < 4000; ++i) {
        writer.append(frame_at(scene, 2 * i));
        if (i % 100 == 99) writer.flush();
      }
    });
    EXPECT_NE(message.find("t.h5: cannot write: File too large"), std::string::npos) << message;
    const TrajectoryFile file(folder / "t.h5");
    most = std::max(most, file.frame_count());
    for (std::size_t f = 0; f < file.frame_count(); ++f)
      ASSERT_EQ(file.positions(f), rounded(frame_at(scene, static_cast<std::int64_t>(2 * f)).positions));
    // Room that was kept for a checkpoint is there again.
    EXPECT_LT(std::filesystem::file_size(folder / "t.h5") + 20000, bytes);
  }
  EXPECT_GT(most, 500);
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

TEST(TrajectoryFile, SaysWhichVersionsItReads) {
  const TemporaryFolder folder;
  const auto message = [&](const char* name, auto value) {
    write_frames(folder / "t.h5", two_garments(), 2);
    const hid_t file = H5Fopen((folder / "t.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    EXPECT_GE(H5Adelete(file, name), 0);
    EXPECT_GE(H5Fclose(file), 0);
    write_attribute(folder / "t.h5", name, value);
    return message_of<FileError>([&] { read_trajectory(folder / "t.h5"); });
  };
  for (const std::uint64_t version : {std::uint64_t{2}, std::uint64_t{4}}) {
    const std::string text = message("version", version);
    EXPECT_NE(text.find("found \"isocloth trajectory\" version " + std::to_string(version) +
                        ", this program reads \"isocloth trajectory\" version 3; use the program that"),
              std::string::npos)
        << text;
  }
  // Another set of columns is another format, whatever its version says.
  std::string names = metric_names();
  names.replace(names.find("substeps"), 8, "stretch");
  EXPECT_NE(message("columns", names).find("(without substeps, with stretch), this program reads"),
            std::string::npos);
}

TEST(TrajectoryFile, DamageIsFoundWhereverItIs) {
  const TemporaryFolder folder;
  const Scene scene = two_garments_and_obstacles();
  write_frames(folder / "t.h5", scene, 5);
  const std::string whole = read_whole_file(folder / "t.h5");
  const TrajectoryFile original(folder / "t.h5");
  std::mt19937 random(3);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole;
    if (i % 4 == 0) damaged.resize(random() % damaged.size());
    for (int k = 0; k < 1 + i % 3 && !damaged.empty() && i % 4; ++k)
      damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    folder.write("damaged.h5", damaged);
    try {
      const TrajectoryFile file = read_trajectory(folder / "damaged.h5");
      // Damage where the file holds nothing is none.
      ASSERT_EQ(file.frame_count(), 5);
      EXPECT_EQ(file.layout().rest_positions, original.layout().rest_positions);
      EXPECT_EQ(file.layout().faces, original.layout().faces);
      for (std::size_t f = 0; f < file.frame_count(); ++f) {
        const TrajectoryFrame found = file.frame(f), expected = original.frame(f);
        EXPECT_EQ(found.positions, expected.positions);
        EXPECT_EQ(found.obstacle_poses, expected.obstacle_poses);
        EXPECT_EQ(found.time, expected.time);
        EXPECT_EQ(found.step, expected.step);
        EXPECT_TRUE(same(found.metrics, expected.metrics));
      }
    } catch (const FileError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      ++refused;
    }
  }
  EXPECT_GE(refused, 150);
}

TEST(TrajectoryFile, DamagedPositionsHaveAClearMessage) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  write_frames(folder / "t.h5", scene, 5);
  std::string bytes = read_whole_file(folder / "t.h5");
  const auto value = static_cast<float>(frame_at(scene, 4).positions[3]);
  std::string pattern(sizeof value, '\0');
  std::memcpy(pattern.data(), &value, sizeof value);
  const std::size_t place = bytes.find(pattern);
  ASSERT_NE(place, std::string::npos);
  bytes[place] = static_cast<char>(bytes[place] ^ 1);
  folder.write("t.h5", bytes);
  const TrajectoryFile file(folder / "t.h5");
  const std::string message = message_of<FileError>([&] { file.positions(0); });
  EXPECT_NE(message.find("t.h5: cannot read positions: "), std::string::npos) << message;
  EXPECT_NE(message.find("checksum"), std::string::npos) << message;
  EXPECT_NE(message.find("; the file is damaged"), std::string::npos) << message;
}

/// Largest error of any coordinate of frames at the positions of `scene`, moved by `way` per frame.
double largest_error(const TemporaryFolder& folder, const Scene& scene, const Vec3d& way) {
  constexpr int frame_count = 7;
  const auto frame_far = [&](int f) {
    TrajectoryFrame frame = frame_at(scene, f);
    for (std::size_t i = 0; i < frame.positions.size(); ++i)
      frame.positions[i] += f * (i % 3 == 0 ? way.x : i % 3 == 1 ? way.y : way.z);
    return frame;
  };
  {
    TrajectoryWriter writer(folder / "t.h5", trajectory_layout(scene));
    for (int f = 0; f < frame_count; ++f) writer.append(frame_far(f));
    writer.close();
  }
  const TrajectoryFile file(folder / "t.h5");
  double error = 0;
  for (int f = 0; f < frame_count; ++f) {
    const auto found = file.positions(static_cast<std::size_t>(f)), expected = frame_far(f).positions;
    for (std::size_t i = 0; i < found.size(); ++i) error = std::max(error, std::abs(found[i] - expected[i]));
  }
  return error;
}

TEST(TrajectoryFile, PositionsAreAsExactFarAway) {
  const TemporaryFolder folder;
  Scene scene = two_garments();  // the shortest edge is 0.5 m
  const auto has_origins = [&] {
    const Hdf5File file = Hdf5File::open(folder / "t.h5");
    const auto all = file.read<double>("origins", {7, 2, 3});
    return std::any_of(all.begin(), all.end(), [](double x) { return x != 0; });
  };
  EXPECT_LT(largest_error(folder, scene, {}), 5e-6);
  EXPECT_FALSE(has_origins());
  // Where it begins and where it travels to; 2e-10 is the rounding of float64 there.
  for (const Vec3d way : {Vec3d{}, Vec3d{1e6, 0, -2e5}}) {
    Scene far = scene;
    for (Garment& garment : far.garments)
      for (Vec3d& p : garment.mesh.positions) p += Vec3d{1e6, -1e6, 0};
    EXPECT_LT(largest_error(folder, far, way), 5e-6);
    EXPECT_TRUE(has_origins());
  }
  EXPECT_LT(largest_error(folder, scene, {1e6, 0, 0}), 5e-6);
  // An edge too short for float32 at any origin.
  scene.garments[1].mesh = triangle_grid(2000, 2, 1, 0.5, Diagonals::parallel);
  EXPECT_LT(largest_error(folder, scene, {}), 1e-12);
  EXPECT_TRUE(Hdf5File::open(folder / "t.h5").is_float64("positions"));
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
