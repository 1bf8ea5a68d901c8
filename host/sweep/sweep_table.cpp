#include "host/sweep/sweep_table.hpp"

#include <algorithm>

#include "engine/core/enum_check.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

/// Number and parameters of a case: the beginning of its line.
std::string line_begin(const SweepPlan& plan, std::size_t index) {
  std::string line = text(index, ",");
  for (std::size_t p = 0; p < plan.parameters.size(); ++p) line += shortest(plan.value(index, p)) + ",";
  return line;
}

std::string header(const SweepTable& table) {
  std::string line = "case,";
  for (const SweepParameter& parameter : table.plan.parameters) line += parameter.path + ",";
  line += "status";
  for (const SweepMeasure& measure : table.measures) line += "," + measure.name;
  return line;
}

/// What follows the parameters in a line; false when it is no row.
bool parse_row(std::string_view rest, std::size_t measure_count, SweepRow& row) {
  const auto next = [&rest] {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    return word;
  };
  const std::string_view status = next();
  const auto found =
      std::ranges::find_if(case_statuses, [&](CaseStatus s) { return status == to_string(s); });
  if (found == case_statuses.end()) return false;
  row.status = *found;
  if (row.status != CaseStatus::completed && row.status != CaseStatus::stalled)
    return rest == std::string(measure_count - 1, ',');
  for (std::size_t m = 0; m < measure_count; ++m) {
    double value = 0;
    if (!parse_finite(next(), value)) return false;
    row.values.push_back(value);
  }
  return rest.empty();
}

}  // namespace

const char* to_string(CaseStatus status) {
  constexpr const char* names[] = {"completed", "stalled", "failed", "stopped", "timed_out"};
  return enum_name(names, status);
}

std::size_t SweepTable::count_without_measures() const {
  return count(CaseStatus::failed) + count(CaseStatus::stopped) + count(CaseStatus::timed_out);
}

std::string SweepTable::counts() const {
  std::string line =
      text(rows.size(), " of ", plan.case_count, " cases: ", count(CaseStatus::completed), " completed, ",
           count(CaseStatus::stalled), " missed the tolerance, ", count(CaseStatus::failed), " failed");
  if (const std::size_t stopped = count(CaseStatus::stopped); stopped > 0)
    line += text(", ", stopped, " stopped where a step missed it");
  if (const std::size_t late = count(CaseStatus::timed_out); late > 0) line += text(", ", late, " timed out");
  return line;
}

std::size_t SweepTable::count(CaseStatus status) const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [status](const SweepRow& row) { return row.status == status; }));
}

std::string sweep_csv(const SweepTable& table) {
  std::string all = header(table) + "\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    all += line_begin(table.plan, i) + to_string(table.rows[i].status);
    for (std::size_t m = 0; m < table.measures.size(); ++m) {
      all += ",";
      if (!table.rows[i].values.empty()) all += shortest(table.rows[i].values[m]);
    }
    all += "\n";
  }
  return all;
}

void read_sweep_csv(SweepTable& table, const std::string& content, const std::string& source) {
  std::string_view rest = content;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const auto fail = [&](const char* expected) {
      throw FileError(text(source, ":", number, ": found \"", printable(line), "\", expected ", expected,
                           "; the table is damaged or of another sweep"));
    };
    if (number == 1) {
      if (line != header(table)) fail("the columns of this sweep");
      continue;
    }
    if (table.rows.size() == table.plan.case_count) fail("no more cases");
    const std::string begin = line_begin(table.plan, table.rows.size());
    SweepRow row;
    if (end == std::string_view::npos || !line.starts_with(begin) ||
        !parse_row(line.substr(begin.size()), table.measures.size(), row))
      fail("the next case of this sweep");
    table.rows.push_back(std::move(row));
  }
}

Json sweep_plan_json(const SweepTable& table) {
  Json parameters = Json::array(), measures = Json::array();
  for (const SweepParameter& p : table.plan.parameters) {
    const auto [low, high] = std::minmax_element(p.values.begin(), p.values.end());
    Json parameter{{"path", p.path}, {"unit", p.unit}, {"scale", p.scale == Scale::log ? "log" : "linear"}};
    if (table.plan.is_grid)
      parameter["values"] = p.values;
    else
      parameter["range"] = {*low, *high};
    parameters.push_back(std::move(parameter));
  }
  for (const SweepMeasure& m : table.measures)
    measures.push_back({{"name", m.name}, {"unit", m.unit}, {"meaning", m.doc}});
  Json plan{{"kind", table.plan.is_grid ? "grid" : "samples"}, {"case_count", table.plan.case_count}};
  if (!table.plan.is_grid) plan["seed"] = table.plan.seed;
  plan["parameters"] = std::move(parameters);
  plan["measures"] = std::move(measures);
  return plan;
}

}  // namespace isocloth
