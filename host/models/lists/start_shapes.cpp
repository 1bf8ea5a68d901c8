// Shapes at the start by models beside the core.
#include "host/models/drape/drape.hpp"
#include "host/scene/start_shape.hpp"

namespace isocloth {

DrapeFunction drape_function() { return drape; }

}  // namespace isocloth
