#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"
#include "host/scene/recorded_motion.hpp"

namespace isocloth {
namespace {

/// 32-bit numbers of a file, one after another.
class Words {
 public:
  Words(const std::filesystem::path& path, std::endian order)
      : path_(path), bytes_(read_whole_file(path)), order_(order) {}

  void require_size(std::size_t size, const std::string& what) const {
    if (bytes_.size() != size)
      refuse(text("found ", bytes_.size(), " bytes, expected ", size, " for ", what));
  }
  [[noreturn]] void refuse(const std::string& message) const {
    throw FileError(text(path_.string(), ": ", message));
  }
  bool begins_with(std::string_view text) { return bytes_.compare(at_, text.size(), text) == 0; }
  void skip(std::size_t bytes) { at_ += bytes; }
  std::size_t left() const { return bytes_.size() - std::min(at_, bytes_.size()); }

  template <class Number>
  Number next() {
    static_assert(sizeof(Number) == 4);
    char raw[4];
    std::memcpy(raw, bytes_.data() + at_, 4);
    at_ += 4;
    if (order_ != std::endian::native) std::reverse(raw, raw + 4);
    Number number;
    std::memcpy(&number, raw, 4);
    return number;
  }
  /// Reads the positions of `frames` frames, shape [frames, nodes].
  std::vector<Vec3d> positions(std::size_t frames, std::size_t nodes) {
    std::vector<Vec3d> result(frames * nodes);
    for (std::size_t i = 0; i < result.size(); ++i) {
      Vec3d& p = result[i];
      p.x = next<float>();
      p.y = next<float>();
      p.z = next<float>();
      if (!std::isfinite(p.x + p.y + p.z))
        refuse(text("frame ", i / nodes, ": found a position of node ", i % nodes, " that is not finite"));
    }
    return result;
  }

 private:
  const std::filesystem::path& path_;
  const std::string bytes_;
  const std::endian order_;
  std::size_t at_ = 0;
};

std::size_t frame_count(Words& words) {
  const auto found = words.next<std::int32_t>();
  if (found < 1) words.refuse(text("found ", found, " frames, expected at least 1"));
  return static_cast<std::size_t>(found);
}
/// The number of points of a file, which must be that of the nodes.
std::size_t node_count(Words& words, std::size_t expected) {
  const auto found = words.next<std::int32_t>();
  if (found < 0 || static_cast<std::size_t>(found) != expected)
    words.refuse(text("found ", found, " points, expected ", expected, ", the nodes of the mesh"));
  return expected;
}
std::string size_text(std::size_t frames, std::size_t nodes) {
  return text(frames, " frames of ", nodes, " points");
}

RecordedMotion read_pc2(Words words, std::size_t expected, double frames_per_second) {
  constexpr std::size_t header = 32;
  if (words.left() < header || !words.begins_with(std::string_view("POINTCACHE2\0", 12)))
    words.refuse("is no PC2 file: it does not begin with POINTCACHE2");
  words.skip(12);
  if (const auto version = words.next<std::int32_t>(); version != 1)
    words.refuse(text("found version ", version, ", expected 1"));
  const std::size_t nodes = node_count(words, expected);
  const double start = words.next<float>(), rate = words.next<float>();
  const std::size_t frames = frame_count(words);
  words.require_size(header + 12 * frames * nodes, size_text(frames, nodes));
  if (!(rate > 0) || !std::isfinite(start + rate))
    words.refuse(text("found ", rate, " frames from sample to sample, expected more than 0"));
  RecordedMotion motion;
  for (std::size_t i = 0; i < frames; ++i)
    motion.times.push_back((start + rate * static_cast<double>(i)) / frames_per_second);
  motion.positions = words.positions(frames, nodes);
  return motion;
}

RecordedMotion read_mdd(Words words, std::size_t expected) {
  if (words.left() < 8) words.refuse(text("found ", words.left(), " bytes, expected an MDD file"));
  const std::size_t frames = frame_count(words), nodes = node_count(words, expected);
  words.require_size(8 + 4 * frames + 12 * frames * nodes, size_text(frames, nodes));
  RecordedMotion motion;
  for (std::size_t i = 0; i < frames; ++i) {
    motion.times.push_back(words.next<float>());
    const double time = motion.times.back();
    if (!std::isfinite(time) || (i > 0 && !(time > motion.times[i - 1])))
      words.refuse(text("frame ", i, ": found time ", time, " s, expected finite times that ascend"));
  }
  motion.positions = words.positions(frames, nodes);
  return motion;
}

}  // namespace

bool is_point_cache(const std::filesystem::path& path) {
  return path.extension() == ".pc2" || path.extension() == ".mdd";
}

RecordedMotion read_point_cache(const std::filesystem::path& path, const std::string& name, std::size_t nodes,
                                double frames_per_second, const std::string& key) {
  const bool counts_frames = path.extension() == ".pc2";
  if (counts_frames && !(frames_per_second > 0))
    throw SceneError(text(key, ".frames_per_second: found none or 0, expected the rate of ", name,
                          ", which counts frames"));
  if (!counts_frames && frames_per_second > 0)
    throw SceneError(text(key, ".frames_per_second: found ", frames_per_second, ", expected none: ", name,
                          " has times of its own"));
  RecordedMotion motion = counts_frames ? read_pc2({path, std::endian::little}, nodes, frames_per_second)
                                        : read_mdd({path, std::endian::big}, nodes);
  motion.file = name;
  motion.frames_per_second = frames_per_second;
  return motion;
}

}  // namespace isocloth
