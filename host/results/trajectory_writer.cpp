#include "host/results/trajectory_writer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/errors.hpp"
#include "host/results/metric_columns.hpp"
#include "host/results/summary_file.hpp"
#include "host/results/trajectory_format.hpp"

namespace isocloth {

using namespace trajectory_format;

namespace {

/// Largest rounding of a float32 of that magnitude.
double rounding(double magnitude) { return magnitude > 0 ? std::ldexp(1, std::ilogb(magnitude) - 24) : 0; }

double largest(const Vec3d& v) { return std::max({std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)}); }

/// Lowest and highest coordinates of nodes [begin, end).
std::pair<Vec3d, Vec3d> bounds(const std::vector<double>& positions, std::size_t begin, std::size_t end) {
  Vec3d low{HUGE_VAL, HUGE_VAL, HUGE_VAL}, high = -1.0 * low;
  for (std::size_t i = 3 * begin; i < 3 * end; i += 3) {
    low = {std::min(low.x, positions[i]), std::min(low.y, positions[i + 1]),
           std::min(low.z, positions[i + 2])};
    high = {std::max(high.x, positions[i]), std::max(high.y, positions[i + 1]),
            std::max(high.z, positions[i + 2])};
  }
  return {low, high};
}

/// Length of a garment's shortest edge at rest [m]; 0 without faces.
double shortest_edge(const TrajectoryLayout& layout, const TrajectoryGarment& garment) {
  double shortest = HUGE_VAL;
  for (Index f = garment.face_begin; f < garment.face_begin + garment.face_count; ++f) {
    const auto& face = layout.faces[static_cast<std::size_t>(f)];
    const std::size_t corners = face[3] < 0 ? 3 : 4;
    for (std::size_t k = 0; k < corners; ++k)
      shortest =
          std::min(shortest, norm(layout.rest_positions[static_cast<std::size_t>(face[(k + 1) % corners])] -
                                  layout.rest_positions[static_cast<std::size_t>(face[k])]));
  }
  return std::isfinite(shortest) ? shortest : 0;
}

/// What a position may be off by, over the shortest edge.
constexpr double accuracy = 1e-5;

template <class T>
std::span<const T> view(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

}  // namespace

TrajectoryWriter::TrajectoryWriter(const std::filesystem::path& path, const TrajectoryLayout& layout,
                                   std::uint64_t reserve_bytes)
    : file_(Hdf5File::create(path, Checksums::on)),
      node_count_(layout.rest_positions.size()),
      garment_count_(layout.garments.size()),
      pose_size_(layout.pose_size()),
      has_contact_loads_(layout.has_contact_loads),
      reserve_bytes_(reserve_bytes),
      metric_columns_(metric_columns(layout.has_energies)),
      integer_columns_(metric_columns_.size()),
      columns_(metric_columns_.size()) {
  file_.write_attribute("format", std::string(format_name));
  file_.write_attribute("version", format_version);
  file_.write_attribute("columns", metric_names(layout.has_energies));
  std::vector<std::string> names;
  for (const TrajectoryGarment& garment : layout.garments) names.push_back(garment.name);
  file_.write_texts("garments/name", names);
  for (const RangeColumn& column : garment_columns) {
    std::vector<Index> values;
    for (const TrajectoryGarment& garment : layout.garments) values.push_back(garment.*column.member);
    file_.write(column.name, view(values), {garment_count_});
  }
  std::vector<Index> face_nodes;
  for (const std::array<Index, 4>& face : layout.faces)
    face_nodes.insert(face_nodes.end(), face.begin(), face.end());
  file_.write("faces", view(face_nodes), {layout.faces.size(), 4});
  std::vector<double> rest;
  for (const Vec3d& p : layout.rest_positions) rest.insert(rest.end(), {p.x, p.y, p.z});
  file_.write("rest_positions", view(rest), {node_count_, 3});
  for (std::size_t g = 0; g < layout.frames_of(); ++g) {
    const TrajectoryGarment& garment = layout.garments[g];
    const auto begin = static_cast<std::size_t>(garment.node_begin);
    const Range range{begin, begin + static_cast<std::size_t>(garment.node_count),
                      shortest_edge(layout, garment), Vec3d{}};
    const auto [low, high] = bounds(rest, range.begin, range.end);
    is_float64_ = is_float64_ || rounding(0.75 * norm(high - low)) > accuracy * range.shortest_edge;
    ranges_.push_back(range);
  }
  file_.write_attribute("obstacle_count", static_cast<std::uint64_t>(layout.obstacles.size()));

  frame_bytes_ = (is_float64_ ? 24 : 12) * node_count_ + 24 * ranges_.size() + 16 + 4 * pose_size_ +
                 8 * (1 + columns_.size()) * garment_count_ + (has_contact_loads_ ? 4 * node_count_ : 0);
  const std::int64_t most =
      layout.expected_frames > 0 ? std::min<std::int64_t>(256, layout.expected_frames) : 256;
  chunk_rows_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(block_bytes / frame_bytes_), 1, most);
  const auto rows = static_cast<hsize_t>(chunk_rows_);
  constexpr auto no_float = std::numeric_limits<float>::quiet_NaN();
  if (pose_size_ > 0) {
    write_obstacles(layout);
    file_.create_rows<float>("obstacles/poses", {layout.clock_offsets.size(), layout.obstacles.size(), 7},
                             rows, no_float);
  }
  if (is_float64_)
    file_.create_rows<double>("positions", {node_count_, 3}, rows, no_number);
  else
    file_.create_rows<float>("positions", {node_count_, 3}, rows, no_float);
  if (has_contact_loads_) {
    file_.write_attribute(contact_loads_name, std::uint64_t{1});
    file_.create_rows<float>(contact_loads_name, {node_count_}, rows, no_float);
  }
  file_.create_rows<double>("origins", {ranges_.size(), 3}, rows, no_number);
  file_.create_rows<double>("times", {}, rows, no_number);
  file_.create_rows<std::int64_t>("steps", {}, rows, no_step);
  file_.create_rows<std::int32_t>("diagnostics/status", {garment_count_}, rows, no_integer);
  for (const MetricColumn& column : metric_columns_) {
    const std::string name = "diagnostics/" + column.name;
    if (column.is_integer) {
      file_.create_rows<std::int32_t>(name, {garment_count_}, rows, no_integer);
    } else {
      file_.create_rows<double>(name, {garment_count_}, rows, no_number);
    }
  }
  file_.reserve(reserve_bytes_);
  file_.flush();
}

void TrajectoryWriter::write_obstacles(const TrajectoryLayout& layout) {
  std::vector<std::string> obstacle_names, shapes;
  for (std::size_t i = 0; i < layout.obstacles.size(); ++i) {
    const TrajectoryObstacle& obstacle = layout.obstacles[i];
    obstacle_names.push_back(obstacle.name);
    shapes.push_back(obstacle.shape);
    file_.write(obstacle_dataset(i, "vertices"), view(obstacle.vertices), {obstacle.vertices.size() / 3, 3});
    file_.write(obstacle_dataset(i, "triangles"), view(obstacle.triangles),
                {obstacle.triangles.size() / 3, 3});
  }
  file_.write_texts("obstacles/name", obstacle_names);
  file_.write_texts("obstacles/shape", shapes);
  file_.write("obstacles/clock_offsets", view(layout.clock_offsets), {layout.clock_offsets.size()});
}

void TrajectoryWriter::check(const TrajectoryFrame& frame, std::int64_t index) const {
  const std::string path = file_.path().string();
  if (frame.positions.size() != 3 * node_count_ || frame.metrics.size() != garment_count_) {
    throw ShapeError(text(path, ": frame ", index, ": found ", frame.positions.size(), " coordinates and ",
                          frame.metrics.size(), " garments, expected ", 3 * node_count_, " and ",
                          garment_count_));
  }
  if (frame.obstacle_poses.size() != pose_size_) {
    throw ShapeError(text(path, ": frame ", index, ": found ", frame.obstacle_poses.size(),
                          " numbers of obstacle poses, expected ", pose_size_));
  }
  // Within float32, so that differences from an origin are, too.
  const auto bad = std::find_if(frame.positions.begin(), frame.positions.end(), [](double x) {
    return !(std::fabs(x) <= std::numeric_limits<float>::max());
  });
  if (bad != frame.positions.end() || !std::isfinite(frame.time)) {
    throw NumericalError(text(path, ": frame ", index, ": found a non-finite ",
                              bad == frame.positions.end()
                                  ? "time"
                                  : text("position at node ", (bad - frame.positions.begin()) / 3),
                              ", expected finite numbers; the frame was not written"));
  }
  check_finite(frame.metrics, index, path);
  if (frame.contact_loads.size() != (has_contact_loads_ ? node_count_ : 0))
    throw ShapeError(text(path, ": frame ", index, ": found ", frame.contact_loads.size(),
                          " loads of contacts, expected ", has_contact_loads_ ? node_count_ : 0));
  for (std::size_t i = 0; i < frame.contact_loads.size(); ++i) {
    if (!std::isfinite(frame.contact_loads[i]))
      throw NumericalError(text(path, ": frame ", index, ": found a non-finite load of contacts at node ", i,
                                "; the frame was not written"));
  }
  for (const float x : frame.obstacle_poses) {
    if (!std::isfinite(x))
      throw NumericalError(text(path, ": frame ", index,
                                ": found a non-finite pose of an obstacle; the frame was not written"));
  }
}

void TrajectoryWriter::update_origin(Range& garment, const std::vector<double>& positions) const {
  if (is_float64_) return;
  const auto [low, high] = bounds(positions, garment.begin, garment.end);
  const double far = std::max(largest(low - garment.origin), largest(high - garment.origin));
  if (rounding(far) <= accuracy * garment.shortest_edge) return;
  // Of few digits, so that what a reader adds up and writes again is the same to the last bit.
  const double quantum = std::ldexp(1, std::ilogb(std::max(garment.shortest_edge, largest(high - low))) - 6);
  Vec3d middle = 0.5 * low + 0.5 * high;
  for (double* const x : {&middle.x, &middle.y, &middle.z}) *x = quantum * std::round(*x / quantum);
  // Only where it helps: an origin that changes in every frame would be of no use to a reader.
  if (far > 1.5 * largest(0.5 * (high - low))) garment.origin = middle;
}

std::vector<double> TrajectoryWriter::stored(std::vector<double> positions) const {
  if (is_float64_) return positions;
  for (const Range& garment : ranges_) {
    const double origin[] = {garment.origin.x, garment.origin.y, garment.origin.z};
    for (std::size_t i = 3 * garment.begin; i < 3 * garment.end; ++i)
      positions[i] = origin[i % 3] + static_cast<float>(positions[i] - origin[i % 3]);
  }
  return positions;
}

void TrajectoryWriter::append(const TrajectoryFrame& frame) {
  check(frame, frame_count_);
  for (Range& garment : ranges_) {
    update_origin(garment, frame.positions);
    const double origin[] = {garment.origin.x, garment.origin.y, garment.origin.z};
    origins_.insert(origins_.end(), std::begin(origin), std::end(origin));
    for (std::size_t i = 3 * garment.begin; i < 3 * garment.end; ++i) {
      const double x = frame.positions[i] - origin[i % 3];
      if (is_float64_)
        positions_.push_back(x);
      else
        small_positions_.push_back(static_cast<float>(x));
    }
  }
  poses_.insert(poses_.end(), frame.obstacle_poses.begin(), frame.obstacle_poses.end());
  contact_loads_.insert(contact_loads_.end(), frame.contact_loads.begin(), frame.contact_loads.end());
  times_.push_back(frame.time);
  steps_.push_back(frame.step);
  for (const FrameMetrics& m : frame.metrics) statuses_.push_back(code_of(m.steps.status));
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const MetricColumn& column = metric_columns_[c];
    for (const FrameMetrics& m : frame.metrics) {
      if (column.is_integer)
        integer_columns_[c].push_back(static_cast<std::int32_t>(column.get(m)));
      else
        columns_[c].push_back(column.get(m));
    }
  }
  ++row_count_;
  ++frame_count_;
  if (frame_count_ % chunk_rows_ == 0) write_rows();
}

void TrajectoryWriter::write_rows() {
  if (row_count_ == 0) return;
  // Rows up to the end of a chunk: either all chunks are new, or none is.
  const bool is_new = (frame_count_ - row_count_) % chunk_rows_ == 0;
  const std::uint64_t block = static_cast<std::uint64_t>(chunk_rows_) * frame_bytes_,
                      trees = dataset_bytes * (9 + columns_.size());
  file_.reserve(reserve_bytes_ + (is_new ? block + trees : 0));
  const auto write = [this](const std::string& name, auto& values) {
    file_.append_rows(name, view(values), static_cast<hsize_t>(row_count_));
    values.clear();
  };
  if (is_float64_)
    write("positions", positions_);
  else
    write("positions", small_positions_);
  write("origins", origins_);
  if (pose_size_ > 0) write("obstacles/poses", poses_);
  if (has_contact_loads_) write(contact_loads_name, contact_loads_);
  write("times", times_);
  write("steps", steps_);
  write("diagnostics/status", statuses_);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::string name = "diagnostics/" + metric_columns_[c].name;
    if (metric_columns_[c].is_integer)
      write(name, integer_columns_[c]);
    else
      write(name, columns_[c]);
  }
  row_count_ = 0;
}

void TrajectoryWriter::flush() {
  write_rows();
  file_.flush();
}

void TrajectoryWriter::close() {
  write_rows();
  file_.write_attribute("frame_count", static_cast<std::uint64_t>(frame_count_));
  file_.close();
}

}  // namespace isocloth
