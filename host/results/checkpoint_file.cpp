#include "host/results/checkpoint_file.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/hdf5_file.hpp"
#include "host/files/names.hpp"
#include "host/results/metric_columns.hpp"
#include "host/results/scene_digest.hpp"
#include "host/results/summary_file.hpp"

namespace isocloth {
namespace {

constexpr const char* format_name = "isocloth checkpoint";
constexpr std::uint64_t format_version = 6;

struct StateArray {
  const char* name;
  std::vector<double> GarmentState::*member;
};
constexpr StateArray state_arrays[] = {{"positions", &GarmentState::positions},
                                       {"velocities", &GarmentState::velocities},
                                       {"multipliers", &GarmentState::multipliers},
                                       {"contacts", &GarmentState::contacts},
                                       {"holds", &GarmentState::holds}};

/// Centre of mass, axes, velocity, angular momentum: all that a body is.
constexpr std::size_t body_width = 18;
std::vector<double> flat(const std::vector<BodyState>& bodies) {
  std::vector<double> numbers;
  for (const BodyState& b : bodies)
    for (const Vec3d& v :
         {b.pose.center, b.pose.axes[0], b.pose.axes[1], b.pose.axes[2], b.velocity, b.angular_momentum})
      numbers.insert(numbers.end(), {v.x, v.y, v.z});
  return numbers;
}
std::vector<BodyState> bodies_of(const std::vector<double>& numbers) {
  std::vector<BodyState> bodies(numbers.size() / body_width);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const auto vector = [&](std::size_t i) {
      const double* const v = numbers.data() + b * body_width + 3 * i;
      return Vec3d{v[0], v[1], v[2]};
    };
    bodies[b] = {.pose = {.center = vector(0), .axes = {vector(1), vector(2), vector(3)}},
                 .velocity = vector(4),
                 .angular_momentum = vector(5)};
  }
  return bodies;
}

/// What a garment is frozen by: 0 not at all, 1 a step that was not finite, 2 one that diverged.
std::int32_t freezing(const GarmentState& state) { return !state.frozen ? 0 : state.diverged ? 2 : 1; }

/// Of all garments, one after another: as many datasets for a thousand garments as for one.
std::string size_name(const StateArray& array) { return text(array.name, "_sizes"); }

void check_state(const std::string& path, const Scene& scene, const Checkpoint& checkpoint) {
  if (checkpoint.garments.size() != scene.garments.size()) {
    throw ShapeError(
        text(path, ": found ", checkpoint.garments.size(), " garments, expected ", scene.garments.size()));
  }
  if (!checkpoint.since_frame.empty() && checkpoint.since_frame.size() != scene.garments.size()) {
    throw ShapeError(text(path, ": since_frame: found ", checkpoint.since_frame.size(),
                          " garments, expected ", scene.garments.size(), " or none"));
  }
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const GarmentState& state = checkpoint.garments[g];
    const std::size_t coordinates = 3 * scene.garments[g].mesh.positions.size();
    if (state.positions.size() != coordinates || state.velocities.size() != coordinates) {
      throw ShapeError(text(path, ": garment ", g, ": found ", state.positions.size(), " coordinates and ",
                            state.velocities.size(), " velocities, expected ", coordinates, " each"));
    }
    for (const StateArray& array : state_arrays) {
      const std::vector<double>& values = state.*array.member;
      if (!std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); })) {
        throw NumericalError(text(path, ": garment ", g, ": found non-finite ", array.name,
                                  ", expected finite numbers; no checkpoint was written"));
      }
    }
  }
  if (checkpoint.bodies.size() != scene.bodies.size()) {
    throw ShapeError(
        text(path, ": found ", checkpoint.bodies.size(), " bodies, expected ", scene.bodies.size()));
  }
  for (const double x : flat(checkpoint.bodies)) {
    if (!std::isfinite(x)) {
      throw NumericalError(
          text(path, ": found a non-finite body, expected finite numbers; no checkpoint was written"));
    }
  }
  check_finite(checkpoint.since_frame, 0, path);
}

/// Finds damage that HDF5 does not: a changed or missing number.
std::uint64_t content_digest(const Checkpoint& checkpoint, const std::string& summary) {
  Digest digest;
  digest.add(checkpoint.step_index);
  digest.add(summary);
  for (const GarmentState& state : checkpoint.garments) {
    for (const StateArray& array : state_arrays) digest.add(state.*array.member);
    digest.add(state.step_index);
    digest.add(static_cast<std::int64_t>(freezing(state)));
  }
  if (!checkpoint.bodies.empty()) digest.add(flat(checkpoint.bodies));
  for (const FrameMetrics& metrics : checkpoint.since_frame) {
    digest.add(static_cast<std::int64_t>(metrics.status));
    for (const MetricColumn& column : metric_columns()) digest.add(column.get(metrics));
  }
  return digest.value();
}

void write_content(Hdf5File& file, const Scene& scene, const Checkpoint& checkpoint) {
  const std::string summary = summary_json(checkpoint.summary);
  file.write_attribute("format", std::string(format_name));
  file.write_attribute("version", format_version);
  file.write_attribute("columns", metric_names());
  file.write_attribute("precision", std::string(to_string(checkpoint.precision)));
  file.write_attribute("scene_name", scene.name);
  file.write_attribute("scene_digest", scene_digest(scene));
  file.write_attribute("step_index", static_cast<std::uint64_t>(checkpoint.step_index));
  file.write_attribute("content_digest", content_digest(checkpoint, summary));
  file.write_texts("summary", {summary});
  for (const StateArray& array : state_arrays) {
    std::vector<double> all;
    std::vector<std::int64_t> sizes;
    for (const GarmentState& state : checkpoint.garments) {
      const std::vector<double>& values = state.*array.member;
      all.insert(all.end(), values.begin(), values.end());
      sizes.push_back(static_cast<std::int64_t>(values.size()));
    }
    file.write<double>(array.name, all, {all.size()});
    file.write<std::int64_t>(size_name(array), sizes, {sizes.size()});
  }
  std::vector<std::int64_t> clocks;
  std::vector<std::int32_t> frozen;
  for (const GarmentState& state : checkpoint.garments) {
    clocks.push_back(state.step_index);
    frozen.push_back(freezing(state));
  }
  file.write<std::int64_t>("step_indices", clocks, {clocks.size()});
  file.write<std::int32_t>("frozen", frozen, {frozen.size()});
  if (!checkpoint.bodies.empty())
    file.write<double>("bodies", flat(checkpoint.bodies), {checkpoint.bodies.size(), body_width});
  const std::size_t width = 1 + metric_columns().size();
  std::vector<double> counted;
  for (const FrameMetrics& metrics : checkpoint.since_frame) {
    counted.push_back(static_cast<double>(metrics.status));
    for (const MetricColumn& column : metric_columns()) counted.push_back(column.get(metrics));
  }
  file.write<double>("since_frame", counted, {checkpoint.since_frame.size(), width});
}

hsize_t row_count(const Hdf5File& file, const std::string& name) {
  const Hdf5Shape shape = file.shape(name);
  return shape.empty() ? 0 : shape[0];
}

void read_arrays(const Hdf5File& file, const StateArray& array, std::vector<GarmentState>& garments) {
  const auto sizes = file.read<std::int64_t>(size_name(array), {garments.size()});
  const auto all = file.read<double>(array.name, {row_count(file, array.name)});
  auto begin = all.begin();
  for (std::size_t g = 0; g < garments.size(); ++g) {
    if (sizes[g] < 0 || sizes[g] > all.end() - begin)
      throw FileError(text(file.path().string(), ": ", size_name(array), ": found ", sizes[g],
                           " for garment ", g, ", expected at most ", all.end() - begin,
                           "; the file is damaged"));
    (garments[g].*array.member).assign(begin, begin + sizes[g]);
    begin += sizes[g];
  }
}

std::vector<FrameMetrics> read_since_frame(const Hdf5File& file) {
  const std::size_t width = 1 + metric_columns().size();
  const hsize_t count = row_count(file, "since_frame");
  const auto counted = file.read<double>("since_frame", {count, width});
  std::vector<FrameMetrics> all(count);
  for (std::size_t g = 0; g < count; ++g) {
    all[g].status = static_cast<StepStatus>(static_cast<int>(counted[g * width]));
    for (std::size_t c = 1; c < width; ++c) metric_columns()[c - 1].set(all[g], counted[g * width + c]);
  }
  return all;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const Scene& scene, const Checkpoint& checkpoint) {
  check_state(path.string(), scene, checkpoint);
  std::filesystem::path unfinished = path;
  unfinished += ".unfinished";
  std::error_code error;
  try {
    Hdf5File file = Hdf5File::create(unfinished);
    write_content(file, scene, checkpoint);
    file.close();
  } catch (...) {
    std::filesystem::remove(unfinished, error);
    throw;
  }
  std::filesystem::rename(unfinished, path, error);
  if (error) throw FileError(text(path.string(), ": cannot write: ", error.message()));
}

Checkpoint read_checkpoint(const std::filesystem::path& path, const Scene& scene, Precision expected) {
  const Hdf5File file = Hdf5File::open(path);
  const auto fail = [&](const std::string& message) { throw FileError(text(path.string(), ": ", message)); };
  const std::string format = file.read_text_attribute("format");
  const std::uint64_t version = file.read_number_attribute("version");
  if (format != format_name || version != format_version) {
    fail(text("found \"", format, "\" version ", version, ", expected \"", format_name, "\" version ",
              format_version, "; use the program that wrote it, or run the scene again"));
  }
  if (file.read_text_attribute("columns") != metric_names())
    fail(
        "found other columns of metrics than those of this program; use the program that wrote it, or run "
        "the "
        "scene again");
  if (file.read_number_attribute("scene_digest") != scene_digest(scene)) {
    fail(
        text("found the state of another scene (\"", file.read_text_attribute("scene_name"),
             "\"), expected \"", scene.name,
             "\" unchanged but for name, duration and on_violation; use the scene that it was written with"));
  }
  Checkpoint checkpoint;
  checkpoint.precision = precision(file.read_text_attribute("precision"));
  if (checkpoint.precision != expected) {
    fail(text("found a state in ", to_string(checkpoint.precision), ", expected ", to_string(expected),
              "; run with the precision that it was written with"));
  }
  checkpoint.step_index = static_cast<std::int64_t>(file.read_number_attribute("step_index"));
  const std::string summary = file.read_texts("summary", 1)[0];
  const auto clocks = file.read<std::int64_t>("step_indices", {scene.garments.size()});
  const auto frozen = file.read<std::int32_t>("frozen", {scene.garments.size()});
  checkpoint.garments.resize(scene.garments.size());
  for (const StateArray& array : state_arrays) read_arrays(file, array, checkpoint.garments);
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    GarmentState& state = checkpoint.garments[g];
    const std::size_t coordinates = 3 * scene.garments[g].mesh.positions.size();
    if (state.positions.size() != coordinates || state.velocities.size() != coordinates)
      fail(text("garment ", g, ": found ", state.positions.size(), " coordinates and ",
                state.velocities.size(), " velocities, expected ", coordinates,
                " each; the file is damaged"));
    state.step_index = clocks[g];
    state.frozen = frozen[g] != 0;
    state.diverged = frozen[g] == 2;
  }
  if (!scene.bodies.empty())
    checkpoint.bodies = bodies_of(file.read<double>("bodies", {scene.bodies.size(), body_width}));
  checkpoint.since_frame = read_since_frame(file);
  if (content_digest(checkpoint, summary) != file.read_number_attribute("content_digest")) {
    fail("found numbers that do not fit their digest; the file is damaged, use another checkpoint");
  }
  checkpoint.summary = parse_summary(summary, path.string());
  return checkpoint;
}

}  // namespace isocloth
