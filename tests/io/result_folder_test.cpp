#include "host/results/result_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "engine/core/errors.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/results/summary_file.hpp"
#include "tests/io/limited_process.hpp"
#include "tests/io/run_cases.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

void add_steps(ResultFolder& results, const Scene& scene, std::int64_t begin, std::int64_t end) {
  for (std::int64_t step = begin; step < end; ++step) {
    results.add_frame(step, 0.01 * static_cast<double>(step), positions_at(scene, step),
                      metrics_at(scene, step));
  }
}

Checkpoint checkpoint_at(const Scene& scene, std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.step_index = step;
  for (const Garment& garment : scene.garments) {
    const std::size_t count = 3 * garment.mesh.positions.size();
    GarmentState state;
    state.positions.assign(count, 0.5);
    state.velocities.assign(count, 0);
    state.multipliers = {1, 2};
    checkpoint.garments.push_back(std::move(state));
  }
  return checkpoint;
}

RunSummary summary() {
  RunSummary s;
  s.status = "completed";
  s.scene = "two";
  s.frame_count = 10;
  s.wall_seconds = 0.1;
  return s;
}

void write_results(const fs::path& dir, const Scene& scene, const ResultOptions& options = {}) {
  ResultFolder results(dir, scene, "{}\n", options);
  add_steps(results, scene, 0, 10);
  results.save_checkpoint(checkpoint_at(scene, 9));
  results.close(summary());
  results.publish();
}

TEST(ResultFolder, HoldsWhatItPromises) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  write_results(folder / "out/", scene, {.ply_frames = true});
  EXPECT_EQ(folder.entry_count(), 1);
  EXPECT_EQ(read_whole_file(folder / "out/scene.json"), "{}\n");
  EXPECT_EQ(read_summary(folder / "out/summary.json").status, "completed");
  EXPECT_EQ(read_trajectory(folder / "out/trajectory.h5").frame_count(), 10);
  EXPECT_NO_THROW(read_checkpoint(folder / "out/checkpoint.h5", scene, Precision::float64));
  const Mesh frame = read_mesh(folder / "out/frames/000009.ply");
  const auto expected = positions_at(scene, 9);
  ASSERT_EQ(frame.node_count(), 21);
  EXPECT_LT(norm(frame.positions[20] - expected[1][8]), 1e-6);
  const std::string table = read_whole_file(folder / "out/metrics.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 10 * 2);
  EXPECT_EQ(table.find("frame,step,time,garment,status,iterations,substeps,fallbacks,"), 0);
  EXPECT_NE(table.find("\n0,0,0,\"sheet, \"\"left\"\"\",stalled,1,2,3,"), std::string::npos)
      << table.substr(0, 900);
  EXPECT_NE(table.find("\n9,9,0.09,triangles,stalled,"), std::string::npos);
}

/// The only entry of a folder whose name begins so; "" when there are none or several.
fs::path only_partial(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().find(".partial-") != std::string::npos)
      found.push_back(entry.path());
  return found.size() == 1 ? found[0] : fs::path();
}

TEST(ResultFolder, IsRemovedWhenNothingWasComputed) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  {
    ResultFolder results(folder / "out", scene, "{}");
    add_steps(results, scene, 0, 1);
    results.save_checkpoint(checkpoint_at(scene, 0));
    EXPECT_EQ(results.remains(), "");
    EXPECT_EQ(folder.entry_count(), 1);
  }
  EXPECT_EQ(folder.entry_count(), 0);
}

TEST(ResultFolder, KeepsWhatAFailedRunHasComputed) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  {
    ResultFolder results(folder / "out", scene, "{}");
    add_steps(results, scene, 0, 3);
    auto bad = positions_at(scene, 3);
    bad[1][4].z = std::nan("");
    message_of<NumericalError>([&] { results.add_frame(3, 0.03, bad, metrics_at(scene, 3)); });
    EXPECT_EQ(results.frame_count(), 3);
    const std::string remains = results.remains();
    EXPECT_NE(remains.find("; frames up to t = 0.02 s are kept in " + only_partial(folder.path()).string() +
                           ", without a checkpoint"),
              std::string::npos)
        << remains;
  }
  EXPECT_EQ(read_trajectory(only_partial(folder.path()) / "trajectory.h5").frame_count(), 3);
  fs::remove_all(only_partial(folder.path()));
  {
    ResultFolder results(folder / "out", scene, "{}");
    add_steps(results, scene, 0, 3);
    results.save_checkpoint(checkpoint_at(scene, 2));
    const std::string remains = results.remains();
    EXPECT_NE(remains.find("run again with --resume to go on from its checkpoint at t = 0.02 s"),
              std::string::npos)
        << remains;
  }
  // Resumed under the name that it was meant to have, which leaves nothing else behind.
  {
    ResultFolder results(folder / "out", scene, "{}", {.if_exists = IfExists::resume});
    EXPECT_EQ(results.frame_count(), 3);
    EXPECT_NE(results.resumed_folder(), results.path());
    add_steps(results, scene, 3, 5);
    results.close(summary());
    results.publish();
  }
  EXPECT_EQ(folder.entry_count(), 1);
  EXPECT_EQ(read_trajectory(folder / "out/trajectory.h5").frame_count(), 5);
}

TEST(ResultFolder, TwoRunsIntoOneFolderAreSeenAtTheStart) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  {
    const ResultFolder first(folder / "out", scene, "{}");
    for (const IfExists if_exists : {IfExists::refuse, IfExists::overwrite, IfExists::resume}) {
      const std::string message =
          message_of<FileError>([&] { ResultFolder(folder / "out", scene, "{}", {.if_exists = if_exists}); });
      EXPECT_NE(message.find("out: found another run that is writing it (out.partial-"), std::string::npos)
          << message;
    }
    EXPECT_NO_THROW(ResultFolder(folder / "out2", scene, "{}"));
  }
  // Neither one that is done nor one that was killed is in the way.
  run_and_kill([&] {
    auto* const results = new ResultFolder(folder / "out", scene, "{}");
    add_steps(*results, scene, 0, 4);
  });
  write_results(folder / "out", scene);
  EXPECT_EQ(read_trajectory(folder / "out/trajectory.h5").frame_count(), 10);
}

TEST(ResultFolder, WritesThroughALink) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  fs::create_directory(folder / "disk");
  fs::create_directory(folder / "disk/real");
  fs::create_directory_symlink(folder / "disk/real", folder / "out");
  write_results(folder / "out", scene);
  write_results(folder / "out", scene, {.if_exists = IfExists::overwrite});
  EXPECT_TRUE(fs::is_symlink(folder / "out"));
  EXPECT_FALSE(fs::is_symlink(folder / "disk/real"));
  EXPECT_EQ(read_trajectory(folder / "disk/real/trajectory.h5").frame_count(), 10);
  EXPECT_EQ(folder.entry_count(), 2);
  fs::create_directory_symlink(folder / "nowhere", folder / "dangling");
  const std::string message = message_of<FileError>([&] { ResultFolder(folder / "dangling", scene, "{}"); });
  EXPECT_NE(message.find("nowhere, which is not there"), std::string::npos) << message;
}

TEST(ResultFolder, ResumesFromTheNewestThatIsWhole) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  std::vector<fs::path> left;
  for (const std::int64_t step : {2, 4, 6}) {
    run_and_kill([&] {
      auto* const results = new ResultFolder(folder / "out", scene, "{}");
      add_steps(*results, scene, 0, step + 1);
      results->save_checkpoint(checkpoint_at(scene, step));
    });
    for (const auto& entry : fs::directory_iterator(folder.path()))
      if (std::find(left.begin(), left.end(), entry.path()) == left.end()) left.push_back(entry.path());
    fs::last_write_time(left.back() / "checkpoint.h5",
                        fs::file_time_type::clock::now() + std::chrono::seconds(step));
  }
  const auto reached = [&] {
    return ResultFolder(folder / "out", scene, "{}", {.if_exists = IfExists::resume})
        .resumed_from()
        ->step_index;
  };
  EXPECT_EQ(reached(), 6);
  const std::string whole = read_whole_file(left[2] / "trajectory.h5");
  write_whole_file(left[2] / "trajectory.h5", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(reached(), 4);
  write_whole_file(left[1] / "checkpoint.h5", "no HDF5");
  EXPECT_EQ(reached(), 2);
  fs::remove(left[0] / "checkpoint.h5");
  message_of<FileError>([&] { reached(); });
  EXPECT_EQ(folder.entry_count(), 3);
}

TEST(ResultFolder, RefusesBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  const auto message = [&](const fs::path& dir, IfExists if_exists = IfExists::refuse) {
    const std::size_t entries = folder.entry_count();
    const std::string text =
        message_of<FileError>([&] { ResultFolder(dir, scene, "{}", {.if_exists = if_exists}); });
    EXPECT_EQ(folder.entry_count(), entries);
    EXPECT_EQ(text.find(dir.string()), 0) << text;
    return text;
  };
  fs::create_directory(folder / "full");
  write_whole_file(folder / "full/letter.txt", "dear");
  folder.write("file", "x");
  EXPECT_NE(message(folder / "full").find("not empty"), std::string::npos);
  EXPECT_NE(message(folder / "full", IfExists::overwrite).find("a folder of other files"), std::string::npos);
  EXPECT_NE(message(folder / "full", IfExists::resume).find("no result folder"), std::string::npos);
  EXPECT_NE(message(folder / "none", IfExists::resume).find("no result folder"), std::string::npos);
  EXPECT_NE(message(folder / "file").find("found a file"), std::string::npos);
  EXPECT_NE(message(folder / "file/out").find("Not a directory"), std::string::npos);
  {
    const ResultFolder unpublished(folder / "none/above/out", scene, "{}");
    EXPECT_TRUE(fs::is_directory(folder / "none/above"));
  }
  EXPECT_FALSE(fs::exists(folder / "none"));
  // Nobody, root included, can create a folder there.
  EXPECT_NE(message("/proc/out").find("/proc/out: cannot create"), std::string::npos);
  if (geteuid() != 0) {
    fs::create_directory(folder / "locked");
    fs::permissions(folder / "locked", fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_NE(message(folder / "locked/out").find("Permission denied"), std::string::npos);
  }
  EXPECT_EQ(read_whole_file(folder / "full/letter.txt"), "dear");
}

TEST(ResultFolder, AnEmptyFolderIsFilledAndAResultIsOverwritten) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  fs::create_directory(folder / "out");
  write_results(folder / "out", scene, {.ply_frames = true});
  message_of<FileError>([&] { write_results(folder / "out", scene); });
  { const ResultFolder unfinished(folder / "out", scene, "{}", {.if_exists = IfExists::overwrite}); }
  EXPECT_EQ(read_trajectory(folder / "out/trajectory.h5").frame_count(), 10);
  write_results(folder / "out", scene, {.if_exists = IfExists::overwrite});
  EXPECT_FALSE(fs::exists(folder / "out/frames"));
  EXPECT_EQ(folder.entry_count(), 1);
}

TEST(ResultFolder, AResumedRunLeavesTheSameFiles) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  write_results(folder / "whole", scene, {.ply_frames = true});
  {
    ResultFolder results(folder / "parts", scene, "{}\n", {.ply_frames = true});
    add_steps(results, scene, 0, 6);
    results.save_checkpoint(checkpoint_at(scene, 4));
    add_steps(results, scene, 6, 8);
    results.close(summary());
    results.publish();
  }
  {
    ResultFolder results(folder / "parts", scene, "{}\n",
                         {.if_exists = IfExists::resume, .ply_frames = true});
    ASSERT_TRUE(results.resumed_from());
    EXPECT_EQ(results.resumed_from()->step_index, 4);
    EXPECT_EQ(results.frame_count(), 5);
    add_steps(results, scene, 5, 10);
    results.save_checkpoint(checkpoint_at(scene, 9));
    results.close(summary());
    results.publish();
  }
  EXPECT_EQ(folder.entry_count(), 2);
  for (const char* name : {"scene.json", "summary.json", "metrics.csv", "frames/000000.ply",
                           "frames/000004.ply", "frames/000009.ply"}) {
    EXPECT_EQ(read_whole_file(folder / "parts" / name), read_whole_file(folder / "whole" / name)) << name;
  }
  const TrajectoryFile parts = read_trajectory(folder / "parts/trajectory.h5");
  const TrajectoryFile whole = read_trajectory(folder / "whole/trajectory.h5");
  EXPECT_EQ(parts.times(), whole.times());
  for (std::size_t f = 0; f < 10; ++f) {
    EXPECT_EQ(parts.positions(f), whole.positions(f));
    EXPECT_TRUE(same(parts.frame(f).metrics, whole.frame(f).metrics));
  }
}

TEST(ResultFolder, AKilledRunIsResumedFromItsPartialFolder) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  run_and_kill([&] {
    auto* const results = new ResultFolder(folder / "out", scene, "{}");
    add_steps(*results, scene, 0, 4);
    results->save_checkpoint(checkpoint_at(scene, 2));
    add_steps(*results, scene, 4, 6);
  });
  ASSERT_EQ(folder.entry_count(), 1);
  const fs::path partial = fs::directory_iterator(folder.path())->path();
  EXPECT_EQ(partial.filename().string().find("out.partial-"), 0);
  for (const fs::path& name : {partial, folder / "out"}) {
    const ResultFolder results(name, scene, "{}", {.if_exists = IfExists::resume});
    EXPECT_EQ(results.frame_count(), 3);
    EXPECT_EQ(results.resumed_folder(), partial);
  }
  EXPECT_EQ(folder.entry_count(), 1);
}

// One that a run has left is no reason to replace what another has finished since.
TEST(ResultFolder, AResumedRunReplacesOnlyWhatItGoesOnFrom) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  Scene other = scene;
  other.gravity = 1;
  const auto date = [](const fs::path& results, int seconds) {
    fs::last_write_time(results / "checkpoint.h5",
                        fs::file_time_type::clock::now() + std::chrono::seconds(seconds));
  };
  const auto leave = [&](std::int64_t step) {
    run_and_kill([&] {
      auto* const results = new ResultFolder(folder / "out", scene, "{}");
      add_steps(*results, scene, 0, step + 1);
      results->save_checkpoint(checkpoint_at(scene, step));
    });
  };
  leave(2);
  const fs::path first = only_partial(folder.path());
  date(first, -20);
  leave(4);
  write_results(folder / "out", other);
  const std::string message = message_of<FileError>(
      [&] { ResultFolder(folder / "out", scene, "{}", {.if_exists = IfExists::resume}); });
  EXPECT_EQ(message.find((folder / "out").string() + "/"), 0u) << message;
  EXPECT_EQ(folder.entry_count(), 3);
  EXPECT_NO_THROW(read_checkpoint(folder / "out/checkpoint.h5", other, Precision::float64));

  fs::remove_all(folder / "out");
  ResultFolder results(folder / "out", scene, "{}", {.if_exists = IfExists::resume});
  EXPECT_EQ(results.resumed_from()->step_index, 4);
  add_steps(results, scene, 5, 10);
  results.save_checkpoint(checkpoint_at(scene, 9));
  results.close(summary());
  results.publish();
  EXPECT_EQ(folder.entry_count(), 1);  // what it goes on from is in it
}

TEST(ResultFolder, AFullDiskIsOneLineAndLeavesWhatWasComputed) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{1}, rlim_t{10000}, rlim_t{500000}, rlim_t{2000000}}) {
    const std::string message = message_with_file_limit(bytes, [&] {
      ResultFolder results(folder / "out", scene, "{}\n");
      results.save_checkpoint(checkpoint_at(scene, 0));
      add_steps(results, scene, 0, 20);
      results.save_checkpoint(checkpoint_at(scene, 19));
      add_steps(results, scene, 20, 8000);
      results.close(summary());
    });
    EXPECT_NE(message.find("File too large"), std::string::npos) << bytes << ": " << message;
    EXPECT_EQ(message.find((folder / "out.partial-").string()), 0) << bytes << ": " << message;
    if (bytes < 100000) {
      EXPECT_EQ(folder.entry_count(), 0) << bytes;
      continue;
    }
    {
      const ResultFolder results(folder / "out", scene, "{}", {.if_exists = IfExists::resume});
      EXPECT_EQ(results.frame_count(), 20);
    }
    EXPECT_GE(read_trajectory(only_partial(folder.path()) / "trajectory.h5").frame_count(), 20);
    fs::remove_all(only_partial(folder.path()));
  }
}

TEST(Summary, KeepsEveryMemberAndHasNoNan) {
  RunSummary s = summary();
  s.message = "a \"quoted\" reason";
  s.threads = 3;
  s.seed = 18446744073709551615u;
  s.overall.steps.strain.max = 0.1;
  s.contact_force = {{"round table", 0.5}};
  s.gripper_force_max = {{"left", 0.25}};
  s.first_intersections = {{.time = 0.5,
                            .edge_garment = "shirt",
                            .edge = {3, 4},
                            .face_garment = "trousers",
                            .face = 17,
                            .position = {0.1, 0.2, 0.3}}};
  s.steps_passing_within = 2;
  s.first_passages = {"node 3 of shirt through the triangle 4-5-6 of trousers"};
  s.steps_overlapping = 3;
  s.overlaps_max = 5;
  s.first_overlaps = {"face 3 of shirt in the plane of face 4 of trousers"};
  s.realtime_factor = std::nan("");
  const std::string json = summary_json(s);
  EXPECT_NE(json.find("\"realtime_factor\": null"), std::string::npos) << json;
  EXPECT_EQ(std::count(json.begin(), json.end(), ':'), 90);
  const RunSummary read = parse_summary(json, "summary.json");
  EXPECT_EQ(summary_json(read), json);
  EXPECT_EQ(read.message, s.message);
  EXPECT_EQ(read.seed, s.seed);
  EXPECT_EQ(read.overall.steps.strain.max, 0.1);
  EXPECT_EQ(read.contact_force, s.contact_force);
  ASSERT_EQ(read.first_intersections.size(), 1U);
  EXPECT_EQ(read.steps_passing_within, 2);
  EXPECT_EQ(read.first_passages, s.first_passages);
  EXPECT_EQ(read.steps_overlapping, 3);
  EXPECT_EQ(read.overlaps_max, 5);
  EXPECT_EQ(read.first_overlaps, s.first_overlaps);
  EXPECT_EQ(read.first_intersections[0].position, s.first_intersections[0].position);
  s.wall_seconds = HUGE_VAL;
  EXPECT_NE(message_of<NumericalError>([&] { summary_json(s); }).find("wall_seconds"), std::string::npos);
  for (const char* bad : {"", "[]", "{}", "{\"status\": 3}", "null"}) {
    EXPECT_EQ(message_of<FileError>([&] { parse_summary(bad, "summary.json"); }).find("summary.json"), 0)
        << bad;
  }
}

}  // namespace
}  // namespace isocloth
