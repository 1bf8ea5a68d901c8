// Whatever reads HDF5 reads nothing outside of the file and no more than the file has, and ends at once.
#include "tests/io/hostile_hdf5.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "engine/core/errors.hpp"
#include "host/files/hdf5_file.hpp"
#include "host/results/checkpoint_file.hpp"
#include "host/results/recording.hpp"
#include "host/results/trajectory_writer.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/run_cases.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

/// Replaces each of the datasets of a file by each hostile kind, one at a time, and has `read` refuse it
/// within a second with the file's name and without a number of another file.
template <class Read>
void expect_refusals(const fs::path& path, const std::vector<std::string>& names, const Read& read) {
  const std::string sound = read_whole_file(path);
  int tried = 0;
  for (const std::string& name : names) {
    for (const HostileDataset& kind : hostile_datasets()) {
      write_whole_file(path, sound);
      if (!make_hostile(path, name, kind)) continue;
      SCOPED_TRACE(name + ": " + kind.name);
      const std::clock_t start = std::clock();  // of this process: others may hold it up
      const std::string message = message_of<Error>(read);
      EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, unless_sanitized(1, 20));
      EXPECT_NE(message.find(path.filename().string() + ": "), std::string::npos) << message;
      EXPECT_EQ(message.find("1234567"), std::string::npos) << message;
      ++tried;
    }
  }
  EXPECT_GE(tried, 20);
}

TEST(HostileHdf5, TrajectoriesRefuseIt) {
  const TemporaryFolder folder;
  const Scene scene = two_garments_and_obstacles();
  {
    TrajectoryWriter writer(folder / "t.h5", trajectory_layout(scene));
    for (int i = 0; i < 5; ++i)
      writer.append({.step = i,
                     .time = 0.01 * i,
                     .positions = std::vector<double>(3 * 21, 0.1),
                     .metrics = metrics_at(scene, i),
                     .obstacle_poses = std::vector<float>(trajectory_layout(scene).pose_size(), 0.5F),
                     .contact_loads = {}});
    writer.close();
  }
  expect_refusals(folder / "t.h5", dataset_names(folder / "t.h5"), [&] {
    const TrajectoryFile file(folder / "t.h5");
    for (std::size_t f = 0; f < file.frame_count(); ++f) file.frame(f);
  });
}

TEST(HostileHdf5, RecordedMotionsRefuseIt) {
  const TemporaryFolder folder;
  const std::string mesh = R"("mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]})";
  const Scene recorded = read_scene(
      folder.write("of.json", R"({"step": 0.01, "duration": 1, "garments": [{"name": "a", )" + mesh + "}]}"));
  {
    TrajectoryWriter writer(folder / "m.h5", trajectory_layout(recorded));
    for (int i = 0; i < 5; ++i)
      writer.append({i, 0.01 * i, std::vector<double>(27, 0.1), metrics_at(recorded, i), {}, {}});
    writer.close();
  }
  folder.write(
      "s.json",
      R"({"step": 0.01, "duration": 0.02, "garments": [{"name": "b", )" + mesh +
          R"(, "pins": [{"select": {"all": true}, "motion": {"type": "recorded", "file": "m.h5"}}]}]})");
  EXPECT_NO_THROW(read_scene(folder / "s.json"));
  expect_refusals(folder / "m.h5",
                  {"faces", "garments/name", "garments/face_begin", "garments/face_count",
                   "garments/node_begin", "garments/node_count", "positions", "origins", "times"},
                  [&] { read_scene(folder / "s.json"); });
}

TEST(HostileHdf5, CheckpointsRefuseIt) {
  const TemporaryFolder folder;
  Scene scene = two_garments();
  Checkpoint checkpoint;
  checkpoint.garments.resize(2);
  for (std::size_t g = 0; g < 2; ++g) {
    checkpoint.garments[g].positions.assign(3 * scene.garments[g].mesh.positions.size(), 0.5);
    checkpoint.garments[g].velocities = checkpoint.garments[g].positions;
  }
  checkpoint.since_frame = metrics_at(scene, 1);
  write_checkpoint(folder / "c.h5", scene, checkpoint);
  EXPECT_NO_THROW(read_checkpoint(folder / "c.h5", scene, Precision::float64));
  expect_refusals(folder / "c.h5", dataset_names(folder / "c.h5"),
                  [&] { read_checkpoint(folder / "c.h5", scene, Precision::float64); });
}

TEST(HostileHdf5, RecordingsRefuseIt) {
  const TemporaryFolder folder;
  Hdf5File file = Hdf5File::create(folder / "r.h5");
  file.write<double>("times", std::vector<double>{0, 1, 2}, {3});
  file.write<double>("positions", std::vector<double>(3 * 4 * 3, 0.5), {3, 4, 3});
  file.close();
  EXPECT_NO_THROW(read_recording(folder / "r.h5", 4, ""));
  expect_refusals(folder / "r.h5", dataset_names(folder / "r.h5"),
                  [&] { read_recording(folder / "r.h5", 4, ""); });
}

TEST(HostileHdf5, CompressedRecordingsAreRead) {
  const TemporaryFolder folder;
  const hid_t file = H5Fcreate((folder / "r.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t shape[] = {300, 1, 3};
  H5Pset_chunk(creation, 3, shape);
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 4);
  const std::vector<double> numbers(900, 0.25);
  for (const auto& [name, rank] : {std::pair{"times", 1}, {"positions", 3}}) {
    const hid_t space = H5Screate_simple(rank, shape, nullptr);
    const hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                     rank == 3 ? creation : H5P_DEFAULT, H5P_DEFAULT);
    std::vector<double> values = numbers;
    if (rank == 1)
      for (std::size_t i = 0; i < 300; ++i) values[i] = static_cast<double>(i);
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(dataset);
    H5Sclose(space);
  }
  H5Pclose(creation);
  H5Fclose(file);
  EXPECT_EQ(read_recording(folder / "r.h5", 1, "").at(299, 0).z, 0.25);
  const Hdf5File reader = Hdf5File::open(folder / "r.h5");
  EXPECT_NE(
      message_of<FileError>([&] { reader.read_rows<double>("positions", 0, 1, 3); }).find("h5repack -f NONE"),
      std::string::npos);
}

}  // namespace
}  // namespace isocloth
