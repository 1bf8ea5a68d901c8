#include "host/io/trajectory_file.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/io/metric_columns.hpp"
#include "host/io/obstacle_surface.hpp"

namespace isocloth {
namespace {

constexpr const char* format_name = "isocloth trajectory";
constexpr std::uint64_t format_version = 2;

struct RangeColumn {
  const char* name;
  Index TrajectoryGarment::*member;
};
constexpr RangeColumn garment_columns[] = {{"garments/node_begin", &TrajectoryGarment::node_begin},
                                           {"garments/node_count", &TrajectoryGarment::node_count},
                                           {"garments/face_begin", &TrajectoryGarment::face_begin},
                                           {"garments/face_count", &TrajectoryGarment::face_count},
                                           {"garments/clock", &TrajectoryGarment::clock}};

std::string obstacle_dataset(std::size_t obstacle, const char* array) {
  return text("obstacles/", obstacle, "/", array);
}

hsize_t length(const Hdf5File& file, const std::string& name) {
  const Hdf5Shape shape = file.shape(name);
  return shape.empty() ? 0 : shape[0];
}

bool has_row_shape(const Hdf5File& file, const std::string& name, const Hdf5Shape& row_shape) {
  const Hdf5Shape shape = file.shape(name);
  return !shape.empty() && std::equal(shape.begin() + 1, shape.end(), row_shape.begin(), row_shape.end());
}

template <class T>
std::span<const T> view(const std::vector<T>& values) {
  return {values.data(), values.size()};
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

TrajectoryObstacle trajectory_obstacle(const std::string& name, const ObstacleShape& shape) {
  const ObstacleSurface surface = obstacle_surface(shape);
  TrajectoryObstacle result{.name = name, .shape = shape_name(shape), .vertices = {}, .triangles = {}};
  for (const Vec3d& p : surface.vertices)
    for (const double x : {p.x, p.y, p.z}) result.vertices.push_back(static_cast<float>(x));
  for (const auto& corners : surface.triangles)
    result.triangles.insert(result.triangles.end(), corners.begin(), corners.end());
  return result;
}

}  // namespace

Mesh TrajectoryLayout::mesh() const {
  Mesh mesh;
  mesh.positions = rest_positions;
  for (const std::array<Index, 4>& face : faces) {
    mesh.add_face({face.begin(), face.begin() + (face[3] < 0 ? 3 : 4)});
  }
  return mesh;
}

std::size_t TrajectoryLayout::frames_of() const {
  const auto is_kept = [](const TrajectoryGarment& garment) { return garment.node_count > 0; };
  return static_cast<std::size_t>(std::count_if(garments.begin(), garments.end(), is_kept));
}

TrajectoryLayout trajectory_layout(const Scene& scene, std::size_t frames_of) {
  TrajectoryLayout layout;
  const Mesh nothing;
  for (const Garment& garment : scene.garments) {
    const Mesh& mesh = layout.garments.size() < frames_of ? garment.mesh : nothing;
    const auto node_begin = static_cast<Index>(layout.rest_positions.size());
    layout.garments.push_back({garment.name, node_begin, mesh.node_count(),
                               static_cast<Index>(layout.faces.size()), mesh.face_count()});
    layout.rest_positions.insert(layout.rest_positions.end(), mesh.positions.begin(), mesh.positions.end());
    for (Index f = 0; f < mesh.face_count(); ++f) {
      std::array<Index, 4> nodes{-1, -1, -1, -1};
      std::transform(mesh.face(f).begin(), mesh.face(f).end(), nodes.begin(),
                     [node_begin](Index node) { return node + node_begin; });
      layout.faces.push_back(nodes);
    }
  }
  for (const Obstacle& obstacle : scene.obstacles)
    layout.obstacles.push_back(trajectory_obstacle(obstacle.name, obstacle.shape));
  for (const RigidBody& body : scene.bodies)
    layout.obstacles.push_back(trajectory_obstacle(body.name, body.shape));
  if (layout.obstacles.empty()) return layout;
  std::map<double, Index> clocks;
  for (std::size_t g = 0; g < layout.frames_of(); ++g) {
    const double offset = scene.garments[g].time_offset;
    const auto [clock, is_new] = clocks.emplace(offset, static_cast<Index>(clocks.size()));
    if (is_new) layout.clock_offsets.push_back(offset);
    layout.garments[g].clock = clock->second;
  }
  return layout;
}

TrajectoryWriter::TrajectoryWriter(const std::filesystem::path& path, const TrajectoryLayout& layout)
    : file_(Hdf5File::create(path)),
      node_count_(layout.rest_positions.size()),
      garment_count_(layout.garments.size()),
      pose_size_(layout.pose_size()) {
  file_.write_attribute("format", std::string(format_name));
  file_.write_attribute("version", format_version);
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
  file_.write_attribute("obstacle_count", static_cast<std::uint64_t>(layout.obstacles.size()));
  if (pose_size_ > 0) write_obstacles(layout);
  file_.create_rows<float>("positions", {node_count_, 3});
  file_.create_rows<double>("times", {});
  file_.create_rows<std::int64_t>("steps", {});
  file_.create_rows<std::int32_t>("diagnostics/status", {garment_count_});
  for (const MetricColumn& column : metric_columns()) {
    const std::string name = "diagnostics/" + column.name;
    if (column.is_integer) {
      file_.create_rows<std::int32_t>(name, {garment_count_});
    } else {
      file_.create_rows<double>(name, {garment_count_});
    }
  }
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
  file_.create_rows<float>("obstacles/poses", {layout.clock_offsets.size(), layout.obstacles.size(), 7});
}

void TrajectoryWriter::append(const TrajectoryFrame& frame) {
  const std::string path = file_.path().string();
  if (frame.positions.size() != 3 * node_count_ || frame.metrics.size() != garment_count_) {
    throw ShapeError(text(path, ": frame ", frame_count_, ": found ", frame.positions.size(),
                          " coordinates and ", frame.metrics.size(), " garments, expected ", 3 * node_count_,
                          " and ", garment_count_));
  }
  if (frame.obstacle_poses.size() != pose_size_) {
    throw ShapeError(text(path, ": frame ", frame_count_, ": found ", frame.obstacle_poses.size(),
                          " numbers of obstacle poses, expected ", pose_size_));
  }
  const auto bad =
      std::find_if(frame.positions.begin(), frame.positions.end(), [](float x) { return !std::isfinite(x); });
  if (bad != frame.positions.end() || !std::isfinite(frame.time)) {
    throw NumericalError(text(path, ": frame ", frame_count_, ": found a non-finite ",
                              bad == frame.positions.end()
                                  ? "time"
                                  : text("position at node ", (bad - frame.positions.begin()) / 3),
                              ", expected finite numbers; the frame was not written"));
  }
  check_finite(frame.metrics, frame_count_, path);
  for (const float x : frame.obstacle_poses) {
    if (!std::isfinite(x))
      throw NumericalError(text(path, ": frame ", frame_count_,
                                ": found a non-finite pose of an obstacle; the frame was not written"));
  }

  file_.append_row("positions", view(frame.positions));
  if (pose_size_ > 0) file_.append_row("obstacles/poses", view(frame.obstacle_poses));
  file_.append_row("times", std::span<const double>(&frame.time, 1));
  file_.append_row("steps", std::span<const std::int64_t>(&frame.step, 1));
  std::vector<std::int32_t> integers(garment_count_);
  const auto append_integers = [&](const std::string& name, const auto& get) {
    std::transform(frame.metrics.begin(), frame.metrics.end(), integers.begin(),
                   [&](const FrameMetrics& m) { return static_cast<std::int32_t>(get(m)); });
    file_.append_row(name, view(integers));
  };
  append_integers("diagnostics/status", [](const FrameMetrics& m) { return m.status; });
  std::vector<double> numbers(garment_count_);
  for (const MetricColumn& column : metric_columns()) {
    const std::string name = "diagnostics/" + column.name;
    if (column.is_integer) {
      append_integers(name, column.get);
    } else {
      std::transform(frame.metrics.begin(), frame.metrics.end(), numbers.begin(), column.get);
      file_.append_row(name, view(numbers));
    }
  }
  ++frame_count_;
  file_.flush();
}

void TrajectoryWriter::close() { file_.close(); }

TrajectoryFile::TrajectoryFile(const std::filesystem::path& path) : file_(Hdf5File::open(path)) {
  const std::string format = file_.read_text_attribute("format");
  const std::uint64_t version = file_.read_number_attribute("version");
  if (format != format_name || version != format_version) {
    throw FileError(text(path.string(), ": found \"", format, "\" version ", version, ", expected \"",
                         format_name, "\" version ", format_version));
  }
  const hsize_t garment_count = length(file_, "garments/node_count"),
                node_count = length(file_, "rest_positions");
  const hsize_t face_count = length(file_, "faces");
  // A run that is killed while it writes a frame leaves it in some datasets and not in others.
  std::vector<std::string> per_frame{"positions", "times", "steps", "diagnostics/status"};
  for (const MetricColumn& column : metric_columns()) per_frame.push_back("diagnostics/" + column.name);
  const std::uint64_t obstacle_count = file_.read_number_attribute("obstacle_count");
  if (obstacle_count > 0) per_frame.push_back("obstacles/poses");
  hsize_t frame_count = length(file_, "times"), frame_end = frame_count;
  for (const std::string& name : per_frame) {
    frame_count = std::min(frame_count, length(file_, name));
    frame_end = std::max(frame_end, length(file_, name));
  }
  if (frame_end > frame_count + 1) {
    throw FileError(text(path.string(), ": found datasets of ", frame_count, " and of ", frame_end,
                         " frames, expected as many in each; the file is damaged"));
  }
  const auto read_frames = [&]<class T>(std::vector<T>& values, const std::string& name, Hdf5Shape shape) {
    shape.insert(shape.begin(), length(file_, name));
    values = file_.read<T>(name, shape);
    values.resize(frame_count * (shape.size() > 1 ? garment_count : 1));
  };

  layout_.garments.resize(garment_count);
  const std::vector<std::string> names = file_.read_texts("garments/name", garment_count);
  for (std::size_t g = 0; g < garment_count; ++g) layout_.garments[g].name = names[g];
  for (const RangeColumn& column : garment_columns) {
    const auto values = file_.read<Index>(column.name, {garment_count});
    for (std::size_t g = 0; g < garment_count; ++g) layout_.garments[g].*column.member = values[g];
  }
  const auto face_nodes = file_.read<Index>("faces", {face_count, 4});
  layout_.faces.resize(face_count);
  for (std::size_t f = 0; f < face_count; ++f) std::copy_n(&face_nodes[4 * f], 4, layout_.faces[f].begin());
  const auto rest = file_.read<double>("rest_positions", {node_count, 3});
  for (std::size_t i = 0; i < node_count; ++i) {
    layout_.rest_positions.push_back({rest[3 * i], rest[3 * i + 1], rest[3 * i + 2]});
  }
  if (obstacle_count > 0) read_obstacles(obstacle_count);
  check_layout(layout_, path.string());

  read_frames(times_, "times", {});
  read_frames(steps_, "steps", {});
  if (file_.shape("positions") != Hdf5Shape{length(file_, "positions"), node_count, 3}) {
    throw FileError(text(path.string(), ": positions: found another shape than [", frame_count, ", ",
                         node_count, ", 3]; the file is damaged"));
  }
  const Hdf5Shape one_pose{layout_.clock_offsets.size(), obstacle_count, 7};
  if (obstacle_count > 0 && !has_row_shape(file_, "obstacles/poses", one_pose)) {
    throw FileError(text(path.string(), ": obstacles/poses: found another shape than [", frame_count, ", ",
                         one_pose[0], ", ", obstacle_count, ", 7]; the file is damaged"));
  }
  metrics_.resize(frame_count * garment_count);
  std::vector<std::int32_t> statuses;
  read_frames(statuses, "diagnostics/status", {garment_count});
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (statuses[i] < 0 || statuses[i] > static_cast<std::int32_t>(StepStatus::non_finite)) {
      throw FileError(
          text(path.string(), ": diagnostics/status: found ", statuses[i], ", expected 0, 1 or 2"));
    }
    metrics_[i].status = static_cast<StepStatus>(statuses[i]);
  }
  for (const MetricColumn& column : metric_columns()) {
    std::vector<double> values;
    read_frames(values, "diagnostics/" + column.name, {garment_count});
    for (std::size_t i = 0; i < metrics_.size(); ++i) column.set(metrics_[i], values[i]);
  }
}

void TrajectoryFile::read_obstacles(std::size_t count) {
  const std::vector<std::string> names = file_.read_texts("obstacles/name", count);
  const std::vector<std::string> shapes = file_.read_texts("obstacles/shape", count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string vertices = obstacle_dataset(i, "vertices"),
                      triangles = obstacle_dataset(i, "triangles");
    layout_.obstacles.push_back({.name = names[i],
                                 .shape = shapes[i],
                                 .vertices = file_.read<float>(vertices, {length(file_, vertices), 3}),
                                 .triangles = file_.read<Index>(triangles, {length(file_, triangles), 3})});
    check_obstacle(layout_.obstacles.back(), file_.path().string());
  }
  layout_.clock_offsets =
      file_.read<double>("obstacles/clock_offsets", {length(file_, "obstacles/clock_offsets")});
}

std::vector<float> TrajectoryFile::obstacle_poses(std::size_t frame) const {
  if (layout_.obstacles.empty()) return {};
  return file_.read_row<float>("obstacles/poses", frame, layout_.pose_size());
}

std::vector<float> TrajectoryFile::positions(std::size_t frame) const {
  return file_.read_row<float>("positions", frame, 3 * layout_.rest_positions.size());
}

TrajectoryFrame TrajectoryFile::frame(std::size_t frame) const {
  const std::size_t garment_count = layout_.garments.size();
  const auto begin = metrics_.begin() + static_cast<std::ptrdiff_t>(frame * garment_count);
  return {steps_[frame],
          times_[frame],
          positions(frame),
          {begin, begin + static_cast<std::ptrdiff_t>(garment_count)},
          obstacle_poses(frame)};
}

}  // namespace isocloth
