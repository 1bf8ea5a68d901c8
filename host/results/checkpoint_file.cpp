#include "host/results/checkpoint_file.hpp"

#include <limits>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/hdf5_file.hpp"
#include "host/files/names.hpp"
#include "host/results/metric_columns.hpp"
#include "host/results/scene_digest.hpp"
#include "host/results/state_columns.hpp"
#include "host/results/summary_file.hpp"

namespace isocloth {
namespace {

constexpr const char* format_name = "isocloth checkpoint";
constexpr std::uint64_t format_version = 15;

/// "" or what is wrong with the number of coordinates.
std::string wrong_size(const Scene& scene, const std::vector<GarmentState>& garments) {
  for (std::size_t g = 0; g < garments.size(); ++g) {
    const std::size_t coordinates = 3 * scene.garments[g].mesh.positions.size();
    if (garments[g].positions.size() != coordinates || garments[g].velocities.size() != coordinates)
      return text("garment ", g, ": found ", garments[g].positions.size(), " coordinates and ",
                  garments[g].velocities.size(), " velocities, expected ", coordinates, " each");
  }
  return "";
}

void check_state(const std::string& path, const Scene& scene, const Checkpoint& checkpoint) {
  const auto require_count = [&](const char* what, std::size_t found, std::size_t expected) {
    if (found != expected)
      throw ShapeError(text(path, ": found ", found, " ", what, ", expected ", expected));
  };
  const auto require_finite = [&](const char* what, std::size_t number, const auto& state) {
    if (const auto found = find_beyond(state, std::numeric_limits<double>::max()))
      throw NumericalError(text(path, ": ", what, " ", number, ": found ", *found,
                                ", expected finite numbers; no checkpoint was written"));
  };
  require_count("garments", checkpoint.garments.size(), scene.garments.size());
  if (!checkpoint.since_frame.empty())
    require_count("garments in since_frame", checkpoint.since_frame.size(), scene.garments.size());
  require_count("bodies", checkpoint.bodies.size(), scene.bodies.size());
  if (const std::string wrong = wrong_size(scene, checkpoint.garments); !wrong.empty())
    throw ShapeError(text(path, ": ", wrong));
  for (std::size_t g = 0; g < checkpoint.garments.size(); ++g)
    require_finite("garment", g, checkpoint.garments[g]);
  for (std::size_t b = 0; b < checkpoint.bodies.size(); ++b) require_finite("body", b, checkpoint.bodies[b]);
  check_finite(checkpoint.since_frame, 0, path);
}

/// Begins the digest of all numbers of a checkpoint in their order: finds damage that HDF5 does not.
Digest begin_digest(std::int64_t step_index, const std::string& summary) {
  Digest digest;
  digest.add(step_index);
  digest.add(summary);
  return digest;
}

void write_content(Hdf5File& file, const Scene& scene, const Checkpoint& checkpoint,
                   std::uint64_t scene_number) {
  const std::string summary = summary_json(checkpoint.summary);
  file.write_attribute("format", std::string(format_name));
  file.write_attribute("version", format_version);
  file.write_attribute("columns", metric_names());
  file.write_attribute("precision", std::string(to_string(checkpoint.precision)));
  file.write_attribute("scene_name", scene.name);
  file.write_attribute("scene_digest", scene_number);
  file.write_attribute("step_index", static_cast<std::uint64_t>(checkpoint.step_index));
  file.write_texts("summary", {summary});
  Digest digest = begin_digest(checkpoint.step_index, summary);
  write_columns(file, "garments", checkpoint.garments, digest);
  write_columns(file, "bodies", checkpoint.bodies, digest);
  std::vector<double> counted;
  for (const FrameMetrics& metrics : checkpoint.since_frame) {
    counted.push_back(code_of(metrics.steps.status));
    for (const MetricColumn& column : metric_columns()) counted.push_back(column.get(metrics));
  }
  digest.add(counted);
  file.write<double>("since_frame", counted, {checkpoint.since_frame.size(), 1 + metric_columns().size()});
  file.write_attribute("content_digest", digest.value());
}

std::vector<FrameMetrics> read_since_frame(const Hdf5File& file, const std::vector<MetricColumn>& columns,
                                           Digest& digest) {
  const std::size_t width = 1 + columns.size();
  const Hdf5Shape shape = file.shape("since_frame");
  const hsize_t count = shape.empty() ? 0 : shape[0];
  const auto counted = file.read<double>("since_frame", {count, width});
  digest.add(counted);
  std::vector<FrameMetrics> all(count);
  for (std::size_t g = 0; g < count; ++g) {
    all[g].steps.status = status_of(static_cast<int>(counted[g * width]));
    for (std::size_t c = 1; c < width; ++c) columns[c - 1].set(all[g], counted[g * width + c]);
  }
  return all;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const Scene& scene, const Checkpoint& checkpoint,
                      std::optional<std::uint64_t> digest) {
  check_state(path.string(), scene, checkpoint);
  std::filesystem::path unfinished = path;
  unfinished += ".unfinished";
  std::error_code error;
  try {
    Hdf5File file = Hdf5File::create(unfinished);
    write_content(file, scene, checkpoint, digest ? *digest : scene_digest(scene));
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
  const std::vector<MetricColumn> columns = columns_of(file.read_text_attribute("columns"));
  if (columns.empty())
    fail(
        "found other columns of metrics than those of this program; use the program that wrote it, or run "
        "the scene again");
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
  Digest digest = begin_digest(checkpoint.step_index, summary);
  checkpoint.garments = read_columns<GarmentState>(file, "garments", scene.garments.size(), digest);
  checkpoint.bodies = read_columns<BodyState>(file, "bodies", scene.bodies.size(), digest);
  checkpoint.since_frame = read_since_frame(file, columns, digest);
  if (const std::string wrong = wrong_size(scene, checkpoint.garments); !wrong.empty())
    fail(text(wrong, "; the file is damaged"));
  if (digest.value() != file.read_number_attribute("content_digest")) {
    fail("found numbers that do not fit their digest; the file is damaged, use another checkpoint");
  }
  checkpoint.summary = parse_summary(summary, path.string());
  return checkpoint;
}

}  // namespace isocloth
