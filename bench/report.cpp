#include "bench/report.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "engine/core/errors.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth::bench {
extern const char* const built_from_commit;  // commit.cmake writes it

namespace {

/// Name, family and model of the first core.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string name = "unknown processor", family, model;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size()) continue;
    const std::string value = line.substr(colon + 2),
                      key = line.substr(0, line.find_last_not_of("\t ", colon - 1) + 1);
    if (key == "model name") name = value;
    if (key == "cpu family") family = value;
    if (key == "model") model = value;
  }
  return family.empty() ? name : name + ", family " + family + ", model " + model;
}

Json load_averages() {
  double load[3];
  return getloadavg(load, 3) == 3 ? Json(load) : Json();
}

std::string cell_text(const Json& cell) {
  if (cell.is_null()) return "-";
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_boolean()) return cell.get<bool>() ? "yes" : "no";
  if (cell.is_number_integer()) return std::to_string(cell.get<std::int64_t>());
  return short_number(cell.get<double>());
}

std::string markdown(const Table& table) {
  std::vector<std::vector<std::string>> lines{table.columns};
  for (const auto& row : table.rows) {
    lines.emplace_back();
    for (const Json& cell : row) lines.back().push_back(cell_text(cell));
  }
  std::vector<std::size_t> widths(table.columns.size(), 3);
  for (const auto& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  std::ostringstream out;
  out << "\n### " << table.title << "\n\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t c = 0; c < lines[i].size(); ++c)
      out << "| " << lines[i][c] << std::string(widths[c] - lines[i][c].size() + 1, ' ');
    out << "|\n";
    if (i > 0) continue;
    for (const std::size_t width : widths) out << '|' << std::string(width + 2, '-');
    out << "|\n";
  }
  for (const std::string& note : table.notes) out << "\n" << note << "\n";
  return out.str();
}

Json as_json(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json record = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c) record[table.columns[c]] = row[c];
    rows.push_back(std::move(record));
  }
  return {{"title", table.title}, {"rows", std::move(rows)}, {"notes", table.notes}};
}

}  // namespace

std::string short_number(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return buffer;
}

std::string grid_name(int side) { return std::to_string(side) + " x " + std::to_string(side); }

Json run_record() {
  return {{"commit", built_from_commit},
          {"load", load_averages()},
          {"machine",
           {{"processor", processor_name()},
            {"cores", std::thread::hardware_concurrency()},
            {"simd", to_string(widest_simd())},
            {"compiler", "g++ " __VERSION__},
            {"build", ISOCLOTH_BUILD_TYPE},
            {"version", ISOCLOTH_VERSION}}}};
}

void write_text(const std::filesystem::path& path, const std::string& content) {
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path);
  file << content;
  file.close();
  if (!file)
    throw FileError(path.string() + ": cannot be written; choose a folder with room and write permission");
}

void publish(const std::string& command, const std::vector<Table>& tables,
             const std::filesystem::path& json) {
  const Json run = run_record(), &machine = run["machine"];
  std::printf("%s; %u cores, %s; %s, %s; commit %s, load %s\n",
              machine["processor"].get<std::string>().c_str(), machine["cores"].get<unsigned>(),
              machine["simd"].get<std::string>().c_str(), machine["compiler"].get<std::string>().c_str(),
              machine["build"].get<std::string>().c_str(), built_from_commit, run["load"].dump().c_str());
  for (const Table& table : tables) std::fputs(markdown(table).c_str(), stdout);
  if (json.empty()) return;
  Json record{{"command", command}};
  record.update(run);
  for (const Table& table : tables) record["tables"].push_back(as_json(table));
  write_text(json, record.dump(1) + "\n");
}

}  // namespace isocloth::bench
