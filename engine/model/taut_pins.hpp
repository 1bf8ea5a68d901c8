// Pins so far apart that edges between them cannot hang.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "engine/model/resolved_scene.hpp"

namespace isocloth {

/// Two pinned nodes with no slack at the start: an impulse along the edges between them changes nothing, and
/// the system of all impulses is singular, or even contradicts itself.
struct TautPins {
  Index a = 0, b = 0;   ///< nodes, a < b
  double distance = 0;  ///< distance at the start [m]
  /// Length of the shortest path along edges between them, through free nodes only, at rest [m].
  double length = 0;
};

/// Pairs of pinned nodes with distance >= (1 - 1e-9) length, by a and b; with more than 25 pinned nodes, the
/// pairs of the first 25 with all others. Motions are taken at the start only. Cost O(25 edge_count log).
std::vector<TautPins> find_taut_pins(const Garment& garment);

/// "pins 380 and 399 are at the full length of the edges between them" or "... farther apart (1.2 m) than the
/// edges between them are long (1 m)", with the number of further pairs; empty where there are none.
std::string describe(const std::vector<TautPins>& pairs);

/// What of a garment its pins can tear: rows that give way to nothing, and limits of strain. Elastic rows
/// without a limit follow wherever pins lead them.
struct Tearing {
  /// Strain up to which cloth follows its pins, infinite: any. Of rigid rows the tolerance, of C as of l /
  /// l0.
  double stretch = std::numeric_limits<double>::infinity();
  bool by_compression = false;  ///< rigid rows: edges may not be shorter either
  bool across_quads = false;    ///< diagonals of quads are held, too

  /// Whether cloth has torn by its strain: pinned, the largest |l^2 / l0^2 - 1| of edges between pinned
  /// nodes, and stretch, the largest principal one: where shortening tears nothing, that must be there, too.
  bool has_torn(double pinned, double principal_stretch) const {
    if (by_compression) return pinned > stretch;
    return pinned > stretch * (2 + stretch) && principal_stretch > stretch / 2;
  }
};
Tearing tearing_of(const ResolvedScene& resolved, const Garment& garment);

/// Two pinned nodes that a motion takes farther apart than the cloth between them is long.
struct TornPins {
  Index a = -1, b = -1;  ///< nodes, a < b; -1: none
  double distance = 0;   ///< distance of their places [m]
  /// Length of the shortest way along edges and, where `across_quads`, diagonals at rest [m].
  double length = 0;
  double most = 0;  ///< length of that way where it is stretched as far as it may be [m]
};

/// Pairs that no step can satisfy, sought again at every time that is asked for.
class OverstretchedPins {
 public:
  /// `across_quads`: the rows hold the diagonals of quads, too (isometry). Of more than 25 pinned nodes, the
  /// pairs of 25 of them, evenly chosen, with all others. Cost O(25 edge_count log).
  OverstretchedPins(const Garment& garment, bool across_quads);
  /// The worst pair at time t of the garment's clock with distance > (1 + stretch) length.
  TornPins at(double t, double stretch) const;

 private:
  struct Pinned {
    Index node;
    const Pin* pin;
    std::size_t i;  ///< number of the node in the pin
  };
  const Garment& garment_;
  std::vector<Pinned> pinned_;        ///< pinned nodes, by node
  std::vector<std::size_t> sources_;  ///< places of sources in pinned_
  /// Lengths of the ways from each source to each pinned node [m], shape [source, pinned].
  std::vector<std::vector<double>> lengths_;
};

/// "pins 0 and 8 are taken 0.6 m apart, which the cloth between them, 0.3 m long, cannot follow: change their
/// motion"; where it may stretch, by how much; empty: none.
std::string describe(const TornPins& torn);

/// What of the scene its solver will have trouble with: of the first garment with taut pins its name and
/// describe(), with the number of further ones, where impulses come from one system. At most one line.
std::vector<std::string> solver_warnings(const ResolvedScene& resolved);

}  // namespace isocloth
