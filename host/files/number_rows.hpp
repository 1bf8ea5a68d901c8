// Tables of numbers in text files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace isocloth {

struct NumberRows {
  std::size_t columns = 0;
  std::vector<double> values;      ///< the numbers, shape [row, column], at least one row
  std::vector<std::size_t> lines;  ///< line of each row in the file, from 1, shape [row]
};

enum class Gaps { refused, allowed };

/// Reads rows of numbers with commas or blanks between them; the first line may be a header; blank lines and
/// lines that begin with # are skipped. `columns`: how many each row has, 0 as many as the first; `meaning`
/// says what they are, for messages. Where gaps are allowed, nan or nothing between two commas is NaN, but in
/// the first column. Throws FileError naming file and line: missing file, no rows, a wrong number of columns,
/// a word that is not a finite number.
NumberRows read_number_rows(const std::filesystem::path& path, std::size_t columns,
                            const std::string& meaning, Gaps gaps = Gaps::refused);

/// The first column of `rows`, which must ascend. Throws FileError naming file and line.
std::vector<double> ascending_times(const NumberRows& rows, const std::filesystem::path& path);

}  // namespace isocloth
