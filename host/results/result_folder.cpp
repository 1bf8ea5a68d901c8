#include "host/results/result_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iomanip>
#include <sstream>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/results/obstacle_poses.hpp"
#include "host/results/scene_digest.hpp"
#include "host/results/summary_file.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& message) {
  throw FileError(text(path.string(), ": ", message));
}

fs::path frame_file(std::int64_t frame) {
  std::ostringstream name;
  name << std::setw(6) << std::setfill('0') << frame << ".ply";
  return fs::path("frames") / name.str();
}

/// Size of checkpoint.h5, about [bytes].
std::uint64_t checkpoint_bytes(const Scene& scene) {
  std::uint64_t numbers = 1 << 11;
  for (const Garment& garment : scene.garments) numbers += 12 * garment.mesh.positions.size() + 64;
  return numbers * sizeof(double);
}

/// Throws FileError unless all frames up to the checkpoint are there and whole.
void check_frames(const TrajectoryFile& trajectory, const Checkpoint& checkpoint, std::int64_t per_frame,
                  const fs::path& path) {
  const std::vector<std::int64_t>& steps = trajectory.steps();
  const std::int64_t last = checkpoint.step_index - checkpoint.step_index % per_frame;
  const auto count = std::upper_bound(steps.begin(), steps.end(), checkpoint.step_index) - steps.begin();
  if (count < 1 + last / per_frame || !std::binary_search(steps.begin(), steps.end(), last))
    fail(path, text("found ", count, " frames up to step ", checkpoint.step_index,
                    " of the checkpoint, expected ", 1 + last / per_frame, "; the file is damaged"));
  for (std::size_t f = 0; f < static_cast<std::size_t>(count); ++f) trajectory.frame(f);
}

}  // namespace

ResultFolder::ResultFolder(const fs::path& dir, const Scene& scene, const std::string& scene_text,
                           const ResultOptions& options, Precision precision)
    : scene_(scene),
      options_(options),
      precision_(precision),
      working_(dir, options.if_exists),
      worst_(scene.garments.size(), StepStatus::converged),
      scene_text_(scene_text) {
  for (const Garment& garment : scene.garments) names_.push_back(garment.name);
  if (options_.if_exists == IfExists::resume) find_checkpoint();
  layout_ = trajectory_layout(scene, chosen_frames_of());
  layout_.has_energies = options.has_energies;
  if (resumed_from_) {
    const TrajectoryLayout earlier = TrajectoryFile(resumed_folder_ / "trajectory.h5").layout();
    layout_.has_contact_loads = earlier.has_contact_loads;
    if (earlier.has_energies != options.has_energies)
      fail(working_.target(),
           text("found a run ", earlier.has_energies ? "with" : "without",
                " a balance of energies, asked to go on ", options.has_energies ? "with" : "without",
                " one (--energy-balance); a resumed run keeps what it began with"));
  }
  mesh_ = layout_.mesh();
  try {
    working_.create();
    start_files();
    if (resumed_from_) carry_over();
  } catch (...) {
    writer_.reset();
    trajectory_.reset();
    metrics_.reset();
    working_.remove();
    throw;
  }
}

ResultFolder::~ResultFolder() {
  if (published_) return;
  try {
    remains();
    if (!stays_) working_.remove();
  } catch (const std::exception&) {
    // Without memory to say or remove it, what is there stays.
  }
}

void ResultFolder::find_checkpoint() {
  std::string why;
  for (const fs::path& folder : working_.resumable()) {
    try {
      Checkpoint checkpoint = read_checkpoint(folder / "checkpoint.h5", scene_, precision_);
      check_frames(TrajectoryFile(folder / "trajectory.h5"), checkpoint, steps_per_frame(scene_),
                   folder / "trajectory.h5");
      resumed_from_ = std::move(checkpoint);
      resumed_folder_ = folder;
      return;
    } catch (const Error& error) {
      if (why.empty()) why = error.what();
      // Nothing older takes the place of a result that it does not go on from.
      if (folder == working_.target()) break;
    }
  }
  if (!why.empty()) throw FileError(why);
}

/// Whether all that is in it is in this result, too: the same run, not farther.
bool ResultFolder::supersedes(const fs::path& leftover) const {
  std::error_code error;
  try {
    if (fs::exists(leftover / "checkpoint.h5", error)) {
      const Checkpoint checkpoint = read_checkpoint(leftover / "checkpoint.h5", scene_, precision_);
      return checkpoint.step_index <= last_step_ &&
             TrajectoryFile(leftover / "trajectory.h5").layout().frames_of() <= layout_.frames_of();
    }
    if (!fs::exists(leftover / "scene.json", error)) return true;  // killed before it wrote anything
    return scene_text_.starts_with(read_whole_file(leftover / "scene.json"));  // perhaps killed amid it
  } catch (const std::exception&) {  // damaged, or no memory to look: it stays
    return false;
  }
}

std::size_t ResultFolder::chosen_frames_of() const {
  const std::size_t garment_count = scene_.garments.size();
  if (resumed_from_) {
    const std::size_t earlier = TrajectoryFile(resumed_folder_ / "trajectory.h5").layout().frames_of();
    const std::size_t asked = std::min(options_.frames_of.value_or(earlier), garment_count);
    if (asked != earlier) {
      fail(working_.target(), text("found frames of ", earlier, " garments, asked to keep those of ", asked,
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

void ResultFolder::start_files() {
  const fs::path& path = working_.path();
  write_whole_file(path / "scene.json", scene_text_);
  trajectory_.emplace(path / "trajectory.h5", layout_, checkpoint_bytes(scene_));
  metrics_.reset(std::fopen((path / "metrics.csv").c_str(), "wb"));
  const std::string header = metrics_header(layout_.has_energies);
  if (!metrics_ || std::fwrite(header.data(), 1, header.size(), metrics_.get()) != header.size() ||
      std::fflush(metrics_.get()) != 0)
    fail(path / "metrics.csv", text("cannot write: ", std::strerror(errno)));
  std::error_code error;
  if (options_.ply_frames && !fs::create_directory(path / "frames", error)) {
    fail(path / "frames", text("cannot create: ", error.message()));
  }
  writer_ = std::make_unique<FrameWriter>([this](const TrajectoryFrame& frame) { write(frame); },
                                          [this] { flush(); });
}

void ResultFolder::carry_over() {
  const TrajectoryFile earlier(resumed_folder_ / "trajectory.h5");
  for (std::size_t f = 0; f < earlier.frame_count() && earlier.steps()[f] <= resumed_from_->step_index; ++f) {
    push(earlier.frame(f));
  }
  first_frames_ = frame_count_;
  // A run that stops before its next checkpoint can be resumed again.
  save_checkpoint(*resumed_from_);
  has_checkpoint_ = false;
}

void ResultFolder::add_frame(std::int64_t step, double time, const std::vector<std::vector<Vec3d>>& positions,
                             const std::vector<FrameMetrics>& metrics, const std::vector<BodyState>& bodies,
                             const std::vector<ClothLoads>& loads) {
  TrajectoryFrame frame{step, time, {}, metrics, obstacle_poses(scene_, layout_.clock_offsets, time, bodies)};
  frame.positions.reserve(3 * layout_.rest_positions.size());
  const std::size_t kept = std::min(positions.size(), frames_of());
  for (std::size_t g = 0; g < kept; ++g)
    for (const Vec3d& p : positions[g]) frame.positions.insert(frame.positions.end(), {p.x, p.y, p.z});
  for (std::size_t g = 0; has_contact_loads() && g < std::min(loads.size(), kept); ++g)
    for (const double load : loads[g].loads) frame.contact_loads.push_back(static_cast<float>(load));
  push(std::move(frame));
}

void ResultFolder::push(TrajectoryFrame frame) {
  if (!writer_) fail(working_.path(), "closed already, expected no more frames");
  // Here and not in the thread: the caller hears at once of a frame that cannot be written.
  trajectory_->check(frame, frame_count_);
  for (std::size_t g = 0; g < worst_.size(); ++g)
    worst_[g] = std::max(worst_[g], frame.metrics[g].steps.status);
  writer_->push(std::move(frame));
  ++frame_count_;
}

void ResultFolder::write(const TrajectoryFrame& frame) {
  const std::int64_t index = trajectory_->frame_count();
  trajectory_->append(frame);
  const std::string lines =
      metrics_lines(index, frame.step, frame.time, names_, frame.metrics, layout_.has_energies);
  if (std::fwrite(lines.data(), 1, lines.size(), metrics_.get()) != lines.size())
    fail(working_.path() / "metrics.csv", text("cannot write: ", std::strerror(errno)));
  if (!options_.ply_frames) return;
  // The stored positions, which a resumed run has, too.
  const std::vector<double> stored = trajectory_->stored(frame.positions);
  std::vector<Vec3d> positions;
  for (std::size_t i = 0; i + 2 < stored.size(); i += 3)
    positions.push_back({stored[i], stored[i + 1], stored[i + 2]});
  write_ply(working_.path() / frame_file(index), mesh_, positions);
}

void ResultFolder::flush() {
  trajectory_->flush();
  if (std::fflush(metrics_.get()) != 0)
    fail(working_.path() / "metrics.csv", text("cannot write: ", std::strerror(errno)));
}

void ResultFolder::save_checkpoint(const Checkpoint& checkpoint) {
  if (writer_) writer_->drain();
  if (!scene_digest_) scene_digest_ = scene_digest(scene_);  // as long as it takes for recorded motions
  write_checkpoint(working_.path() / "checkpoint.h5", scene_, checkpoint, scene_digest_);
  has_checkpoint_ = has_checkpoint_ || checkpoint.step_index > 0;
  last_step_ = checkpoint.step_index;
  checkpoint_time_ = static_cast<double>(checkpoint.step_index) * scene_.step;
}

void ResultFolder::close(const RunSummary& summary) {
  if (!writer_) fail(working_.path(), "closed already");
  writer_->drain();
  writer_.reset();
  trajectory_->close();
  trajectory_.reset();
  if (std::fclose(metrics_.release()) != 0) {
    fail(working_.path() / "metrics.csv", text("cannot write: ", std::strerror(errno)));
  }
  write_whole_file(working_.path() / "summary.json", summary_json(summary));
}

void ResultFolder::publish() {
  if (trajectory_) fail(working_.path(), "not closed yet, expected a summary first");
  std::vector<fs::path> superseded = working_.leftovers();
  std::erase_if(superseded,
                [this](const fs::path& left) { return left != resumed_folder_ && !supersedes(left); });
  working_.publish(superseded);
  published_ = true;
}

std::string ResultFolder::remains() {
  writer_.reset();
  trajectory_.reset();
  metrics_.reset();
  stays_ = has_checkpoint_;
  double end = 0;
  try {
    const TrajectoryFile file(working_.path() / "trajectory.h5");
    stays_ = stays_ || static_cast<std::int64_t>(file.frame_count()) > first_frames_;
    if (file.frame_count() > 0) end = file.times().back();
  } catch (const Error&) {
    // It stays beside a checkpoint all the same: another program may read more of it.
  } catch (const std::exception&) {  // no memory to look: there may be frames
    stays_ = true;
  }
  if (published_ || !stays_) return "";
  return text(
      "; frames up to t = ", end, " s are kept in ", working_.path().string(),
      checkpoint_time_
          ? text(": run again with --resume to go on from its checkpoint at t = ", *checkpoint_time_, " s")
          : ", without a checkpoint to go on from");
}

}  // namespace isocloth
