// Pins so far apart that edges between them cannot hang.
#pragma once

#include <string>
#include <vector>

#include "engine/model/scene.hpp"

namespace isocloth {

/// Two pinned nodes with no slack at the start: an impulse along the edges between them changes nothing, and
/// the system of all impulses is singular, or even contradicts itself.
struct TautPins {
  Index a = 0, b = 0;   ///< nodes, a < b
  double distance = 0;  ///< at the start [m]
  double length = 0;  ///< of the shortest path along edges between them, through free nodes only, at rest [m]
};

/// Pairs of pinned nodes with distance >= (1 - 1e-9) length, by a and b. Motions are taken at the start only.
/// Of a garment with more than 25 pinned nodes, the pairs of the first 25 with all others. Cost O(25
/// edge_count log).
std::vector<TautPins> find_taut_pins(const Garment& garment);

/// "pins 380 and 399 are at the full length of the edges between them" or "... farther apart (1.2 m) than the
/// edges between them are long (1 m)", with the number of further pairs; empty where there are none.
std::string describe(const std::vector<TautPins>& pairs);

/// What of the scene its solver will have trouble with: of the first garment with taut pins its name and
/// describe(), with the number of further ones, where impulses come from one system. At most one line.
std::vector<std::string> solver_warnings(const Scene& scene);

}  // namespace isocloth
