#include "engine/models/terzopoulos1987/recipe.hpp"

#include "engine/models/terzopoulos1987/tensor_grid.hpp"

namespace isocloth {

void check_tensors(const std::string& key, const Garment& garment) { TensorGrid(garment.mesh, key); }

}  // namespace isocloth
