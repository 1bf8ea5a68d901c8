#include "host/files/number_rows.hpp"

#include <algorithm>
#include <limits>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/error_text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

constexpr const char* blanks = " \t\r";

std::string_view trimmed(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of(blanks), word.size()));
  return word.substr(0, word.find_last_not_of(blanks) + 1);
}

/// The words of a line that is not blank.
std::vector<std::string_view> words_of(std::string_view line) {
  const bool has_commas = line.find(',') != std::string_view::npos;
  std::vector<std::string_view> found;
  while (true) {
    const std::size_t end = has_commas ? line.find(',') : line.find_first_of(blanks);
    found.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return found;
    line.remove_prefix(end + 1);
    if (!has_commas) line = trimmed(line);
  }
}

bool is_gap(std::string_view word) {
  return word.empty() || word == "nan" || word == "NaN" || word == "NAN" || word == "NA";
}

}  // namespace

static NumberRows parse_number_rows(const std::filesystem::path& path, std::size_t columns,
                                    const std::string& meaning, Gaps gaps) {
  const std::string content = read_whole_file(path);
  NumberRows rows{.columns = columns, .values = {}, .lines = {}};
  std::string_view rest = without_mark(content, path.string());
  bool first = true;
  for (std::size_t line_number = 1; !rest.empty(); ++line_number) {
    const std::string_view whole_line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(whole_line.size() + 1, rest.size()));
    const std::string_view line = trimmed(whole_line);
    if (line.empty() || line[0] == '#') continue;
    const auto fail = [&](const std::string& message) {
      throw FileError(text(path.string(), ":", line_number, ": ", message));
    };
    const std::vector<std::string_view> words = words_of(line);
    double number = 0;
    const bool is_header = first && !parse_finite(words[0], number);
    first = false;
    if (is_header) continue;
    if (rows.columns == 0) rows.columns = words.size();
    if (words.size() != rows.columns)
      fail(text("found ", words.size(), " columns, expected ", rows.columns, ": ", meaning));
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (gaps == Gaps::allowed && i > 0 && is_gap(words[i])) {
        number = std::numeric_limits<double>::quiet_NaN();
      } else if (!parse_finite(words[i], number)) {
        // Only a table is quoted: until a row of it has been read the file may be anything.
        const std::string found = rows.lines.empty() ? "no number" : quoted_word(words[i]);
        fail(text("column ", i + 1, ": found ", found, ", expected a finite number",
                  gaps == Gaps::allowed && i > 0 ? ", or nan where there is none" : ""));
      }
      rows.values.push_back(number);
    }
    rows.lines.push_back(line_number);
  }
  if (rows.lines.empty())
    throw FileError(text(path.string(), ": found no rows of numbers, expected at least one"));
  return rows;
}

NumberRows read_number_rows(const std::filesystem::path& path, std::size_t columns,
                            const std::string& meaning, Gaps gaps) {
  return within_memory_of(path.string(), [&] { return parse_number_rows(path, columns, meaning, gaps); });
}

std::vector<double> ascending_times(const NumberRows& rows, const std::filesystem::path& path) {
  std::vector<double> times;
  for (std::size_t row = 0; row < rows.lines.size(); ++row) {
    const double time = rows.values[row * rows.columns];
    if (!times.empty() && !(time > times.back())) {
      throw FileError(text(path.string(), ":", rows.lines[row], ": found the time ", time,
                           ", expected more than the time before it, ", times.back()));
    }
    times.push_back(time);
  }
  return times;
}

}  // namespace isocloth
