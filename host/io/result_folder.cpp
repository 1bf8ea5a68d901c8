#include "host/io/result_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iomanip>
#include <sstream>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/io/mesh_file.hpp"
#include "host/io/obstacle_poses.hpp"
#include "host/io/summary_file.hpp"
#include "host/io/text_file.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& message) {
  throw FileError(text(path.string(), ": ", message));
}

/// `path` with a suffix to the last name.
fs::path beside(const fs::path& path, const std::string& suffix) {
  fs::path other = path;
  other += suffix;
  return other;
}

fs::path folder_path(const fs::path& dir) {
  const fs::path normal = fs::absolute(dir).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

bool is_result_folder(const fs::path& dir) {
  std::error_code error;
  return fs::exists(dir / "scene.json", error) && fs::exists(dir / "trajectory.h5", error);
}

fs::path frame_file(std::int64_t frame) {
  std::ostringstream name;
  name << std::setw(6) << std::setfill('0') << frame << ".ply";
  return fs::path("frames") / name.str();
}

}  // namespace

ResultFolder::ResultFolder(const fs::path& dir, const Scene& scene, const std::string& scene_text,
                           const ResultOptions& options)
    : dir_(folder_path(dir)),
      working_(beside(dir_, text(".partial-", ::getpid()))),
      scene_(scene),
      options_(options),
      worst_(scene.garments.size(), StepStatus::converged) {
  for (const Garment& garment : scene.garments) names_.push_back(garment.name);
  check_target();
  if (options_.if_exists == IfExists::resume) {
    resumed_from_ = read_checkpoint(dir_ / "checkpoint.h5", scene, options_.precision);
  }
  layout_ = trajectory_layout(scene, chosen_frames_of());
  mesh_ = layout_.mesh();
  try {
    create_parents();
    std::error_code error;
    if (!fs::create_directory(working_, error)) {
      working_.clear();
      fail(dir_, text("cannot create ", beside(dir_, text(".partial-", ::getpid())).string(),
                      " for the results: ", error ? error.message() : "it is already there; remove it"));
    }
    start_files(scene_text);
    if (resumed_from_) carry_over();
  } catch (...) {
    remove_unpublished();
    throw;
  }
}

ResultFolder::~ResultFolder() {
  if (!published_) remove_unpublished();
}

void ResultFolder::remove_unpublished() {
  trajectory_.reset();
  metrics_.reset();
  std::error_code ignored;
  if (!working_.empty()) fs::remove_all(working_, ignored);
  // Those that hold anything by now stay.
  for (auto parent = parents_.rbegin(); parent != parents_.rend(); ++parent) fs::remove(*parent, ignored);
}

void ResultFolder::create_parents() {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path above = dir_.parent_path(); !fs::exists(above, error) && !error; above = above.parent_path())
    missing.push_back(above);
  for (auto path = missing.rbegin(); path != missing.rend(); ++path) {
    if (!fs::create_directory(*path, error) && error)
      fail(dir_, text("cannot create ", path->string(), ": ", error.message()));
    parents_.push_back(*path);
  }
}

std::size_t ResultFolder::chosen_frames_of() const {
  const std::size_t garment_count = scene_.garments.size();
  if (resumed_from_) {
    const std::size_t earlier = TrajectoryFile(dir_ / "trajectory.h5").layout().frames_of();
    const std::size_t asked = std::min(options_.frames_of.value_or(earlier), garment_count);
    if (asked != earlier) {
      fail(dir_, text("found frames of ", earlier, " garments, asked to keep those of ", asked,
                      "; a resumed run keeps what it began with"));
    }
    return earlier;
  }
  if (options_.frames_of) return std::max<std::size_t>(1, *options_.frames_of);
  constexpr double limit_bytes = 256 << 20;
  const double frames = 2 + static_cast<double>(step_count(scene_) / steps_per_frame(scene_));
  double bytes = 0;
  std::size_t kept = 0;
  for (; kept < garment_count; ++kept) {
    bytes += frames * 12 * static_cast<double>(scene_.garments[kept].mesh.positions.size());
    if (bytes > limit_bytes) break;
  }
  return std::max<std::size_t>(1, kept);
}

void ResultFolder::check_target() const {
  std::error_code error;
  const fs::file_status status = fs::status(dir_, error);
  if (status.type() == fs::file_type::none) fail(dir_, text("cannot look it up: ", error.message()));
  const bool exists = fs::exists(status);
  if (exists && !fs::is_directory(status))
    fail(dir_, "found a file, expected a folder for the results or nothing");
  if (options_.if_exists == IfExists::resume) {
    if (!exists || !is_result_folder(dir_)) fail(dir_, "found no result folder, expected one to resume");
  } else if (exists) {
    const bool is_empty = fs::is_empty(dir_, error);
    if (error) fail(dir_, text("cannot look into it: ", error.message()));
    if (!is_empty && options_.if_exists == IfExists::refuse) {
      fail(dir_, "found a folder that is not empty, expected a new one; name another, overwrite or resume");
    }
    if (!is_empty && !is_result_folder(dir_)) {
      fail(dir_, "found a folder of other files, expected a result folder to overwrite; name another");
    }
  }
}

void ResultFolder::start_files(const std::string& scene_text) {
  write_whole_file(working_ / "scene.json", scene_text);
  trajectory_.emplace(working_ / "trajectory.h5", layout_);
  metrics_.reset(std::fopen((working_ / "metrics.csv").c_str(), "wb"));
  if (!metrics_) fail(working_ / "metrics.csv", text("cannot write: ", std::strerror(errno)));
  write_metrics(metrics_header());
  std::error_code error;
  if (options_.ply_frames && !fs::create_directory(working_ / "frames", error)) {
    fail(working_ / "frames", text("cannot create: ", error.message()));
  }
}

void ResultFolder::carry_over() {
  const TrajectoryFile earlier(dir_ / "trajectory.h5");
  for (std::size_t f = 0; f < earlier.frame_count() && earlier.steps()[f] <= resumed_from_->step_index; ++f) {
    add_frame(earlier.frame(f));
  }
  // A run that stops before its next checkpoint can be resumed again.
  save_checkpoint(*resumed_from_);
}

void ResultFolder::add_frame(std::int64_t step, double time, const std::vector<std::vector<Vec3d>>& positions,
                             const std::vector<FrameMetrics>& metrics, const std::vector<BodyState>& bodies) {
  TrajectoryFrame frame{step, time, {}, metrics, obstacle_poses(scene_, layout_.clock_offsets, time, bodies)};
  frame.positions.reserve(3 * layout_.rest_positions.size());
  const std::size_t kept = std::min(positions.size(), frames_of());
  for (std::size_t g = 0; g < kept; ++g) {
    for (const Vec3d& p : positions[g]) {
      for (const double x : {p.x, p.y, p.z}) frame.positions.push_back(static_cast<float>(x));
    }
  }
  add_frame(frame);
}

void ResultFolder::add_frame(const TrajectoryFrame& frame) {
  if (!trajectory_) fail(working_, "closed already, expected no more frames");
  trajectory_->append(frame);
  write_metrics(metrics_lines(frame_count_, frame.step, frame.time, names_, frame.metrics));
  if (options_.ply_frames) {
    std::vector<Vec3d> positions;
    for (std::size_t i = 0; i + 2 < frame.positions.size(); i += 3) {
      positions.push_back({frame.positions[i], frame.positions[i + 1], frame.positions[i + 2]});
    }
    write_ply(working_ / frame_file(frame_count_), mesh_, positions);
  }
  for (std::size_t g = 0; g < worst_.size(); ++g) worst_[g] = std::max(worst_[g], frame.metrics[g].status);
  ++frame_count_;
}

void ResultFolder::write_metrics(const std::string& lines) {
  const bool written = std::fwrite(lines.data(), 1, lines.size(), metrics_.get()) == lines.size();
  if (!written || std::fflush(metrics_.get()) != 0) {
    fail(working_ / "metrics.csv", text("cannot write: ", std::strerror(errno)));
  }
}

void ResultFolder::save_checkpoint(const Checkpoint& checkpoint) {
  write_checkpoint(working_ / "checkpoint.h5", scene_, checkpoint);
}

void ResultFolder::close(const RunSummary& summary) {
  if (!trajectory_) fail(working_, "closed already");
  trajectory_->close();
  trajectory_.reset();
  if (std::fclose(metrics_.release()) != 0) {
    fail(working_ / "metrics.csv", text("cannot write: ", std::strerror(errno)));
  }
  write_whole_file(working_ / "summary.json", summary_json(summary));
}

void ResultFolder::publish() {
  if (trajectory_) fail(working_, "not closed yet, expected a summary first");
  // Looked at again: the run may have taken hours.
  check_target();
  const fs::path old = beside(dir_, text(".old-", ::getpid()));
  std::error_code error;
  const bool replaces = fs::exists(dir_, error);
  if (replaces) fs::rename(dir_, old, error);
  if (!error) fs::rename(working_, dir_, error);
  if (error) {
    std::error_code ignored;
    if (replaces && !fs::exists(dir_, ignored)) fs::rename(old, dir_, ignored);
    fail(dir_, text("cannot put the results in place: ", error.message()));
  }
  published_ = true;
  if (replaces) fs::remove_all(old, error);
}

}  // namespace isocloth
