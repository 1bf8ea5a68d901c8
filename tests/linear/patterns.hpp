// Nodal patterns of all kinds of meshes, small enough for dense checks.
#pragma once

#include <string>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/linear/block_pattern.hpp"

namespace isocloth {

struct NamedGarment {
  std::string name;
  Garment garment;
};

/// Every generator; no pins, some pins, a cut by pins in two pieces; a second garment beside the first.
std::vector<NamedGarment> all_garments();

/// Pattern of the garment's nodal system, with the bending blocks when the fabric bends.
BlockPattern nodal_block_pattern(const Garment& garment);

/// Every node of a grid with the two rings of nodes around it.
BlockPattern sheet_pattern(Index columns, Index rows);

/// Matrices side by side, without a block between them.
BlockPattern disconnected(const std::vector<BlockPattern>& parts);

struct NamedPattern {
  std::string name;
  BlockPattern pattern;
};

/// The garments' patterns, and: one block row, no block row, diagonal blocks alone, a dense matrix, an arrow,
/// two disconnected pieces, blocks of one scalar.
std::vector<NamedPattern> all_patterns();

}  // namespace isocloth
