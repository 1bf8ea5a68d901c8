// Tables of figures, for people as Markdown and for programs as JSON.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/files/json_text.hpp"

namespace isocloth::bench {

struct Table {
  std::string title;
  std::vector<std::string> columns;     ///< with units, [-] where there is none left out
  std::vector<std::vector<Json>> rows;  ///< a cell per column: number, text, or null for "not measured"
  std::vector<std::string> notes;
};

/// What every result says of its run: `commit` that the program was built from ("unknown" outside a checkout,
/// "-dirty" behind it where the tree was changed), `load` of the last 1, 5 and 15 minutes (null where the
/// system does not tell), `machine`.
Json run_record();

/// The tables as Markdown on standard output and, unless `json` is empty, with run_record() in one file.
/// Throws FileError.
void publish(const std::string& command, const std::vector<Table>& tables, const std::filesystem::path& json);

/// Writes a text file; throws FileError.
void write_text(const std::filesystem::path& path, const std::string& content);

/// A number with four significant digits.
std::string short_number(double value);

/// "9 x 9".
std::string grid_name(int side);

}  // namespace isocloth::bench
