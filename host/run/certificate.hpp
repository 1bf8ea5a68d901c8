// Does cloth pass through cloth? Tested from positions alone, after the fact, by nothing that contacts
// between cloths have part in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/geometry/intersection_search.hpp"
#include "engine/geometry/passage_search.hpp"
#include "host/kept_step.hpp"
#include "host/results/run_record.hpp"

namespace isocloth {

/// What a state holds of pairs of an edge and a face (engine/geometry/intersection_search.hpp), with names.
struct IntersectionReport {
  std::int64_t crossing = 0, touching = 0;
  std::size_t garment_count = 0;        ///< that are part of crossing pairs
  bool is_complete = true;              ///< false: some coordinates are no numbers
  std::vector<IntersectingPair> pairs;  ///< the first ten crossing ones, without any: of the touching ones
  /// Of a start: what lies in one place, or, with contact.cloth, nearer than its thickness.
  Nearness near;
};

/// "" if there is none, else a line that says how many, which ones and what to do. is_pushed: cloth pushes
/// cloth (ContactSettings::cloth), which must not begin so.
std::string describe(const IntersectionReport& start, bool is_pushed);

/// The same of cloth that lies in cloth without passing through it, as sheets in one plane do, and of cloth
/// that is to be pushed apart because it starts nearer than its thickness.
std::string describe_coincident(const Nearness& near, const Scene& scene);
std::string describe_near(const Nearness& near, const Scene& scene, const Separation& separation = {});

/// "edge 3-4 of sheet through its face 17 at (0.1 0.2 0.3) m".
std::string describe(const IntersectingPair& pair);

/// Tests all garments against themselves and each other, as far as they are of one world (Garment::world);
/// rigid bodies meet all cloths and so join their worlds.
class Certificate {
 public:
  /// The scene must outlive it.
  explicit Certificate(const Scene& scene);
  /// What is near is looked for, too.
  IntersectionReport of_start();
  /// Of the state that the simulation is in. Costs a copy of all positions and about 1 us per node.
  IntersectionReport of(const Simulation& simulation);
  /// Before a step that count() tells of: keeps the positions.
  void begin_step(const Simulation& simulation);
  /// The same as of() after a step, added to the summary; a state that is not complete does not count as
  /// certified. Where it is free of crossings, the ways of the step are tested too, which are straight from
  /// one end of a part to the next; not where a garment took parts that its solver does not tell. steps:
  /// Simulation::take_steps(). Costs as much again for each part, and more where ways are long.
  void count(const Simulation& simulation, const std::vector<StepReport>& reports,
             const std::vector<KeptStep>& steps, RunSummary& summary);

 private:
  /// A garment's way through a step.
  struct Way {
    std::vector<double> times;               ///< ends of the straight pieces, in [0, 1], the last 1
    std::vector<std::vector<Vec3d>> places;  ///< where its nodes are then [m]
    std::vector<Vec3d> at(double time) const;
  };
  /// Empty: not known.
  std::vector<Way> ways(const std::vector<std::vector<Vec3d>>& positions,
                        const std::vector<StepReport>& reports, const std::vector<KeptStep>& steps) const;
  void count_ways(const std::vector<Way>& ways, const Simulation& simulation, RunSummary& summary);
  void name(const Passage& passage, double time, RunSummary& summary) const;
  IntersectionReport of(const std::vector<std::vector<Vec3d>>& positions, double time);

  const Scene& scene_;
  IntersectionSearch search_;
  std::optional<PassageSearch> passages_;   ///< made when first asked
  std::vector<std::vector<Vec3d>> before_;  ///< positions when the step began
};

}  // namespace isocloth
