#include "host/results/recording.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/text.hpp"
#include "host/files/error_text.hpp"
#include "host/files/hdf5_file.hpp"
#include "host/files/number_rows.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

Recording from_rows(const fs::path& path, std::size_t point_count, const std::string& meaning) {
  const NumberRows rows =
      read_number_rows(path, point_count == 0 ? 0 : 1 + 3 * point_count, meaning, Gaps::allowed);
  if (rows.columns % 3 != 1 || rows.columns < 4)
    throw FileError(text(path.string(), ":", rows.lines[0], ": found ", rows.columns,
                         " columns, expected one and three for each point: ", meaning));
  Recording recording{.file = path.string(),
                      .point_count = rows.columns / 3,
                      .times = ascending_times(rows, path),
                      .values = {}};
  for (std::size_t row = 0; row < rows.lines.size(); ++row) {
    for (std::size_t point = 0; point < recording.point_count; ++point) {
      const double* const xyz = &rows.values[row * rows.columns + 1 + 3 * point];
      const Vec3d value{xyz[0], xyz[1], xyz[2]};
      if (!is_seen(value) && !(std::isnan(value.x) && std::isnan(value.y) && std::isnan(value.z)))
        throw FileError(text(path.string(), ":", rows.lines[row], ": columns ", 2 + 3 * point, " to ",
                             4 + 3 * point, ": found a number beside nan, expected three numbers or none"));
      recording.values.push_back(value);
    }
  }
  return recording;
}

Recording from_datasets(const fs::path& path) {
  const Hdf5File file = Hdf5File::open(path);
  const Hdf5Shape shape = file.shape("positions");
  if (shape.size() != 3 || shape[0] == 0 || shape[1] == 0 || shape[2] != 3)
    throw FileError(text(path.string(), ": positions: found ", shape.size(),
                         " dimensions or one that is empty, expected (frames, points, 3)"));
  Recording recording{.file = path.string(),
                      .point_count = static_cast<std::size_t>(shape[1]),
                      .times = file.read<double>("times", {shape[0]}),
                      .values = as_vectors(file.read<double>("positions", shape))};
  for (std::size_t i = 0; i < recording.times.size(); ++i) {
    if (!std::isfinite(recording.times[i]) || (i > 0 && !(recording.times[i] > recording.times[i - 1])))
      throw FileError(text(path.string(), ": times[", i, "]: found ", recording.times[i],
                           ", expected more than the time before it"));
  }
  return recording;
}

}  // namespace

bool is_seen(const Vec3d& value) {
  return std::isfinite(value.x) && std::isfinite(value.y) && std::isfinite(value.z);
}

Vec3d Recording::at_time(std::size_t point, double t) const {
  const auto next_time = std::upper_bound(times.begin(), times.end(), t);
  auto before = static_cast<std::ptrdiff_t>(next_time - times.begin()) - 1;
  auto after = static_cast<std::size_t>(before + 1);
  while (before >= 0 && !is_seen(at(static_cast<std::size_t>(before), point))) --before;
  while (after < times.size() && !is_seen(at(after, point))) ++after;
  if (before < 0 && after == times.size())
    throw FileError(text(file, ": found point ", point, " in no sample, expected it in one at least"));
  if (before < 0) return at(after, point);
  const auto b = static_cast<std::size_t>(before);
  if (after == times.size()) return at(b, point);
  const double share = (t - times[b]) / (times[after] - times[b]);
  return (1 - share) * at(b, point) + share * at(after, point);
}

Recording first_garment_of(const TrajectoryFile& file, const fs::path& path) {
  if (file.layout().garments.empty() || file.frame_count() == 0)
    throw FileError(text(path.string(), ": found no garment or no frame, expected at least one of each"));
  const auto count = static_cast<std::size_t>(file.layout().garments[0].node_count);
  Recording recording{.file = path.string(), .point_count = count, .times = file.times(), .values = {}};
  for (std::size_t frame = 0; frame < file.frame_count(); ++frame) {
    const std::vector<Vec3d> all = as_vectors(file.positions(frame));
    recording.values.insert(recording.values.end(), all.begin(),
                            all.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return recording;
}

Recording read_recording(const fs::path& path, std::size_t point_count, const std::string& meaning) {
  std::error_code ignored;
  Recording recording = within_memory_of(path.string(), [&] {
    if (fs::is_directory(path, ignored))
      return first_garment_of(TrajectoryFile(path / "trajectory.h5"), path);
    if (path.filename() == "trajectory.h5") return first_garment_of(TrajectoryFile(path), path);
    if (path.extension() == ".h5" || path.extension() == ".hdf5") return from_datasets(path);
    return from_rows(path, point_count, meaning);
  });
  if (point_count > 0 && recording.point_count != point_count)
    throw FileError(
        text(path.string(), ": found ", recording.point_count, " points, expected ", point_count));
  if (std::ranges::none_of(recording.values, is_seen))
    throw FileError(text(path.string(), ": found no point that was seen, expected one at least"));
  return recording;
}

std::string recording_csv(const Recording& recording, const std::string& header) {
  std::string all = header + "\n";
  for (std::size_t sample = 0; sample < recording.times.size(); ++sample) {
    all += shortest(recording.times[sample]);
    for (std::size_t point = 0; point < recording.point_count; ++point) {
      const Vec3d& value = recording.at(sample, point);
      for (const double x : {value.x, value.y, value.z})
        all += "," + (std::isfinite(x) ? shortest(x) : "nan");
    }
    all += "\n";
  }
  return all;
}

}  // namespace isocloth
