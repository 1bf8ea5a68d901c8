// Does cloth pass through cloth? Tested from positions alone, after the fact: contact of cloth with cloth is
// not part of the simulation.
#pragma once

#include <string>
#include <vector>

#include "engine/geometry/intersection_search.hpp"
#include "host/results/run_record.hpp"
#include "host/simulation.hpp"

namespace isocloth {

/// What a state holds of pairs of an edge and a face (engine/geometry/intersection_search.hpp), with names.
struct IntersectionReport {
  std::int64_t crossing = 0, touching = 0;
  std::size_t garment_count = 0;        ///< that are part of crossing pairs
  bool is_complete = true;              ///< false: some coordinates are no numbers
  std::vector<IntersectingPair> pairs;  ///< the first ten crossing ones, without any: of the touching ones
};

/// "" if there is none, else a line that says how many, which ones and what to do.
std::string describe(const IntersectionReport& start);

/// "edge 3-4 of sheet through its face 17 at (0.1 0.2 0.3) m".
std::string describe(const IntersectingPair& pair);

/// Tests all garments against themselves and each other. Replicas stand for cloths of their own: number i of
/// one garment meets number i of others and every garment that has no replicas, but no replica of another
/// number, unless the scene has rigid bodies, which meet all cloths and so join them.
class Certificate {
 public:
  /// The scene must outlive it; replicas: see read_scene(), or empty: every garment meets all others.
  Certificate(const Scene& scene, const std::vector<Index>& replicas);
  IntersectionReport of_start();
  /// Of the state that the simulation is in. Costs a copy of all positions and about 1 us per node.
  IntersectionReport of(const Simulation& simulation);
  /// The same after a step, added to the summary; a state that is not complete does not count as certified.
  void count(const Simulation& simulation, RunSummary& summary);

 private:
  IntersectionReport of(const std::vector<std::vector<Vec3d>>& positions, double time);

  const Scene& scene_;
  IntersectionSearch search_;
};

}  // namespace isocloth
