// sweep.csv and sweep.json: what the cases of a sweep gave.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "host/files/json_text.hpp"
#include "host/sweep/sweep_measures.hpp"
#include "host/sweep/sweep_plan.hpp"

namespace isocloth {

enum class CaseStatus {
  completed,
  stalled,    ///< at least one step missed its tolerance, and the scene's on_violation is "continue"
  failed,     ///< left the finite numbers, no measures
  stopped,    ///< a step missed its tolerance, where a run stops, too: on_violation "stop"; no measures
  timed_out,  ///< took longer than SweepRequest::case_seconds, no measures
};
inline constexpr std::array case_statuses{CaseStatus::completed, CaseStatus::stalled, CaseStatus::failed,
                                          CaseStatus::stopped, CaseStatus::timed_out};
const char* to_string(CaseStatus status);

struct SweepRow {
  CaseStatus status = CaseStatus::completed;
  std::vector<double> values;  ///< one per measure, finite; empty when the case has none
};

/// Cases in order, the first row_count of the plan.
struct SweepTable {
  SweepPlan plan;
  std::vector<SweepMeasure> measures;
  std::vector<SweepRow> rows;

  std::size_t count(CaseStatus status) const;
  std::size_t count_without_measures() const;
  /// "4 of 5 cases: 3 completed, 0 missed the tolerance, 1 failed", with those stopped and timed out, if any.
  std::string counts() const;
};

/// Header and a line per row: case, parameters, status, measures; a measure that is not there is empty.
/// Numbers read back as the same doubles, and nothing in it depends on time, machine or batches.
std::string sweep_csv(const SweepTable& table);

/// Fills the rows of a table from the text of its sweep.csv. Throws FileError naming `source` and line:
/// another header, other parameters than the plan's, a broken line.
void read_sweep_csv(SweepTable& table, const std::string& content, const std::string& source);

/// Parameters and measures with units, and the arguments that a resumed sweep must repeat.
Json sweep_plan_json(const SweepTable& table);

}  // namespace isocloth
