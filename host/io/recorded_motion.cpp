#include "host/io/recorded_motion.hpp"

#include <algorithm>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/io/text_file.hpp"

namespace isocloth {
namespace {

std::string_view trimmed(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of(" \t\r"), word.size()));
  return word.substr(0, word.find_last_not_of(" \t\r") + 1);
}

std::vector<std::string_view> fields(std::string_view line) {
  std::vector<std::string_view> found;
  while (true) {
    const std::size_t comma = line.find(',');
    found.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return found;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

RecordedMotion read_recorded_motion(const std::filesystem::path& path, const std::string& name,
                                    std::size_t node_count) {
  const std::string content = read_whole_file(path);
  RecordedMotion motion{name, {}, {}};
  std::string_view rest = content;
  bool first = true;
  for (std::size_t line_number = 1; !rest.empty(); ++line_number) {
    const std::string_view whole_line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(whole_line.size() + 1, rest.size()));
    const std::string_view line = trimmed(whole_line);
    if (line.empty() || line[0] == '#') continue;
    const auto fail = [&](const std::string& message) {
      throw FileError(text(path.string(), ":", line_number, ": ", message));
    };
    const std::vector<std::string_view> words = fields(line);
    std::vector<double> numbers(words.size());
    const bool is_header = first && !parse_finite(words[0], numbers[0]);
    first = false;
    if (is_header) continue;
    if (words.size() != 1 + 3 * node_count) {
      fail(text("found ", words.size(), " columns, expected ", 1 + 3 * node_count,
                ": t and x, y, z of each of the ", node_count, " driven nodes"));
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!parse_finite(words[i], numbers[i])) {
        fail(text("column ", i + 1, ": found \"", printable(words[i]), "\", expected a finite number"));
      }
    }
    if (!motion.times.empty() && !(numbers[0] > motion.times.back())) {
      fail(text("found the time ", numbers[0], ", expected more than the time before it, ",
                motion.times.back()));
    }
    motion.times.push_back(numbers[0]);
    for (std::size_t i = 1; i < numbers.size(); i += 3) {
      motion.positions.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
    }
  }
  if (motion.times.empty())
    throw FileError(text(path.string(), ": found no rows of numbers, expected at least one"));
  return motion;
}

}  // namespace isocloth
