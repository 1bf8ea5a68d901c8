// Does cloth pass through cloth? Tested from positions alone, after the fact, by nothing that contacts
// between cloths have part in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/geometry/passage_search.hpp"
#include "engine/model/scene.hpp"
#include "engine/model/scene_intersections.hpp"
#include "engine/model/separation.hpp"
#include "host/results/run_record.hpp"
#include "host/simulation/simulation.hpp"
#include "host/state/step_record.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

/// "" if there is none, else a line on cloth that is to be pushed apart because it starts nearer than its
/// thickness; more of a start in engine/model/scene_intersections.hpp.
std::string describe_near(const Nearness& near, const Scene& scene, const Separation& separation = {});

/// The test of cloth against cloth: what SceneIntersections tests, and the ways within steps.
class Certificate {
 public:
  /// The scene must outlive it.
  explicit Certificate(const Scene& scene);
  /// Report of the start; what is near is looked for, too.
  IntersectionReport of_start() { return intersections_.of_start(); }
  /// Report of the state that the simulation is in. Costs a copy of all positions and about 1 us per node.
  IntersectionReport of(const Simulation& simulation);
  /// Keeps the positions before a step that count() tells of.
  void begin_step(const Simulation& simulation);
  /// Adds the report of the state after a step, as of() has it, to the summary; a state that is not complete
  /// does not count as certified. Where it is free of crossings, the ways of the step are tested too, which
  /// are straight from one end of a part to the next; not where a garment took parts that its solver does not
  /// tell. steps: Simulation::take_step_records(). Costs as much again for each part, and more where ways are
  /// long.
  void count(const Simulation& simulation, const std::vector<StepReport>& reports,
             const std::vector<StepRecord>& steps, RunSummary& summary);

 private:
  /// A garment's way through a step.
  struct Way {
    std::vector<double> times;  ///< ends of the straight pieces, in [0, 1], the last 1
    /// Positions of the garment's nodes at these times [m], shape [time][node_count].
    std::vector<std::vector<Vec3d>> positions;
    std::vector<Vec3d> at(double time) const;
  };
  /// Ways of all garments through a step, shape [garment]; empty: not known.
  std::vector<Way> ways(const std::vector<std::vector<Vec3d>>& positions,
                        const std::vector<StepReport>& reports, const std::vector<StepRecord>& steps) const;
  void count_ways(const std::vector<Way>& ways, const Simulation& simulation, RunSummary& summary);
  void name(const Passage& passage, double time, RunSummary& summary) const;

  const Scene& scene_;
  SceneIntersections intersections_;
  std::optional<PassageSearch> passages_;   ///< made when first asked
  std::vector<std::vector<Vec3d>> before_;  ///< positions of all garments when the step began [m]
};

}  // namespace isocloth
