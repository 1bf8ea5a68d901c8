// Arrays of garments where they lie in the memory of a backend.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "host/state/execution_options.hpp"

namespace isocloth {

/// What can be seen of all garments at once. Forces are times h^2, as in GarmentState: see
/// Simulation::contacts.
enum class GarmentField {
  positions,   ///< positions of the nodes [m], (tiles, lanes, nodes, 3)
  velocities,  ///< velocities of the nodes [m/s], (tiles, lanes, nodes, 3)
  strains,     ///< the numbers of Strain in their order, (tiles, lanes, 1, 11); as of the call of view()
  contact_obstacles,  ///< number of the obstacle, then of the body, -1: none; (tiles, lanes, contacts, 1)
  contact_forces,     ///< forces of contacts on the garment [kg m], (tiles, lanes, contacts, 3)
  hold_forces,        ///< forces of the grippers on the nodes [kg m], (tiles, lanes, nodes, 3)
};
const char* to_string(GarmentField field);

/// An array in the memory of a backend, as it lies there: what DLPack takes. Cloths that are stepped together
/// lie side by side in vector lanes, so that the cloth of garment garments[c] is [c / lanes, c % lanes, :,
/// :]; what follows the last of them is not to be touched. On a GPU and for single garments there is one
/// lane, and the array is (cloths, nodes, 3) in C order.
struct FieldView {
  void* data = nullptr;  ///< address of element [0, 0, 0, 0]
  /// Precision of the elements; impulses keep positions in float64.
  Precision precision = Precision::float64;
  std::string backend;                    ///< backend whose memory it is: "cpu" or "cuda"
  int device = 0;                         ///< cuda: number of the device
  std::array<std::int64_t, 4> shape{};    ///< shape of the array, see GarmentField
  std::array<std::int64_t, 4> strides{};  ///< strides in elements
  std::vector<std::size_t> garments;      ///< numbers of the garments in the scene
};

}  // namespace isocloth
