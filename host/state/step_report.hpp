// What a step did, and how it ended.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/array_view.hpp"
#include "host/state/strain.hpp"

namespace isocloth {

enum class StepStatus {
  converged,   ///< within the tolerances
  cut,         ///< ended by its budget before it met them; the step counts
  stalled,     ///< missed them; the step counts all the same
  non_finite,  ///< no step: a number overflowed, or a matrix has no factor
  diverged,    ///< no step: stretched or thrown beyond the bounds of kernels/core/divergence.hpp
};
const char* to_string(StepStatus status);
/// Whether a garment whose step ends so keeps the state before it and is frozen.
constexpr bool has_failed(StepStatus status) { return status >= StepStatus::non_finite; }

/// Number of a status in files and reports of kernels: 0 converged, 1 stalled, 2 non_finite, 3 diverged, 4
/// cut.
constexpr int code_of(StepStatus status) {
  return status == StepStatus::cut ? 4 : std::max(static_cast<int>(status) - 1, 0);
}
/// The status with a number; of another number none of them, one beyond the last.
constexpr StepStatus status_of(int code) {
  for (const StepStatus status : {StepStatus::converged, StepStatus::cut, StepStatus::stalled,
                                  StepStatus::non_finite, StepStatus::diverged})
    if (code_of(status) == code) return status;
  return static_cast<StepStatus>(static_cast<int>(StepStatus::diverged) + 1);
}

/// What one step of one garment did, or several steps.
struct StepReport {
  StepStatus status = StepStatus::converged;
  int iterations = 0, substeps = 1;
  std::int64_t fallbacks = 0;
  double residual = 0, penetration = 0;
  Index cloth_contacts = 0;
  std::int64_t held_back = 0, blocked = 0;
  double compression = 0, eased_depth = 0;
  Index cloth_loaded = 0;
  double cloth_force = 0, cloth_gap = 1;
  int cg_iterations = 0;
  Strain strain = {};
  double wall_seconds = 0;
  Index bad_node = -1;
  std::int64_t cut = 0, asleep = 0;
  double imbalance = 0;

  static constexpr auto fields() {
    using enum Rule;
    using Report = StepReport;
    constexpr const char *exactness = "Exactness", *cloth = "Cloth against cloth",
                         *contacts = "Contacts of cloth with cloth", *steps = "Steps with cloth on cloth";
    return std::tuple{
        Quantity(
            "status", &Report::status, most, "",
            "``converged``; ``cut``: ended by its budget before it met its tolerance; ``stalled``: missed "
            "it, but counts; ``non_finite``, ``diverged``: the garment keeps the state before it and is "
            "frozen",
            {nullptr, ""}),
        Quantity("iterations", &Report::iterations, sum, "", "linear solves and sweeps of all substeps", {},
                 {"solves or sweeps", "Iterations per frame"}),
        Quantity("substeps", &Report::substeps, sum, "", "parts in which steps were taken"),
        Quantity("fallbacks", &Report::fallbacks, sum, "",
                 "substeps that no linear system could hold, and sweeps did", {"fallbacks"},
                 {"parts of steps left to sweeps", "", "Time and machine"}),
        Quantity(
            "residual", &Report::residual, most, "",
            "largest scaled row at the end of the worst substep, of a lost step, too; infinite: no number",
            {"residual_max", "residual_worst"}, {"largest residual", "What the rows bound", exactness}),
        Quantity("penetration", &Report::penetration, most, "m",
                 "how far the cloth was pressed below its core, that no pressure of fibres takes away, or is "
                 "nearer to cloth than it must be; what is eased out counts as deep as it may be, "
                 "``eased_depth``; with impulses, its deepest point in an obstacle",
                 {"penetration_max"}, {"deepest penetration", "Penetration", exactness}),
        Quantity("cloth_contacts", &Report::cloth_contacts, most, "",
                 "pairs of nodes, edges and faces of cloth near cloth, of all that meet",
                 {"cloth_contacts_max"}, {"contacts, most", contacts, cloth}),
        Quantity("held_back", &Report::held_back, sum, "", "nodes held back from passing through cloth",
                 {"held_back"}, {"nodes held back", steps, cloth}),
        Quantity("blocked", &Report::blocked, sum, "",
                 "of them those of pins, grippers and driven garments that would pass through such",
                 {"blocked", "", true}, {"of them pinned, gripped or driven", "", cloth}),
        Quantity("compression", &Report::compression, most, "1",
                 "largest ``1 - t / T`` of the thickness t at an obstacle or body", {nullptr, nullptr, true}),
        Quantity("eased_depth", &Report::eased_depth, end_most, "m",
                 "depth left to what started inside of obstacles and is eased out",
                 {"eased_depth", nullptr, true}, {"depth left to ease out", "", exactness}),
        Quantity("cloth_loaded", &Report::cloth_loaded, most, "",
                 "contacts of cloth with cloth that carry a force, of all that meet",
                 {"cloth_loaded_max", nullptr, true}, {"contacts with a force, most", contacts, cloth}),
        Quantity("cloth_force", &Report::cloth_force, most, "N", "greatest force of one of them",
                 {"cloth_force_max", nullptr, true},
                 {"force of a contact, greatest", "Greatest force of cloth on cloth", cloth}),
        Quantity("cloth_gap", &Report::cloth_gap, least, "1",
                 "least distance of cloth from cloth over the thickness, 1: none is nearer",
                 {"cloth_gap_min", nullptr, true},
                 {"distance over the thickness, least", "Least distance of cloth from cloth", cloth}),
        Quantity("cg_iterations", &Report::cg_iterations, most, "",
                 "most conjugate gradient iterations of a solve of all cloths that meet",
                 {"cg_iterations_max", nullptr, true},
                 {"conjugate gradients of a solve, most", steps, cloth}),
        Quantity("strain", &Report::strain, {}),
        Quantity("wall_seconds", &Report::wall_seconds, sum, "s", "time that the step took", {nullptr, ""}),
        Quantity("bad_node", &Report::bad_node, none, "",
                 "where the matrix had a pivot that was not positive, -1: nowhere", {nullptr, ""}),
        Quantity("cut", &Report::cut, sum, "", "steps that their budget ended before they met tolerances",
                 {"steps_cut", nullptr, true}, {"garment steps cut by their budget", "", exactness}),
        Quantity("asleep", &Report::asleep, sum, "", "steps that the garment slept through",
                 {"steps_asleep", nullptr, true}, {"garment steps asleep", "", "Time and machine"}),
        Quantity("imbalance", &Report::imbalance, most, "",
                 "greatest force on a node that nothing balances at the end of a step that its budget cut, "
                 "over the weight of the node",
                 {"imbalance_max", nullptr, true},
                 {"force that nothing balances, over weight, greatest", "", exactness})};
  }
};

}  // namespace isocloth
