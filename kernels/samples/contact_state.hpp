// What contacts and grippers keep of one cloth from step to step, as one array.
#pragma once

#include "kernels/contact/contact_arrays.hpp"
#include "kernels/grippers/grippers.hpp"

namespace isocloth {

/// Where the fields lie, see ContactArrays, HoldArrays and EasedDepths: forces, which carry h^2, before the
/// rest.
struct ContactStateLayout {
  std::size_t contacts = 0;  ///< contacts that the cloth may have
  std::size_t holds = 0;     ///< nodes that may be held: all, or none
  std::size_t eased = 0;     ///< slots of EasedDepths

  ISOCLOTH_HD std::size_t forces() const { return 0; }
  ISOCLOTH_HD std::size_t hold_forces() const { return 3 * contacts; }
  ISOCLOTH_HD std::size_t force_count() const { return 3 * (contacts + holds); }
  ISOCLOTH_HD std::size_t obstacles() const { return force_count(); }
  ISOCLOTH_HD std::size_t modes() const { return obstacles() + contacts; }
  ISOCLOTH_HD std::size_t slips() const { return modes() + contacts; }
  ISOCLOTH_HD std::size_t points() const { return slips() + contacts; }
  ISOCLOTH_HD std::size_t holders() const { return points() + 2 * contacts; }
  ISOCLOTH_HD std::size_t hold_positions() const { return holders() + holds; }
  ISOCLOTH_HD std::size_t eased_obstacles() const { return hold_positions() + 3 * holds; }
  ISOCLOTH_HD std::size_t eased_depths() const { return eased_obstacles() + eased; }
  ISOCLOTH_HD std::size_t size() const { return eased_depths() + eased; }
};

}  // namespace isocloth
