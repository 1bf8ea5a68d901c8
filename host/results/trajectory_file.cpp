#include "host/results/trajectory_file.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "host/files/hdf5_file.hpp"
#include "host/files/text_file.hpp"
#include "host/results/metric_columns.hpp"
#include "host/results/summary_file.hpp"
#include "host/results/trajectory_format.hpp"

namespace isocloth {

using namespace trajectory_format;

namespace {

/// The names of a list with commas that another lacks.
std::string missing_names(const std::string& all, const std::string& others) {
  std::istringstream names(all);
  std::string missing;
  for (std::string name; std::getline(names, name, ',');)
    if (("," + others + ",").find("," + name + ",") == std::string::npos)
      missing += (missing.empty() ? "" : ", ") + name;
  return missing;
}

/// Checks what a reader will index with.
void check_layout(const TrajectoryLayout& layout, const std::string& path) {
  const auto fail = [&](const std::string& what) {
    throw FileError(text(path, ": ", what, "; the file is damaged"));
  };
  const auto node_count = static_cast<Index>(layout.rest_positions.size());
  Index node_end = 0, face_end = 0;
  for (const TrajectoryGarment& garment : layout.garments) {
    if (garment.node_begin != node_end || garment.face_begin != face_end || garment.node_count < 0 ||
        garment.face_count < 0 || garment.node_count > node_count - node_end ||
        garment.face_count > static_cast<Index>(layout.faces.size()) - face_end) {
      fail(text("garments: found \"", garment.name, "\" out of order, expected garments one after another"));
    }
    const bool starts_again = node_end < node_count && garment.node_count == 0;
    if (starts_again || (garment.node_count == 0 && garment.face_count > 0)) {
      fail(
          text("garments: found \"", garment.name, "\" without nodes, expected positions of the first ones"));
    }
    const auto clock_count = static_cast<Index>(layout.clock_offsets.size());
    if (garment.clock < 0 || garment.clock > std::max<Index>(0, clock_count - 1)) {
      fail(text("garments/clock: found ", garment.clock, ", expected less than ", clock_count));
    }
    node_end += garment.node_count;
    face_end += garment.face_count;
  }
  for (std::size_t f = 0; f < layout.faces.size(); ++f) {
    for (std::size_t k = 0; k < 4; ++k) {
      const Index node = layout.faces[f][k];
      if (node >= node_count || node < (k == 3 ? -1 : 0)) {
        fail(text("faces[", f, "]: found node ", node, ", expected less than ", node_count));
      }
    }
  }
}

/// Checks what a reader of the surface will index with.
void check_obstacle(const TrajectoryObstacle& obstacle, const std::string& path) {
  for (const Index vertex : obstacle.triangles) {
    if (vertex < 0 || static_cast<std::size_t>(vertex) >= obstacle.vertices.size() / 3) {
      throw FileError(text(path, ": triangles of obstacle \"", obstacle.name, "\": found vertex ", vertex,
                           ", expected less than ", obstacle.vertices.size() / 3, "; the file is damaged"));
    }
  }
}

}  // namespace

TrajectoryFile::~TrajectoryFile() = default;
TrajectoryFile::TrajectoryFile(TrajectoryFile&&) noexcept = default;

TrajectoryFile::TrajectoryFile(const std::filesystem::path& path)
    : file_(std::make_unique<Hdf5File>(Hdf5File::open(path))) {
  check_version();
  const std::uint64_t obstacle_count = file_->read_number_attribute("obstacle_count");
  layout_.has_contact_loads = file_->has_attribute(contact_loads_name);
  layout_.has_energies = std::ranges::any_of(columns_, &MetricColumn::is_energy);
  read_layout(obstacle_count);
  check_layout(layout_, path.string());

  // A run that is killed while it writes leaves its last frames in some datasets and not in others.
  std::vector<std::string> per_frame{"positions", "origins", "times", "steps", "diagnostics/status"};
  for (const MetricColumn& column : columns_) per_frame.push_back("diagnostics/" + column.name);
  if (layout_.has_contact_loads) per_frame.push_back(contact_loads_name);
  if (obstacle_count > 0) per_frame.push_back("obstacles/poses");
  std::size_t frame_count = file_->stored_rows("times");
  for (const std::string& name : per_frame)
    frame_count = std::min<std::size_t>(frame_count, file_->stored_rows(name));
  if (obstacle_count > 0) {
    const Hdf5Shape found = file_->shape("obstacles/poses"),
                    expected{found.empty() ? 0 : found[0], layout_.clock_offsets.size(), obstacle_count, 7};
    if (found != expected)
      throw FileError(text(path.string(), ": obstacles/poses: found another shape than [", frame_count, ", ",
                           expected[1], ", ", obstacle_count, ", 7]; the file is damaged"));
  }
  const bool is_closed = file_->has_attribute("frame_count");
  const std::size_t written = is_closed ? file_->read_number_attribute("frame_count") : frame_count;
  if (written != frame_count)
    throw FileError(text(path.string(), ": found ", frame_count, " frames, expected the ", written,
                         " that were written; the file is damaged"));
  times_ = read_frames<double>("times", frame_count, {});
  steps_ = read_frames<std::int64_t>("steps", frame_count, {});
  read_metrics(frame_count);
  if (!is_closed) {
    while (!times_.empty() && !is_whole(times_.size() - 1)) {
      times_.pop_back();
      steps_.pop_back();
      metrics_.resize(times_.size() * layout_.garments.size());
    }
  }
  for (std::size_t f = 0; f < times_.size(); ++f) {
    const bool ascends = f == 0 || (steps_[f] > steps_[f - 1] && times_[f] > times_[f - 1]);
    if (!std::isfinite(times_[f]) || steps_[f] < 0 || !ascends || !has_numbers(f))
      throw FileError(
          text(path.string(), ": frame ", f, ": found numbers that no run writes; the file is damaged"));
  }
}

void TrajectoryFile::check_version() {
  const std::string format = file_->read_text_attribute("format");
  const std::uint64_t version = file_->read_number_attribute("version");
  const auto fail = [&](const std::string& found, const std::string& expected) {
    throw FileError(text(file_->path().string(), ": found ", found, ", this program reads ", expected,
                         "; use the program that wrote the file, or run its scene again"));
  };
  if (format != format_name || version != format_version)
    fail(text("\"", printable(format), "\" version ", version),
         text("\"", format_name, "\" version ", format_version));
  const std::string found = file_->read_text_attribute("columns"), expected = metric_names();
  columns_ = columns_of(found);
  if (!columns_.empty()) return;
  const std::string lacking = missing_names(expected, found), more = missing_names(found, expected);
  fail(text("other columns of diagnostics (", lacking.empty() ? "" : "without " + lacking,
            lacking.empty() || more.empty() ? "" : ", ", more.empty() ? "" : "with " + printable(more, 300),
            lacking.empty() && more.empty() ? "in another order" : "", ")"),
       text(metric_columns().size(), " columns"));
}

void TrajectoryFile::read_layout(std::uint64_t obstacle_count) {
  const hsize_t garment_count = file_->stored_rows("garments/node_count"),
                node_count = file_->stored_rows("rest_positions"), face_count = file_->stored_rows("faces");
  layout_.garments.resize(garment_count);
  const std::vector<std::string> names = file_->read_texts("garments/name", garment_count);
  for (std::size_t g = 0; g < garment_count; ++g) layout_.garments[g].name = names[g];
  for (const RangeColumn& column : garment_columns) {
    const auto values = file_->read<Index>(column.name, {garment_count});
    for (std::size_t g = 0; g < garment_count; ++g) layout_.garments[g].*column.member = values[g];
  }
  const auto face_nodes = file_->read<Index>("faces", {face_count, 4});
  layout_.faces.resize(face_count);
  for (std::size_t f = 0; f < face_count; ++f) std::copy_n(&face_nodes[4 * f], 4, layout_.faces[f].begin());
  layout_.rest_positions = as_vectors(file_->read<double>("rest_positions", {node_count, 3}));
  if (obstacle_count > 0) read_obstacles(obstacle_count);
}

template <class T>
std::vector<T> TrajectoryFile::read_frames(const std::string& name, std::size_t frame_count,
                                           std::optional<std::size_t> row_size) const {
  Hdf5Shape shape{file_->stored_rows(name)};
  if (row_size) shape.push_back(*row_size);
  std::vector<T> values = file_->read<T>(name, shape);
  values.resize(frame_count * row_size.value_or(1));
  return values;
}

void TrajectoryFile::read_metrics(std::size_t frame_count) {
  const std::size_t garment_count = layout_.garments.size();
  metrics_.resize(frame_count * garment_count);
  const auto statuses = read_frames<std::int32_t>("diagnostics/status", frame_count, garment_count);
  for (std::size_t i = 0; i < metrics_.size(); ++i) metrics_[i].steps.status = status_of(statuses[i]);
  for (const MetricColumn& column : columns_) {
    const auto values = read_frames<double>("diagnostics/" + column.name, frame_count, garment_count);
    for (std::size_t i = 0; i < metrics_.size(); ++i) column.set(metrics_[i], values[i]);
  }
}

bool TrajectoryFile::has_numbers(std::size_t frame) const {
  const std::size_t garment_count = layout_.garments.size();
  for (std::size_t i = frame * garment_count; i < (frame + 1) * garment_count; ++i) {
    if (metrics_[i].steps.status > StepStatus::diverged) return false;
    for (const MetricColumn& column : metric_columns()) {
      const double value = column.get(metrics_[i]);
      if (!std::isfinite(value) || (column.is_integer && value == no_integer)) return false;
    }
  }
  return true;
}

bool TrajectoryFile::is_whole(std::size_t frame) const {
  if (!std::isfinite(times_[frame]) || steps_[frame] == no_step || !has_numbers(frame)) return false;
  try {
    positions(frame);
    obstacle_poses(frame);
    contact_loads(frame);
  } catch (const FileError&) {
    return false;
  }
  return true;
}

void TrajectoryFile::read_obstacles(std::size_t count) {
  const std::vector<std::string> names = file_->read_texts("obstacles/name", count);
  const std::vector<std::string> shapes = file_->read_texts("obstacles/shape", count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string vertices = obstacle_dataset(i, "vertices"),
                      triangles = obstacle_dataset(i, "triangles");
    layout_.obstacles.push_back(
        {.name = names[i],
         .shape = shapes[i],
         .vertices = file_->read<float>(vertices, {file_->stored_rows(vertices), 3}),
         .triangles = file_->read<Index>(triangles, {file_->stored_rows(triangles), 3})});
    check_obstacle(layout_.obstacles.back(), file_->path().string());
  }
  layout_.clock_offsets =
      file_->read<double>("obstacles/clock_offsets", {file_->stored_rows("obstacles/clock_offsets")});
}

std::vector<float> TrajectoryFile::obstacle_poses(std::size_t frame) const {
  if (layout_.obstacles.empty()) return {};
  std::vector<float> poses = file_->read_rows<float>("obstacles/poses", frame, 1, layout_.pose_size());
  check_numbers("obstacles/poses", frame, poses);
  return poses;
}

std::vector<float> TrajectoryFile::contact_loads(std::size_t frame) const {
  if (!layout_.has_contact_loads) return {};
  std::vector<float> loads =
      file_->read_rows<float>(contact_loads_name, frame, 1, layout_.rest_positions.size());
  check_numbers(contact_loads_name, frame, loads);
  return loads;
}

template <class T>
void TrajectoryFile::check_numbers(const char* name, std::size_t frame, const std::vector<T>& values) const {
  if (!std::all_of(values.begin(), values.end(), [](T x) { return std::isfinite(x); }))
    throw FileError(text(file_->path().string(), ": ", name, ": found no finite numbers in frame ", frame,
                         " or just after; the file is damaged"));
}

void TrajectoryFile::read_positions(std::size_t frame) const {
  const std::size_t size = 3 * layout_.rest_positions.size(), garment_count = layout_.frames_of();
  const std::size_t most = std::clamp<std::size_t>(block_bytes / std::max<std::size_t>(1, 8 * size), 1, 256);
  const std::size_t count = std::min(most, times_.size() - std::min(frame, times_.size()));
  std::vector<double> block =
      file_->read_rows<double>("positions", frame, std::max<std::size_t>(1, count), size);
  const auto origins =
      file_->read_rows<double>("origins", frame, std::max<std::size_t>(1, count), 3 * garment_count);
  check_numbers("positions", frame, block);
  check_numbers("origins", frame, origins);
  for (std::size_t f = 0; f < count; ++f) {
    for (std::size_t g = 0; g < garment_count; ++g) {
      const auto begin = static_cast<std::size_t>(layout_.garments[g].node_begin),
                 end = begin + static_cast<std::size_t>(layout_.garments[g].node_count);
      for (std::size_t i = 3 * begin; i < 3 * end; ++i)  // -0 + 0 would be 0
        if (const double origin = origins[3 * (f * garment_count + g) + i % 3]; origin != 0)
          block[f * size + i] += origin;
    }
  }
  read_ = std::move(block);
  first_read_ = frame;
  read_count_ = count;
}

std::vector<double> TrajectoryFile::positions(std::size_t frame) const {
  if (frame < first_read_ || frame >= first_read_ + read_count_) read_positions(frame);
  const std::size_t size = 3 * layout_.rest_positions.size();
  const auto begin = read_.begin() + static_cast<std::ptrdiff_t>((frame - first_read_) * size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

TrajectoryFrame TrajectoryFile::frame(std::size_t frame) const {
  const std::size_t garment_count = layout_.garments.size();
  const auto begin = metrics_.begin() + static_cast<std::ptrdiff_t>(frame * garment_count);
  return {steps_[frame],         times_[frame],
          positions(frame),      {begin, begin + static_cast<std::ptrdiff_t>(garment_count)},
          obstacle_poses(frame), contact_loads(frame)};
}

}  // namespace isocloth
