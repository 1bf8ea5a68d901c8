// What is told of a quantity once is in every file: names and order as they were, every number there and
// back.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "host/files/json_text.hpp"
#include "host/results/metric_columns.hpp"
#include "host/results/summary_file.hpp"
#include "host/state/quantity.hpp"

namespace isocloth {
namespace {

/// Columns in the order in which files have them since format 3 of trajectories.
constexpr const char* columns =
    "iterations,substeps,fallbacks,residual_worst,penetration,contact_count,contact_force_x,contact_force_y,"
    "contact_force_z,rubbing_count,sticking_count,held_count,gripper_force_x,gripper_force_y,gripper_force_z,"
    "cloth_contacts,held_back,compression,eased_depth,cloth_loaded,cloth_force,cloth_gap,cg_iterations,"
    "substeps_max,strain_max,strain_p95,strain_mean,stretch_max,stretch_p95,compression_max,"
    "thread_strain_max,thread_strain_p95,shear_max,shear_p95,cut,asleep,imbalance,"
    "row_strain,residual,area_error_total,"
    "area_error_mean,area_error_dispersion,area_error_element_max,kinetic_energy,potential_energy,"
    "elastic_energy,hourglass_energy,seam_opening,linear_momentum_x,linear_momentum_y,linear_momentum_z,"
    "angular_momentum_x,angular_momentum_y,angular_momentum_z";
constexpr const char* energies =
    ",gravity_energy,bending_energy,stretch_energy,shear_energy,unbalanced_force,work_gravity,work_pins,"
    "work_grippers,work_obstacles,work_cloth,work_air,work_forces,work_seams,work_commands,loss_contact,"
    "loss_damping,loss_hysteresis,loss_integrator,error_rows,energy_error,energy_scale";

constexpr const char* keys =
    "area_error_element_max area_error_element_mean_max area_error_total_max backend blocked "
    "body_poses cg_iterations_max cloth_contacts_max cloth_force_max cloth_gap_min cloth_loaded_max "
    "compression_max contact_count_max contact_force contact_force_max eased_depth element_count "
    "fallbacks first_intersections first_overlaps first_passages frame_count frames_of "
    "friction_stick_fraction frozen garment_count garments_frozen garments_stalled gripper_force_max "
    "held_back held_count_max imbalance_max intersections_max iterations_per_step_max "
    "iterations_per_step_mean "
    "machine memory_bytes message method metric node_count overlaps_max penetration_max precision "
    "realtime_factor recipe residual_max row_count row_strain_max scene seam_opening seed "
    "setup_seconds shear_max shear_p95 simulated_seconds solver status step step_count "
    "steps_asleep steps_certified steps_certified_within steps_cut steps_intersecting steps_overlapping "
    "steps_passing_within "
    "steps_touching steps_violated strain_max strain_mean strain_p95 stretch_max stretch_p95 "
    "substeps_max thread_strain_max thread_strain_p95 threads tolerance version wall_seconds warnings";

TEST(Quantities, ColumnsAndKeysAreThoseOfEarlierFiles) {
  EXPECT_EQ(metric_names(false), columns);
  EXPECT_EQ(metric_names(true), std::string(columns) + energies);
  std::istringstream words(keys);
  std::set<std::string> expected, found;
  for (std::string word; words >> word;) expected.insert(word);
  for (const SummaryKey& key : summary_keys()) EXPECT_TRUE(found.insert(key.name).second) << key.name;
  EXPECT_EQ(found, expected);
}

/// Calls visit(quantity, number) for every number of a struct and of those within it.
template <class Struct, class Visit>
void for_each_number_of(Struct& all, const Visit& visit) {
  for_each_quantity<std::remove_const_t<Struct>>([&](const auto& quantity) {
    auto& value = all.*quantity.member;
    using Type = std::remove_cvref_t<decltype(value)>;
    if constexpr (HasQuantities<Type>)
      for_each_number_of(value, visit);
    else if constexpr (std::is_arithmetic_v<Type>)
      visit(quantity, value);
  });
}

TEST(Quantities, EveryNumberOfAFrameIsInTheTableUnderItsName) {
  FrameMetrics metrics;
  std::map<std::string, double> written;
  double next = 1;
  for_each_number_of(metrics, [&](const auto& quantity, auto& value) {
    value = static_cast<std::remove_cvref_t<decltype(value)>>(++next);
    const char* const column = quantity.about.files.column;
    written[column == nullptr ? quantity.name : column] = next;
  });
  metrics.contacts.force = {0.5, 0.25, 0.125};
  written["contact_force_y"] = 0.25;
  std::istringstream names(metric_names(true)), lines(metrics_lines(3, 4, 0.5, {"towel"}, {metrics}, true));
  for (std::string cell; std::getline(lines, cell, ',') && cell != "converged";) continue;
  std::set<std::string> seen;
  for (std::string name, cell; std::getline(names, name, ',') && std::getline(lines, cell, ',');) {
    seen.insert(name);
    if (written.contains(name)) {
      EXPECT_EQ(std::stod(cell), written[name]) << name;
    }
  }
  for (const auto& [name, value] : written)
    EXPECT_TRUE(name.empty() || seen.contains(name)) << name << " is not in metrics.csv";
}

TEST(Quantities, EveryNumberOfARunWithAKeyIsInItsSummaryAndComesBack) {
  RunSummary summary;
  std::map<std::string, double> written;
  double next = 1;
  for_each_number_of(summary.overall, [&](const auto& quantity, auto& value) {
    value = static_cast<std::remove_cvref_t<decltype(value)>>(++next);
    if (quantity.about.files.summary != nullptr) written[quantity.about.files.summary] = next;
  });
  EXPECT_GE(written.size(), 30u);
  const std::string json = summary_json(summary);
  const Json root = parse_json(json, "summary");
  for (const auto& [key, value] : written) {
    ASSERT_TRUE(root.contains(key)) << key << " is not in summary.json";
    EXPECT_EQ(root[key], value) << key;
  }
  const RunSummary read = parse_summary(json, "summary");
  for_each_number_of(read.overall, [&](const auto& quantity, const auto& value) {
    const char* const key = quantity.about.files.summary;
    if (key != nullptr) {
      EXPECT_EQ(static_cast<double>(value), written[key]) << key;
    }
  });
}

TEST(Quantities, HaveUnitsAndMeanings) {
  const std::set<std::string> units = {"", "1", "m", "s", "N", "J", "kg m/s", "kg m^2/s", "byte"};
  for (const MetricColumn& column : metric_columns()) {
    EXPECT_NE(std::string(column.about.doc), "") << column.name;
    EXPECT_TRUE(units.contains(column.about.unit)) << column.name;
    const bool is_drawn = *column.about.page.plot != 0;
    EXPECT_TRUE(!is_drawn || *column.about.page.label != 0) << column.name;
  }
}

TEST(Quantities, AddUpByTheirRules) {
  StepReport first{.iterations = 3, .substeps = 1}, second{.iterations = 4, .substeps = 2};
  first.residual = 0.5, second.residual = 0.25;
  first.cloth_gap = 0.75, second.cloth_gap = 0.5;
  first.eased_depth = 2, second.eased_depth = 1;
  first.strain.max = 0.1, second.strain.max = 0.2;
  first.status = StepStatus::stalled;
  first.bad_node = 7;
  StepReport steps = first, garments = first;
  add_by_rule(Further::step, second, steps);
  add_by_rule(Further::garment, second, garments);
  for (const StepReport& both : {steps, garments}) {
    EXPECT_EQ(both.status, StepStatus::stalled);
    EXPECT_EQ(both.iterations, 7);
    EXPECT_EQ(both.substeps, 3);
    EXPECT_EQ(both.residual, 0.5);
    EXPECT_EQ(both.cloth_gap, 0.5);
    EXPECT_EQ(both.strain.max, 0.2);
    EXPECT_EQ(both.bad_node, 7);
  }
  EXPECT_EQ(steps.eased_depth, 1) << "what is left at the end";
  EXPECT_EQ(garments.eased_depth, 2) << "of the garment where most is left";
  Measures one, other;
  one.kinetic_energy = 1, other.kinetic_energy = 2;
  one.seam_opening = 0.5, other.seam_opening = 0.25;
  Measures later = one, together = one;
  add_by_rule(Further::step, other, later);
  add_by_rule(Further::garment, other, together);
  EXPECT_EQ(later.kinetic_energy, 2);
  EXPECT_EQ(later.seam_opening, 0.25);
  EXPECT_EQ(together.kinetic_energy, 3);
  EXPECT_EQ(together.seam_opening, 0.5);
}

}  // namespace
}  // namespace isocloth
