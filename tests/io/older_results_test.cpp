// Files of before some metrics were there, and loads of contacts in frames.
#include <gtest/gtest.h>

#include <limits>

#include "engine/core/errors.hpp"
#include "host/files/hdf5_file.hpp"
#include "host/files/json_text.hpp"
#include "host/results/checkpoint_file.hpp"
#include "host/results/summary_file.hpp"
#include "host/results/trajectory_file.hpp"
#include "host/results/trajectory_writer.hpp"
#include "tests/io/run_cases.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

std::vector<std::string> later_names() {
  std::vector<std::string> names;
  for (const MetricColumn& column : metric_columns(false))
    if (column.about.files.is_optional) names.push_back(column.name);
  return names;
}

/// Names of the columns that have always been there.
std::string older_names() {
  std::string names;
  for (const MetricColumn& column : metric_columns())
    if (!column.about.files.is_optional) names += (names.empty() ? "" : ",") + column.name;
  return names;
}

void replace_attribute(hid_t file, const char* name, const std::string& value) {
  EXPECT_GE(H5Adelete(file, name), 0);
  const hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, value.size());
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, type, value.data()), 0);
  H5Aclose(attribute);
  H5Tclose(type);
  H5Sclose(space);
}

/// Two garments that meet.
Scene meeting() {
  Scene scene = two_garments();
  scene.contact.cloth = true;
  return scene;
}

TrajectoryFrame frame_at(const Scene& scene, std::int64_t step) {
  TrajectoryFrame frame{step, 0.01 * static_cast<double>(step), {}, metrics_at(scene, step)};
  for (const auto& garment : positions_at(scene, step))
    for (const Vec3d& p : garment) frame.positions.insert(frame.positions.end(), {p.x, p.y, p.z});
  for (std::size_t i = 0; scene.contact.cloth && i < frame.positions.size() / 3; ++i)
    frame.contact_loads.push_back(static_cast<float>(step) + static_cast<float>(i) / 7);
  return frame;
}

void write_frames(const std::filesystem::path& path, const Scene& scene, int count) {
  TrajectoryWriter writer(path, trajectory_layout(scene));
  for (int i = 0; i < count; ++i) writer.append(frame_at(scene, 2 * i));
  writer.close();
}

TEST(OlderResults, ColumnsMayLackThoseThatCameLater) {
  EXPECT_EQ(columns_of(metric_names()).size(), metric_columns().size());
  EXPECT_FALSE(later_names().empty());
  EXPECT_EQ(columns_of(metric_names(false)).size(), metric_columns(false).size());
  EXPECT_LT(metric_columns(false).size(), metric_columns().size());
  EXPECT_EQ(columns_of(older_names()).size(), metric_columns(false).size() - later_names().size());
  EXPECT_TRUE(columns_of("").empty());
  EXPECT_TRUE(columns_of(metric_names() + ",more").empty());
  EXPECT_TRUE(columns_of(older_names().substr(older_names().find(',') + 1)).empty());
}

TEST(OlderResults, TrajectoriesReadWhatTheyHave) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  write_frames(folder / "t.h5", scene, 5);
  const hid_t file = H5Fopen((folder / "t.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  for (const std::string& name : later_names())
    EXPECT_GE(H5Ldelete(file, ("diagnostics/" + name).c_str(), H5P_DEFAULT), 0);
  replace_attribute(file, "columns", older_names());
  EXPECT_GE(H5Fclose(file), 0);
  const TrajectoryFile found(folder / "t.h5");
  ASSERT_EQ(found.frame_count(), 5u);
  EXPECT_TRUE(found.contact_loads(3).empty());
  const FrameMetrics written = metrics_at(scene, 6)[1], none;
  for (const MetricColumn& column : metric_columns())
    EXPECT_EQ(column.get(found.metrics(3, 1)), column.get(column.about.files.is_optional ? none : written))
        << column.name;
}

TEST(OlderResults, CheckpointsReadWhatTheyHave) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  Checkpoint checkpoint;
  for (const Garment& garment : scene.garments) {
    GarmentState& state = checkpoint.garments.emplace_back();
    state.positions.resize(3 * garment.mesh.positions.size());
    state.velocities = state.positions;
  }
  checkpoint.summary.overall.steps.held_back = 3;
  write_checkpoint(folder / "c.h5", scene, checkpoint);
  const hid_t file = H5Fopen((folder / "c.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  EXPECT_GE(H5Ldelete(file, "since_frame", H5P_DEFAULT), 0);
  const hsize_t shape[2] = {0, 1 + metric_columns(false).size() - later_names().size()};
  const hid_t space = H5Screate_simple(2, shape, nullptr);
  const hid_t rows =
      H5Dcreate2(file, "since_frame", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(rows, 0);
  H5Dclose(rows);
  H5Sclose(space);
  replace_attribute(file, "columns", older_names());
  EXPECT_GE(H5Fclose(file), 0);
  EXPECT_EQ(read_checkpoint(folder / "c.h5", scene, Precision::float64).summary.overall.steps.held_back, 3);
}

TEST(OlderResults, SummariesReadWhatTheyHave) {
  RunSummary summary;
  summary.status = "completed";
  summary.overall.steps.held_back = 4;
  summary.overall.steps.cloth_gap = 0.5;
  Json json = parse_json(summary_json(summary), "summary");
  EXPECT_EQ(parse_summary(json.dump(), "summary").overall.steps.cloth_gap, 0.5);
  for (const char* name :
       {"cloth_loaded_max", "cloth_force_max", "cloth_gap_min", "cg_iterations_max", "substeps_max"})
    EXPECT_EQ(json.erase(name), 1u) << name;
  const RunSummary found = parse_summary(json.dump(), "summary");
  EXPECT_EQ(found.overall.steps.held_back, 4);
  EXPECT_EQ(found.overall.steps.cloth_gap, 1);
  json.erase("held_back");
  EXPECT_THROW(parse_summary(json.dump(), "summary"), FileError);
}

TEST(OlderResults, LoadsOfContactsComeBackWhereClothMeetsCloth) {
  const TemporaryFolder folder;
  const Scene scene = meeting();
  write_frames(folder / "t.h5", scene, 40);
  const TrajectoryFile found(folder / "t.h5");
  EXPECT_TRUE(found.layout().has_contact_loads);
  ASSERT_EQ(found.frame_count(), 40u);
  for (const std::size_t frame : {39u, 0u, 17u}) {
    const TrajectoryFrame written = frame_at(scene, 2 * static_cast<std::int64_t>(frame));
    EXPECT_EQ(found.contact_loads(frame), written.contact_loads);
    EXPECT_EQ(found.frame(frame).contact_loads, written.contact_loads);
  }
  TrajectoryWriter writer(folder / "other.h5", trajectory_layout(scene));
  TrajectoryFrame frame = frame_at(scene, 0);
  frame.contact_loads[5] = std::numeric_limits<float>::infinity();
  EXPECT_THROW(writer.append(frame), NumericalError);
  frame.contact_loads.clear();
  EXPECT_THROW(writer.append(frame), ShapeError);
  TrajectoryWriter without(folder / "without.h5", trajectory_layout(two_garments()));
  EXPECT_THROW(without.append(frame_at(scene, 0)), ShapeError);
}

}  // namespace
}  // namespace isocloth
